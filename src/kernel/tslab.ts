import { randomUUID } from "node:crypto";
import { currentSink } from "./outputs.js";

/** Shows data of one MIME type each; binary data as bytes. */
export interface Display {
  javascript(text: string): void;
  html(text: string): void;
  markdown(text: string): void;
  latex(text: string): void;
  svg(text: string): void;
  png(bytes: Uint8Array): void;
  jpeg(bytes: Uint8Array): void;
  gif(bytes: Uint8Array): void;
  pdf(bytes: Uint8Array): void;
  text(text: string): void;
  raw(mimeType: string, data: string | Uint8Array): void;
}

/** The `display` that notebooks written for tslab import from it. */
export const display: Display = displayIn(undefined);

/** A place in the outputs: what is shown in it replaces what was there. */
export function newDisplay(): Display {
  return displayIn({ transient: { display_id: randomUUID() } });
}

function displayIn(place: { transient: { display_id: string } } | undefined): Display {
  let update = false;
  const raw = (mimeType: string, data: string | Uint8Array): void => {
    const content = typeof data === "string" ? data : Buffer.from(data).toString("base64");
    const forms = { [mimeType]: content };
    currentSink()?.({ output_type: "display_data", data: forms, metadata: {}, ...place, update });
    update = place !== undefined;
  };
  return {
    raw,
    javascript: (text) => raw("text/javascript", text),
    html: (text) => raw("text/html", text),
    markdown: (text) => raw("text/markdown", text),
    latex: (text) => raw("text/latex", text),
    svg: (text) => raw("image/svg+xml", text),
    png: (bytes) => raw("image/png", bytes),
    jpeg: (bytes) => raw("image/jpeg", bytes),
    gif: (bytes) => raw("image/gif", bytes),
    pdf: (bytes) => raw("application/pdf", bytes),
    text: (text) => raw("text/plain", text),
  };
}
