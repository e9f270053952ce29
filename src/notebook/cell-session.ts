import { setTimeout } from "node:timers/promises";
import { runInThisContext } from "node:vm";
import type { QuickInfo } from "typescript";
import { ProbelabError } from "../base/error.js";
import { keepSecretsOf } from "../base/redact.js";
import { collectAfter } from "../base/collect-after.js";
import { withSignal } from "../interrupt/current-signal.js";
import { withProgress } from "../progress/query-progress.js";
import {
  CellCompiler,
  type CellObjection,
  type Completions,
  type NamedCode,
} from "./cell-compiler.js";
import { cellError, CellScripts, typeError } from "./cell-error.js";
import { CellImports } from "./cell-imports.js";
import { asCell, installRuntime, RunningCell, runningCell, type CellBody } from "./cell-runtime.js";
import { mimeBundles } from "./mime-bundle.js";
import {
  captureStream,
  progressLine,
  StreamBatch,
  withSink,
  type CellError,
  type CellOutcome,
  type OutputSink,
} from "./outputs.js";
import { isHeadless } from "./own-package.js";
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
  #streams: StreamBatch | undefined;
  #columnTypes: unknown;
  #isWarm = false;
  /** Rejected Promises and errors that no cell waits for. */
  readonly #background = new Map<object, BackgroundError>();

  /** @param onBackgroundError called for an error that no cell waits for; it no longer ends the process */
  constructor(onBackgroundError?: () => void) {
    // A cell may print a password that it never connected with.
    keepSecretsOf(process.env);
    // There may be more than V8's ten calls between a cell's line and the throw in a library.
    Error.stackTraceLimit = 50;
    installRuntime({
      run: (body) => this.#begin(body),
      import: (specifier, require) => this.#imports.importModule(specifier, require),
      last: (value) => {
        const cell = runningCell();
        if (cell) cell.value = value;
      },
    });
    captureStream("stdout");
    captureStream("stderr");
    const note = (of: object, reason: unknown, why: string) => {
      const cell = runningCell();
      if (cell?.interrupted === true) return; // An interrupt ended it.
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
    this.#isWarm = true;
    const streams = (this.#streams = new StreamBatch(sink));
    const progress = progressLine(streams.put, isHeadless());
    const inCell = <T>(fn: () => T) =>
      withSink(streams.put, () =>
        withProgress(progress, () => withSignal(cell.signal, () => asCell(cell, fn))),
      );
    try {
      const error = await inCell(() => this.#runCell({ code, name }, cell, streams.put)).catch(
        (failure: unknown) => cellError(failure, this.#scripts),
      );
      if (!error) return { status: "ok" };
      streams.put({ type: "error", error });
      return { status: "error", error };
    } finally {
      streams.flush();
      this.#cell = undefined;
      collectAfter(bytesOfCell);
    }
  }

  /** TypeScript's objections to `cells`, each as if those before it had run; nothing is run. */
  check(cells: readonly NamedCode[]): Objection[] {
    return this.#compiler.check(cells).map(({ index, objection }) => ({
      cell: index + 1,
      error: this.#refusal(objection),
      faults:
        objection instanceof ProbelabError
          ? [{ line: 1, text: objection.message }]
          : objection.map(({ line, text }) => ({ line, text })),
    }));
  }

  /** Ends the running cell with an error, and with it its queries and awaits. Without a cell it does nothing. */
  interrupt(): void {
    this.#cell?.interrupt();
  }

  /** Sends what the last cell printed after its end. */
  flush(): void {
    this.#streams?.flush();
  }

  /** Does, once, what the first cell would have to wait for. */
  warmUp(): void {
    if (this.#isWarm || this.#cell) return;
    this.#isWarm = true;
    this.#compiler.warmUp();
  }

  inspect(code: string, position: number): QuickInfo | undefined {
    if (!this.#cell) this.#takeColumnTypes();
    return this.#compiler.inspect(code, position);
  }

  completions(code: string, position: number): Completions {
    if (!this.#cell) this.#takeColumnTypes();
    return this.#compiler.completions(code, position);
  }

  async #runCell(
    code: NamedCode,
    cell: RunningCell,
    sink: OutputSink,
  ): Promise<CellError | undefined> {
    await cell.guard(this.#columnsLearned());
    this.#takeColumnTypes();
    const compiled = this.#compiler.prepare(code);
    if (compiled.faults.length > 0) return this.#refusal(compiled.faults);
    let thrown: { error: unknown } | undefined;
    try {
      await cell.guard(this.#imports.preload(compiled.script));
      this.#runScript(compiled.script, cell);
      await cell.ended;
      if (cell.value != null) {
        const shown = await cell.guard(mimeBundles(cell.value, sink));
        cell.value = undefined; // What the cell started, a connection, may hold the cell for long.
        const bundles = [...(shown as Awaited<ReturnType<typeof mimeBundles>>)];
        const result = bundles.pop()!;
        for (const bundle of bundles) sink({ type: "display", bundle });
        sink({ type: "result", bundle: result });
      }
    } catch (error) {
      thrown = { error };
    }
    this.#takeColumnTypes();
    const missing = compiled.namesToSet.filter((name) => !cell.set.has(name));
    this.#compiler.commit(new Set(thrown ? missing : []));
    return thrown && cellError(thrown.error, this.#scripts);
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

  /** Takes a cell's code, called by its script, and runs it to its first await. */
  #begin(body: CellBody): void {
    const cell = this.#cell;
    if (!cell) throw new Error("A cell's code ran outside of its session.");
    const code = body(sharedExports(this.#exports, cell.set), this.#imports.require);
    cell.ended = cell.finish(code);
    cell.ended.catch(() => undefined); // Awaited when the script has returned.
    setSynchronous(false);
  }

  async #columnsLearned(): Promise<void> {
    const learning: unknown = Reflect.get(globalThis, columnTypes);
    if (!(learning instanceof Promise)) return;
    const late = setTimeout(learningTime, undefined, { ref: false });
    await Promise.race([learning, late]).catch(() => undefined);
  }

  /** Gives the cells after it the column types that a cell learned. */
  #takeColumnTypes(): void {
    const types: unknown = Reflect.get(globalThis, columnTypes);
    if (types === this.#columnTypes || typeof types !== "string") return;
    this.#columnTypes = types;
    this.#compiler.setColumnTypes(types);
  }

  #refusal(objection: CellObjection): CellError {
    return objection instanceof ProbelabError
      ? cellError(objection, this.#scripts)
      : typeError(objection, this.#scripts);
  }
}

/** The `exports` of a cell: the variables of all cells. It adds the names that are given a value to `set`. */
function sharedExports(shared: Record<string, unknown>, set: Set<string>): object {
  const give = (name: string | symbol, value: unknown): true => {
    if (typeof name !== "string" || name === "__esModule") return true;
    set.add(name);
    shared[name] = value;
    return true;
  };
  return new Proxy(shared, {
    set: (_target, name, value: unknown) => give(name, value),
    // TypeScript defines imports as getters; a later cell may give the name to something else.
    defineProperty: (_target, name, descriptor) =>
      give(name, descriptor.get ? descriptor.get() : descriptor.value),
  });
}
