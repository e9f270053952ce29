import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import type { MimeBundle } from "../base/mime-bundle.js";
import { hideSecrets, secretStart } from "../base/redact.js";
import type { ProgressListener, QueryProgress } from "../base/query-progress.js";

/** An error as Jupyter shows it. */
export interface CellError {
  /** The error's name, such as `TypeError`. */
  readonly ename: string;
  /** Its message. */
  readonly evalue: string;
  /** Lines with ANSI colours: the message, the place in the cell, its code. */
  readonly traceback: readonly string[];
}

export type CellOutcome =
  { readonly status: "ok" } | { readonly status: "error"; readonly error: CellError };

export type StreamName = "stdout" | "stderr";

/** An output of a cell as nbformat 4.5 writes it, which is also the content of a message to a frontend. */
export type CellOutput =
  | { output_type: "stream"; name: StreamName; text: string }
  | ({ output_type: "display_data" } & MimeBundle & Place)
  | ({ output_type: "execute_result"; execution_count?: number | null } & MimeBundle)
  | ({ output_type: "error" } & CellError);

/** Where a display stands: a later one with the same id and `update` replaces it. Not kept in files. */
interface Place {
  transient?: { display_id: string };
  update?: boolean;
}

/** What a frontend does by itself. */
export interface Frontend {
  /** True where it draws Vega-Lite and adds a PNG of that to the notebook, as JupyterLab and Notebook 7 do. */
  readonly addsPng?: boolean;
}

export interface OutputSink extends Frontend {
  (output: CellOutput): void;
}

interface OutputContext {
  readonly storage: AsyncLocalStorage<OutputSink>;
  /** Receives what comes from outside of any cell, such as an event handler of the process. */
  last: OutputSink | undefined;
}

const key = Symbol.for("probelab.outputContext");
const shared = globalThis as { [key]?: OutputContext };

// On globalThis, because a notebook may import another copy of probelab than the one its kernel runs on.
const context = (shared[key] ??= {
  storage: new AsyncLocalStorage<OutputSink>(),
  last: undefined,
});

/** The sink of the code that runs now: that of its own cell, even after the cell has ended. */
export function currentSink(): OutputSink | undefined {
  return context.storage.getStore() ?? context.last;
}

/** Runs `fn`, and everything it awaits or schedules, with its output going to `sink`. */
export function withSink<T>(sink: OutputSink, fn: () => T): T {
  context.last = sink;
  return context.storage.run(sink, fn);
}

/** Sends what this process prints to a stream from now on to the cell that prints it. */
export function captureStream(name: StreamName): void {
  const stream = process[name];
  const write = stream.write.bind(stream);
  const decoder = new StringDecoder();
  type Done = (error?: Error | null) => void;
  stream.write = (chunk: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done) => {
    const sink = currentSink();
    const finished = typeof encoding === "function" ? encoding : done;
    if (!sink) return write(chunk, typeof encoding === "string" ? encoding : "utf8", finished);
    const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk));
    if (text !== "") sink({ output_type: "stream", name, text });
    if (finished) process.nextTick(finished);
    return true;
  };
}

/** Characters that a cell may print: a frontend and a file choke on more, and it takes many times the memory. */
const mostPrintedOfCell = 20_000_000;

const everyMilliseconds = 50;
const mostCharacters = 1_000_000;

/**
 * Joins the small pieces that a cell prints: a message for every `console.log` of a loop would flood the
 * frontend. The first piece goes at once, later ones at most 50 ms after they were printed. Secrets are
 * hidden, also in two pieces: the end of a piece that may be the start of one waits for the next piece or
 * the cell's next output.
 */
