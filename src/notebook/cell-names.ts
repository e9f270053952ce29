import type TypeScript from "typescript";
import { ts } from "./typescript.js";

/** Names that a cell declares for later cells: variables, functions, classes, types and imports. */
export function declaredNames(code: string): string[] {
  return parse(code).statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.flatMap((one) => boundNames(one.name));
    }
    if (ts.isImportDeclaration(statement)) return identifiers(statement);
    const name = (statement as { name?: TypeScript.Node }).name;
    return name && ts.isIdentifier(name) ? [name.text] : [];
  });
}

/** All names that stand in a cell's code, properties too. */
export function namesIn(code: string): string[] {
  return identifiers(parse(code));
}

function boundNames(name: TypeScript.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((one) => (ts.isBindingElement(one) ? boundNames(one.name) : []));
}

function identifiers(node: TypeScript.Node): string[] {
  const found: string[] = [];
  const visit = (each: TypeScript.Node): void => {
    if (ts.isIdentifier(each)) found.push(each.text);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

function parse(code: string): TypeScript.SourceFile {
  return ts.createSourceFile("cell.ts", code, ts.ScriptTarget.Latest);
}
