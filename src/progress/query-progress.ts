import { AsyncLocalStorage } from "node:async_hooks";

/** How far a query is that takes longer than a moment. */
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
  /** Which part of a question it is, of how many as far as is known; missing where it is the whole. */
  readonly part?: { readonly at: number; readonly of: number };
}

export type ProgressListener = (progress: QueryProgress) => void;

const rowsKey = Symbol.for("probelab.rowsRead");
const key = Symbol.for("probelab.queryProgress");
const shared = globalThis as { [key]?: AsyncLocalStorage<ProgressListener>; [rowsKey]?: number };

// On globalThis, because a notebook may import another copy of probelab than the one its kernel runs on.
const storage = (shared[key] ??= new AsyncLocalStorage<ProgressListener>());

/** Who wants to know how far the queries of the code are that runs now: the current cell of a notebook. */
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
