import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { processes, residentMemory } from "../base/processes.js";
import type { CellError, CellOutcome, CellOutput } from "./outputs.js";
import { headlessVariable, ownPackage, processEnvironment } from "./own-package.js";
import type { FromWorker, NamedCode, Objection, ToWorker } from "./worker-messages.js";

/** How the run of a cell ended; the last three end the process. */
export type CellEnd =
  | CellOutcome
  | { readonly status: "timeout"; readonly seconds: number }
  | { readonly status: "memory"; readonly megabytes: number }
  | { readonly status: "died"; readonly how: string };

/** Time that an interrupted cell has to end by itself. */
const graceMilliseconds = 3000;
/** Time that an interrupted run has to write what it began. */
const patienceMilliseconds = 10_000;
const memoryCheckMilliseconds = 250;
const signalAfterMilliseconds = 700;
/** Time that an interrupted run has until a cell that does not end by itself is ended with its process. */
const interruptMilliseconds = 1800;
/** Time for what a process printed last; a child of it may hold its streams open for ever. */
const lastOutputMilliseconds = 500;

/** The process that one notebook runs in. */
export class NotebookProcess {
  readonly #child: ChildProcess;
  readonly #onOutput: (cell: number, output: CellOutput) => void;
  readonly #memory: number | undefined;
  readonly #gone: Promise<string>;
  readonly #onBackgroundError: (cell: number | undefined, error: CellError) => void;
  #rowsRead = 0;
  #running: { cell: number; end: (end: CellEnd) => void } | undefined;
  #lastCell = 1;
  #overMemory = false;
  #busy = true;
  #checked: (objections: readonly Objection[]) => void = () => undefined;
  #ready: () => void = () => undefined;
  #finished: () => void = () => undefined;
  readonly #isReady = new Promise<void>((resolve) => (this.#ready = resolve));

