import { setTimeout } from "node:timers/promises";
import type { CompletionInfo } from "tslab/dist/converter.js";
import type { Executor } from "tslab/dist/executor.js";
import type { QuickInfo } from "typescript";
import { ProbelabError } from "../base/error.js";
import { owe } from "../base/owed-memory.js";
import { withProgress } from "../progress/query-progress.js";
import { withSignal } from "../interrupt/current-signal.js";
import type { BackgroundError } from "./background-errors.js";
import { captureOutput } from "./capture-output.js";
import { CellCompiler } from "./cell-compiler.js";
import { cellError, typeError } from "./cell-error.js";
import { CellImports } from "./cell-imports.js";
import type { CellError, OutputSink } from "./cell-output.js";
import { isHeadless } from "./headless.js";
import { installRuntime } from "./cell-runtime.js";
import { CellScripts } from "./cell-scripts.js";
import { setSynchronous, tellInterrupt } from "./watch-thread.js";
import { mimeBundle } from "./mime-bundle.js";
import { withSink } from "./output-context.js";
import { progressLine } from "./progress-line.js";
import { asCell, runningCell, RunningCell } from "./running-cell.js";
import { recordingExports } from "./recording-exports.js";
import { tslabParts, type TslabParts } from "./tslab-parts.js";
import type { Fault, NamedCode } from "./worker-messages.js";

/** As which a cell's compilation counts: V8 collects after every tenth or twentieth, not when 300 MB are reached. */
const bytesOfCell = 8_000_000;

/** How a cell ended. */
export type CellOutcome =
  { readonly status: "ok" } | { readonly status: "error"; error: CellError };

/** Where `connect()` leaves the types of the tables' columns: the text of a declaration file, or a promise of it. */
const columnTypes = Symbol.for("probelab.columnTypes");

/** How long a cell waits for columns that are still being learned; those that come later are for the cell after it. */
const learningTime = 2000;

interface Attempt {
  readonly set: Set<string>;
  /** Settles when the code has ended; undefined until its first await. */
  ended: Promise<void> | undefined;
  thrown: { error: unknown } | undefined;
  value: unknown;
}

/**
 * The cells of one notebook, run one after the other in this process, in its working directory. There is
 * one session in a process, because tslab keeps its state on `globalThis`.
 */
export class CellSession {
  readonly #parts: TslabParts;
  readonly #scripts = new CellScripts();
  readonly #compiler: CellCompiler;
  readonly #executor: Executor;
  readonly #imports: CellImports;
  #cell: RunningCell | undefined;
  #columnTypes: unknown;
  #attempt: Attempt | undefined;

  constructor() {
    // The way from a cell's line through a library to where it throws may be longer than V8's ten calls.
    Error.stackTraceLimit = 50;
    this.#parts = tslabParts();
    this.#compiler = new CellCompiler(this.#parts, this.#scripts);
    this.#imports = new CellImports(process.cwd());
    this.#executor = this.#parts.executor.createExecutor(
      process.cwd(),
      this.#compiler.forExecutor,
      {
        log: (value: unknown) => this.#take(value),
        error: (error: unknown, ...rest: unknown[]) => this.#refused(error, rest),
      },
    );
    installRuntime({
      run: (body, exports, require) => this.#runBody(body, exports, require),
      import: (specifier, require) => this.#imports.importModule(specifier, require),
      last: (value) => this.#take(value),
    });
    captureOutput(this.#parts);
  }

