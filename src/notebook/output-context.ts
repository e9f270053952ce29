import { AsyncLocalStorage } from "node:async_hooks";
import type { OutputSink } from "./cell-output.js";

interface OutputContext {
  readonly storage: AsyncLocalStorage<OutputSink>;
  /** Takes what comes from outside of any cell, such as an event handler of the process. */
  last: OutputSink | undefined;
}

const key = Symbol.for("probelab.outputContext");
const shared = globalThis as { [key]?: OutputContext };

// On globalThis, because a notebook may import another copy of probelab than the one its kernel runs on.
const context = (shared[key] ??= {
  storage: new AsyncLocalStorage<OutputSink>(),
  last: undefined,
});

/** Where output of the code that runs now goes: to its own cell, also when that has ended. */
export function currentSink(): OutputSink | undefined {
  return context.storage.getStore() ?? context.last;
}

/** Runs `fn`, and everything it awaits or schedules, with its output going to `sink`. */
export function withSink<T>(sink: OutputSink, fn: () => T): T {
  context.last = sink;
  return context.storage.run(sink, fn);
}
