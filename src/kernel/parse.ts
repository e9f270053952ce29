import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { parseSync } from "oxc-parser";
import type * as Ast from "oxc-parser";

type KeyOf<Nodes> = Nodes extends unknown ? keyof Nodes : never;
type Field<Nodes, Key> = Nodes extends { [key in Key & string]?: infer Value } ? Value : never;
type Loose<Value> = Value extends Ast.Node
  ? Node
  : Value extends readonly (infer Each)[]
    ? readonly Loose<Each>[]
    : Value;
interface OwnFields {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly expression?: Node;
}

/** A node of a syntax tree (ESTree, with TypeScript's nodes in what was written), with the fields that any has. */
export type Node = OwnFields & {
  readonly [Key in Exclude<KeyOf<Ast.Node>, keyof OwnFields>]?: Loose<Field<Ast.Node, Key>>;
};

/** A name that a cell or a file declares. */
export interface Name {
  readonly name: string;
  readonly kind: "const" | "let" | "other";
  /** False for what is only a type. */
  readonly isValue: boolean;
  readonly isExported: boolean;
}

/** A cell or a file as a syntax tree. */
export interface Parsed {
  readonly code: string;
  readonly body: readonly Node[];
  /** The names that it declares, by name. */
  readonly names: ReadonlyMap<string, Name>;
  /** What it imports from. */
  readonly imports: readonly string[];
  /** Those of the imports that it takes nothing but types from. */
  readonly typeImports: ReadonlySet<string>;
  /** The first error of syntax, and where it is; undefined where there is none. */
  readonly error: { readonly text: string; readonly at: number } | undefined;
}

/** Thrown for code that is nested too deeply. */
export class TooDeepError extends Error {}

/** Levels of a syntax tree: of more the server gives up, after seconds. */
const mostLevels = 2000;

/** Lists and objects within each other: beyond some 150 TypeScript compares their types for minutes. */
const mostLists = 100;

