import type TypeScript from "typescript";
import { ts } from "./cell-language.js";

/** The global that compiled cells call into. */
export const runtimeName = "__probelab__";

/** A name that a cell declares for later cells. */
export interface Declaration {
  readonly name: string;
  /** The module that declares it, such as `cell:3`. */
  readonly module: string;
  readonly kind: "const" | "let" | "other";
}

/** Names that statements declare: variables, functions, classes, types and imports. */
export function namesIn(
  statements: readonly TypeScript.Statement[],
): Map<string, Declaration["kind"]> {
  const names = new Map<string, Declaration["kind"]>();
  const add = (node: TypeScript.Node | undefined, kind: Declaration["kind"] = "other"): void => {
    if (node === undefined) return;
    if (ts.isIdentifier(node)) names.set(node.text, kind);
    else if (ts.isImportClause(node)) [node.name, node.namedBindings].forEach((each) => add(each));
    else if (ts.isNamedImports(node)) node.elements.forEach((each) => add(each));
    else if (ts.isNamespaceImport(node) || ts.isImportSpecifier(node)) add(node.name);
    else if (ts.isObjectBindingPattern(node) || ts.isArrayBindingPattern(node)) {
      for (const each of node.elements) if (ts.isBindingElement(each)) add(each.name, kind);
    }
  };
  for (const statement of statements) {
    if (ts.isVariableStatement(statement)) {
      const { declarations, flags } = statement.declarationList;
      const isConst = (flags & (ts.NodeFlags.Const | ts.NodeFlags.Using)) !== 0;
      for (const { name } of declarations) add(name, isConst ? "const" : "let");
    } else if (ts.isImportDeclaration(statement)) add(statement.importClause);
    else if ("name" in statement && !isGlobal(statement)) {
      add(statement.name as TypeScript.Node | undefined);
    }
  }
  return names;
}

/** `declare global { … }`, whose name is none. */
function isGlobal(statement: TypeScript.Statement): boolean {
  return ts.isModuleDeclaration(statement) && statement.name.text === "global";
}

/** A line above a cell that takes the names of earlier cells from their modules, for TypeScript to check. */
export function typedHead(earlier: readonly Declaration[]): string {
  const lines = earlier.map(({ name, module, kind }) =>
    kind === "other"
      ? `import { ${name} } from "${module}";`
      : `declare ${kind} ${name}: typeof import("${module}").${name};`,
  );
  return `export {};${lines.join("")}\n`;
}

/** The text below a cell: exports all names that it declares. */
export function tailOf(statements: readonly TypeScript.Statement[]): string {
  const exported = namesIn(statements.filter(isExported));
  const names = [...namesIn(statements).keys()].filter((name) => !exported.has(name));
  return `\nexport { ${names.join(", ")} };\n`;
}

function isExported(statement: TypeScript.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

/** JavaScript, and the source map from it to the text. */
export interface Transpiled {
  readonly js: string;
  readonly map: string;
  /** False where the text has errors of syntax. */
  readonly isSound: boolean;
}

/**
 * Compiles a cell to CommonJS, whose `exports` all cells share. It needs no types, so it takes milliseconds;
 * an import that is only a type is undefined at run time.
 *
 * @param names of earlier cells
 */
export function transpileCell(
  { name, code }: { readonly name: string; readonly code: string },
  statements: readonly TypeScript.Statement[],
  names: readonly string[],
): Transpiled {
  const head = `export {};${names.map((each) => `export declare let ${each}: any;`).join("")}\n`;
  return transpile(name, head + code + tailOf(statements), head.length);
}

/**
 * Compiles a cell, or a file beside the notebook, to CommonJS.
 *
 * @param name the source name in the places of errors
 * @param start of a cell in `text`, below the line of its head; undefined for a file
 */
export function transpile(name: string, text: string, start?: number): Transpiled {
  const { outputText, sourceMapText, diagnostics } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.CommonJS,
      esModuleInterop: true,
      experimentalDecorators: true,
      allowJs: true,
      sourceMap: true,
      newLine: ts.NewLineKind.LineFeed,
    },
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
      const names = namesIn(file.statements);
      const firstLine = file.getLineAndCharacterOfPosition(start ?? 0).line;
      const place = (node: TypeScript.Node) => {
        const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
        return factory.createStringLiteral(`${name}:${line + 1 - firstLine}:${character + 1}`);
      };

      const visit = (node: TypeScript.Node): TypeScript.Node => {
        if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return node;
        const seen = ts.visitEachChild(node, visit, context);
        if (ts.isArrowFunction(seen) && isArgument(node) && usesAny(node, names)) {
          const text = factory.createStringLiteral(withoutTypes(node.getText(file)));
          return runtime("written", seen, text);
        }
        if (ts.isAwaitExpression(seen)) {
          const guarded = runtime("guard", seen.expression, place(node));
          return factory.updateAwaitExpression(seen, guarded);
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
        statement.getStart(file) >= (start ?? 0) &&
        !ts.isExportDeclaration(statement) &&
        !ts.isImportDeclaration(statement);
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

function usesAny(node: TypeScript.Node, names: ReadonlyMap<string, unknown>): boolean {
  if (ts.isIdentifier(node)) return names.has(node.text);
  return ts.forEachChild(node, (child) => usesAny(child, names)) ?? false;
}

/** The text of a function without its types. */
function withoutTypes(text: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(`(${text});`, { compilerOptions });
  return outputText.trim().replace(/^\(([^]*)\);$/, "$1");
}
