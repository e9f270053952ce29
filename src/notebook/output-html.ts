import { jsonScript } from "../chart/page/figures.js";
import { titleText } from "../chart/render/svg.js";
import { ansiHtml } from "./ansi-html.js";
import { escapeHtml } from "./escape-html.js";
import { markdownHtml } from "./markdown-html.js";
import type { NotebookOutput } from "./notebook-file.js";

type Render = (
  value: unknown,
  metadata: { width?: unknown; height?: unknown },
  alt: string,
) => string;

/** Forms that a page without scripts can show, the best first. */
const renderers: Record<string, Render> = {
  "text/html": (value) => inertHtml(asText(value)),
  "image/svg+xml": (value, size, alt) =>
    image("image/svg+xml", Buffer.from(asText(value)).toString("base64"), size, alt),
  "image/png": (value, size, alt) => image("image/png", asText(value), size, alt),
  "image/jpeg": (value, size, alt) => image("image/jpeg", asText(value), size, alt),
  "image/gif": (value, size, alt) => image("image/gif", asText(value), size, alt),
  "text/markdown": (value) => markdownHtml(asText(value)),
  "text/latex": (value) => pre(escapeHtml(asText(value))),
  "application/json": (value) => pre(escapeHtml(JSON.stringify(value, null, 2))),
  "text/plain": (value) => pre(ansiHtml(asText(value))),
};

const vegaLite = /^application\/vnd\.vegalite\.v\d+(\+json|\.json)$/;

/**
 * An output as HTML that is inert: it runs no script and asks for nothing. A chart is a figure that
 * holds where it comes from as a data block, `script.probelab-origin`.
 */
export function outputHtml(output: NotebookOutput): string {
  if (output.output_type === "stream") {
    return `<div class="output ${output.name}">${pre(ansiHtml(output.text))}</div>`;
  }
  if (output.output_type === "error") {
    return `<div class="output error" role="alert">${pre(ansiHtml(output.traceback.join("\n")))}</div>`;
  }
  const type = Object.keys(renderers).find((one) => one in output.data);
  if (type === undefined) {
    const types = Object.keys(output.data).join(", ");
    return `<div class="output">${pre(`An output that a page can't show (${escapeHtml(types)}).`)}</div>`;
  }
  const size = (output.metadata[type] ?? {}) as { width?: unknown; height?: unknown };
  const text = output.data["text/plain"];
  const alt = typeof text === "string" ? text : "Output of the cell";
  const shown = renderers[type]?.(output.data[type], size, alt) ?? "";
  const { title, origin } = chartOrigin(output.data);
  if (origin === undefined) return `<div class="output">${shown}</div>`;
  return `<figure class="output" aria-label="${escapeHtml(title)}">${shown}${jsonScript("probelab-origin", origin)}</figure>`;
}

/** The title of a chart that probelab made, and where it comes from. */
function chartOrigin(data: Readonly<Record<string, unknown>>): { title: string; origin?: object } {
  for (const type of Object.keys(data).filter((one) => vegaLite.test(one))) {
    const { title, usermeta } = Object(data[type]) as { title?: unknown; usermeta?: unknown };
    const { probelab } = Object(usermeta) as { probelab?: unknown };
    const isRecord = typeof probelab === "object" && probelab !== null && !Array.isArray(probelab);
    if (isRecord) return { title: titleText(title), origin: probelab };
  }
  return { title: "" };
}

function pre(html: string): string {
  return `<pre tabindex="0">${html}</pre>`;
}

function image(
  type: string,
  base64: string,
  size: { width?: unknown; height?: unknown },
  alt: string,
): string {
  const attributes = (["width", "height"] as const)
    .filter((side) => typeof size[side] === "number")
    .map((side) => ` ${side}="${Number(size[side])}"`)
    .join("");
  const data = base64.replace(/[^A-Za-z0-9+/=]/g, "");
  return `<img src="data:${type};base64,${data}" alt="${escapeHtml(alt)}"${attributes}>`;
}

/** The page's policy stops scripts and requests; what it can't stop (a redirect by `<meta>`) is shown as text. */
function inertHtml(html: string): string {
  return html.replace(
    /<(?=\/?(?:meta|base|link|script|iframe|object|embed|form|template)\b)/gi,
    "&lt;",
  );
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
