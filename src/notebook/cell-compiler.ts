import type {
  CompletionInfo,
  Converter,
  ConvertResult,
  Diagnostic,
  SideOutput,
} from "tslab/dist/converter.js";
import type { ConverterSet } from "tslab/dist/executor.js";
import { runtimeName } from "./cell-transform.js";
import {
  declarationsAfterFailure,
  namesToSet,
  withoutInitialisation,
} from "./cell-declarations.js";
import { declaredNames, namesIn } from "./cell-names.js";
import type { CellScripts } from "./cell-scripts.js";
import type { TslabParts } from "./tslab-parts.js";
import type { NamedCode } from "./worker-messages.js";

/** TypeScript's "Cannot find module …". */
const moduleNotFound = 2307;

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
  #checkedFiles: SideOutput[] = [];

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

  /** True for a cell that tslab keeps as a module for later cells: with `@module name` in its comment. */
  isModule(code: string): boolean {
    return this.#parts.metadata.getCodeMetadata(code).module !== undefined;
  }

  /** Compiles a cell; nothing of it runs. */
  prepare(name: string, code: string): CompiledCell {
    const converted = this.#convert(name, code, this.#declarations);
    const output = converted.output ?? "";
    const sideOutputs = [...this.#checkedFiles, ...(converted.sideOutputs ?? [])];
    this.#checkedFiles = [];
    this.#declarationsAfter = converted.declOutput ?? "";
    this.#prepared = {
      ...converted,
      sideOutputs,
      hasToplevelAwait: true,
      output: wrap(name, output),
    };
    return {
      diagnostics: converted.diagnostics,
      code: [output, ...sideOutputs.map((side) => side.data)].join("\n"),
      namesToSet: namesToSet(output),
    };
  }

  /**
   * The objections to `cells`, each as if those before it had run. A cell that uses what an objectionable
   * one declares is passed over. It ends at a cell that can't be judged yet: a module that isn't there may
   * be made by an earlier cell.
   */
  check(
    cells: readonly NamedCode[],
  ): { index: number; name: string; diagnostics: readonly Diagnostic[] }[] {
    const found: { index: number; name: string; diagnostics: readonly Diagnostic[] }[] = [];
    const unknown = new Set<string>();
    let declarations = this.#declarations;
    for (const [index, { name, code }] of cells.entries()) {
      if (this.isModule(code)) break;
      if (unknown.size > 0 && namesIn(code).some((each) => unknown.has(each))) {
        for (const each of declaredNames(code)) unknown.add(each);
        continue;
      }
      const { diagnostics, declOutput, sideOutputs } = this.#convert(name, code, declarations);
      if (diagnostics.some((one) => one.code === moduleNotFound)) break;
      if (diagnostics.length > 0) {
        found.push({ index, name, diagnostics });
        for (const each of declaredNames(code)) unknown.add(each);
        continue;
      }
      // tslab gives the files that cells import once: they are kept for the cell that runs next.
      this.#checkedFiles.push(...(sideOutputs ?? []));
      declarations = declOutput ?? "";
    }
    return found;
  }

  #convert(name: string, code: string, declarations: string): ConvertResult {
    const { typescript } = this.#parts;
    typescript.label = name;
    typescript.maps.clear();
    const converted = this.#converter.convert(declarations, code);
    const output = converted.output ?? "";
    this.#scripts.addCell(name, code, output, typescript.maps.get(output));
    for (const side of converted.sideOutputs ?? []) {
      const map = typescript.maps.get(side.data);
      if (map) this.#scripts.addFile(side.path, map);
    }
    return converted;
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
