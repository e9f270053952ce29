import { setTimeout } from "node:timers/promises";
import { runInThisContext } from "node:vm";
import { keepSecretsOf } from "../base/redact.js";
import { collectAfter } from "../base/collect-after.js";
import { withSignal } from "../base/current-signal.js";
import { withProgress } from "../base/query-progress.js";
import { CellCompiler, type CompiledCell, type Completions, type NamedCode } from "./check.js";
import { cellError, TypeFaults } from "./faults.js";
import { CellImports } from "./imports.js";
import {
  asCell,
  InterruptedError,
  installRuntime,
  RunningCell,
  runningCell,
  type CellBody,
} from "./run.js";
import { CellScripts } from "./scripts.js";
import { mimeBundles } from "./show.js";
import {
  captureStream,
  progressLine,
  StreamBatch,
  withSink,
  type CellError,
  type CellOutcome,
  type OutputSink,
} from "./outputs.js";
import { isHeadless } from "./kernelspec.js";
import { callInterruptListeners, setSynchronous } from "./watch-thread.js";

/** Memory that a cell's compilation counts as: V8 collects after some ten cells, not at 300 MB. */
const bytesOfCell = 8_000_000;

/** The global in which `connect()` leaves the column types: the text of a declaration file, or its promise. */
const columnTypes = Symbol.for("probelab.columnTypes");

/** Time that a cell waits for column types; later ones count for the next cell. */
const learningTime = 2000;

/** The type errors of a cell, found before anything ran. `cell` counts the code cells from 1. */
export interface Objection {
  readonly cell: number;
  readonly error: CellError;
  /** TypeScript's messages with their lines, which count from 1. */
  readonly faults: readonly { readonly line: number; readonly text: string }[];
}

/** An error that no cell waited for. `cell` is the name of the one that started it, if known. */
export interface BackgroundError {
  readonly error: CellError;
  readonly cell: string | undefined;
}

/** The cells of one notebook, run one after the other in this process, in its working directory. */
export class CellSession {
  readonly #scripts = new CellScripts();
  readonly #imports = new CellImports(process.cwd(), this.#scripts);
  readonly #compiler = new CellCompiler(process.cwd(), this.#scripts);
  /** The variables that cells share. */
  readonly #exports: Record<string, unknown> = {};
  #cell: RunningCell | undefined;
  /** Cells that have ended: what they started may run on, and then holds them. */
  readonly #earlier = new Set<WeakRef<RunningCell>>();
  #streams: StreamBatch | undefined;
  #columnTypes: unknown;
  /** Rejected Promises and errors that no cell waits for. */
  readonly #background = new Map<object, BackgroundError>();

