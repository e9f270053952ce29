import { AsyncLocalStorage } from "node:async_hooks";

const key = Symbol.for("probelab.currentSignal");
const shared = globalThis as { [key]?: AsyncLocalStorage<AbortSignal> };

// On globalThis, because a notebook may import another copy of probelab than the one its kernel runs on.
const storage = (shared[key] ??= new AsyncLocalStorage<AbortSignal>());

/**
 * The signal that is aborted when the analyst interrupts what runs now: the current cell in a notebook.
 * Undefined outside of a cell. Whatever waits for long passes it on (a query, a download).
 *
 * @example
 * const response = await fetch(url, { signal: currentSignal() ?? null });
 */
export function currentSignal(): AbortSignal | undefined {
  return storage.getStore();
}

/** Runs `fn`, and everything it awaits or schedules, with `signal` as the current signal. */
export function withSignal<T>(signal: AbortSignal, fn: () => T): T {
  return storage.run(signal, fn);
}