  /**
   * Runs a cell to its end. Its outputs, the value of its last expression and its error go to `sink`.
   *
   * @param name of the cell, such as `cell-3`, for tracebacks; without spaces
   */
  async run(code: string, name: string, sink: OutputSink): Promise<CellOutcome> {
    const cell = new RunningCell(name);
    this.#cell = cell;
    const progress = progressLine(sink, isHeadless());
    const inCell = <T>(fn: () => T) =>
      withSink(sink, () =>
        withProgress(progress, () => withSignal(cell.signal, () => asCell(cell, fn))),
      );
    try {
      const error = await inCell(() => this.#runCell(code, name, cell, sink)).catch(
        (failure: unknown) => cellError(failure, this.#scripts),
      );
      if (!error) return { status: "ok" };
      sink({ type: "error", error });
      return { status: "error", error };
    } finally {
      this.#cell = undefined;
      owe(bytesOfCell);
    }
  }

  /** Those of `cells` that TypeScript objects to, as if those before them had run; nothing is run. */
  check(
    cells: readonly NamedCode[],
  ): { index: number; error: CellError; faults: readonly Fault[] }[] {
    return this.#compiler.check(cells).map(({ index, name, objection }) =>
      objection instanceof ProbelabError
        ? {
            index,
            error: cellError(objection, this.#scripts),
            faults: [{ line: 1, text: objection.message }],
          }
        : {
            index,
            error: typeError(objection, name, this.#scripts),
            faults: objection.map(({ start, messageText }) => ({
              line: start.line + 1,
              text: messageText,
            })),
          },
    );
  }

  /** What failed in the background, as the error of a cell. */
  backgroundError({ reason, isRejection }: BackgroundError): CellError {
    const error = cellError(reason, this.#scripts);
    const [head = "", ...rest] = error.traceback;
    const note = isRejection
      ? "Nothing waited for it: an await may be missing."
      : "It was thrown in the background, where nothing could catch it.";
    return { ...error, traceback: [head, note, ...rest] };
  }

  /** Ends the running cell with an error, its queries and its awaits with it. Without one it does nothing. */
  interrupt(): void {
    this.#cell?.interrupt();
  }

  inspect(code: string, position: number): QuickInfo | undefined {
    if (!this.#cell) this.#takeColumnTypes();
    return this.#executor.inspect(code, position);
  }

  complete(code: string, position: number): CompletionInfo {
    if (!this.#cell) this.#takeColumnTypes();
    return this.#executor.complete(code, position);
  }

  isComplete(code: string): { completed: boolean; indent?: string } {
    return this.#parts.converter.isCompleteCode(code);
  }

  close(): void {
    this.#executor.close();
  }

  async #runCell(
    code: string,
    name: string,
    cell: RunningCell,
    sink: OutputSink,
  ): Promise<CellError | undefined> {
    if (this.#compiler.isModule(code)) return this.#addModule(code);
    await cell.guard(this.#columnsLearned());
    this.#takeColumnTypes();
    const compiled = this.#compiler.prepare(name, code);
    if (compiled.diagnostics.length > 0) {
      return typeError(compiled.diagnostics, name, this.#scripts);
    }
    const attempt = this.#begin();
    try {
      await cell.guard(this.#imports.preload(compiled.code));
      setSynchronous(true);
      tellInterrupt(); // One that came while the cell was compiled.
      if (cell.interrupted) throw cell.signal.reason;
      await this.#executor.execute(code);
      setSynchronous(false);
      await attempt.ended; // The executor doesn't wait for code that was interrupted just before its first await.
      if (!attempt.thrown && attempt.value !== undefined) {
        const bundle = await cell.guard(mimeBundle(attempt.value));
        sink({ type: "result", bundle: bundle as Awaited<ReturnType<typeof mimeBundle>> });
      }
    } catch (error) {
      attempt.thrown ??= { error };
    }
    setSynchronous(false);
    this.#takeColumnTypes();
    const missing = compiled.namesToSet.filter((each) => !attempt.set.has(each));
    this.#compiler.commit(new Set(attempt.thrown ? missing : []));
    return attempt.thrown ? cellError(attempt.thrown.error, this.#scripts) : undefined;
  }

  async #columnsLearned(): Promise<void> {
    const learning: unknown = Reflect.get(globalThis, columnTypes);
    if (!(learning instanceof Promise)) return;
    const given = new AbortController();
    const late = setTimeout(learningTime, undefined, { signal: given.signal, ref: false });
    await Promise.race([learning, late]).catch(() => undefined);
    given.abort();
    late.catch(() => undefined);
  }

  /** The types of the tables' columns that a cell learned are there for the cells after it. */
  #takeColumnTypes(): void {
    const types: unknown = Reflect.get(globalThis, columnTypes);
    if (types === this.#columnTypes || typeof types !== "string") return;
    this.#columnTypes = types;
    try {
      this.#compiler.setColumnTypes(types);
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
  }

  /** A module for later cells; tslab reports its type errors as it runs nothing of it. */
  async #addModule(code: string): Promise<CellError | undefined> {
    const attempt = this.#begin();
    await this.#executor.execute(code);
    return attempt.thrown ? cellError(attempt.thrown.error, this.#scripts) : undefined;
  }

  /** Runs a cell's code; called by what tslab's executor runs. */
  async #runBody(
    body: (exports: object, require: NodeJS.Require) => Promise<void>,
    exports: object,
    require: unknown,
  ): Promise<void> {
    const attempt = this.#attempt;
    const cell = runningCell();
    if (!attempt || !cell) throw new Error("A cell's code ran outside of its session.");
    const load = this.#imports.wrap(require as NodeJS.Require);
    try {
      const code = cell.finish(body(recordingExports(exports, attempt.set), load));
      attempt.ended = code.catch(() => undefined);
      setSynchronous(false);
      await code;
    } catch (error) {
      attempt.thrown = { error };
    }
  }

  #begin(): Attempt {
    this.#attempt = { set: new Set(), ended: undefined, thrown: undefined, value: undefined };
    return this.#attempt;
  }

  #take(value: unknown): void {
    if (this.#attempt) this.#attempt.value = value;
  }

  /** What tslab's executor reports: V8 stopped synchronous code on SIGINT, or a module cell has a type error. */
  #refused(error: unknown, rest: unknown[]): void {
    if (!this.#attempt) return;
    if ((error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_INTERRUPTED") {
      this.#cell?.interrupt();
      this.#attempt.thrown = { error: this.#cell?.signal.reason };
      return;
    }
    this.#attempt.thrown = { error: rest.length > 0 ? new SyntaxError(rest.join(" ")) : error };
  }
}
