import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { processes, residentMemory } from "../base/processes.js";
import { addSecret } from "../base/redact.js";
import type { NamedCode } from "./cell-compiler.js";
import type { Objection } from "./cell-session.js";
import {
  MOST_PRINTED,
  StreamBatch,
  type CellError,
  type CellOutcome,
  type CellOutput,
} from "./outputs.js";
import { headlessVariable, ownPackage, processEnvironment } from "./own-package.js";

/** The messages of the runner to the process of a notebook. `cell` counts the code cells from 1. */
export type ToWorker =
  | { readonly type: "check"; readonly cells: readonly NamedCode[] }
  | { readonly type: "run"; readonly cell: number; readonly code: NamedCode }
  | { readonly type: "interrupt" }
  | { readonly type: "finish" }
  | { readonly type: "end" };

/** The messages of the process to the runner. `rowsRead` counts all queries so far. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "checked"; readonly objections: readonly Objection[] }
  | { readonly type: "output"; readonly cell: number; readonly output: CellOutput }
  | { readonly type: "secret"; readonly secret: string }
  | { readonly type: "background"; readonly cell: number | undefined; readonly error: CellError }
  | {
      readonly type: "ended";
      readonly cell: number;
      readonly outcome: CellOutcome;
      readonly rowsRead: number;
    }
  | { readonly type: "finished"; readonly rowsRead: number };

/** The end of a cell's run; after the last two its process is gone. */
export type CellEnd =
  | CellOutcome
  | { readonly status: "timeout"; readonly seconds: number }
  | { readonly status: "memory"; readonly megabytes: number }
  | { readonly status: "died"; readonly how: string };

/** Time after which an interrupted cell also gets a signal: a synchronous loop reads no messages. */
const signalAfterMilliseconds = 700;
/** Time that an interrupted cell has to end by itself. */
const graceMilliseconds = 2500;
/** Time that an interrupted run has to write what it started. */
const patienceMilliseconds = 10_000;
const memoryCheckMilliseconds = 250;
/** Time for the last output of a process; a child of it may hold its streams open for ever. */
const lastOutputMilliseconds = 500;

/** The process that one notebook runs in. */
export class NotebookProcess {
  readonly #child: ChildProcess;
  readonly #onOutput: (cell: number, output: CellOutput) => void;
  readonly #onBackgroundError: (cell: number | undefined, error: CellError) => void;
  readonly #memory: number | undefined;
  readonly #gone: Promise<string>;
  #rowsRead = 0;
  #running: { cell: number; end: (end: CellEnd) => void } | undefined;
  #lastCell = 1;
  #overMemory = false;
  #checked: (objections: readonly Objection[]) => void = () => undefined;
  #ready: () => void = () => undefined;
  #finished: () => void = () => undefined;
  readonly #isReady = new Promise<void>((resolve) => (this.#ready = resolve));