/** What opens a level of a syntax tree, and the levels that the native parser has stack for. */
const opening = /[([{<?:=`!~+*&|-]|\b(?:do|typeof|void|delete|await|new|keyof)\b/g;
const harmlessLevels = 4000;

/** @param file its name: the end says the language */
export function parse(file: string, text: string): Parsed {
  const code = text.replace(/^#!/, "//"); // It no longer stands at the start of what is compiled.
  if ((code.match(opening)?.length ?? 0) > harmlessLevels) refuseFatal(file, code);
  const { program, errors, module } = parseSync(file, code, {
    sourceType: /\.js$/.test(file) ? "unambiguous" : "module",
  });
  const body = program.body as unknown as readonly Node[];
  const error = errors.find(({ severity }) => String(severity) === "Error");
  refuseDeep(body);
  const imports = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...[...code.matchAll(/\b(?:require|import)\(\s*["'`]([^"'`\\$]+)["'`]\s*\)/g)].map(
      ([, specifier = ""]) => specifier,
    ),
  ];
  return {
    code,
    body,
    names: namesIn(body),
    imports: [...new Set(imports)],
    typeImports: new Set(
      module.staticImports.flatMap(({ moduleRequest, entries }) =>
        entries.length > 0 && entries.every(({ isType }) => isType) ? moduleRequest.value : [],
      ),
    ),
    error: error && { text: error.message, at: error.labels[0]?.start ?? 0 },
  };
}

/** @throws TooDeepError for a tree of too many levels */
function refuseDeep(body: readonly Node[]): void {
  const waiting = body.map((node) => ({ node, levels: 1, lists: 0 }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node } = next;
    const levels = next.levels + 1;
    const lists = next.lists + (/^(Array|Object)Expression$/.test(node.type) ? 1 : 0);
    if (levels > mostLevels || lists > mostLists) throw new TooDeepError();
    for (const child of childrenOf(node)) waiting.push({ node: child, levels, lists });
  }
}

/** Parses code in another process first: code that is nested too deeply ends it. @throws TooDeepError */
function refuseFatal(file: string, code: string): void {
  const script = `const [,parser,transform,file] = process.argv;
const code = require("node:fs").readFileSync(0, "utf8");
void require(parser).parseSync(file, code).program;
require(transform).transformSync(file, code);`;
  const require = createRequire(import.meta.url);
  const packages = ["oxc-parser", "oxc-transform"].map((name) => require.resolve(name));
  const { status } = spawnSync(process.execPath, ["-e", script, ...packages, file], {
    input: code,
    stdio: ["pipe", "ignore", "ignore"],
  });
  if (status !== 0) throw new TooDeepError();
}

/** The names that statements declare. */
export function namesIn(body: readonly Node[]): Map<string, Name> {
  const names = new Map<string, Name>();
  const add = (statement: Node, isExported: boolean): void => {
    const put = (name: string | undefined, kind: Name["kind"], isValue: boolean) => {
      // An overload or an interface beside a class takes nothing from it.
      const isKnown = name !== undefined && names.get(name)?.isValue === true;
      if (name !== undefined)
        names.set(name, { name, kind, isValue: isValue || isKnown, isExported });
    };
    const isValue = statement.declare !== true;
    switch (statement.type) {
      case "VariableDeclaration": {
        const kind = /const|using/.test(statement.kind ?? "") ? "const" : "let";
        for (const { id } of statement.declarations ?? []) {
          for (const name of boundIn(id)) put(name, kind, isValue);
        }
        break;
      }
      case "ImportDeclaration":
        for (const { local, importKind } of statement.specifiers ?? []) {
          put(local?.name, "other", statement.importKind !== "type" && importKind !== "type");
        }
        break;
      case "TSInterfaceDeclaration":
      case "TSTypeAliasDeclaration":
        put(statement.id?.name, "other", false);
        break;
      case "FunctionDeclaration":
      case "TSDeclareFunction":
      case "ClassDeclaration":
      case "TSEnumDeclaration":
      case "TSModuleDeclaration":
      case "TSImportEqualsDeclaration":
        if (statement.kind !== "global") put(statement.id?.name, "other", isValue);
        break;
      case "ExportNamedDeclaration":
      case "ExportDefaultDeclaration":
        if (statement.declaration)
          add(statement.declaration, statement.type === "ExportNamedDeclaration");
    }
  };
  for (const statement of body) add(statement, false);
  for (const { type, specifiers, source, exportKind } of body) {
    if (type !== "ExportNamedDeclaration" || source) continue;
    for (const { local, exported } of specifiers ?? []) {
      const known = names.get(local?.name ?? "");
      if (known && exported?.name === known.name && exportKind !== "type") {
        names.set(known.name, { ...known, isExported: true });
      }
    }
  }
  return names;
}

/** The names that a pattern binds. */
export function boundIn(pattern: Node | null | undefined): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name ?? ""];
    case "ObjectPattern":
      return (pattern.properties ?? []).flatMap((each) =>
        boundIn(each.type === "RestElement" ? each.argument : (each.value as Node)),
      );
    case "ArrayPattern":
      return (pattern.elements ?? []).flatMap(boundIn);
    case "AssignmentPattern":
      return boundIn(pattern.left);
    case "RestElement":
      return boundIn(pattern.argument);
    default:
      return [];
  }
}

/** All words in code, names among them. */
export function wordsIn(code: string): ReadonlySet<string> {
  return new Set(code.match(/[\p{ID_Continue}$\u200c\u200d]+/gu));
}

export function* childrenOf(node: Node): Generator<Node> {
  for (const value of Object.values(node) as unknown[]) {
    if (Array.isArray(value)) {
      for (const each of value as unknown[]) if (isNode(each)) yield each;
    } else if (isNode(value)) yield value;
  }
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === "object" && value !== null && typeof (value as Partial<Node>).type === "string"
  );
}
