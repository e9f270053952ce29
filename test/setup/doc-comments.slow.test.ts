import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../../src", import.meta.url));

test("what a notebook imports has a doc comment; each function, and each method of an object, an example", () => {
  const index = join(source, "index.ts");
  const program = ts.createProgram([index], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    lib: ["lib.es2023.d.ts"],
    types: ["node"],
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const missing: string[] = [];

  /** @param example whether it needs one: a type has none */
  function check(name: string, symbol: ts.Symbol, example: boolean): void {
    const own = symbol.declarations?.some((each) =>
      each.getSourceFile().fileName.startsWith(source),
    );
    const type = checker.getTypeOfSymbol(symbol);
    const [call] = type.getCallSignatures();
    // Of `{ send }` the function itself is told about.
    const told = [symbol, ...(call ? [call] : [])];
    const tags = told.flatMap((each) => each.getJsDocTags(checker)).map((tag) => tag.name);
    if (own !== true || tags.includes("deprecated")) return;
    if (told.every((each) => each.getDocumentationComment(checker).length === 0)) {
      missing.push(`${name}: no comment`);
    }
    if (!example || tags.includes("example")) return;
    const members = call ? [] : type.getProperties();
    if (call) missing.push(`${name}: no example`);
    for (const member of members) check(`${name}.${member.name}`, member, true);
  }

  const module = checker.getSymbolAtLocation(program.getSourceFile(index)!)!;
  for (const exported of checker.getExportsOfModule(module)) {
    const declaration = exported.declarations?.[0];
    const typeOnly = declaration !== undefined && ts.isTypeOnlyExportDeclaration(declaration);
    const symbol =
      exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0;
    if (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) {
      // What a notebook holds in its hand is asked by its methods.
      for (const method of checker.getDeclaredTypeOfSymbol(symbol).getProperties()) {
        const isMethod = (method.flags & ts.SymbolFlags.Method) !== 0;
        if (isMethod && !/^(__@|#|to[A-Z]|close$|screenSpec$)/.test(method.name)) {
          check(`${exported.name}.${method.name}`, method, true);
        }
      }
    }
    check(
      exported.name,
      symbol,
      !typeOnly && !isClass && (symbol.flags & ts.SymbolFlags.Value) !== 0,
    );
  }
  expect(missing).toEqual([]);
});
