import { stripVTControlCharacters } from "node:util";
import markdownIt from "markdown-it";
import { escapeXml } from "../base/xml.js";
import {
  FINDING_TYPE,
  jsonScript,
  liveContent,
  pageDocument,
  titleText,
  type VegaLiteSpec,
} from "../chart/page.js";
import type { Notebook, NotebookCell, TextCell } from "./notebook-file.js";
import type { CellOutput } from "./outputs.js";
import { ownPackage } from "./kernelspec.js";
import { isInjected } from "./parameters.js";

const STYLE = `
.output img { background: #fff; }
.cell > .source { background: var(--code); border-radius: 6px; }
.cell { margin: 1.2rem 0; }
.source { position: relative; border: 1px solid var(--line); }
.source > summary {
  cursor: pointer; color: var(--soft); font-size: 0.75rem; padding: 0.25rem 0.9rem; list-style-position: inside;
}
.output, .output.probelab-chart { margin: 0.6rem 0; overflow-x: auto; }
.output pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.stderr pre { border-left: 3px solid var(--line); color: var(--soft); }
.all-code { display: block; text-align: right; color: var(--soft); font-size: 0.8rem; }
main:has(.all-code :checked) .source::details-content { content-visibility: visible; height: auto; }
.verdict { margin: 0.5em 0 0.3em; }
.error pre { background: var(--error-paper); border-left: 3px solid var(--error); border-radius: 4px; }
@media print {
  .all-code, .source:not([open]) { display: none; }
  .output, .source { break-inside: avoid; } .output img { break-inside: avoid; }
}
`;

/**
 * An executed notebook as a self-contained HTML page of its texts, code and outputs. Its title is the
 * headline of the first finding in it, else its first heading. Code is folded: a click opens a cell's, a
 * box all. Charts are live; where scripts are off, their pictures stand. A page without charts has no
 * script. Cells tagged `remove-cell` are not shown.
 */
export async function notebookPage(notebook: Notebook, name: string): Promise<string> {
  const written: string[] = [];
  for (const cell of notebook.cells) written.push(await cellHtml(cell));
  const cells = written.filter((html) => html !== "");
  const verdict = headlineOf(notebook);
  const first = verdict === undefined ? -1 : cells.findIndex((html) => html.includes(VERDICT));
  // The verdict is read first: code without outputs that stands before it comes after it, and then its own.
  if (first >= 0 && cells.slice(0, first).every((html) => html.startsWith(CODE_ALONE))) {
    const cell = cells[first]!;
    const code = cell.lastIndexOf(SOURCE);
    const shown = cell.slice(0, code).replace(VERDICT, '<h1 class="verdict">');
    cells[first] = `<section class="cell">${cell.slice(code)}`;
    cells.unshift(`${shown.replace("</strong></p>", "</h1>")}</section>`);
  }
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  const footer = `<footer>Made by probelab ${ownPackage().version} on ${at} UTC from ${escapeXml(name)}.ipynb.</footer>`;
  return pageDocument({
    title: verdict ?? titleOf(notebook) ?? name,
    style: STYLE,
    styleAttributes: true,
    body: [...cells, ALL_CODE, footer].join("\n"),
  });
}

async function cellHtml(cell: NotebookCell): Promise<string> {
  const tags = cell.metadata.tags ?? [];
  if (tags.includes("remove-cell")) return "";
  if (cell.cell_type === "markdown") {
    return `<section class="text">${markdownHtml(withAttachments(cell))}</section>`;
  }
  if (cell.cell_type !== "code" || cell.source.trim() === "") return "";
  const count = cell.execution_count === null ? "not run" : `${cell.execution_count}`;
  const label = isInjected(cell) ? "Code, parameters of this run" : `Code, cell ${count}`;
  const source = `${SOURCE}<summary>${label}</summary><pre tabindex="0"><code>${escapeXml(cell.source)}</code></pre></details>`;
  const outputs: string[] = [];
  for (const output of cell.outputs) outputs.push(await outputHtml(output));
  return `<section class="cell">${outputs.join("")}${source}</section>`;
}

/** Pictures that are attached to a text cell, in its text. */
function withAttachments(cell: TextCell): string {
  return cell.source.replace(/\(attachment:([^)\s]+)\)/g, (whole, name: string) => {
    const [type, data] = Object.entries(cell.attachments?.[name] ?? {})[0] ?? [];
    return type && data ? `(data:${type};base64,${data})` : whole;
  });
}

const ALL_CODE = `<label class="all-code"><input type="checkbox"> Show all code</label>`;
/** How a cell begins that shows nothing, and the headline of a finding. */
const SOURCE = '<details class="source">';
const CODE_ALONE = `<section class="cell">${SOURCE}`;
const VERDICT = "<p><strong>";

/** The headline of the first finding that a notebook shows. */
function headlineOf(notebook: Notebook): string | undefined {
  for (const cell of notebook.cells) {
    if (cell.cell_type !== "code") continue;
    for (const output of cell.outputs) {
      if (!("data" in output)) continue;
      const { headline } = Object(output.data[FINDING_TYPE]) as { headline?: unknown };
      if (typeof headline === "string") return headline;
    }
  }
  return undefined;
}

