import { AsyncLocalStorage } from "node:async_hooks";
import { helper, runtimeName } from "./compile.js";
import { callInterruptListeners } from "./watch-thread.js";

/** The error that an interrupted cell ends with, and that its awaits are rejected with. */
export class InterruptedError extends Error {
  constructor() {
    super("The cell was interrupted. Its variables are as they were at that moment.");
    this.name = "Interrupted";
  }
}

/** Time that the code of an interrupted cell has to close what it opened. */
const closingMilliseconds = 500;

/** A cell while its code runs: an interrupt rejects its awaits. */
export class RunningCell {
  /** Getters and setters of the names that it declares. */
  names: object = {};
  /** Getters of the names that it imports. */
  imported: object = {};
  /** Settles when the code has ended; undefined until its first await. */
  ended: Promise<void> | undefined;
  /** The value of its last expression. */
  value: unknown;
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
    this.#graceEnds = Date.now() + closingMilliseconds;
    const reason = new InterruptedError();
    this.#abort.abort(reason);
    this.#nextFails = this.#waiting.size === 0;
    for (const reject of this.#waiting) reject(reason);
    this.#waiting.clear();
  }

  /** Throws after an interrupt that rejected no await, and when the grace is over. */
  throwIfInterrupted(): void {
    if (!this.#nextFails && Date.now() <= this.#graceEnds) return;
    this.#nextFails = false;
    throw this.signal.reason;
  }

  /**
   * Settles as `work` does, unless an interrupt rejects it; one that came while nothing was awaited rejects
   * the next. When the grace is over it never settles: the code stays there for good.
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
      void Promise.resolve(work)
        .then(resolve, reject)
        .finally(() => this.#waiting.delete(reject));
    });
  }

  /** Waits for the cell's code to end; after an interrupt, until its clean-up is done or the grace is over. */
  async finish(code: Promise<void>): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      this.signal.addEventListener("abort", () => resolve(), { once: true });
      if (this.interrupted) resolve();
    });
    await Promise.race([code, aborted]).catch((error: unknown) => {
      if (!this.interrupted) throw error;
    });
    if (!this.interrupted) return;
    const grace = new Promise((resolve) => setTimeout(resolve, closingMilliseconds).unref());
    await Promise.race([code, grace]).catch(() => undefined);
    throw this.signal.reason;
  }
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

export type Require = (specifier: string) => unknown;
export type CellBody = (
  exports: object,
  require: Require,
  declare: (names: object, areImported?: boolean) => void,
) => Promise<void>;

/** What compiled cells call of their session. */
interface SessionCalls {
  /** Starts a cell's code. */
  begin(body: CellBody): void;
  import(specifier: string, require: Require): Promise<unknown>;
  /** Takes the value of a cell's last expression. */
  last(value: unknown): void;
  /** The text of a cell's function as it was written; undefined for one of another origin. */
  written(text: string): string | undefined;
}

const turnsBetweenChecks = 64;

/** Awaits may go on this long without a turn of the event loop, in which interrupts and messages arrive. */
const turnMilliseconds = 50;

/** Puts the functions that compiled cells call where they find them; `compile.ts` writes the calls. */
export function installRuntime(session: SessionCalls): void {
  let turns = 0;
  let lastTurn = 0;

  /** Throws if the cell was interrupted. Looks only now and then, so that a turn costs 3 ns. */
  const tick = (): void => {
    turns = (turns + 1) % turnsBetweenChecks;
    if (turns !== 0) return;
    callInterruptListeners();
    runningCell()?.throwIfInterrupted();
  };

  /** A loop whose awaited values are always there already would keep the event loop from turning. */
  const afterTurn = async (work: Promise<unknown>): Promise<unknown> => {
    work.catch(() => undefined); // It is handled after the turn.
    await new Promise((resolve) => setImmediate(resolve));
    lastTurn = performance.now();
    return work;
  };

  /** Waits for a value, as `await` does, until an interrupt. @param place of the await, as `cell-3:12:7` */
  const guard = (value: unknown, place: string): unknown => {
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
  };

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

  // Arquero, workers and browsers' drivers read the text of a function, and must find what was written.
  const apply = (toString: () => string, fn: unknown): string => {
    const text = Reflect.apply(toString, fn, []);
    return text.includes(runtimeName) ? (session.written(text) ?? text) : text;
  };
  const functions = Function.prototype as { toString: () => string };
  functions.toString = new Proxy(functions.toString, { apply });

  const runtime = {
    ...session,
    ...{ guard, guardEach, tick, helper },
    ...{ module: moduleOf, exports: exportNames, star: exportAll },
  };
  Object.defineProperty(globalThis, runtimeName, { value: runtime });
}

/** A module as `import * as` gives it. @param loaded what `require` returned */
function moduleOf(loaded: unknown): unknown {
  if (Object(loaded) !== loaded) return { default: loaded };
  const module = loaded as { __esModule?: boolean };
  return module.__esModule ? module : { ...module, default: module };
}

/** Gives `exports` the getters of `names`. */
function exportNames(exports: object, names: object): void {
  Object.defineProperty(exports, "__esModule", { value: true, configurable: true });
  Object.defineProperties(exports, Object.getOwnPropertyDescriptors(names));
}

/** Gives `exports` all that a module exports but its default. */
function exportAll(exports: object, loaded: unknown): void {
  for (const name of Object.keys(Object(loaded) as object)) {
    if (name === "default" || name in exports) continue;
    const get = () => (loaded as Record<string, unknown>)[name];
    Object.defineProperty(exports, name, { get, enumerable: true });
  }
}

const places = new WeakMap<object, string[]>();

/** The awaits of cells that `error` passed, innermost first: its own stack may end in a library. */
export function awaitedPlaces(error: unknown): readonly string[] {
  return (typeof error === "object" && error !== null ? places.get(error) : undefined) ?? [];
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