  /** @param options.memory most resident memory in megabytes; without it there is no limit */
  constructor(options: {
    folder: string;
    memory: number | undefined;
    environment: Record<string, string>;
    onOutput: (cell: number, output: CellOutput) => void;
    onBackgroundError: (cell: number | undefined, error: CellError) => void;
  }) {
    this.#onOutput = options.onOutput;
    this.#onBackgroundError = options.onBackgroundError;
    this.#memory = options.memory;
    this.#child = fork(join(ownPackage().root, "dist", "notebook", "worker-main.js"), {
      cwd: options.folder,
      env: {
        ...processEnvironment,
        ...process.env,
        ...options.environment,
        [headlessVariable]: "1",
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
      // A group of its own: what the cells start can be counted with it and be ended with it.
      detached: process.platform !== "win32",
    });
    // What native code and child processes print past the capture.
    this.#child.stdout?.setEncoding("utf8").on("data", this.#stray("stdout"));
    this.#child.stderr?.setEncoding("utf8").on("data", this.#stray("stderr"));
    this.#child.on("message", (message: FromWorker) => this.#take(message));
    this.#gone = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve(error.message));
      this.#child.once("exit", (code, signal) => {
        const gone = () => {
          clearTimeout(waiting);
          this.#child.stdout?.destroy();
          this.#child.stderr?.destroy();
          resolve(signal ? `signal ${signal}` : `exit code ${code ?? "unknown"}`);
        };
        const waiting = setTimeout(gone, lastOutputMilliseconds);
        this.#child.once("close", gone);
      });
    });
  }

  /** The cells that TypeScript objects to; none where all is well, or can't be said yet. */
  async check(cells: readonly NamedCode[]): Promise<readonly Objection[]> {
    await Promise.race([this.#isReady, this.#gone]);
    const checked = new Promise<readonly Objection[]>((resolve) => (this.#checked = resolve));
    this.#tell({ type: "check", cells });
    return Promise.race([checked, this.#gone.then(() => [])]);
  }

  /** Runs a cell to its end. @param timeout in seconds; without it there is no limit */
  async run(cell: number, code: NamedCode, timeout: number | undefined): Promise<CellEnd> {
    this.#lastCell = cell;
    await Promise.race([this.#isReady, this.#gone]); // Its start is no part of the first cell's time.
    const ended = new Promise<CellEnd>((end) => (this.#running = { cell, end }));
    this.#tell({ type: "run", cell, code });
    try {
      const end = await this.#within(timeout, ended);
      return end === "late" ? await this.#stop(ended, timeout ?? 0) : end;
    } finally {
      this.#running = undefined;
    }
  }

  /**
   * Waits for what the cells began and did not await: questions to the database, files that are saved.
   *
   * @param timeout in seconds; without it there is no limit
   * @param signal when it is aborted, the wait goes on for 10 s at most
   */
  async finish(timeout: number | undefined, signal: AbortSignal | undefined): Promise<CellEnd> {
    await Promise.race([this.#isReady, this.#gone]);
    this.#busy = false;
    const finished = new Promise<CellEnd>((resolve) => {
      this.#finished = () => resolve({ status: "ok" });
      void after(signal, patienceMilliseconds).then(this.#finished);
    });
    this.#tell({ type: "finish" });
    const end = await this.#within(timeout, finished);
    return end === "late" ? { status: "timeout", seconds: timeout ?? 0 } : end;
  }

  /** Ends the run: its cell is interrupted, and ended with its process where it doesn't end by itself. */
  endRun(): void {
    this.interrupt();
    const killer = setTimeout(() => {
      if (this.#busy) this.#kill();
    }, interruptMilliseconds);
    void this.#gone.then(() => clearTimeout(killer));
  }

  /** Interrupts the running cell, as an analyst would. */
  interrupt(): void {
    this.#tell({ type: "interrupt" });
    // A synchronous loop hears a signal only; what awaits ends by the message, also where there are no signals.
    const signal = setTimeout(() => {
      if (this.#running) this.#child.kill("SIGINT");
    }, signalAfterMilliseconds);
    void this.#gone.then(() => clearTimeout(signal));
  }

  /** Lets the process end by itself; one that doesn't is killed. */
  async close(): Promise<void> {
    this.#tell({ type: "end" });
    const killer = setTimeout(() => this.#kill(), graceMilliseconds);
    await this.#gone;
    clearTimeout(killer);
  }

  /** The same, and ends what the cells started and left running. */
  async closeAll(): Promise<void> {
    await this.close();
    this.#kill();
  }

  /** Ends the process at once, and what its cells started. */
  async kill(): Promise<void> {
    this.#kill();
    await this.#gone;
  }

  #kill(): void {
    const { pid } = this.#child;
    try {
      if (process.platform !== "win32" && pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch {
      // There is nobody left in its group.
    }
    this.#child.kill("SIGKILL");
  }

  /** How `work` ends within the run's limits of memory and time. */
  async #within(timeout: number | undefined, work: Promise<CellEnd>): Promise<CellEnd | "late"> {
    const limits = new AbortController();
    const memory = this.#watchMemory(limits.signal);
    let timer: NodeJS.Timeout | undefined;
    const late =
      timeout === undefined
        ? []
        : [new Promise<"late">((resolve) => (timer = setTimeout(resolve, timeout * 1000, "late")))];
    try {
      const end = await Promise.race([work, this.#gone, memory, ...late]);
      if (typeof end === "object" || end === "late") return end;
      const how = await this.#gone;
      return this.#overMemory
        ? { status: "memory", megabytes: this.#memory ?? 0 }
        : { status: "died", how };
    } finally {
      clearTimeout(timer);
      limits.abort();
    }
  }

  async #stop(ended: Promise<CellEnd>, seconds: number): Promise<CellEnd> {
    this.interrupt();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => (timer = setTimeout(resolve, graceMilliseconds)));
    const first = await Promise.race([ended, this.#gone, patience]);
    clearTimeout(timer);
    // Where the cell ended by itself, what it and others had begun to write can still be finished.
    if (typeof first !== "object") await this.kill();
    return { status: "timeout", seconds };
  }

  async #watchMemory(stop: AbortSignal): Promise<string> {
    const { pid } = this.#child;
    while (this.#memory !== undefined && pid !== undefined && !stop.aborted) {
      const held = await groupMemory(pid);
      if (stop.aborted) break;
      if (held !== undefined && held > this.#memory * 2 ** 20) {
        this.#overMemory = true;
        this.#kill();
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, memoryCheckMilliseconds).unref());
    }
    return this.#gone;
  }

  /** Rows that the database read for the cells that have ended. */
  get rowsRead(): number {
    return this.#rowsRead;
  }

  #take(message: FromWorker): void {
    if ("rowsRead" in message) this.#rowsRead = message.rowsRead;
    if (message.type === "ready") this.#ready();
    if (message.type === "checked") this.#checked(message.objections);
    if (message.type === "output") this.#onOutput(message.cell, message.output);
    if (message.type === "background") this.#onBackgroundError(message.cell, message.error);
    if (message.type === "finished") this.#finished();
    if (message.type === "ended" && this.#running?.cell === message.cell) {
      this.#running.end(message.outcome);
    }
  }

  #stray(name: "stdout" | "stderr"): (text: string) => void {
    return (text) => this.#onOutput(this.#lastCell, { type: "stream", name, text });
  }

  #tell(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

/** Resolves so many milliseconds after the signal; never without one. */
function after(signal: AbortSignal | undefined, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const wait = () => setTimeout(resolve, milliseconds).unref();
    if (signal?.aborted === true) wait();
    else signal?.addEventListener("abort", wait, { once: true });
  });
}

/**
 * Memory that a group of processes holds together, in bytes; undefined when it is gone or can't be asked.
 *
 * @param group the process that the group began with; what left it for a session of its own, as the
 * embedded database does, is no part of it
 */
async function groupMemory(group: number): Promise<number | undefined> {
  const members = (await processes().catch(() => [])).filter((one) => one.group === group);
  return (await residentMemory(members.map(({ pid }) => pid))) || undefined;
}
