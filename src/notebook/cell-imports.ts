import { createRequire, isBuiltin, Module } from "node:module";
import { dirname, join } from "node:path";
import type { Load } from "./cell-runtime.js";
import { ownPackage } from "./own-package.js";
import * as tslab from "./tslab.js";

const required = /\brequire\("([^"\\]+)"\)/g;

/**
 * Loads what cells import: packages by a real `import`, because `require` refuses top-level await, and the
 * files beside the notebook as TypeScript compiled them.
 */
export class CellImports {
  readonly #require: NodeJS.Require;
  readonly #import: (specifier: string) => Promise<unknown>;
  readonly #loaded = new Map<string, unknown>();
  readonly #files = new Map<string, { code: string; module?: Module }>();
  /** `require` of the cells. */
  readonly require: Load;

  /** @param folder the notebook's folder, which imports are resolved from */
  constructor(folder: string) {
    const filename = join(folder, "cell.js");
    this.#require = createRequire(filename);
    this.#import = importerIn(filename);
    this.require = this.#wrap(this.#require, folder);
  }

  /** Sets the compiled code of a file, which runs when it is imported next. */
  setFile(path: string, code: string): void {
    this.#files.set(path, { code });
  }

  /** Loads the packages that a cell and its files require, before their code runs. */
  async preload(cell: string): Promise<void> {
    const code = [cell, ...[...this.#files.values()].map((file) => (file.module ? "" : file.code))];
    for (const [, specifier = ""] of code.join("\n").matchAll(required)) {
      if (isPackage(specifier) && !this.#loaded.has(specifier)) {
        const namespace = await this.load(specifier);
        this.#loaded.set(specifier, forRequire(this.#commonJs(specifier, namespace)));
      }
    }
  }

  /** A `require` that finds what was preloaded and compiled. */
  #wrap(require: NodeJS.Require, folder: string): NodeJS.Require {
    return new Proxy(require, {
      apply: (target, self, args: [string]) => {
        const [specifier] = args;
        if (specifier === "tslab") return tslab;
        if (this.#loaded.has(specifier)) return this.#loaded.get(specifier);
        const path = join(folder, specifier).replaceAll("\\", "/");
        const file = [path, `${path}.js`, `${path}/index.js`].find((name) => this.#files.has(name));
        if (file !== undefined && specifier.startsWith("."))
          return this.#run(file).exports as unknown;
        return Reflect.apply(target, self, args) as unknown;
      },
    });
  }

  #run(path: string): Module {
    const file = this.#files.get(path);
    if (!file) throw new Error(`${path} was not compiled`);
    if (file.module) return file.module;
    const module = compilable(path);
    module.require = this.#wrap(createRequire(path), dirname(path));
    file.module = module;
    try {
      module._compile(file.code, path);
    } catch (error) {
      delete file.module;
      throw error;
    }
    return module;
  }

  /** The result of `import(specifier)` in a cell. @param require the cell's, which finds its own files */
  async importModule(specifier: string, require: Load): Promise<unknown> {
    if (isPackage(specifier) || isBuiltin(specifier)) return this.load(specifier);
    const exports = require(specifier);
    const isModule = (exports as { __esModule?: boolean }).__esModule;
    return isModule ? exports : { default: exports, ...(exports as object) };
  }

  /** The namespace of a package. */
  async load(specifier: string): Promise<unknown> {
    try {
      return await this.#import(specifier);
    } catch (error) {
      const own = ownPackage();
      if (specifier === own.name && isNotFound(error)) return import(own.containingFile);
      throw error;
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

/** True for a package's name; false for a file beside the notebook, for Node's own modules, and for tslab. */
function isPackage(specifier: string): boolean {
  return !/^(\.{0,2}\/|\.{1,2}$)/.test(specifier) && !isBuiltin(specifier) && specifier !== "tslab";
}

/** The `import()` of a module at `filename`, which need not exist. */
function importerIn(filename: string): (specifier: string) => Promise<unknown> {
  const module = compilable(filename);
  module._compile("module.exports = (specifier) => import(specifier);", filename);
  return module.exports as (specifier: string) => Promise<unknown>;
}

/** An empty CommonJS module, to be filled with code as Node's own loader does. */
function compilable(filename: string): Module & { _compile(code: string, filename: string): void } {
  const module = new Module(filename);
  module.filename = filename;
  return module as Module & { _compile(code: string, filename: string): void };
}

function isNotFound(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
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
