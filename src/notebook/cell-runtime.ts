import { runtimeName } from "./cell-transform.js";
import { runningCell } from "./running-cell.js";
import { tellInterrupt } from "./watch-thread.js";

export type Load = (specifier: string) => unknown;
export type CellBody = (exports: object, require: Load) => Promise<void>;

/** What compiled cells call; `cellTransform` and `CellCompiler` write the calls. */
export interface CellRuntime {
  /** A turn of a loop. */
  tick(): void;
  /** Takes a cell's code to run it. */
  run(body: CellBody): void;
  guard(value: unknown, place: string): unknown;
  guardEach(
    values: AsyncIterable<unknown> | Iterable<unknown>,
    place: string,
  ): AsyncIterable<unknown>;
  import(specifier: string, require: Load): Promise<unknown>;
  /** `fn`, whose text is `text` for those who read it. */
  written<T extends object>(fn: T, text: string): T;
  /** Takes the value of a cell's last expression. */
  last(value: unknown): void;
}

/** Puts the runtime where compiled cells find it. */
export function installRuntime(session: Pick<CellRuntime, "run" | "import" | "last">): void {
  const runtime: CellRuntime = { ...session, guard, guardEach, tick, written };
  Object.defineProperty(globalThis, runtimeName, {
    value: runtime,
    enumerable: false,
    configurable: true,
  });
}

const places = new WeakMap<object, string[]>();

/** The awaits that `error` came through, innermost first: where its own stack ends in a library. */
export function awaitedPlaces(error: unknown): readonly string[] {
  return (typeof error === "object" && error !== null ? places.get(error) : undefined) ?? [];
}

const turnsBetweenChecks = 64;
let turns = 0;

/** A turn of a cell's loop: it throws when the cell was interrupted. Some 3 ns, as it does so now and then. */
function tick(): void {
  turns = (turns + 1) % turnsBetweenChecks;
  if (turns !== 0) return;
  tellInterrupt();
  runningCell()?.throwIfInterrupted();
}

function written<T extends object>(fn: T, text: string): T {
  return Object.defineProperty(fn, "toString", { value: () => text, configurable: true });
}

/** As long awaits may go on without a turn of the event loop, in which interrupts and messages are read. */
const turnMilliseconds = 50;
let lastTurn = 0;

/** An await of a cell: it ends when the cell is interrupted, and remembers its place for a traceback. */
function guard(value: unknown, place: string): unknown {
  const isDue = performance.now() - lastTurn > turnMilliseconds;
  if (!isDue && !isThenable(value)) return value;
  const cell = runningCell();
  const work = isThenable(value) ? value : Promise.resolve(value);
  const guarded = (cell ? cell.guard(work) : Promise.resolve(work)).catch((error: unknown) => {
    if (typeof error === "object" && error !== null) {
      places.set(error, [...awaitedPlaces(error), place]);
    }
    throw error;
  });
  return isDue ? afterTurn(guarded) : guarded;
}

/** What is awaited in a loop may always be there already: such a loop would keep the event loop from turning. */
async function afterTurn(work: Promise<unknown>): Promise<unknown> {
  work.catch(() => undefined); // It is handled after the turn.
  await new Promise((resolve) => setImmediate(resolve));
  lastTurn = performance.now();
  return work;
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