  /** @param onBackgroundError called for an error that no cell waits for; it no longer ends the process */
  constructor(onBackgroundError?: () => void) {
    this.#compiler.start();
    // A cell may print a password that it never connected with.
    keepSecretsOf(process.env);
    // There may be more than V8's ten calls between a cell's line and the throw in a library.
    Error.stackTraceLimit = 50;
    installRuntime({
      begin: (body) => this.#begin(body),
      import: (specifier, require) => this.#imports.importModule(specifier, require),
      last: (value) => {
        const cell = runningCell();
        if (cell) cell.value = value;
      },
      written: (text) => this.#scripts.written(text),
    });
    captureStream("stdout");
    captureStream("stderr");
    const note = (of: object, reason: unknown, why: string) => {
      const cell = runningCell();
      // An interrupt ended it.
      if (cell?.interrupted === true || reason instanceof InterruptedError) return;
      const { traceback, ...named } = cellError(reason, this.#scripts);
      const error = { ...named, traceback: traceback.toSpliced(1, 0, why) };
      this.#background.set(of, { error, cell: cell?.name });
      onBackgroundError?.();
    };
    process.on("unhandledRejection", (reason, promise) =>
      note(promise, reason, "Nothing waited for it: an await may be missing."),
    );
    process.on("rejectionHandled", (promise) => this.#background.delete(promise));
    process.on("uncaughtException", (error) =>
      note({}, error, "It was thrown in the background, where nothing could catch it."),
    );
  }

  /** The errors in the background since the last call, without rejections that were handled meanwhile. */
  takeBackgroundErrors(): readonly BackgroundError[] {
    const errors = [...this.#background.values()];
    this.#background.clear();
    return errors;
  }

  /**
   * Runs a cell to its end. Its outputs, the value of its last expression and its error go to `sink`.
   *
   * @param name of the cell in tracebacks, such as `cell-3`; without spaces
   */
  async run(code: string, name: string, sink: OutputSink): Promise<CellOutcome> {
    const cell = new RunningCell(name);
    this.#cell = cell;
    const streams = (this.#streams = new StreamBatch(sink));
    const progress = progressLine(streams.put, isHeadless());
    const inCell = <T>(fn: () => T) =>
      withSink(streams.put, () =>
        withProgress(progress, () => withSignal(cell.signal, () => asCell(cell, fn))),
      );
    try {
      await inCell(() => this.#runCell({ code, name }, cell, streams.put));
      return { status: "ok" };
    } catch (thrown) {
      const error = cellError(thrown, this.#scripts);
      streams.put({ output_type: "error", ...error });
      return { status: "error", error };
    } finally {
      streams.flush();
      this.#cell = undefined;
      for (const other of this.#earlier) if (!other.deref()) this.#earlier.delete(other);
      this.#earlier.add(new WeakRef(cell));
      collectAfter(bytesOfCell);
    }
  }

  /** TypeScript's objections to `cells`, each as if those before it had run; nothing is run. */
  async check(cells: readonly NamedCode[]): Promise<Objection[]> {
    const found = await this.#compiler.check(cells);
    return found.map(({ index, objection }) => ({
      cell: index + 1,
      error: cellError(objection, this.#scripts),
      faults:
        objection instanceof TypeFaults
          ? objection.faults.map(({ line, text }) => ({ line, text }))
          : [{ line: 1, text: objection.message }],
    }));
  }

  /**
   * Ends the running cell with an error, and with it its queries and awaits. Without a running cell it ends what
   * earlier cells left running.
   */
  interrupt(): void {
    if (this.#cell) this.#cell.interrupt();
    else this.endBackground();
  }

  /** Ends what earlier cells left running. */
  endBackground(): void {
    for (const cell of this.#earlier) cell.deref()?.interrupt();
    this.#earlier.clear();
  }

  /** Sends what the last cell printed after its end. */
  flush(): void {
    this.#streams?.flush();
  }

  /** The variables of the cells, without those that hold functions. */
  variables(): ReadonlyMap<string, unknown> {
    const entries = this.#compiler.variables().map((name) => [name, this.#exports[name]] as const);
    return new Map(entries.filter(([, value]) => typeof value !== "function"));
  }

  /** Signature and documentation at a position of a cell, in Markdown. */
  inspect(code: string, position: number): Promise<string | undefined> {
    if (!this.#cell) this.#takeColumnTypes();
    return this.#compiler.inspect(code, position);
  }

  completions(code: string, position: number): Promise<Completions> {
    if (!this.#cell) this.#takeColumnTypes();
    return this.#compiler.completions(code, position);
  }

  async #runCell(named: NamedCode, cell: RunningCell, sink: OutputSink): Promise<void> {
    await cell.guard(this.#columnTypesLearned());
    this.#takeColumnTypes();
    const compiled = await this.#compiled(named, cell);
    let isWhole = false;
    try {
      await cell.guard(this.#imports.preload(compiled.imports));
      this.#runScript(compiled.script, cell);
      await cell.ended;
      if (cell.value != null) {
        const shown = await cell.guard(mimeBundles(cell.value, sink));
        cell.value = undefined; // What the cell started, a connection, may hold the cell for long.
        const bundles = [...(shown as Awaited<ReturnType<typeof mimeBundles>>)];
        const result = bundles.pop()!;
        for (const bundle of bundles) sink({ output_type: "display_data", ...bundle });
        sink({ output_type: "execute_result", ...result });
      }
      isWhole = true;
    } finally {
      this.#takeColumnTypes();
      const set = new Set([
        ...this.#keep(cell.names, false, isWhole),
        ...this.#keep(cell.imported, true, isWhole),
      ]);
      this.#compiler.commit((name) => set.has(name));
    }
  }

  /** Waits for the column types that a cell is learning, if not for long. */
  async #columnTypesLearned(): Promise<void> {
    const learning: unknown = Reflect.get(globalThis, columnTypes);
    if (!(learning instanceof Promise)) return;
    const late = setTimeout(learningTime, undefined, { ref: false });
    await Promise.race([learning, late]).catch(() => undefined);
  }

  /** Gives later cells the column types that a cell learned. */
  #takeColumnTypes(): void {
    const types: unknown = Reflect.get(globalThis, columnTypes);
    if (types === this.#columnTypes || typeof types !== "string") return;
    this.#columnTypes = types;
    this.#compiler.setColumnTypes(types);
  }

  /** Compiles the cell. An interrupt ends the wait, and what TypeScript works on. */
  async #compiled(named: NamedCode, cell: RunningCell): Promise<CompiledCell> {
    const end = () => this.#compiler.stop();
    cell.signal.addEventListener("abort", end);
    try {
      return (await cell.guard(this.#compiler.prepare(named))) as CompiledCell;
    } finally {
      cell.signal.removeEventListener("abort", end);
    }
  }

  /** Runs the part of a cell before its first await; V8 itself ends it on SIGINT. */
  #runScript(script: string, cell: RunningCell): void {
    setSynchronous(true);
    callInterruptListeners(); // One may have come while the cell was compiled.
    try {
      if (cell.interrupted) throw cell.signal.reason;
      runInThisContext(script, { breakOnSigint: true, filename: cell.name });
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== "ERR_SCRIPT_EXECUTION_INTERRUPTED")
        throw error;
      cell.interrupt();
      // Interrupted just before its first await, it goes on to its end.
      if (!cell.ended) throw cell.signal.reason;
    } finally {
      setSynchronous(false);
    }
  }

  /** Runs a cell's code, which its script hands over, to its first await. */
  #begin(body: CellBody): void {
    const cell = this.#cell;
    if (!cell) throw new Error("A cell's code ran outside of its session.");
    const declare = (names: object, areImported = false) => {
      if (areImported) cell.imported = names;
      else cell.names = names;
    };
    const code = body(this.#exports, this.#imports.require, declare);
    cell.ended = cell.finish(code);
    cell.ended.catch(() => undefined); // Awaited when the script has returned.
    setSynchronous(false);
  }

  /**
   * Gives later cells the names that have a value.
   *
   * @param areLive true if their values may change
   * @param isWhole true if the cell ran to its end: then `undefined` is a value
   * @returns the names
   */
  #keep(names: object, areLive: boolean, isWhole: boolean): ReadonlySet<string> {
    const set = new Set<string>();
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(names))) {
      try {
        const value: unknown = property.get?.call(names);
        if (value === undefined && !isWhole) continue;
        // Constants are copied, so that they don't keep their cell alive.
        const isLive = areLive || property.set !== undefined;
        const copy = { value, writable: true, enumerable: true, configurable: true };
        Object.defineProperty(this.#exports, name, isLive ? property : copy);
        set.add(name);
      } catch {
        // The cell ended before it got one.
      }
    }
    return set;
  }
}
