import { createRequire, Module } from "node:module";
import { dirname, join } from "node:path";
import type { Converter } from "tslab/dist/converter.js";
import type { ConsoleInterface, ConverterSet, Executor } from "tslab/dist/executor.js";
import { typescriptForCells, type TypeScriptForCells } from "./typescript-for-cells.js";

/** The parts of tslab that this kernel is built from, unmodified. */
export interface TslabParts {
  typescript: TypeScriptForCells;
  converter: {
    createConverter(options?: { isJS?: boolean; isBrowser?: boolean }): Converter;
    isCompleteCode(code: string): { completed: boolean; indent?: string };
  };
  executor: {
    createExecutor(root: string, converters: ConverterSet, console: ConsoleInterface): Executor;
  };
  metadata: { getCodeMetadata(code: string): { module?: string } };
  jupyter: {
    lastWriteDisplayData: TslabDisplay | null;
  };
}

/** What `tslab.display` calls: data by MIME type, metadata, and an id where the output is updated later. */
export type TslabDisplay = (
  message: {
    data: Record<string, unknown>;
    metadata: Record<string, unknown>;
    transient?: { display_id?: string };
  },
  update?: boolean,
) => void;

let parts: TslabParts | undefined;

/** Loads tslab's parts once per process, with TypeScript 5.9 in the place of its fork of 5.0. */
export function tslabParts(): TslabParts {
  if (parts) return parts;
  const require = createRequire(import.meta.url);
  const dist = join(dirname(require.resolve("tslab/package.json")), "dist");
  const typescript = typescriptForCells();
  replaceModule(
    createRequire(join(dist, "converter.js")).resolve("@tslab/typescript-for-tslab"),
    typescript.module,
  );
  const load = (name: string): unknown => require(join(dist, name));
  parts = {
    typescript,
    converter: load("converter.js") as TslabParts["converter"],
    executor: load("executor.js") as TslabParts["executor"],
    metadata: load("metadata.js") as TslabParts["metadata"],
    jupyter: load("jupyter.js") as TslabParts["jupyter"],
  };
  return parts;
}

function replaceModule(filename: string, exports: object): void {
  const module = new Module(filename);
  module.filename = filename;
  module.loaded = true;
  module.exports = exports;
  createRequire(import.meta.url).cache[filename] = module;
}
