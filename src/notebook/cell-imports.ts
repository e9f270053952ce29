import { createRequire, isBuiltin, Module } from "node:module";
import { join } from "node:path";
import { ownPackage } from "./own-package.js";

type Load = (specifier: string) => unknown;

const required = /\brequire\("([^"\\]+)"\)/g;

/** Loads the packages of cells: by a real `import`, because `require` refuses top-level await. */
export class CellImports {
  readonly #require: NodeJS.Require;
  readonly #import: (specifier: string) => Promise<unknown>;
  readonly #loaded = new Map<string, unknown>();

  /** @param folder the notebook's folder, which imports are resolved from */
  constructor(folder: string) {
    const filename = join(folder, "cell.js");
    this.#require = createRequire(filename);
    this.#import = importerIn(filename);
  }

  /** Loads what compiled code requires, so that `wrap`ped `require` has it at hand. */
  async preload(code: string): Promise<void> {
    for (const [, specifier = ""] of code.matchAll(required)) {
      if (isPackage(specifier) && !this.#loaded.has(specifier)) {
        const namespace = await this.load(specifier);
        this.#loaded.set(specifier, forRequire(this.#commonJs(specifier, namespace)));
      }
    }
  }

  /** `require` that knows what was preloaded. */
  wrap(require: NodeJS.Require): NodeJS.Require {
    return new Proxy(require, {
      apply: (target, self, args: [string]) =>
        this.#loaded.has(args[0])
          ? this.#loaded.get(args[0])
          : (Reflect.apply(target, self, args) as unknown),
    });
  }

  /** What `import(specifier)` in a cell gives; `require` is that of the cell, which knows its own files. */
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

  /** The exports of a CommonJS module as they are: names that Node could not foresee are missing in its namespace. */
  #commonJs(specifier: string, namespace: unknown): unknown {
    try {
      const exports: unknown = this.#require.cache[this.#require.resolve(specifier)]?.exports;
      return exports !== undefined && exports === (namespace as { default?: unknown }).default
        ? exports
        : namespace;
    } catch {
      return namespace; // Has no form that can be required.
    }
  }
}

/** True for a package's name; false for a file beside the notebook, for Node's own modules, and for tslab. */
function isPackage(specifier: string): boolean {
  return !/^(\.{0,2}\/|\.{1,2}$)/.test(specifier) && !isBuiltin(specifier) && specifier !== "tslab";
}

/** `import()` as a module at `filename` does it; there need not be such a file. */
function importerIn(filename: string): (specifier: string) => Promise<unknown> {
  const module = new Module(filename) as Module & {
    _compile(code: string, filename: string): void;
  };
  module._compile("module.exports = (specifier) => import(specifier);", filename);
  return module.exports as (specifier: string) => Promise<unknown>;
}

function isNotFound(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
}

/** Marks the namespace of an ES module as one for compiled code, which else wraps it once more. */
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
