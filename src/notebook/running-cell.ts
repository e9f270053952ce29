import { AsyncLocalStorage } from "node:async_hooks";

/** What an interrupted cell ends with, and what its awaits are rejected with. */
export class InterruptedError extends Error {
  constructor() {
    super("The cell was interrupted. Its variables are as they were at that moment.");
    this.name = "Interrupted";
  }
}

/** How long the code of an interrupted cell may go on, to close what it opened. */
const graceMilliseconds = 500;

/** A cell while its code runs: what an interrupt rejects, and what is known about where errors passed. */
export class RunningCell {
  readonly #abort = new AbortController();
  readonly #waiting = new Set<(reason: unknown) => void>();
  #graceEnds = Infinity;
  #nextFails = false;

  /** @param name such as `cell-3` */
  constructor(readonly name: string) {}

  /** Aborted by an interrupt. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get interrupted(): boolean {
    return this.#abort.signal.aborted;
  }

  interrupt(): void {
    if (this.interrupted) return;
    this.#graceEnds = Date.now() + graceMilliseconds;
    const reason = new InterruptedError();
    this.#abort.abort(reason);
    this.#nextFails = this.#waiting.size === 0;
    for (const reject of this.#waiting) reject(reason);
    this.#waiting.clear();
  }

  /** Throws after an interrupt where nothing was waited for, and when the grace is over. */
  throwIfInterrupted(): void {
    if (!this.#nextFails && Date.now() <= this.#graceEnds) return;
    this.#nextFails = false;
    throw this.signal.reason;
  }

  /**
   * Settles as `work` does; an interrupt rejects it, or the next one where none is waited for. When the grace
   * is over, it ends the code for good.
   */
  guard(work: PromiseLike<unknown>): Promise<unknown> {
    if (Date.now() > this.#graceEnds) return new Promise(() => undefined);
    if (this.#nextFails) {
      this.#nextFails = false;
      Promise.resolve(work).catch(() => undefined);
      return Promise.reject(this.signal.reason as Error);
    }
    if (this.interrupted) return Promise.resolve(work);
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      const settled = () => this.#waiting.delete(reject);
      work.then(
        (value) => {
          settled();
          resolve(value);
        },
        (error: unknown) => {
          settled();
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what the cell threw, as it is
          reject(error);
        },
      );
    });
  }

  /** Waits for the code of a cell; when it is interrupted, until its clean-up is done or the grace is over. */
  async finish(code: Promise<void>): Promise<void> {
    const ended = code.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const aborted = new Promise<"aborted">((resolve) => {
      this.signal.addEventListener("abort", () => resolve("aborted"), { once: true });
      if (this.interrupted) resolve("aborted");
    });
    const first = await Promise.race([ended, aborted]);
    if (this.interrupted) {
      await Promise.race([ended, timer(graceMilliseconds)]);
      throw this.signal.reason;
    }
    if (first !== undefined && first !== "aborted") throw first.error;
  }
}

function timer(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

const storage = new AsyncLocalStorage<RunningCell>();

/** The cell that the code belongs to which runs now. */
export function runningCell(): RunningCell | undefined {
  return storage.getStore();
}

/** Runs `fn`, and everything it awaits or schedules, as the code of `cell`. */
export function asCell<T>(cell: RunningCell, fn: () => T): T {
  return storage.run(cell, fn);
}