export class StreamBatch {
  /** Takes an output; what was printed before it goes first. */
  readonly put: OutputSink;
  readonly #sink: OutputSink;
  #name: StreamName = "stdout";
  #pieces: string[] = [];
  #size = 0;
  #printed = 0;
  #last = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: OutputSink) {
    this.#sink = sink;
    const put = (output: CellOutput) => {
      if (output.output_type === "stream") return this.write(output.name, output.text);
      this.flush();
      sink(output);
    };
    this.put = Object.assign(put, { addsPng: sink.addsPng === true });
  }

  write(name: StreamName, printed: string): void {
    if (this.#printed > mostPrintedOfCell) return;
    const text = printed.slice(0, characterEnd(printed, mostPrintedOfCell - this.#printed));
    this.#printed += printed.length;
    if (name !== this.#name) this.flush();
    this.#name = name;
    this.#pieces.push(text);
    this.#size += text.length;
    if (this.#printed > mostPrintedOfCell) {
      this.#sendPieces(true);
      [this.#pieces, this.#size] = [[], 0]; // It may be half a secret.
      const millions = mostPrintedOfCell / 1_000_000;
      const text = `\nPrinted more than ${millions} MB: the rest is left out.\n`;
      this.#sink({ output_type: "stream", name: "stderr", text });
      return;
    }
    const due = this.#last + everyMilliseconds - performance.now();
    if (due <= 0 || this.#size >= mostCharacters) this.#sendPieces(true);
    else this.#timer ??= setTimeout(() => this.#sendPieces(true), due);
  }

  /** Sends everything that waits. */
  flush(): void {
    this.#sendPieces(false);
  }

  #sendPieces(goesOn: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#size === 0) return;
    const printed = this.#pieces.join("");
    const end = goesOn ? secretStart(printed) : printed.length;
    this.#pieces = end < printed.length ? [printed.slice(end)] : [];
    this.#size = printed.length - end;
    this.#last = performance.now();
    const text = hideSecrets(printed.slice(0, end));
    for (let start = 0; start < text.length;) {
      const next = characterEnd(text, start + mostCharacters);
      const piece = text.slice(start, next);
      this.#sink({ output_type: "stream", name: this.#name, text: piece });
      start = next;
    }
  }
}

/** Avoids an end between the halves of a character outside of the basic plane. */
function characterEnd(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

/**
 * Shows the progress of a cell's queries in one display that is updated in place: a line for all that have
 * ended and a line for each that runs.
 *
 * @param onlySummary omits running queries, for a headless notebook
 */
export function progressLine(sink: OutputSink, onlySummary: boolean): ProgressListener {
  const transient = { display_id: randomUUID() };
  const running = new Map<string, QueryProgress>();
  let [queries, rows, seconds, stopped] = [0, 0, 0, 0];
  let shown = "";

  return (progress) => {
    if (progress.state === "running") running.set(progress.id, progress);
    else {
      running.delete(progress.id);
      queries++;
      rows += progress.rowsRead;
      seconds += progress.seconds;
      if (progress.state === "stopped") stopped++;
    }
    const lines = onlySummary ? [] : [...running.values()].map(runningText);
    if (queries > 0) lines.unshift(summaryText(queries, rows, seconds, stopped));
    const text = lines.join("\n");
    if (text === "" || text === shown) return;
    const data = { "text/plain": text };
    sink({ output_type: "display_data", data, metadata: {}, transient, update: shown !== "" });
    shown = text;
  };
}

function runningText({ rowsRead, rowsInAll = 0, seconds, part }: QueryProgress): string {
  const reading = part === undefined ? "Reading" : `Part ${part.at} of ${part.of}, reading`;
  const percent = Math.floor((100 * rowsRead) / Math.max(1, rowsInAll));
  const isUnknown = rowsInAll === 0 || rowsInAll < rowsRead;
  const of = isUnknown ? "rows" : `of ${countText(rowsInAll)} rows (${percent} %)`;
  const rate = `${countText(rowsRead / seconds)} rows/s, ${seconds.toFixed(1)} s`;
  return `${reading}: ${countText(rowsRead)} ${of}, ${rate}`;
}

function summaryText(queries: number, rows: number, seconds: number, stopped: number): string {
  const what = queries === 1 ? "1 query" : `${queries} queries`;
  const rowsText = `${countText(rows)} ${rows === 1 ? "row" : "rows"}`;
  const stoppedText = stopped === 0 ? "" : `, ${stopped} stopped before the end`;
  return `${what}, ${rowsText} read in ${seconds.toFixed(1)} s${stoppedText}`;
}

const compact = new Intl.NumberFormat("en", {
  notation: "compact",
  maximumSignificantDigits: 3,
});

/** A count in three digits: 950, 1.23K, 45.6M. */
const countText = (count: number) => compact.format(count);
