import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { addSecret } from "../base/redact.js";
import type { NamedCode } from "./check.js";
import type { BackgroundError, Objection } from "./session.js";
import { StreamBatch, type CellOutcome, type CellOutput } from "./outputs.js";
import { headlessVariable, ownPackage, processEnvironment } from "./kernelspec.js";

/** The messages of the runner to the process of a notebook. */
export type ToWorker =
  | { readonly type: "check"; readonly cells: readonly NamedCode[] }
  | { readonly type: "run"; readonly code: NamedCode }
  | { readonly type: "interrupt" | "finish" | "end" };

/** The messages of the process to the runner. `cell` is the name of a cell. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "checked"; readonly objections: readonly Objection[] }
  | { readonly type: "output"; readonly cell: string; readonly output: CellOutput }
  | { readonly type: "secret"; readonly secret: string }
  | ({ readonly type: "background" } & BackgroundError)
  | { readonly type: "ended"; readonly outcome: CellOutcome; readonly rowsRead: number };

/** The end of a cell's run, or of its process. */
export type CellEnd = CellOutcome | { readonly status: "died"; readonly how: string };

/** Time after which an interrupted cell also gets a signal: a synchronous loop reads no messages. */
const signalAfterMilliseconds = 700;
/** Time that an interrupted cell, and a process that is to end, have to do so. */
const endingMilliseconds = 2500;
/** Time that an interrupted run has to write what it started. */
const writingMilliseconds = 10_000;
/** Time for the last output of a process; a child of it may hold its streams open for ever. */
const lastOutputMilliseconds = 500;

interface Listeners {
  /** @param cell the name of the cell that it is an output of */
  readonly onOutput: (cell: string, output: CellOutput) => void;
  readonly onBackgroundError: (error: BackgroundError) => void;
}

/** The process that one notebook runs in. */
export class NotebookProcess {
  /** Rows that the database read for the cells that have ended. */
  rowsRead = 0;
  readonly #child: ChildProcess;
  /** Settles with how the process ended. */
  readonly #gone: Promise<string>;
  readonly #ready: Promise<unknown>;
  readonly #waiting = new Map<FromWorker["type"], (message: FromWorker) => void>();
  #cell = "cell-1";
  #isRunning = false;

  constructor(
    options: { folder: string; environment: Record<string, string> },
    { onOutput, onBackgroundError }: Listeners,
  ) {
    this.#child = fork(join(ownPackage().root, "dist", "kernel", "worker-main.js"), {
      cwd: options.folder,
      env: {
        ...processEnvironment,
        ...process.env,
        ...options.environment,
        [headlessVariable]: "1",
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
      // A group of its own: a signal to the runner's group is for the runner.
      detached: process.platform !== "win32",
    });
    this.#child.on("message", (message: FromWorker) => {
      if (message.type === "output") onOutput(message.cell, message.output);
      else if (message.type === "secret") addSecret(message.secret);
      else if (message.type === "background") onBackgroundError(message);
      else {
        if (message.type === "ended") this.rowsRead = message.rowsRead;
        this.#waiting.get(message.type)?.(message);
      }
    });
    this.#gone = this.#end(new StreamBatch((output) => onOutput(this.#cell, output)));
    this.#ready = Promise.race([this.#answer("ready"), this.#gone]);
  }

  /** The cells that TypeScript objects to. */
  async check(cells: readonly NamedCode[]): Promise<readonly Objection[]> {
    await this.#ready;
    const checked = this.#answer("checked");
    this.#send({ type: "check", cells });
    const answer = await Promise.race([checked, this.#gone]);
    return typeof answer === "string" ? [] : answer.objections;
  }

  /** Runs a cell to its end. */
  async run(code: NamedCode): Promise<CellEnd> {
    await this.#ready;
    this.#cell = code.name;
    this.#isRunning = true;
    const end = this.#ended();
    this.#send({ type: "run", code });
    return end.finally(() => (this.#isRunning = false));
  }

  /**
   * Waits for what the cells started without an await: questions to the database, files that are saved.
   *
   * @param signal when it is aborted, the wait goes on for 10 s at most
   */
  async finish(signal: AbortSignal | undefined): Promise<CellEnd> {
    await this.#ready;
    const patience = new Promise<CellOutcome>((resolve) => {
      const wait = () => setTimeout(resolve, writingMilliseconds, { status: "ok" }).unref();
      if (signal?.aborted === true) wait();
      else signal?.addEventListener("abort", wait, { once: true });
    });
    const end = this.#ended();
    this.#send({ type: "finish" });
    return Promise.race([end, patience]);
  }

  /** Interrupts the running cell, and ends it with its process if it doesn't end by itself. */
  interrupt(): void {
    this.#send({ type: "interrupt" });
    const whileRunning = (signal: NodeJS.Signals) => () =>
      void (this.#isRunning && this.#child.kill(signal));
    setTimeout(whileRunning("SIGINT"), signalAfterMilliseconds).unref();
    setTimeout(whileRunning("SIGKILL"), endingMilliseconds).unref();
  }

  /**
   * Lets the process end by itself, or kills it.
   *
   * @param withChildren also ends what the cells started and left running
   */
  async close(withChildren: boolean): Promise<void> {
    this.#send({ type: "end" });
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), endingMilliseconds);
    await this.#gone;
    clearTimeout(killer);
    if (withChildren) this.kill();
  }

  /** Ends the process and what the cells started at once. */
  kill(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // Nobody is left in the group.
    }
  }

  /** The process, which leads a group with what the cells start. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The end of the work that is sent next, or of the process. */
  #ended(): Promise<CellEnd> {
    const ended = this.#answer("ended").then(({ outcome }) => outcome);
    return Promise.race([ended, this.#gone.then((how) => ({ status: "died", how }) as const)]);
  }

  /** Takes what native code and child processes print past the capture in the process, until it ends. */
  #end(streams: StreamBatch): Promise<string> {
    const child = this.#child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => streams.write("stdout", text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => streams.write("stderr", text));
    return new Promise((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => {
        const gone = () => {
          clearTimeout(waiting);
          child.stdout?.destroy();
          child.stderr?.destroy();
          streams.flush();
          resolve(signal ? `signal ${signal}` : `exit code ${code ?? "unknown"}`);
        };
        const waiting = setTimeout(gone, lastOutputMilliseconds);
        child.once("close", gone);
      });
    });
  }

  /** The next message of a type. */
  #answer<T extends FromWorker["type"]>(type: T): Promise<Extract<FromWorker, { type: T }>> {
    return new Promise((resolve) => {
      this.#waiting.set(type, resolve as (message: FromWorker) => void);
    });
  }

  #send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}
