import { AsyncLocalStorage } from "node:async_hooks";

/** Progress of a query that takes longer than half a second. */
export interface QueryProgress {
  /** The same for all news of one query. */
  readonly id: string;
  /** `stopped` where it failed or was interrupted. */
  readonly state: "running" | "done" | "stopped";
  readonly rowsRead: number;
  /** Rows that the server expects to read; undefined where it doesn't know. */
  readonly rowsInAll: number | undefined;
  /** Since the query was sent. */
  readonly seconds: number;
  /** The part of a question that runs in parts, and their number as far as known. */
  readonly part?: { readonly at: number; readonly of: number };
}

export type ProgressListener = (progress: QueryProgress) => void;

const rowsKey = Symbol.for("probelab.rowsRead");
const key = Symbol.for("probelab.queryProgress");
const shared = globalThis as { [key]?: AsyncLocalStorage<ProgressListener>; [rowsKey]?: number };

// On globalThis, because a notebook may import another copy of probelab than the one its kernel runs on.
const storage = (shared[key] ??= new AsyncLocalStorage<ProgressListener>());

/** The listener of the code that runs now: the current cell of a notebook. */
export function progressListener(): ProgressListener | undefined {
  return storage.getStore();
}

/** Runs `fn`, and everything it awaits or schedules, with news of its queries going to `listener`. */
export function withProgress<T>(listener: ProgressListener, fn: () => T): T {
  return storage.run(listener, fn);
}

/** Rows that the server read for all queries of this process so far. */
export function rowsReadSoFar(): number {
  return shared[rowsKey] ?? 0;
}

export function addRowsRead(rows: number): void {
  shared[rowsKey] = rowsReadSoFar() + rows;
}
