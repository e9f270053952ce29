import { inspect } from "node:util";
import { InterruptedError, runningCell } from "./running-cell.js";

/** What failed in the background: what was thrown, and the cell that began it, where it is known. */
export interface BackgroundError {
  readonly reason: unknown;
  readonly cell: string | undefined;
  /** True for a rejected Promise that nothing waits for. */
  readonly isRejection: boolean;
}

/** From now on an error that no cell waits for keeps the process; it is printed in the cell it comes from. */
export function printBackgroundErrors(): void {
  process.on("unhandledRejection", (reason) => {
    if (reason instanceof InterruptedError) return;
    process.stderr.write(`Unhandled rejection (is an await missing?): ${inspect(reason)}\n`);
  });
  process.on("uncaughtException", (error) => {
    if (error instanceof InterruptedError) return;
    process.stderr.write(`Uncaught error in the background: ${inspect(error)}\n`);
  });
}

/** The errors that no cell waits for; from now on they keep the process. */
export class BackgroundErrors {
  readonly #standing = new Map<object, BackgroundError>();

  constructor() {
    const note = (of: object, reason: unknown, isRejection: boolean) => {
      const cell = runningCell();
      // What an interrupt ended is no news.
      if (cell?.interrupted !== true)
        this.#standing.set(of, { reason, cell: cell?.name, isRejection });
    };
    process.on("unhandledRejection", (reason, promise) => note(promise, reason, true));
    process.on("rejectionHandled", (promise) => this.#standing.delete(promise));
    process.on("uncaughtException", (error) => note({}, error, false));
  }

  /** Those since the last time, without the rejections that something took care of meanwhile. */
  take(): readonly BackgroundError[] {
    const errors = [...this.#standing.values()];
    this.#standing.clear();
    return errors;
  }
}

/** The warnings of probelab (fonts that a picture lacks) are shown in the cell they come from. */
export function showWarnings(): void {
  // Node would write them past the cell, into a log that nobody reads.
  const others = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name === "ProbelabWarning") process.stderr.write(`${warning.message}\n`);
    else for (const listener of others) listener(warning);
  });
}
