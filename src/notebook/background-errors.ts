import { inspect } from "node:util";
import { InterruptedError, runningCell } from "./cell-runtime.js";

/** An error that no cell waited for. */
export interface BackgroundError {
  readonly reason: unknown;
  /** The cell that started it, if known. */
  readonly cell: string | undefined;
  /** True for a rejected Promise. */
  readonly isRejection: boolean;
}

/** Prints errors that no cell waits for in the cell that they come from; they no longer end the process. */
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

/** Collects errors that no cell waits for; they no longer end the process. */
export class BackgroundErrors {
  readonly #standing = new Map<object, BackgroundError>();

  constructor() {
    const note = (of: object, reason: unknown, isRejection: boolean) => {
      const cell = runningCell();
      // Not what an interrupt ended.
      if (cell?.interrupted !== true)
        this.#standing.set(of, { reason, cell: cell?.name, isRejection });
    };
    process.on("unhandledRejection", (reason, promise) => note(promise, reason, true));
    process.on("rejectionHandled", (promise) => this.#standing.delete(promise));
    process.on("uncaughtException", (error) => note({}, error, false));
  }

  /** The errors since the last call, without rejections that were handled meanwhile. */
  take(): readonly BackgroundError[] {
    const errors = [...this.#standing.values()];
    this.#standing.clear();
    return errors;
  }
}
