import type TypeScript from "typescript";
import { topNames } from "./cell-text.js";
import { cellOptions, ts } from "./cell-language.js";

/** The global that compiled cells call into. */
export const runtimeName = "__probelab__";

/** JavaScript, and the source map from it to the text. */
export interface Transpiled {
  readonly js: string;
  readonly map: string;
  /** False where the text has errors of syntax. */
  readonly isSound: boolean;
}

/**
 * Compiles a cell or a file beside the notebook to CommonJS. It needs no types, so it takes milliseconds.
 *
 * @param name the source name in the places of errors
 * @param start of a cell in `text`, below the declarations of earlier cells; undefined for a file
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
 * a real import, because its CommonJS form can't load an ES module with top-level await. A callback that uses
 * variables of cells keeps its text as written (`written`): Arquero parses the text of a function, and would
 * find `arquero_1.op.mean(row.n)` or `exports.least` there.
 *
 * The value of a cell's last expression goes to `last`.
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
        if (ts.isArrowFunction(seen) && isArgument(node) && usesAny(node, names)) {
          return runtime(
            "written",
            seen,
            factory.createStringLiteral(withoutTypes(node.getText(file))),
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
        if (ts.isForOfStatement(seen) && seen.awaitModifier) {
          const { awaitModifier, initializer, expression, statement } = seen;
          const values = runtime("guardEach", expression, place(node));
          return factory.updateForOfStatement(seen, awaitModifier, initializer, values, statement);
        }
        if (isLoopBody(node) && ts.isStatement(seen)) {
          const tick = factory.createExpressionStatement(runtime("tick"));
          return ts.isBlock(seen)
            ? factory.updateBlock(seen, [tick, ...seen.statements])
            : factory.createBlock([tick, seen]);
        }
        return seen;
      };

      const isOwn = (statement: TypeScript.Statement) =>
        statement.getStart(file) >= (start ?? 0) && !isExportOrImport(statement);
      const isCell = start !== undefined;
      const last = file.statements.findLast((each) => isCell && !ts.isExportDeclaration(each));
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

/** True for an argument of a call, and for a value in an object or a list. */
function isArgument({ parent }: TypeScript.Node): boolean {
  return (
    ts.isCallExpression(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isArrayLiteralExpression(parent)
  );
}

function isLoopBody(node: TypeScript.Node): boolean {
  const loop = node.parent;
  return ts.isIterationStatement(loop, false) && loop.statement === node;
}

function usesAny(node: TypeScript.Node, names: ReadonlySet<string>): boolean {
  if (ts.isIdentifier(node)) return names.has(node.text);
  return ts.forEachChild(node, (child) => usesAny(child, names)) ?? false;
}

/** The text of a function without its types. */
function withoutTypes(text: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(`(${text});`, { compilerOptions });
  return outputText.trim().replace(/^\(([^]*)\);$/, "$1");
}
