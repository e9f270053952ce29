import ts from "typescript";

/** The global that compiled cells call into. */
export const runtimeName = "__probelab__";

/**
 * Makes the awaits of a cell stoppable: `await x` becomes `await __probelab__.guard(x, "cell 3:12:7")`,
 * `for await (… of x)` goes through `guardEach`, every loop's turn begins with `tick()`, and `import(x)` becomes a real import, because the
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
    const ticking = (body: ts.Statement) => {
      const tick = factory.createExpressionStatement(runtime("tick"));
      return ts.isBlock(body)
        ? factory.updateBlock(body, [tick, ...body.statements])
        : factory.createBlock([tick, body]);
    };
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
