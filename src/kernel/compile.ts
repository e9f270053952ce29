import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import MagicString from "magic-string";
import { parseSync } from "oxc-parser";
import type * as Ast from "oxc-parser";
import { transformSync, type HelperMode } from "oxc-transform";

/** The global that compiled cells call into. */
export const runtimeName = "__probelab__";

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

/** A node of the syntax tree (ESTree with TypeScript's nodes), with the fields that any of them has. */
type Node = OwnFields & {
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
  /** The first error of syntax, and where it is; undefined where there is none. */
  readonly error: { readonly text: string; readonly at: number } | undefined;
}

/** JavaScript, and the source maps from it back to the text, the last step first. */
export interface Compiled {
  readonly js: string;
  readonly maps: readonly string[];
}

/** Thrown for code that is nested too deeply. */
export class TooDeepError extends Error {}

/** Levels of a syntax tree: the server takes seconds for more before it gives up. */
const mostLevels = 2000;

/** Lists and objects in each other: beyond some 150, types are compared for minutes. */
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
    error: error && { text: error.message, at: error.labels[0]?.start ?? 0 },
  };
}

/** A variable's type as it is written, and `type`: that, or the type of the literal that it begins as. */
export interface DeclaredType {
  readonly annotation: string | undefined;
  readonly type: string | undefined;
}

/** The types that variables are declared with, by name. */
export function declaredTypes({ code, body }: Parsed): ReadonlyMap<string, DeclaredType> {
  const variables = body.flatMap(({ declarations = [] }) => declarations);
  return new Map(
    variables.flatMap(({ id, init }) => {
      if (id?.type !== "Identifier") return [];
      const written = id.typeAnnotation?.typeAnnotation;
      const annotation = written ? code.slice(written.start, written.end) : undefined;
      return [[id.name ?? "", { annotation, type: annotation ?? typeOf(init) }] as const];
    }),
  );
}

