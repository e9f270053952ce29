import { createRequire } from "node:module";
import { parseSync } from "oxc-parser";
import { transformSync, type HelperMode } from "oxc-transform";
import { EditedText, positionOf } from "./edited-text.js";
import { boundIn, childrenOf, namesIn, type Node, type Parsed } from "./parse.js";

/** The global that compiled cells call into. */
export const runtimeName = "__probelab__";

/** A script whose second line begins with `edited`, the JavaScript of a text, which `map` leads back to. */
export interface Compiled {
  readonly script: string;
  readonly edited: EditedText;
  /** The source map, JSON; undefined where the text is JavaScript itself. */
  readonly map: string | undefined;
}

/**
 * Compiles a cell to a script that hands its code to the session. Its names go to later cells through
 * getters and setters; names of earlier cells are read from what all cells share. It needs no types, so it takes
 * a millisecond; an import that is only a type is undefined at run time.
 *
 * @param name of the script, for the places of awaits
 * @param used names of earlier cells
 */
export function compileCell(name: string, cell: Parsed, used: readonly string[]): Compiled {
  const { helpers, map, ...stripped } = strip("cell.ts", cell.code);
  const { text, prefix, head, read } = edit(name, stripped, used, cell);
  const values = [...cell.names.values()].filter(({ isValue }) => isValue);
  const accessors = (isImported: boolean) =>
    values
      .filter(({ name: each }) => (read(each) !== each) === isImported)
      .map(({ name: each, kind }) => accessor(each, read(each), kind === "let" && prefix))
      .join(", ");
  const edited = text.finish(`${prefix}declare({ ${accessors(false)} });`);
  // Getters of imports stand outside of the block, and hold none of its variables.
  const above = `const ${prefix}names = exports; ${head}${prefix}declare({ ${accessors(true)} }, true);${helpers}`;
  return {
    script: `${runtimeName}.begin(async (exports, require, ${prefix}declare) => { "use strict"; ${above} {\n${edited.js}\n}});`,
    edited,
    map,
  };
}

/** Compiles a file beside the notebook to CommonJS. @param name of the script, for the places of awaits */
export function compileFile(name: string, path: string, file: Parsed): Compiled {
  const isJavaScript = path.endsWith(".js");
  const { helpers, map, ...stripped } = isJavaScript
    ? { code: file.code, body: file.body, helpers: "", map: undefined }
    : strip(path, file.code);
  const { text, head, stars, exports } = edit(name, stripped, [], undefined, file.typeImports);
  const isModule = file.body.some(({ type }) => /^(Import|Export|TSExport|TSImportEq)/.test(type));
  const getters = exports.map(([each, value]) => accessor(JSON.stringify(each), value));
  const above = isModule
    ? `"use strict"; globalThis.${runtimeName}.exports(exports, { ${getters.join(", ")} });`
    : "";
  const edited = text.finish(stars);
  return { script: `${above}${helpers}${head}\n${edited.js}`, edited, map };
}

function accessor(name: string, read: string, prefix?: string | false): string {
  return `get ${name}() { return ${read}; }${prefix ? `, set ${name}(${prefix}value) { ${name} = ${prefix}value; }` : ""}`;
}

