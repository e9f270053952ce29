import type TypeScript from "typescript";
import { ts } from "./cell-language.js";

/** A name that a cell declares for later cells, and the text that declares it above them. */
export interface Declaration {
  readonly name: string;
  readonly text: string;
}

/** Names that statements declare: variables, functions, classes, types and imports. */
export function topNames(statements: readonly TypeScript.Statement[]): Set<string> {
  const names = new Set<string>();
  const add = (node: TypeScript.Node | undefined): void => {
    if (node === undefined) return;
    if (ts.isIdentifier(node)) names.add(node.text);
    else if (ts.isImportClause(node)) [node.name, node.namedBindings].forEach(add);
    else if (ts.isNamedImports(node)) node.elements.forEach(add);
    else if (ts.isNamespaceImport(node) || ts.isImportSpecifier(node)) add(node.name);
    else if (ts.isObjectBindingPattern(node) || ts.isArrayBindingPattern(node)) {
      for (const element of node.elements) if (ts.isBindingElement(element)) add(element.name);
    }
  };
  for (const statement of statements) {
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) add(name);
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

/** The text above a cell: the declarations of earlier cells, without names that it declares itself. */
export function headOf(earlier: readonly Declaration[], own: ReadonlySet<string>): string {
  return [
    "export {};",
    ...earlier.filter(({ name }) => !own.has(name)).map(({ text }) => text),
    "",
  ].join("\n");
}

/** The text below a cell: exports all names that it declares but those in `without`. */
export function tailOf(
  statements: readonly TypeScript.Statement[],
  without: ReadonlySet<string> = new Set(),
): string {
  const exported = topNames(statements.filter(isExported));
  const names = [...topNames(statements)].filter(
    (name) => !exported.has(name) && !without.has(name),
  );
  return `\nexport { ${names.join(", ")} };\n`;
}

/** A declaration reduced to what the JavaScript depends on: an import or a variable. */
export function untyped({ name, text }: Declaration): Declaration {
  return { name, text: text.startsWith("import ") ? text : `export declare let ${name}: any;` };
}

/**
 * The cells of a notebook as one text, imports first. Undefined where that would mean something else than
 * the cells one after the other: two cells declare a name, or a cell uses one that a later cell declares.
 */
export function inOneText(cells: readonly TypeScript.SourceFile[]): string | undefined {
  const imports = new Map<string, string>();
  const declared = new Set<string>();
  const mentioned = new Set<string>();
  const parts: string[] = [];
  for (const cell of cells) {
    for (const { name, text } of importsOf(cell.statements)) {
      if (mentioned.has(name) && imports.get(name) !== text) return undefined;
      imports.set(name, text);
    }
    const others = cell.statements.filter(
      (statement) => !ts.isImportDeclaration(statement) || !statement.importClause,
    );
    for (const name of topNames(others)) {
      if (mentioned.has(name)) return undefined;
      declared.add(name);
    }
    for (const name of mentions(cell)) mentioned.add(name);
    parts.push(...others.map(({ pos, end }) => cell.text.slice(pos, end)));
  }
  if ([...imports.keys()].some((name) => declared.has(name))) return undefined;
  return [...imports.values(), ...parts, "export {};", ""].join("\n;\n");
}

/** All names in a cell's code except property names. */
export function mentions(node: TypeScript.Node): string[] {
  const found: string[] = [];
  const visit = (each: TypeScript.Node): void => {
    if (ts.isIdentifier(each)) found.push(each.text);
    if (ts.isPropertyAccessExpression(each)) visit(each.expression);
    else if (ts.isPropertyAssignment(each) && ts.isIdentifier(each.name)) visit(each.initializer);
    else ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

/** An import of its own for each name that a cell imports. */
export function importsOf(statements: readonly TypeScript.Statement[]): Declaration[] {
  return statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }) => {
    if (!importClause || !ts.isStringLiteral(moduleSpecifier)) return [];
    const { name, namedBindings, isTypeOnly } = importClause;
    const declare = ({ text: local }: TypeScript.Identifier, clause = local): Declaration => {
      const type = isTypeOnly ? "type " : "";
      return {
        name: local,
        text: `import ${type}${clause} from ${JSON.stringify(moduleSpecifier.text)};`,
      };
    };
    const all = name ? [declare(name)] : [];
    if (!namedBindings) return all;
    if (ts.isNamespaceImport(namedBindings)) {
      return [...all, declare(namedBindings.name, `* as ${namedBindings.name.text}`)];
    }
    for (const { propertyName, name: local, isTypeOnly: isType } of namedBindings.elements) {
      const imported = propertyName ? `${propertyName.text} as ${local.text}` : local.text;
      all.push(declare(local, `{ ${isType ? "type " : ""}${imported} }`));
    }
    return all;
  });
}

/** The declarations of a cell, one per name, from the declaration file that TypeScript emitted for it. */
export function declarationsOf(dts: string, own: ReadonlySet<string>): Declaration[] {
  const file = ts.createSourceFile("cell.d.ts", dts, ts.ScriptTarget.Latest);
  const found: Declaration[] = [];
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) continue;
    if (ts.isVariableStatement(statement)) {
      const { flags, declarations } = statement.declarationList;
      const keyword = flags & ts.NodeFlags.Const ? "const" : "let";
      for (const variable of declarations) {
        const name = variable.name.getText(file);
        found.push({ name, text: `export declare ${keyword} ${variable.getText(file)};` });
      }
      continue;
    }
    const [name = ""] = topNames([statement]);
    found.push({ name, text: `export ${statement.getText(file).replace(/^export /, "")}` });
  }
  return found.filter(({ name }) => own.has(name));
}

function isExported(statement: TypeScript.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false)
  );
}
