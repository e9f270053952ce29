import type {
  CompletionInfo,
  Converter,
  ConvertResult,
  Diagnostic,
  SideOutput,
} from "tslab/dist/converter.js";
import type { ConverterSet } from "tslab/dist/executor.js";
import { ProbelabError } from "../base/error.js";
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

/** A module of tslab's, in memory, whose name no cell has. */
const columnTypesModule = "__probelab_columns__";

/** What stands against running a cell: TypeScript's diagnostics, or why it can't be compiled at all. */
export type CellObjection = readonly Diagnostic[] | ProbelabError;

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
  readonly #modules = new Map<string, () => void>();
  /** The files beside the notebook that the executor has, as they were compiled. */
  readonly #filesGiven = new Map<string, string>();
  #converter: Converter;
  readonly #scripts: CellScripts;
  #declarations = "";
  #prepared: ConvertResult | undefined;
  #declarationsAfter = "";
  #checkedFiles: SideOutput[] = [];

  constructor(parts: TslabParts, scripts: CellScripts) {
    this.#parts = parts;
    this.#scripts = scripts;
    this.#converter = this.#createConverter();
    const converter: Converter = {
      convert: () => this.#prepared ?? { diagnostics: [] },
      inspect: (_declarations, code, position) =>
        this.#compile("Can't inspect the cell", () =>
          this.#converter.inspect(this.#declarations, code, position),
        ),
      complete: (_declarations, code, position): CompletionInfo =>
        this.#compile("Can't complete the cell", () =>
          this.#converter.complete(this.#declarations, code, position),
        ),
      addModule: (name, code, meta) => {
        const add = () => this.#converter.addModule(name, code, meta);
        const diagnostics = this.#compile(`Can't compile the module ${name}`, add);
        this.#modules.set(name, add);
        return diagnostics;
      },
      close: () => this.#converter.close(),
    };
    this.forExecutor = { node: converter, browser: converter, close: () => converter.close() };
  }

  #createConverter(): Converter {
    return this.#parts.converter.createConverter({ isJS: false, isBrowser: false });
  }

  /**
   * What `work` of the converter gives. Where it throws, because the code is nested more deeply than the
   * stack, TypeScript's watch program and tslab's timer are left half way and would refuse every later cell:
   * a new converter takes their place.
   *
   * @throws ProbelabError where TypeScript or tslab threw
   */
  #compile<T>(action: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#parts.typescript.reset();
      this.#converter.close();
      this.#converter = this.#createConverter();
      for (const add of this.#modules.values()) add();
      throw compileError(action, error);
    }
  }

  /** True for a cell that tslab keeps as a module for later cells: with `@module name` in its comment. */
  isModule(code: string): boolean {
    return this.#parts.metadata.getCodeMetadata(code).module !== undefined;
  }

  /** Compiles a cell; nothing of it runs. @throws ProbelabError where TypeScript can't follow it */
  prepare(name: string, code: string): CompiledCell {
    return this.#compile(`Can't compile ${name.replace("-", " ")}`, () => {
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
    });
  }

  /**
   * The objections to `cells`, each as if those before it had run. A cell that uses what an objectionable
   * one declares is passed over. It ends at a cell that can't be judged yet: a module that isn't there may
   * be made by an earlier cell. It ends as well after one that can't be compiled.
   */
  check(cells: readonly NamedCode[]): { index: number; name: string; objection: CellObjection }[] {
    const found: { index: number; name: string; objection: CellObjection }[] = [];
    const unknown = new Set<string>();
    let declarations = this.#declarations;
    /** False where the cells after this one can't be judged. */
    const judge = ({ name, code }: NamedCode, index: number): boolean => {
      if (unknown.size > 0 && namesIn(code).some((each) => unknown.has(each))) {
        for (const each of declaredNames(code)) unknown.add(each);
        return true;
      }
      const { diagnostics, declOutput, sideOutputs } = this.#convert(name, code, declarations);
      if (diagnostics.some((one) => one.code === moduleNotFound)) return false;
      if (diagnostics.length > 0) {
        found.push({ index, name, objection: diagnostics });
        for (const each of declaredNames(code)) unknown.add(each);
        return true;
      }
      // tslab gives the files that cells import once: they are kept for the cell that runs next.
      this.#checkedFiles.push(...(sideOutputs ?? []));
      declarations = declOutput ?? "";
      return true;
    };
    for (const [index, cell] of cells.entries()) {
      if (this.isModule(cell.code)) break;
      try {
        const action = `Can't compile ${cell.name.replace("-", " ")}`;
        if (!this.#compile(action, () => judge(cell, index))) break;
      } catch (error) {
        if (!(error instanceof ProbelabError)) throw error;
        found.push({ index, name: cell.name, objection: error });
        break;
      }
    }
    return found;
  }

  #convert(name: string, code: string, declarations: string): ConvertResult {
    const { typescript } = this.#parts;
    typescript.label = name;
    typescript.maps.clear();
    typescript.files.tell();
    const converted = this.#converter.convert(declarations, code);
    const output = converted.output ?? "";
    this.#scripts.addCell(name, code, output, typescript.maps.get(output));
    // A new converter gives again what the executor has; it would run it again.
    const sideOutputs = (converted.sideOutputs ?? []).filter(
      (side) => this.#filesGiven.get(side.path) !== side.data,
    );
    for (const side of sideOutputs) {
      this.#filesGiven.set(side.path, side.data);
      const map = typescript.maps.get(side.data);
      if (map) this.#scripts.addFile(side.path, map);
    }
    return { ...converted, sideOutputs };
  }

  /** Makes `types`, the text of a declaration file, known to all cells from now on, in the place of what it was before. */
  setColumnTypes(types: string): void {
    const add = () => this.#converter.addModule(columnTypesModule, types, {});
    const diagnostics = this.#compile("Can't use the types of the tables' columns", add);
    if (diagnostics.length === 0) this.#modules.set(columnTypesModule, add);
    else this.#modules.get(columnTypesModule)?.();
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

function compileError(action: string, cause: unknown): ProbelabError {
  if (cause instanceof RangeError) {
    return new ProbelabError(
      `${action}: it is nested or chained more deeply than TypeScript can follow (some hundred levels). Give parts of it a name, one statement each, or build it in a loop.`,
    );
  }
  const said = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
  return new ProbelabError(
    `${action}: TypeScript itself failed (${said}). Write it in another way, in smaller statements.`,
    { cause },
  );
}