/** Removes the types, and turns what Node 20 doesn't run into what it does. */
function strip(file: string, text: string) {
  const { code, map, errors, helpersUsed } = transformSync(file, text, {
    lang: file.endsWith("x") ? "tsx" : "ts",
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
  const { program } = parseSync("stripped.js", code, { sourceType: "module" });
  const body = program.body as unknown as readonly Node[];
  return { code, body, helpers, map: JSON.stringify(map) };
}

/** A helper that transpiled code calls. */
export function helper(path: string): unknown {
  const loaded = createRequire(import.meta.url)(path) as { default?: unknown };
  return loaded.default ?? loaded;
}

/** The names that are declared around a part of the text, within the cell or file. */
type Scope = ReadonlySet<string>;

interface Edited {
  readonly text: EditedText;
  /** What all inserted names begin with; by itself it is the runtime. */
  readonly prefix: string;
  /** Declarations that stand above the text: the modules that it imports. */
  readonly head: string;
  /** What is exported from other modules as a whole. */
  readonly stars: string;
  /** What reads a name of the text. */
  readonly read: (name: string) => string;
  /** The names that a file exports, and what reads them. */
  readonly exports: readonly (readonly [name: string, read: string])[];
}

/**
 * Edits the JavaScript of a cell or a file. Awaits become stoppable: `await x` is `await __probelab__.guard(x, "cell-3:12:7")`,
 * `for await (… of x)` goes through `guardEach`, every turn of a loop and every function with a name begins
 * with `tick()`, and `import(x)` finds the notebook's packages. Imports become calls of `require`, and what is imported
 * is read from the module each time. The value of a cell's last expression goes to `last`.
 */
function edit(
  script: string,
  { code, body }: Pick<Parsed, "code" | "body">,
  used: readonly string[],
  cell: Parsed | undefined,
  typeImports = cell!.typeImports,
): Edited {
  const text = new EditedText(code);
  const prefix = unusedPrefix(code);
  const reads = new Map(used.map((each) => [each, `${prefix}names.${each}`]));
  const modules: string[] = [];
  const exports: (readonly [string, string])[] = [];
  let stars = "";

  const read = (name: string) => reads.get(name) ?? name;
  const wrap = ({ start, end }: Node, before: string, after: string) =>
    text.wrap(start, end, before, after);
  const place = ({ start }: Node) => {
    const { line, character } = positionOf(code, start);
    return JSON.stringify(`${script}:${line + 1}:${character + 1}`);
  };
  /** A variable that holds a module. */
  const load = (source: Node): string => {
    const name = `${prefix}module${modules.length}`;
    modules.push(`const ${name} = require(${JSON.stringify(source.value)});`);
    return name;
  };
  const whole = (module: string): string => {
    modules.push(`const ${module}d = ${prefix}.module(${module});`);
    return `${module}d`;
  };
  const nameOf = (node: Node | null | undefined): string => node?.name ?? (node?.value as string);
  const member = (of: string, name: string) =>
    /^[\w$]+$/.test(name) ? `${of}.${name}` : `${of}[${JSON.stringify(name)}]`;

  const isExport = ({ type }: Node) => /^(TS)?Export/.test(type);
  const isExpression = ({ type }: Node) => type === "ExpressionStatement";
  if (cell?.body.findLast((each) => !isExport(each))?.type === "ExpressionStatement") {
    // A cell with `using` is within a `try`.
    const last = body.findLast((each) => !isExport(each));
    const statements = last?.type === "TryStatement" ? (last.block?.body as readonly Node[]) : body;
    wrap(statements.findLast(isExpression)!.expression!, `${prefix}.last((`, "))");
  }
  // Imports first: what stands above them reads them too.
  const isImport = ({ type }: Node) => type === "ImportDeclaration";
  body.filter(isImport).forEach(visitStatement);
  body.filter((statement) => !isImport(statement)).forEach(visitStatement);
  const runtime = prefix === runtimeName ? "" : `const ${prefix} = globalThis.${runtimeName};`;
  const head = `${runtime}const ${prefix}require = require;${modules.join("")}`;
  return { text, prefix, head, stars, read, exports };

  function visitStatement(statement: Node): void {
    const { start, end, type, specifiers = [], source, declaration } = statement;
    switch (type) {
      case "ImportDeclaration": {
        text.replace(start, end);
        if (typeImports.has(source!.value as string)) return;
        const module = load(source!);
        const isWhole = specifiers.some(
          (each) => each.type !== "ImportSpecifier" || nameOf(each.imported) === "default",
        );
        const all = isWhole ? whole(module) : module;
        for (const each of specifiers) {
          const from = each.type === "ImportDefaultSpecifier" ? "default" : nameOf(each.imported);
          const isNamespace = each.type === "ImportNamespaceSpecifier";
          reads.set(nameOf(each.local), isNamespace ? all : member(all, from));
        }
        return;
      }
      case "ExportAllDeclaration": {
        text.replace(start, end);
        if (cell) return;
        const module = load(source!);
        if (statement.exported) exports.push([nameOf(statement.exported), whole(module)]);
        else stars += `${prefix}.star(exports, ${module});`;
        return;
      }
      case "ExportNamedDeclaration": {
        if (declaration) {
          text.replace(start, declaration.start);
          for (const name of namesIn([declaration]).keys()) exports.push([name, name]);
          return visit(declaration, undefined, new Set());
        }
        text.replace(start, end);
        if (cell) return;
        const module = source ? load(source) : undefined;
        for (const each of specifiers) {
          const local = nameOf(each.local);
          exports.push([nameOf(each.exported), module ? member(module, local) : read(local)]);
        }
        return;
      }
      case "ExportDefaultDeclaration": {
        const name = declaration?.id?.name;
        const inserted = name === undefined ? `const ${prefix}default = ` : "";
        text.replace(start, declaration!.start, inserted);
        exports.push(["default", name ?? `${prefix}default`]);
        return visit(declaration!, undefined, new Set());
      }
    }
    visit(statement, undefined, new Set());
  }

  function visit(node: Node, parent: Node | undefined, scope: Scope): void {
    const { type } = node;
    if (node.decorators?.length) {
      const remedy = "declare the class in a cell or a TypeScript file without `using`";
      throw new SyntaxError(`a decorator stands beside \`using\`, or in JavaScript: ${remedy}`);
    }
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
        text.replace(
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
        text.replace(target.start, target.end, `${target.name}: ${known}`);
        return value === target ? undefined : go(value.right);
      }
      case "MethodDefinition":
      case "PropertyDefinition":
        if (node.computed) go(node.key);
        return go(node.value as Node | null);
      case "LabeledStatement":
        return go(node.body as Node);
      case "BreakStatement":
      case "ContinueStatement":
      case "MetaProperty":
        return;
      case "AwaitExpression":
        wrap(node.argument!, `${prefix}.guard(`, `, ${place(node)})`);
        return go(node.argument);
      case "ImportExpression": {
        const source = node.source!;
        text.replace(node.start, source.start, `${prefix}.import(`);
        text.replace(source.end, node.end, `, ${prefix}require)`);
        return go(source);
      }
      case "ForOfStatement":
        if (node.await) wrap(node.right!, `${prefix}.guardEach(`, `, ${place(node)})`);
        break;
    }
    if (isLoop.test(type) || hasName(node, parent)) {
      const turn = node.body as Node;
      const tick = `${prefix}.tick()`;
      if (turn.type === "BlockStatement") text.wrap(turn.start + 1, turn.end, `${tick};`, "");
      else if (isLoop.test(type)) wrap(turn, `{${tick};`, "}");
      else wrap(turn, `(${tick}, `, ")");
    }
    for (const child of childrenOf(node)) go(child);
  }
}

/** A prefix that no name in the code has. */
function unusedPrefix(code: string): string {
  let prefix = runtimeName;
  while (code.includes(prefix)) prefix += "_";
  return prefix;
}

const isLoop = /^(For|ForIn|ForOf|While|DoWhile)Statement$/;

/**
 * True for a function with a name: functions that call each other may go on without a loop, or with a microtask
 * for each turn.
 */
function hasName(node: Node, parent: Node | undefined): boolean {
  if (!/Function(Declaration|Expression)$/.test(node.type)) return false;
  return (node.id ?? parent?.id ?? parent?.key ?? parent?.left)?.name !== undefined;
}

/** The names that a node declares for what is within it. */
function declaredBy(node: Node): string[] {
  const itself =
    node.type.endsWith("Expression") && node.id?.type === "Identifier" ? boundIn(node.id) : [];
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return [...itself, ...(node.params ?? []).flatMap(boundIn), ...varsIn(node.body as Node)];
    case "ClassExpression":
      return itself;
    case "BlockStatement":
    case "StaticBlock":
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
  if (/^(Function|Arrow|Class)/.test(node.type)) return [];
  const here =
    node.type === "VariableDeclaration" && node.kind === "var" ? [...namesIn([node]).keys()] : [];
  return [...here, ...[...childrenOf(node)].flatMap(varsIn)];
}
