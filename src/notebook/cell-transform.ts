import type TypeScript from "typescript";
import { ts } from "./typescript.js";

/** The global that compiled cells call into. */
export const runtimeName = "__probelab__";

/**
 * Makes the awaits of a cell stoppable: `await x` becomes `await __probelab__.guard(x, "cell 3:12:7")`,
 * `for await (… of x)` goes through `guardEach`, every loop's turn begins with `tick()`, and `import(x)` becomes a real import, because the
 * CommonJS form of it can't load an ES module with top-level await. A function that is handed over and uses
 * variables of cells keeps its own words (`written`): Arquero reads a function's text, and would find
 * `arquero_1.op.mean(row.n)` or `exports.least` there.
 *
 * @param locate the place in the cell of a position in the file being transformed, as `file:line:column`
 */
export function cellTransform(
  locate: (line: number, column: number) => string,
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
      const moduleNames = namesOf(file);
      const place = (node: TypeScript.Node) => {
        const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
        return factory.createStringLiteral(locate(line, character));
      };
      const visit = (node: TypeScript.Node): TypeScript.Node => {
        const seen = ts.visitEachChild(node, visit, context);
        if (ts.isArrowFunction(seen) && isHandedOver(node) && usesAny(node, moduleNames)) {
          const text = node.getText(file).replace(/\bexports\.(?=[\p{ID_Start}$_])/gu, "");
          return runtime("written", seen, factory.createStringLiteral(text));
        }
        if (ts.isAwaitExpression(seen)) {
          const guarded = runtime("guard", seen.expression, place(node));
          return factory.updateAwaitExpression(seen, guarded);
        }
        if (ts.isForOfStatement(seen) && seen.awaitModifier) {
          const guarded = runtime("guardEach", seen.expression, place(node));
          return factory.updateForOfStatement(
            seen,
            seen.awaitModifier,
            seen.initializer,
            guarded,
            ticking(seen.statement),
          );
        }
        if (ts.isForOfStatement(seen)) {
          return factory.updateForOfStatement(
            seen,
            undefined,
            seen.initializer,
            seen.expression,
            ticking(seen.statement),
          );
        }
        if (ts.isForInStatement(seen)) {
          const body = ticking(seen.statement);
          return factory.updateForInStatement(seen, seen.initializer, seen.expression, body);
        }
        if (ts.isForStatement(seen)) {
          return factory.updateForStatement(
            seen,
            seen.initializer,
            seen.condition,
            seen.incrementor,
            ticking(seen.statement),
          );
        }
        if (ts.isWhileStatement(seen)) {
          return factory.updateWhileStatement(seen, seen.expression, ticking(seen.statement));
        }
        if (ts.isDoStatement(seen)) {
          return factory.updateDoStatement(seen, ticking(seen.statement), seen.expression);
        }
        if (ts.isCallExpression(seen) && seen.expression.kind === ts.SyntaxKind.ImportKeyword) {
          return runtime(
            "import",
            ...seen.arguments.slice(0, 1),
            factory.createIdentifier("require"),
          );
        }
        return seen;
      };
      return ts.visitNode(file, visit, ts.isSourceFile);
    };
  };
}

/** Names that compiled code has another name for: what a cell declares and imports, and `exports` itself. */
function namesOf(file: TypeScript.SourceFile): ReadonlySet<string> {
  const names = new Set(["exports"]);
  const add = (node: TypeScript.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    else if (ts.isImportClause(node) || ts.isNamedImports(node)) ts.forEachChild(node, add);
    else if (ts.isNamespaceImport(node) || ts.isImportSpecifier(node)) add(node.name);
    else if (ts.isObjectBindingPattern(node) || ts.isArrayBindingPattern(node)) {
      for (const one of node.elements) if (ts.isBindingElement(one)) add(one.name);
    }
  };
  for (const statement of file.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const one of statement.declarationList.declarations) add(one.name);
    } else if (ts.isImportDeclaration(statement)) {
      if (statement.importClause) add(statement.importClause);
    } else if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
      if (statement.name) add(statement.name);
    }
  }
  return names;
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
