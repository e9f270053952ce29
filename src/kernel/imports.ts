import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire, isBuiltin, Module } from "node:module";
import { dirname, join } from "node:path";
import { ProbelabError } from "../base/error.js";
import type { Require } from "./run.js";
import { compileFile } from "./compile.js";
import { ownPackage } from "./kernelspec.js";
import { parse } from "./parse.js";
import type { CellScripts } from "./scripts.js";
import * as tslab from "./tslab.js";

/** A source file beside the notebook, as compiled; its module once it has run. */
interface SourceModule {
  readonly modified: number;
  readonly code: string;
  readonly imports: readonly string[];
  module?: Module;
}

/**
 * Loads what cells import: packages by a real `import`, because `require` refuses top-level await, and source
 * files beside the notebook, compiled anew when they have changed.
 */
export class CellImports {
  readonly #folder: string;
  readonly #scripts: CellScripts;
  readonly #require: NodeJS.Require;
  readonly #import: (specifier: string) => Promise<unknown>;
  readonly #packages = new Map<string, unknown>();
  readonly #sources = new Map<string, SourceModule>();
  /** `require` of the cells. */
  readonly require: Require;

  /** @param folder the notebook's folder, which imports are resolved from */
  constructor(folder: string, scripts: CellScripts) {
    const filename = join(folder, "cell.js");
    this.#folder = folder;
    this.#scripts = scripts;
    this.#require = createRequire(filename);
    const module = newModule(filename);
    module._compile("module.exports = (specifier) => import(specifier);", filename);
    this.#import = module.exports as (specifier: string) => Promise<unknown>;
    this.require = this.#requireIn(folder, this.#require);
  }

  /** Loads the packages that a cell imports, and those of the files that it imports. */
  async preload(imports: readonly string[], folder = this.#folder): Promise<void> {
    for (const specifier of imports) {
      const path = sourceOf(specifier, folder);
      if (path !== undefined) {
        const source = this.#compiled(path);
        if (!source.module) await this.preload(source.imports, dirname(path));
      } else if (isPackage(specifier) && !this.#packages.has(specifier)) {
        const namespace = await this.#load(specifier);
        this.#packages.set(specifier, forRequire(this.#commonJs(specifier, namespace)));
      }
    }
  }

  /** The result of `import(specifier)` in a cell. @param require the cell's, which finds its own files */
  async importModule(specifier: string, require: Require): Promise<unknown> {
    if (isPackage(specifier) || isBuiltin(specifier)) return this.#load(specifier);
    const exports = require(specifier);
    const isModule = (exports as { __esModule?: boolean }).__esModule;
    return isModule ? exports : { default: exports, ...(exports as object) };
  }

  /** A `require` that finds what was preloaded and compiled. */
  #requireIn(folder: string, require: NodeJS.Require): NodeJS.Require {
    return new Proxy(require, {
      apply: (target, self, args: [string]) => {
        const [specifier] = args;
        if (specifier === "tslab") return tslab;
        if (this.#packages.has(specifier)) return this.#packages.get(specifier);
        const path = sourceOf(specifier, folder);
        if (path !== undefined) return this.#run(path).exports as unknown;
        return Reflect.apply(target, self, args) as unknown;
      },
    });
  }

  #compiled(path: string): SourceModule {
    const modified = statSync(path).mtimeMs;
    const known = this.#sources.get(path);
    if (known?.modified === modified) return known;
    const parsed = parse(path, readFileSync(path, "utf8"));
    const compiled = compileFile(compiledName(path), path, parsed);
    const source = { modified, code: compiled.script, imports: parsed.imports };
    this.#scripts.addFile(compiledName(path), path, compiled);
    this.#sources.set(path, source);
    return source;
  }

  #run(path: string): Module {
    const source = this.#sources.get(path) ?? this.#compiled(path);
    if (source.module) return source.module;
    const name = compiledName(path);
    const module = newModule(name);
    module.require = this.#requireIn(dirname(path), createRequire(path));
    source.module = module;
    try {
      module._compile(source.code, name);
    } catch (error) {
      delete source.module;
      throw error;
    }
    return module;
  }

  /** The namespace of a package. */
  async #load(specifier: string): Promise<unknown> {
    try {
      return await this.#import(specifier);
    } catch (error) {
      const own = ownPackage();
      const isMissing = (error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
      if (specifier === own.name && isMissing) return import(own.containingFile);
      if (!isMissing) throw error;
      throw new ProbelabError(
        `Can't import ${JSON.stringify(specifier)}: ${(error as Error).message.split("\n")[0]}. Install it in the notebook's folder; where only its types are needed, write import type.`,
        { cause: error },
      );
    }
  }

  /** The exports of a CommonJS module: its namespace lacks the names that Node couldn't find in the source. */
  #commonJs(specifier: string, namespace: unknown): unknown {
    try {
      const exports: unknown = this.#require.cache[this.#require.resolve(specifier)]?.exports;
      return exports !== undefined && exports === (namespace as { default?: unknown }).default
        ? exports
        : namespace;
    } catch {
      return namespace; // It can't be required.
    }
  }
}

/** True for a file beside the notebook. */
export function isRelative(specifier: string): boolean {
  return /^(\.{0,2}\/|\.{1,2}$)/.test(specifier);
}

/** True for a package's name; false for a file beside the notebook, for Node's own modules, and for tslab. */
function isPackage(specifier: string): boolean {
  return !isRelative(specifier) && !isBuiltin(specifier) && specifier !== "tslab";
}

/** The source file that a specifier such as `./helper` names, as TypeScript finds it. */
export function sourceOf(specifier: string, folder: string): string | undefined {
  if (!isRelative(specifier)) return undefined;
  const path = join(folder, specifier);
  const base = path.replace(/\.[cm]?jsx?$/, "");
  const ends = [".ts", ".tsx", ".mts", ".cts", "/index.ts"];
  // JavaScript too, but for what is declared beside it.
  if (!existsSync(`${base}.d.ts`)) ends.push(".js");
  return [path, ...ends.map((end) => base + end)].find(
    (name) => /\.([cm]?tsx?|js)$/.test(name) && isFile(name),
  );
}

/** The declarations beside a JavaScript file, or a JSON file, which are only for TypeScript. */
export function declarationOf(specifier: string, folder: string): string | undefined {
  const path = join(folder, specifier);
  const names = [`${path.replace(/\.[cm]?jsx?$/, "")}.d.ts`, path];
  return names.find((name) => /\.d\.ts$|\.json$/.test(name) && isFile(name));
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

function compiledName(path: string): string {
  return path.replace(/\.([cm]?)tsx?$/, ".$1js");
}

/** A new CommonJS module, empty, for `_compile` to fill as Node's own loader does. */
function newModule(filename: string): Module & { _compile(code: string, filename: string): void } {
  const module = new Module(filename);
  module.filename = filename;
  return module as Module & { _compile(code: string, filename: string): void };
}

/** A copy of an ES module's namespace with `__esModule`, without which compiled code wraps it once more. */
function forRequire(exports: unknown): unknown {
  if (Object.prototype.toString.call(exports) !== "[object Module]") return exports;
  const copy = Object.create(null, { __esModule: { value: true } }) as object;
  for (const name of Object.keys(exports as object)) {
    Object.defineProperty(copy, name, {
      enumerable: true,
      get: () => (exports as Record<string, unknown>)[name],
    });
  }
  return copy;
}