/** The type of a literal; undefined for anything else. */
function typeOf(node: Node | null | undefined): string | undefined {
  switch (node?.type) {
    case "TemplateLiteral":
      return node.expressions?.length === 0 ? "string" : undefined;
    case "Literal":
      return /^(string|number|boolean)$/.exec(typeof node.value)?.[0];
    case "UnaryExpression":
      return typeOf(node.argument);
    case "ArrayExpression": {
      const [first, ...others] = new Set((node.elements ?? []).map(typeOf));
      return first === undefined || others.length > 0 ? undefined : `${first}[]`;
    }
    default:
      return undefined;
  }
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

/** Lets another process parse the code first, which code that is nested too deeply ends. */
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

function namesIn(body: readonly Node[]): Map<string, Name> {
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
function boundIn(pattern: Node | null | undefined): string[] {
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
    case "TSParameterProperty":
      return boundIn(pattern.parameter);
    default:
      return [];
  }
}

/**
 * Compiles a cell to a script that hands its code to the session. Its names go to later cells through
 * getters and setters; names of earlier cells are read from what all cells share. It needs no types, so it takes
 * a millisecond; an import that is only a type is undefined at run time.
 *
 * @param name of the cell in the places of errors
 * @param used names of earlier cells
 */
export function compileCell(name: string, cell: Parsed, used: readonly string[]): Compiled {
  const edited = edit(name, cell, used, true);
  const values = [...cell.names.values()].filter(({ isValue }) => isValue);
  const accessors = (isImported: boolean) =>
    values
      .filter(({ name: each }) => (edited.read(each) !== each) === isImported)
      .map(({ name: each, kind }) =>
        accessor(each, edited.read(each), kind === "let" ? own : undefined),
      )
      .join(", ");
  const { own } = edited;
  edited.text.prepend(`${own}given({ ${accessors(false)} });`);
  const { js, helpers, map } = transpile("cell.ts", edited.text.toString());
  // Getters of imports stand outside of the block, and hold none of its variables.
  const head = `const ${own}names = exports; ${edited.head}${own}given({ ${accessors(true)} }, true);`;
  const [open, close] = edited.hasUsing
    ? [
        `const ${own}using = ${usingHelper}(); try {`,
        `} catch (error) { ${own}using.e = error; } finally { await ${own}using.d(); }`,
      ]
    : ["", ""];
  return {
    js: `${runtimeName}.run(async (exports, require, ${own}given) => { "use strict"; ${head}${helpers} ${open}{\n${js}\n}${close}});`,
    maps: [map, mapOf(edited.text)],
  };
}

/** Compiles a file beside the notebook to CommonJS. */
export function compileFile(path: string, file: Parsed): Compiled {
  const edited = edit(path, file, [], false);
  const isModule = file.body.some(({ type }) => /^(Import|Export|TSExport|TSImportEq)/.test(type));
  const given = edited.exports.map(([name, value]) => accessor(JSON.stringify(name), value));
  const head = isModule
    ? `globalThis.${runtimeName}.exports(exports, { ${given.join(", ")} });`
    : "";
  edited.text.prepend(`${head}${edited.head}${edited.stars}`);
  const isScript = /\.[cm]?ts$/.test(path);
  const whole = edited.text.toString();
  const { js, helpers, map } = isScript
    ? transpile(path, whole)
    : { js: whole, helpers: "", map: undefined };
  return {
    js: `${isModule ? '"use strict";' : ""}${helpers}${js}`,
    maps: [...(map === undefined ? [] : [map]), mapOf(edited.text)],
  };
}

/** A name that the code doesn't hold, nor one that begins with it. */
function insertedName(code: string): string {
  let name = runtimeName;
  while (code.includes(name)) name += "_";
  return name;
}

function mapOf(text: MagicString): string {
  return text.generateMap({ hires: true }).toString();
}

function accessor(name: string, read: string, own?: string): string {
  return `get ${name}() { return ${read}; }${own ? `, set ${name}(${own}value) { ${name} = ${own}value; }` : ""}`;
}

const usingHelper = `${runtimeName}.helper("@oxc-project/runtime/helpers/usingCtx")`;

/** Takes the types away, and turns what Node 20 doesn't run into what it does. */
function transpile(file: string, text: string): { js: string; helpers: string; map: string } {
  const { code, map, errors, helpersUsed } = transformSync(file, text, {
    lang: "ts",
    sourceType: "module",
    target: "es2023",
    sourcemap: true,
    helpers: { mode: "External" as HelperMode },
    decorator: { legacy: true },
    typescript: { onlyRemoveTypeImports: true },
  });
  const [error] = errors;
  if (error) throw new SyntaxError(error.message);
  const used = Object.entries(helpersUsed).map(
    ([name, path]) => `${name}: ${runtimeName}.helper(${JSON.stringify(path)})`,
  );
  const helpers = used.length === 0 ? "" : `const babelHelpers = { ${used.join(", ")} };`;
  return { js: code.replace(/^export \{\};\n?$/m, ""), helpers, map: JSON.stringify(map) };
}

/** A helper that transpiled code calls. */
export function helper(path: string): unknown {
  const loaded = createRequire(import.meta.url)(path) as { default?: unknown };
  return loaded.default ?? loaded;
}

/** The names that are declared around a part of the text, within the cell or file. */
type Scope = ReadonlySet<string>;

interface Edited {
  readonly text: MagicString;
  /** The runtime's name in the text, and the start of all other names that were inserted. */
  readonly own: string;
  /** Declarations that stand above the text: the modules that it imports. */
  readonly head: string;
  /** What is exported from other modules as a whole. */
  readonly stars: string;
  readonly hasUsing: boolean;
  /** What reads a name of the text. */
  readonly read: (name: string) => string;
  /** The names that a file exports, and what reads them. */
  readonly exports: readonly (readonly [name: string, read: string])[];
}

/**
 * Edits the text of a cell or a file. Awaits become stoppable: `await x` is `await __probelab__.guard(x, "cell-3:12:7")`,
 * `for await (… of x)` goes through `guardEach`, every turn of a loop and every function with a name begins
 * with `tick()`, and `import(x)` finds the notebook's packages. Imports become calls of `require`, and what is imported is read from the module each time.
 * A callback that uses variables of cells keeps its text as written (`written`): Arquero parses the text of a
 * function, and would find `__probelab__names.least` there. The value of a cell's last expression goes to `last`.
 */
function edit(
  file: string,
  { code, body, names }: Parsed,
  used: readonly string[],
  isCell: boolean,
): Edited {
  const text = new MagicString(code);
  const own = insertedName(code);
  const reads = new Map(used.map((name) => [name, `${own}names.${name}`]));
  const modules: string[] = [];
  const exports: (readonly [string, string])[] = [];
  const words = new Set([...used, ...names.keys()]);
  let stars = "";
  let hasUsing = false;

  const read = (name: string) => reads.get(name) ?? name;
  const cut = (start: number, end: number, by = "") =>
    by === "" ? text.remove(start, end) : text.update(start, end, by);
  const wrap = ({ start, end }: Node, before: string, after: string) => {
    text.appendRight(start, before);
    text.prependLeft(end, after);
  };
  const place = ({ start }: Node) => {
    const { line, character } = positionOf(code, start);
    return JSON.stringify(`${file}:${line + 1}:${character + 1}`);
  };
  /** A variable that holds a module. */
  const load = (source: Node): string => {
    const name = `${own}module${modules.length}`;
    modules.push(`const ${name} = require(${JSON.stringify(source.value)});`);
    return name;
  };
  const whole = (module: string): string => {
    modules.push(`const ${module}d = ${own}.module(${module});`);
    return `${module}d`;
  };
  const nameOf = (node: Node | null | undefined): string => node?.name ?? (node?.value as string);
  const member = (of: string, name: string) => `${of}[${JSON.stringify(name)}]`;

  const visitStatement = (statement: Node): void => {
    const { start, end, type, specifiers = [], source, declaration } = statement;
    switch (type) {
      case "ImportDeclaration": {
        cut(start, end);
        if (statement.importKind === "type") return;
        const values = specifiers.filter(({ importKind }) => importKind !== "type");
        if (specifiers.length > 0 && values.length === 0) return;
        const module = load(source!);
        const isWhole = values.some(
          (each) => each.type !== "ImportSpecifier" || nameOf(each.imported) === "default",
        );
        const all = isWhole ? whole(module) : module;
        for (const each of values) {
          const from = each.type === "ImportDefaultSpecifier" ? "default" : nameOf(each.imported);
          const isNamespace = each.type === "ImportNamespaceSpecifier";
          reads.set(
            nameOf(each.local),
            isNamespace ? all : /^[\w$]+$/.test(from) ? `${all}.${from}` : member(all, from),
          );
        }
        return;
      }
      case "TSImportEqualsDeclaration": {
        const { moduleReference } = statement;
        if (moduleReference?.type !== "TSExternalModuleReference") return;
        cut(start, end);
        if (statement.importKind !== "type")
          reads.set(nameOf(statement.id), load(moduleReference.expression!));
        return;
      }
      case "ExportAllDeclaration": {
        cut(start, end);
        if (isCell || statement.exportKind === "type") return;
        const module = load(source!);
        if (statement.exported) exports.push([nameOf(statement.exported), whole(module)]);
        else stars += `${own}.star(exports, ${module});`;
        return;
      }
      case "ExportNamedDeclaration": {
        if (declaration) {
          cut(start, declaration.start);
          for (const { name, isValue } of namesIn([declaration]).values()) {
            if (isValue) exports.push([name, name]);
          }
          return visit(declaration, undefined, new Set());
        }
        cut(start, end);
        if (isCell || statement.exportKind === "type") return;
        const module = source ? load(source) : undefined;
        for (const each of specifiers) {
          const local = nameOf(each.local);
          if (each.exportKind === "type" || (!module && names.get(local)?.isValue !== true))
            continue;
          // Read later: an import may stand below.
          later.push(() =>
            exports.push([nameOf(each.exported), module ? member(module, local) : read(local)]),
          );
        }
        return;
      }
      case "ExportDefaultDeclaration": {
        const name = declaration?.id?.name;
        if (/^TSInterface/.test(declaration?.type ?? ""))
          return void cut(start, declaration!.start);
        cut(start, declaration!.start, name === undefined ? `const ${own}default = ` : "");
        exports.push(["default", name ?? `${own}default`]);
        return visit(declaration!, undefined, new Set());
      }
      case "TSExportAssignment":
        cut(start, statement.expression!.start, isCell ? "" : "module.exports = ");
        return visit(statement.expression!, undefined, new Set());
      case "VariableDeclaration":
        if (/using/.test(statement.kind ?? "") && isCell) {
          hasUsing = true;
          const isAsync = statement.kind === "await using";
          text.update(
            start,
            start + /^(await\s+)?using/.exec(code.slice(start))![0].length,
            "const",
          );
          for (const { init } of statement.declarations ?? []) {
            if (init) wrap(init, `${own}using.${isAsync ? "a" : "u"}(`, ")");
          }
        }
    }
    visit(statement, undefined, new Set());
  };

  const visit = (node: Node, parent: Node | undefined, scope: Scope): void => {
    const { type } = node;
    if (type.startsWith("TS") && !VALUES_IN_TYPESCRIPT.has(type)) return;
    if (node.declare === true) return;
    const names = declaredBy(node);
    const inner = names.length === 0 ? scope : new Set([...scope, ...names]);
    const go = (child: Node | null | undefined): void => {
      if (child) visit(child, node, inner);
    };
    switch (type) {
      case "Identifier": {
        const name = node.name ?? "";
        const value = reads.get(name);
        if (value === undefined || scope.has(name)) return;
        const isCalled = parent?.callee === node || parent?.tag === node;
        text.update(
          node.start,
          node.end,
          isCalled && parent.type !== "NewExpression" ? `(0, ${value})` : value,
        );
        return;
      }
      case "BinaryExpression":
      case "LogicalExpression": {
        // Sums of many terms nest to the left.
        let sum = node;
        while (sum.left?.type === type) {
          visit(sum.right!, sum, inner);
          sum = sum.left;
        }
        visit(sum.right!, sum, inner);
        if (sum.left?.type !== "PrivateIdentifier") visit(sum.left!, sum, inner);
        return;
      }
      case "SwitchStatement":
        visit(node.discriminant!, node, scope);
        return node.cases?.forEach(go);
      case "MemberExpression":
        go(node.object);
        if (node.computed) go(node.property);
        return;
      case "Property": {
        if (node.computed) go(node.key);
        const value = node.value as Node;
        const target = value.type === "AssignmentPattern" ? value.left! : value;
        const known = node.shorthand ? reads.get(target.name ?? "") : undefined;
        if (known === undefined || scope.has(target.name ?? "")) return go(value);
        text.update(target.start, target.end, `${target.name}: ${known}`);
        return value === target ? undefined : go(value.right);
      }
      case "MethodDefinition":
      case "PropertyDefinition":
      case "AccessorProperty":
        node.decorators?.forEach(go);
        if (node.computed) go(node.key);
        return go(node.value as Node | null);
      case "LabeledStatement":
        return go(node.body as Node);
      case "BreakStatement":
      case "ContinueStatement":
      case "MetaProperty":
        return;
      case "AwaitExpression":
        wrap(node.argument!, `${own}.guard(`, `, ${place(node)})`);
        return go(node.argument);
      case "ImportExpression": {
        const source = node.source!;
        text.update(node.start, source.start, `${own}.import(`);
        text.update(source.end, node.end, `, ${own}require)`);
        return go(source);
      }
      case "ArrowFunctionExpression":
        if (
          isArgument(node, parent) &&
          [...wordsIn(code.slice(node.start, node.end))].some((each) => words.has(each))
        ) {
          wrap(node, `${own}.written(`, `, ${JSON.stringify(textOf(node))})`);
        }
        break;
      case "ForOfStatement":
        if (node.await) wrap(node.right!, `${own}.guardEach(`, `, ${place(node)})`);
        break;
    }
    if (isLoop.test(type) || hasName(node, parent)) {
      const turn = node.body as Node;
      const tick = `${own}.tick()`;
      if (turn.type === "BlockStatement") text.appendRight(turn.start + 1, `${tick};`);
      else if (isLoop.test(type)) wrap(turn, `{${tick};`, "}");
      else wrap(turn, `(${tick}, `, ")");
    }
    for (const child of childrenOf(node)) go(child);
  };

  /** The text of a function without its types. */
  const textOf = (node: Node): string => {
    const written = code.slice(node.start, node.end);
    if (!hasTypes(node)) return written;
    const { js } = transpile("function.ts", `(${written});`);
    return js.trim().replace(/^\(?([^]*?)\)?;$/, "$1");
  };

  const later: (() => void)[] = [];
  // Imports first: what stands above them reads them too.
  const isImport = ({ type }: Node) => /^(ImportDeclaration|TSImportEquals)/.test(type);
  const last = body.findLast(({ type }) => !type.startsWith("Export"));
  if (isCell && last?.type === "ExpressionStatement") wrap(last.expression!, `${own}.last((`, "))");
  body.filter(isImport).forEach(visitStatement);
  body.filter((statement) => !isImport(statement)).forEach(visitStatement);
  for (const add of later) add();
  const runtime = own === runtimeName ? "" : `const ${own} = globalThis.${runtimeName};`;
  const head = `${runtime}const ${own}require = require;${modules.join("")}`;
  return { text, own, head, stars, hasUsing, read, exports };
}

/** A position in a text; lines and characters (UTF-16) count from 0. */
export function positionOf(text: string, offset: number): { line: number; character: number } {
  const above = text.slice(0, offset).split("\n");
  return { line: above.length - 1, character: above.at(-1)!.length };
}

/** The words of a code: the names in it, and others. */
export function wordsIn(code: string): ReadonlySet<string> {
  return new Set(code.match(/[\p{ID_Continue}$\u200c\u200d]+/gu));
}

const isLoop = /^(For|ForIn|ForOf|While|DoWhile)Statement$/;

/**
 * True for a function with a name: functions that call each other may go on without a loop, or with a microtask
 * for each turn. A function that is the value of a property keeps its text: Arquero reads it.
 */
function hasName(node: Node, parent: Node | undefined): boolean {
  if (!/Function(Declaration|Expression)$/.test(node.type) || !node.body) return false;
  if (parent?.type === "Property" && !parent.method && parent.kind === "init") return false;
  return (node.id ?? parent?.id ?? parent?.key ?? parent?.left)?.name !== undefined;
}

/** Nodes of TypeScript that hold values. */
const VALUES_IN_TYPESCRIPT = new Set(
  "TSAsExpression TSSatisfiesExpression TSNonNullExpression TSTypeAssertion TSInstantiationExpression TSEnumDeclaration TSEnumBody TSEnumMember TSModuleDeclaration TSModuleBlock TSParameterProperty TSImportEqualsDeclaration".split(
    " ",
  ),
);

function* childrenOf(node: Node): Generator<Node> {
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

function hasTypes(node: Node): boolean {
  return node.type.startsWith("TS") || [...childrenOf(node)].some(hasTypes);
}

/** True for an argument of a call, and for a value in an object or a list. */
function isArgument(node: Node, parent: Node | undefined): boolean {
  return (
    (parent?.type === "CallExpression" && parent.callee !== node) ||
    parent?.type === "Property" ||
    parent?.type === "ArrayExpression"
  );
}

/** The names that a node declares for what is within it. */
function declaredBy(node: Node): string[] {
  const own =
    node.type.endsWith("Expression") && node.id?.type === "Identifier" ? boundIn(node.id) : [];
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return [
        ...own,
        ...(node.params ?? []).flatMap(boundIn),
        ...(node.body ? varsIn(node.body as Node) : []),
      ];
    case "ClassExpression":
      return own;
    case "BlockStatement":
    case "StaticBlock":
    case "TSModuleBlock":
      return [...namesIn(node.body as readonly Node[]).keys()];
    case "SwitchStatement":
      return (node.cases ?? []).flatMap(({ consequent }) => [
        ...namesIn(consequent as readonly Node[]).keys(),
      ]);
    case "ForStatement":
      return node.init?.type === "VariableDeclaration" ? [...namesIn([node.init]).keys()] : [];
    case "ForInStatement":
    case "ForOfStatement":
      return node.left?.type === "VariableDeclaration" ? [...namesIn([node.left]).keys()] : [];
    case "CatchClause":
      return boundIn(node.param);
    default:
      return [];
  }
}

/** The names that `var` declares anywhere in a function. */
function varsIn(node: Node): string[] {
  if (node.type.startsWith("TS") || /^(Function|Arrow|Class)/.test(node.type)) return [];
  const own =
    node.type === "VariableDeclaration" && node.kind === "var" ? [...namesIn([node]).keys()] : [];
  return [...own, ...[...childrenOf(node)].flatMap(varsIn)];
}
