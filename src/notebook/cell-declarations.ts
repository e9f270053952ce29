import type TypeScript from "typescript";
import { ts } from "./typescript.js";

const initialised = /^((?:exports\.[\w$]+ = )+)void 0;$/m;

/** Names that a cell declares and that its code has yet to set when it begins. */
export function namesToSet(compiled: string): string[] {
  const chain = initialised.exec(compiled)?.[1] ?? "";
  return chain.split(" = ").flatMap((part) => (part ? [part.slice("exports.".length)] : []));
}

/** Compiled code that leaves variables of earlier cells as they are until its own declarations run. */
export function withoutInitialisation(compiled: string): string {
  return compiled.replace(initialised, "");
}

/**
 * The declarations after a cell that failed: its own as far as they ran; what it never reached stays as
 * it was before.
 */
export function declarationsAfterFailure(
  before: string,
  after: string,
  missing: ReadonlySet<string>,
): string {
  if (missing.size === 0) return after;
  const kept = filterDeclarations(after, (name) => !missing.has(name));
  const restored = filterDeclarations(before, (name) => missing.has(name));
  return kept + restored;
}

function filterDeclarations(text: string, keep: (name: string) => boolean): string {
  const file = ts.createSourceFile("declarations.d.ts", text, ts.ScriptTarget.Latest, true);
  const printer = ts.createPrinter({ newLine: ts.NewLineKind.LineFeed });
  const statements = file.statements.flatMap((statement) => {
    const kept = filterStatement(statement, keep);
    return kept ? [printer.printNode(ts.EmitHint.Unspecified, kept, file)] : [];
  });
  return statements.map((statement) => `${statement}\n`).join("");
}

function filterStatement(
  statement: TypeScript.Statement,
  keep: (name: string) => boolean,
): TypeScript.Statement | undefined {
  if (ts.isVariableStatement(statement)) {
    const list = statement.declarationList;
    const kept = list.declarations.filter(
      (one) => ts.isIdentifier(one.name) && keep(one.name.text),
    );
    if (kept.length === 0) return undefined;
    return ts.factory.updateVariableStatement(
      statement,
      statement.modifiers,
      ts.factory.updateVariableDeclarationList(list, kept),
    );
  }
  if (ts.isImportDeclaration(statement)) {
    const names = importedNames(statement);
    return names.length === 0 || names.some(keep) ? statement : undefined;
  }
  const name = (statement as { name?: TypeScript.Node }).name;
  return name && ts.isIdentifier(name) && !keep(name.text) ? undefined : statement;
}

function importedNames(statement: TypeScript.ImportDeclaration): string[] {
  const clause = statement.importClause;
  const bindings = clause?.namedBindings;
  const named = bindings && ts.isNamedImports(bindings) ? bindings.elements : [];
  const all = [clause, bindings && ts.isNamespaceImport(bindings) ? bindings : undefined, ...named];
  return all.flatMap((one) => (one?.name ? [one.name.text] : []));
}
