import { passedThrough } from "./awaited-places.js";
import { runtimeName } from "./cell-transform.js";
import { runningCell } from "./running-cell.js";

type Load = (specifier: string) => unknown;
type Body = (exports: object, require: Load) => Promise<void>;

/** What compiled cells call; `cellTransform` and `CellCompiler` write the calls. */
export interface CellRuntime {
  /** Runs a cell's code to its end, whatever that is. */
  run(body: Body, exports: object, require: Load): Promise<void>;
  guard(value: unknown, place: string): unknown;
  guardEach(
    values: AsyncIterable<unknown> | Iterable<unknown>,
    place: string,
  ): AsyncIterable<unknown>;
  import(specifier: string, require: Load): Promise<unknown>;
  /** Takes the value of a cell's last expression where tslab's executor can't find it. */
  last(value: unknown): void;
}

/** Puts the runtime where compiled cells find it. */
export function installRuntime(session: Pick<CellRuntime, "run" | "import" | "last">): void {
  const runtime: CellRuntime = { ...session, guard, guardEach };
  Object.defineProperty(globalThis, runtimeName, {
    value: runtime,
    enumerable: false,
    configurable: true,
  });
}

/** An await of a cell: it ends when the cell is interrupted, and remembers its place for a traceback. */
function guard(value: unknown, place: string): unknown {
  if (!isThenable(value)) return value;
  const cell = runningCell();
  const guarded = cell ? cell.guard(value) : Promise.resolve(value);
  return guarded.catch((error: unknown) => {
    passedThrough(error, place);
    throw error;
  });
}

async function* guardEach(
  values: AsyncIterable<unknown> | Iterable<unknown>,
  place: string,
): AsyncGenerator<unknown, void, undefined> {
  const iterator =
    Symbol.asyncIterator in values ? values[Symbol.asyncIterator]() : values[Symbol.iterator]();
  let finished = false;
  try {
    for (;;) {
      const next = (await guard(iterator.next(), place)) as IteratorResult<unknown>;
      finished = next.done === true;
      if (finished) return;
      yield await guard(next.value, place);
    }
  } finally {
    if (!finished) await iterator.return?.();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
