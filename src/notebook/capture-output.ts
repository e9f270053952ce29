import { StringDecoder } from "node:string_decoder";
import type { MimeBundle } from "../base/mime-bundle.js";
import { currentSink } from "./output-context.js";
import type { TslabParts } from "./tslab-parts.js";

/** From now on what this process prints, and what `tslab.display` shows, goes to the cell it comes from. */
export function captureOutput(parts: TslabParts): void {
  captureStream("stdout");
  captureStream("stderr");
  parts.jupyter.lastWriteDisplayData = (message, update) => {
    const bundle: MimeBundle = { data: message.data, metadata: message.metadata };
    currentSink()?.({ type: "display", bundle, displayId: message.transient?.display_id, update });
  };
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
