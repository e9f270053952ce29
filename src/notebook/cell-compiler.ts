import type { CompletionInfo, Converter, ConvertResult, Diagnostic } from "tslab/dist/converter.js";
import type { ConverterSet } from "tslab/dist/executor.js";
import { runtimeName } from "./cell-transform.js";
import {
  declarationsAfterFailure,
  namesToSet,
  withoutInitialisation,
} from "./cell-declarations.js";
import type { CellScripts } from "./cell-scripts.js";
import type { TslabParts } from "./tslab-parts.js";

/** A cell as it will run. */
export interface CompiledCell {
  readonly diagnostics: readonly Diagnostic[];
  /** All code that runs with it, its own files too: what it requires can be read from it. */
  readonly code: string;
  readonly namesToSet: readonly string[];
}

/**
 * tslab's converter with what this kernel adds around it: its executor asks for a conversion and gets the
 * one that was prepared, wrapped so that the cell's code runs in `CellRuntime.run`.
 */
export class CellCompiler {
  /** What tslab's executor takes. */
  readonly forExecutor: ConverterSet;
  readonly #parts: TslabParts;
  readonly #converter: Converter;
  readonly #scripts: CellScripts;
  #declarations = "";
  #prepared: ConvertResult | undefined;
  #declarationsAfter = "";

  constructor(parts: TslabParts, scripts: CellScripts) {
    this.#parts = parts;
    this.#scripts = scripts;
    this.#converter = parts.converter.createConverter({ isJS: false, isBrowser: false });
    const converter: Converter = {
      ...this.#converter,
      convert: () => this.#prepared ?? { diagnostics: [] },
      inspect: (_declarations, code, position) =>
        this.#converter.inspect(this.#declarations, code, position),
      complete: (_declarations, code, position): CompletionInfo =>
        this.#converter.complete(this.#declarations, code, position),
    };
    this.forExecutor = { node: converter, browser: converter, close: () => converter.close() };
  }

  /** Compiles a cell; nothing of it runs. */
  prepare(name: string, code: string): CompiledCell {
    const { typescript } = this.#parts;
    typescript.label = name;
    typescript.maps.clear();
    const converted = this.#converter.convert(this.#declarations, code);
    const output = converted.output ?? "";
    this.#scripts.addCell(name, code, output, typescript.maps.get(output));
    for (const side of converted.sideOutputs ?? []) {
      const map = typescript.maps.get(side.data);
      if (map) this.#scripts.addFile(side.path, map);
    }
    this.#declarationsAfter = converted.declOutput ?? "";
    this.#prepared = { ...converted, hasToplevelAwait: true, output: wrap(name, output) };
    return {
      diagnostics: converted.diagnostics,
      code: [output, ...(converted.sideOutputs ?? []).map((side) => side.data)].join("\n"),
      namesToSet: namesToSet(output),
    };
  }

  /** Takes over what the prepared cell declares; `missing` is what it failed to reach. */
  commit(missing: ReadonlySet<string>): void {
    this.#declarations = declarationsAfterFailure(
      this.#declarations,
      this.#declarationsAfter,
      missing,
    );
  }
}

/** One line above the code, which `CellScripts` counts. */
function wrap(name: string, code: string): string {
  return [
    `return ${runtimeName}.run(async (exports, require) => {`,
    withoutInitialisation(code),
    `}, exports, require);`,
    `//# sourceURL=${name}`,
  ].join("\n");
}
