import { AsyncLocalStorage } from "node:async_hooks";
import { StringDecoder } from "node:string_decoder";
import type { MimeBundle } from "../base/mime-bundle.js";

/** An error as Jupyter shows it. */
export interface CellError {
  /** The error's name, such as `TypeError`. */
  readonly ename: string;
  /** Its message. */
  readonly evalue: string;
  /** Lines with ANSI colours: the message, the place in the cell, its code. */
  readonly traceback: readonly string[];
}

/** How a cell ended. */
export type CellOutcome =
  { readonly status: "ok" } | { readonly status: "error"; readonly error: CellError };

/** One thing that a running cell puts out. */
export type CellOutput =
  | { readonly type: "stream"; readonly name: "stdout" | "stderr"; readonly text: string }
  | {
      readonly type: "display";
      readonly bundle: MimeBundle;
      /** Later displays with this id and `update` replace this one. */
      readonly displayId?: string | undefined;
      readonly update?: boolean | undefined;
    }
  | { readonly type: "result"; readonly bundle: MimeBundle }
  | { readonly type: "error"; readonly error: CellError };

export type OutputSink = (output: CellOutput) => void;

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

/** From now on what this process prints goes to the cell it comes from. */
export function captureStreams(): void {
  captureStream("stdout");
  captureStream("stderr");
}

function captureStream(name: "stdout" | "stderr"): void {
  const stream = process[name];
  const write = stream.write.bind(stream);
  const decoder = new StringDecoder();
  type Done = (error?: Error | null) => void;
  stream.write = (chunk: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done) => {
    const sink = currentSink();
    const finished = typeof encoding === "function" ? encoding : done;
    if (!sink) return write(chunk, typeof encoding === "string" ? encoding : "utf8", finished);
    const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk));
    if (text !== "") sink({ type: "stream", name, text });
    if (finished) process.nextTick(finished);
    return true;
  };
}
