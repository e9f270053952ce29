import ts from "typescript";

/** The global that compiled cells call into. */
export const runtimeName = "__probelab__";

/**
 * Makes the awaits of a cell stoppable: `await x` becomes `await __probelab__.guard(x, "cell 3:12:7")`,
 * `for await (… of x)` goes through `guardEach`, and `import(x)` becomes a real import, because the
 * CommonJS form of it can't load an ES module with top-level await.
 *
 * @param locate the place in the cell of a position in the file being transformed, as `file:line:column`
 */
export function cellTransform(
  locate: (line: number, column: number) => string,
): ts.TransformerFactory<ts.SourceFile> {
  return (context) => {
    const { factory } = context;
    const runtime = (name: string, ...args: ts.Expression[]) =>
      factory.createCallExpression(
        factory.createPropertyAccessExpression(factory.createIdentifier(runtimeName), name),
        undefined,
        args,
      );
    return (file) => {
      const place = (node: ts.Node) => {
        const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
        return factory.createStringLiteral(locate(line, character));
      };
      const visit = (node: ts.Node): ts.Node => {
        const seen = ts.visitEachChild(node, visit, context);
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
            seen.statement,
          );
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
