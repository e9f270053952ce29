import type TypeScript from "typescript";
import { topNames } from "./cell-declarations.js";
import { cellOptions } from "./cell-language.js";
import { ts } from "./typescript.js";

/** The global that compiled cells call into. */
export const runtimeName = "__probelab__";

/** JavaScript, and the source map that leads from it to the text. */
export interface Transpiled {
  readonly js: string;
  readonly map: string;
  /** False where the text has errors of syntax. */
  readonly isSound: boolean;
}

/**
 * Makes CommonJS of a cell or of a file beside the notebook. No type is asked for, so it takes milliseconds.
 *
 * @param name in the places that errors give
 * @param start of a cell in `text`; declarations of earlier cells stand above it. Undefined for a file
 */
export function transpile(name: string, text: string, start?: number): Transpiled {
  const { outputText, sourceMapText, diagnostics } = ts.transpileModule(text, {
    compilerOptions: cellOptions,
    fileName: start === undefined ? name : "cell.ts",
    reportDiagnostics: true,
    transformers: { before: [cellTransform(name, start)] },
  });
  return {
    js: outputText.replace(/\/\/# sourceMappingURL=.*\s*$/, ""),
    map: sourceMapText ?? "{}",
    isSound: diagnostics?.length === 0,
  };
}

/**
 * Makes the awaits of a cell or a file stoppable: `await x` becomes `await __probelab__.guard(x, "cell-3:12:7")`,
 * `for await (… of x)` goes through `guardEach`, every loop's turn begins with `tick()`, and `import(x)` becomes
 * a real import, because the CommonJS form of it can't load an ES module with top-level await. A function that
 * is handed over and uses variables of cells keeps its own words (`written`): Arquero reads a function's text,
 * and would find `arquero_1.op.mean(row.n)` or `exports.least` there.
 *
 * The last expression of a cell is handed to `last`.
 */
function cellTransform(
  name: string,
  start: number | undefined,
): TypeScript.TransformerFactory<TypeScript.SourceFile> {
  return (context) => {
    const { factory } = context;
    const runtime = (name: string, ...args: TypeScript.Expression[]) =>
      factory.createCallExpression(
        factory.createPropertyAccessExpression(factory.createIdentifier(runtimeName), name),
        undefined,
        args,
      );
    const ticking = (body: TypeScript.Statement) => {
      const tick = factory.createExpressionStatement(runtime("tick"));
      return ts.isBlock(body)
        ? factory.updateBlock(body, [tick, ...body.statements])
        : factory.createBlock([tick, body]);
    };
    return (file) => {
      const names = topNames(file.statements);
      const firstLine = file.getLineAndCharacterOfPosition(start ?? 0).line;
      const place = (node: TypeScript.Node) => {
        const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
        return factory.createStringLiteral(`${name}:${line + 1 - firstLine}:${character + 1}`);
      };

      const visit = (node: TypeScript.Node): TypeScript.Node => {
        if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return node;
        const seen = ts.visitEachChild(node, visit, context);
        if (ts.isArrowFunction(seen) && isHandedOver(node) && usesAny(node, names)) {
          return runtime(
            "written",
            seen,
            factory.createStringLiteral(ownWords(node.getText(file))),
          );
        }
        if (ts.isAwaitExpression(seen)) {
          return factory.updateAwaitExpression(
            seen,
            runtime("guard", seen.expression, place(node)),
          );
        }
        if (ts.isCallExpression(seen) && seen.expression.kind === ts.SyntaxKind.ImportKeyword) {
          const require = factory.createIdentifier("require");
          return runtime("import", ...seen.arguments.slice(0, 1), require);
        }
        if (ts.isForOfStatement(seen)) {
          const { awaitModifier, initializer, expression } = seen;
          const values = awaitModifier ? runtime("guardEach", expression, place(node)) : expression;
          const body = ticking(seen.statement);
          return factory.updateForOfStatement(seen, awaitModifier, initializer, values, body);
        }
        if (ts.isForInStatement(seen)) {
          const body = ticking(seen.statement);
          return factory.updateForInStatement(seen, seen.initializer, seen.expression, body);
        }
        if (ts.isForStatement(seen)) {
          const { initializer, condition, incrementor } = seen;
          const body = ticking(seen.statement);
          return factory.updateForStatement(seen, initializer, condition, incrementor, body);
        }
        if (ts.isWhileStatement(seen)) {
          return factory.updateWhileStatement(seen, seen.expression, ticking(seen.statement));
        }
        if (ts.isDoStatement(seen)) {
          return factory.updateDoStatement(seen, ticking(seen.statement), seen.expression);
        }
        return seen;
      };

      const isOwn = (statement: TypeScript.Statement) =>
        statement.getStart(file) >= (start ?? 0) && !isExportOrImport(statement);
      const isCell = start !== undefined;
      const last = file.statements.findLast((one) => isCell && !ts.isExportDeclaration(one));
      const statements = file.statements.map((statement) => {
        if (!isOwn(statement)) return statement;
        const seen = ts.visitNode(statement, visit, ts.isStatement);
        return statement === last && ts.isExpressionStatement(seen)
          ? factory.updateExpressionStatement(seen, runtime("last", seen.expression))
          : seen;
      });
      return factory.updateSourceFile(file, statements);
    };
  };
}

function isExportOrImport(statement: TypeScript.Statement): boolean {
  return ts.isExportDeclaration(statement) || ts.isImportDeclaration(statement);
}

/** True for an argument of a call, and for a value in an object or a list that is one. */
function isHandedOver({ parent }: TypeScript.Node): boolean {
  return (
    ts.isCallExpression(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isArrayLiteralExpression(parent)
  );
}

function usesAny(node: TypeScript.Node, names: ReadonlySet<string>): boolean {
  if (ts.isIdentifier(node)) return names.has(node.text);
  return ts.forEachChild(node, (child) => usesAny(child, names)) ?? false;
}

/** The text of a function without its types. */
function ownWords(text: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(`(${text});`, { compilerOptions });
  return outputText.trim().replace(/^\(([^]*)\);$/, "$1");
}
