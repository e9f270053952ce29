import type TypeScript from "typescript";
import { ts } from "./typescript.js";
import { runtimeName } from "./cell-transform.js";

/**
 * TypeScript puts a cell with `using` at its top into a `try`, where tslab doesn't find the last expression:
 * the cell hands it over itself.
 */
export const lastOfUsing: TypeScript.TransformerFactory<TypeScript.SourceFile> =
  (context) => (file) => {
    const { factory } = context;
    const last = file.statements.findLastIndex((statement) => !ts.isExportDeclaration(statement));
    const statement = file.statements[last];
    if (!file.statements.some(isUsing) || !statement || !ts.isExpressionStatement(statement)) {
      return file;
    }
    const take = factory.createPropertyAccessExpression(
      factory.createIdentifier(runtimeName),
      "last",
    );
    const call = factory.createCallExpression(take, undefined, [statement.expression]);
    const statements = file.statements.with(last, factory.createExpressionStatement(call));
    return factory.updateSourceFile(file, statements);
  };

function isUsing(statement: TypeScript.Statement): boolean {
  if (!ts.isVariableStatement(statement)) return false;
  const flags: number = statement.declarationList.flags;
  const using: number = ts.NodeFlags.Using;
  return (flags & using) === using;
}