function titleOf(notebook: Notebook): string | undefined {
  for (const cell of notebook.cells) {
    if (cell.cell_type !== "markdown") continue;
    const heading = /^#\s+(.+)$/m.exec(cell.source)?.[1];
    if (heading !== undefined) return heading.replace(/[*_`]/g, "").trim();
  }
  return undefined;
}

const markdown = markdownIt({ html: false, linkify: false, typographer: false });

/** Markdown as HTML. HTML in it is shown as text; pictures of other sites stay blank. */
export function markdownHtml(text: string): string {
  return markdown.render(text);
}

type Size = { readonly width?: unknown; readonly height?: unknown };
type Render = (value: unknown, size: Size, alt: string) => string;

const picture =
  (type: string): Render =>
  (value, size, alt) =>
    image(type, asText(value), size, alt);

/** MIME types that a page can show, the best first. */
const renderers: Record<string, Render> = {
  "text/html": (value) => inertHtml(asText(value)),
  "image/svg+xml": (value, size, alt) =>
    image("image/svg+xml", Buffer.from(asText(value)).toString("base64"), size, alt),
  "image/png": picture("image/png"),
  "image/jpeg": picture("image/jpeg"),
  "image/gif": picture("image/gif"),
  "text/markdown": (value) => markdownHtml(asText(value)),
  "text/latex": (value) => pre(asText(value)),
  "application/json": (value) => pre(JSON.stringify(value, null, 2)),
  "text/plain": (value) => pre(asText(value)),
};

const vegaLite = /^application\/vnd\.vegalite\.v\d+(\+json|\.json)$/;

/**
 * An output as HTML that runs no script and loads nothing. A chart is a figure of its picture, which
 * the page's runtime makes live, with its origin in a data block, `script.probelab-origin`.
 */
async function outputHtml(output: CellOutput): Promise<string> {
  if (output.output_type === "stream") {
    return `<div class="output ${output.name}">${pre(output.text)}</div>`;
  }
  if (output.output_type === "error") {
    return `<div class="output error" role="alert">${pre(output.traceback.join("\n"))}</div>`;
  }
  const type = Object.keys(renderers).find((type) => type in output.data);
  if (type === undefined) {
    const types = Object.keys(output.data).join(", ");
    return `<div class="output">${pre(`An output that a page can't show (${types}).`)}</div>`;
  }
  const size = (output.metadata[type] ?? {}) as Size;
  const text = output.data["text/plain"];
  const alt = typeof text === "string" ? text : "Output of the cell";
  const shown = renderers[type]?.(output.data[type], size, alt) ?? "";
  const { title, origin, chart } = chartOrigin(output.data);
  if (origin === undefined) return `<div class="output">${shown}</div>`;
  const record = jsonScript("probelab-origin", origin);
  const named = `aria-label="${escapeXml(title)}"`;
  // A chart that can't be compiled is its picture.
  const live = await liveContent(chart).catch(() => undefined);
  if (live === undefined || !type.startsWith("image/")) {
    return `<figure class="output" ${named}>${shown}${record}</figure>`;
  }
  return `<figure class="output probelab-chart" ${named}><div class="probelab-plot" tabindex="0" role="group" aria-label="Chart"><div class="probelab-picture">${shown}</div></div>${live.block}${record}</figure>`;
}

/** A chart that probelab made: its spec, its title, and where it comes from. */
function chartOrigin(data: Readonly<Record<string, unknown>>): {
  title: string;
  origin?: object;
  chart: VegaLiteSpec;
} {
  for (const type of Object.keys(data).filter((type) => vegaLite.test(type))) {
    const chart = Object(data[type]) as VegaLiteSpec;
    const { probelab } = Object(chart["usermeta"]) as VegaLiteSpec;
    const isRecord = typeof probelab === "object" && probelab !== null && !Array.isArray(probelab);
    if (!isRecord) continue;
    const { title } = probelab as { title?: unknown };
    return { title: titleText(title), origin: probelab, chart };
  }
  return { title: "", chart: {} };
}

/** A text as it is, without terminal colours. */
function pre(text: string): string {
  return `<pre tabindex="0">${escapeXml(stripVTControlCharacters(text))}</pre>`;
}

function image(type: string, base64: string, size: Size, alt: string): string {
  const attributes = (["width", "height"] as const)
    .filter((side) => typeof size[side] === "number")
    .map((side) => ` ${side}="${Number(size[side])}"`)
    .join("");
  const data = base64.replace(/[^A-Za-z0-9+/=]/g, "");
  return `<img src="data:${type};base64,${data}" alt="${escapeXml(alt)}"${attributes}>`;
}

/** The page's policy stops scripts and requests, but not a redirect by `<meta>`: that is shown as text. */
function inertHtml(html: string): string {
  return html.replace(
    /<(?=\/?(?:meta|base|link|script|iframe|object|embed|form|template)\b)/gi,
    "&lt;",
  );
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