  /** @param options.memory limit of resident memory in megabytes; default: none */
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
      // A group of its own: what the cells start is counted and ended with it.
      detached: process.platform !== "win32",
    });
    // Native code and child processes print past the capture in the process itself.
    const streams = new StreamBatch(
      (name, text) => this.#onOutput(this.#lastCell, { type: "stream", name, text }),
      MOST_PRINTED,
    );
    for (const name of ["stdout", "stderr"] as const) {
      const stream = this.#child[name]?.setEncoding("utf8");
      stream?.on("data", (text: string) => streams.write(name, text));
    }
    this.#child.on("message", (message: FromWorker) => this.#take(message));
    this.#gone = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve(error.message));
      this.#child.once("exit", (code, signal) => {
        const gone = () => {
          clearTimeout(waiting);
          this.#child.stdout?.destroy();
          this.#child.stderr?.destroy();
          streams.flush();
          resolve(signal ? `signal ${signal}` : `exit code ${code ?? "unknown"}`);
        };
        const waiting = setTimeout(gone, lastOutputMilliseconds);
        this.#child.once("close", gone);
      });
    });
  }

  /** Rows that the database read for the cells that have ended. */
  get rowsRead(): number {
    return this.#rowsRead;
  }

  /** The cells that TypeScript objects to. */
  async check(cells: readonly NamedCode[]): Promise<readonly Objection[]> {
    await Promise.race([this.#isReady, this.#gone]);
    const checked = new Promise<readonly Objection[]>((resolve) => (this.#checked = resolve));
    this.#send({ type: "check", cells });
    return Promise.race([checked, this.#gone.then(() => [])]);
  }

  /** Runs a cell to its end. @param timeout in seconds; undefined for none */
  async run(cell: number, code: NamedCode, timeout: number | undefined): Promise<CellEnd> {
    this.#lastCell = cell;
    await Promise.race([this.#isReady, this.#gone]); // Not part of the first cell's time.
    const ended = new Promise<CellEnd>((end) => (this.#running = { cell, end }));
    this.#send({ type: "run", cell, code });
    try {
      const end = await this.#within(timeout, ended);
      if (end !== "late") return end;
      this.interrupt();
      // A cell that ends by itself leaves its process to finish what was started.
      await Promise.race([ended, this.#gone]);
      return { status: "timeout", seconds: timeout ?? 0 };
    } finally {
      this.#running = undefined;
    }
  }

  /**
   * Waits for what the cells started without an await: questions to the database, files that are saved.
   *
   * @param timeout in seconds; undefined for none
   * @param signal when it is aborted, the wait goes on for 10 s at most
   */
  async finish(timeout: number | undefined, signal: AbortSignal | undefined): Promise<CellEnd> {
    await Promise.race([this.#isReady, this.#gone]);
    const finished = new Promise<CellEnd>((resolve) => {
      this.#finished = () => resolve({ status: "ok" });
      const wait = () => setTimeout(this.#finished, patienceMilliseconds).unref();
      if (signal?.aborted === true) wait();
      else signal?.addEventListener("abort", wait, { once: true });
    });
    this.#send({ type: "finish" });
    const end = await this.#within(timeout, finished);
    return end === "late" ? { status: "timeout", seconds: timeout ?? 0 } : end;
  }

  /** Interrupts the running cell, and ends it with its process if it doesn't end by itself. */
  interrupt(): void {
    this.#send({ type: "interrupt" });
    const signal = setTimeout(() => {
      if (this.#running) this.#child.kill("SIGINT");
    }, signalAfterMilliseconds);
    const killer = setTimeout(() => {
      if (this.#running) this.#kill();
    }, graceMilliseconds);
    void this.#gone.then(() => [signal, killer].forEach((timer) => clearTimeout(timer)));
  }

  /**
   * Lets the process end by itself, or kills it.
   *
   * @param withChildren also ends what the cells started and left running
   */
  async close(withChildren: boolean): Promise<void> {
    this.#send({ type: "end" });
    const killer = setTimeout(() => this.#kill(), graceMilliseconds);
    await this.#gone;
    clearTimeout(killer);
    if (withChildren) this.#kill();
  }

  /** Kills the process and what its cells started. */
  #kill(): void {
    const { pid } = this.#child;
    try {
      if (process.platform !== "win32" && pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch {
      // Nobody is left in its group.
    }
    this.#child.kill("SIGKILL");
  }

  /** The end of `work` within the run's limits of memory and time. */
  async #within(timeout: number | undefined, work: Promise<CellEnd>): Promise<CellEnd | "late"> {
    const limits = new AbortController();
    void this.#watchMemory(limits.signal);
    let timer: NodeJS.Timeout | undefined;
    const late =
      timeout === undefined
        ? []
        : [new Promise<"late">((resolve) => (timer = setTimeout(resolve, timeout * 1000, "late")))];
    const died = this.#gone.then((how): CellEnd =>
      this.#overMemory
        ? { status: "memory", megabytes: this.#memory ?? 0 }
        : { status: "died", how },
    );
    try {
      return await Promise.race([work, died, ...late]);
    } finally {
      clearTimeout(timer);
      limits.abort();
    }
  }

  /** Kills the process when its group holds more memory than the limit. */
  async #watchMemory(stop: AbortSignal): Promise<void> {
    const { pid } = this.#child;
    while (this.#memory !== undefined && pid !== undefined && !stop.aborted) {
      const held = await groupMemory(pid);
      if (stop.aborted) return;
      if (held > this.#memory * 2 ** 20) {
        this.#overMemory = true;
        return this.#kill();
      }
      await new Promise((resolve) => setTimeout(resolve, memoryCheckMilliseconds).unref());
    }
  }

  #take(message: FromWorker): void {
    if ("rowsRead" in message) this.#rowsRead = message.rowsRead;
    switch (message.type) {
      case "ready":
        return this.#ready();
      case "checked":
        return this.#checked(message.objections);
      case "output":
        return this.#onOutput(message.cell, message.output);
      case "secret":
        return addSecret(message.secret);
      case "background":
        return this.#onBackgroundError(message.cell, message.error);
      case "ended":
        if (this.#running?.cell === message.cell) this.#running.end(message.outcome);
        return;
      case "finished":
        return this.#finished();
    }
  }

  #send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

/**
 * Memory in bytes that a group of processes holds together; 0 when it is gone.
 *
 * @param group the pid of its first process; what left it for a session of its own, as the embedded database
 * does, is not part of it
 */
async function groupMemory(group: number): Promise<number> {
  const members = (await processes().catch(() => [])).filter((member) => member.group === group);
  return residentMemory(members.map(({ pid }) => pid));
}
