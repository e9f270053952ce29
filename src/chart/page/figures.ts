import type { Json } from "../../result/json.js";
import type { Origin } from "../../result/origin.js";
import { cleanText } from "../../base/text.js";
import type { VegaLiteSpec } from "../options.js";
import { originRecord } from "../origin-record.js";
import { bytesWords, instantWords, jsonObject, rangeWords, serverWords } from "../origin-words.js";
import { compiledSpec } from "../render/vega.js";
import { titleText } from "../render/svg.js";
import { escapeXml } from "../../base/xml.js";
import type { TableModel } from "../table-model.js";

/** A chart as far as its figure goes. */
export interface Drawable {
  readonly spec: VegaLiteSpec;
  svg(): Promise<string>;
}

/** A table as far as its figure goes. */
export interface Tabular {
  readonly html: string;
  readonly markdown: string;
  readonly model: TableModel;
  readonly origin: Origin;
}

/** An origin as `originRecord` writes it. */
type OriginRecord = ReturnType<typeof originRecord>;

/**
 * A chart as a `<figure>` of a page: its picture as SVG, which is what print and readers without
 * JavaScript see; the compiled chart, which the runtime makes live; what it says in words; and
 * where it comes from, for readers and as JSON (`script.probelab-origin`).
 *
 * It belongs in a page of `pageDocument`, whose style and script it needs.
 *
 * @param id the figure's id, for links to it; unique in the page.
 */
export async function chartFigure(chart: Drawable, id: string): Promise<string> {
  const { spec } = chart;
  const [svg, vega] = await Promise.all([chart.svg(), compiledSpec(spec)]);
  const origin = (spec.usermeta as { probelab?: OriginRecord } | undefined)?.probelab ?? {};
  const words = typeof spec.description === "string" ? spec.description : "";
  const series = seriesField(spec);
  // Vega finds the pointer only in a drawing of its own size.
  const followsPointer = JSON.stringify(vega.signals ?? []).includes('"events":');
  return `<figure class="probelab-chart" id="${escapeXml(id)}" aria-label="${escapeXml(titleText(spec.title))}">
<div class="probelab-plot${followsPointer ? "" : " probelab-scaled"}" tabindex="0" role="group" aria-label="Chart"><div class="probelab-picture">${inlineSvg(svg)}</div></div>
<figcaption>${words === "" ? "" : `<details class="probelab-words"><summary>In words</summary><p>${escapeXml(words)}</p></details>`}
${originDetails(origin)}</figcaption>
${jsonScript("probelab-content", { vega, ...(series !== undefined && { series }) })}
${jsonScript("probelab-origin", origin)}
</figure>
`;
}

/**
 * A table as a `<figure>` of a page, with where it comes from, for readers and as JSON
 * (`script.probelab-origin`).
 *
 * @param id the figure's id, for links to it; unique in the page.
 */
export function tableFigure({ html, model, origin }: Tabular, id: string): string {
  const record = originRecord(origin);
  return `<figure class="probelab-table" id="${escapeXml(id)}" aria-label="${escapeXml(model.caption)}">
<div class="probelab-wide" tabindex="0" role="group" aria-label="Table">${html}</div>
<figcaption>${originDetails(record)}</figcaption>
${jsonScript("probelab-origin", record)}
</figure>
`;
}

/** The picture without the origin, which the figure holds already. */
function inlineSvg(svg: string): string {
  return svg
    .replace(/^<\?xml[^>]*>\s*/, "")
    .replace(/<metadata>[^<]*(?:<origin[^>]*>[^<]*<\/origin>)?<\/metadata>/, "")
    .trim();
}

/** The field whose values the legend lists. */
function seriesField(spec: VegaLiteSpec): string | undefined {
  const layers = Array.isArray(spec.layer) ? (spec.layer as VegaLiteSpec[]) : [];
  for (const { encoding } of [spec, ...layers]) {
    const { color } = (encoding ?? {}) as { color?: { field?: unknown } };
    if (typeof color?.field === "string") return color.field;
  }
  return undefined;
}

/** A value as a data block of an HTML page: nothing in it can end the block or begin a comment. */
export function jsonScript(className: string, value: unknown): string {
  const json = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `<script type="application/json" class="${className}">${json}</script>`;
}

/** Where a chart comes from, for a reader: SQL, parameters, range, server, rows read, reductions. */
function originDetails(record: OriginRecord): string {
  const { askedAt, rowsRead, bytesRead, seconds } = record;
  const read =
    typeof rowsRead === "number" && typeof bytesRead === "number"
      ? `${rowsRead.toLocaleString("en-US")} rows read (${bytesWords(bytesRead)})`
      : "";
  const took = typeof seconds === "number" ? `${Number(seconds.toPrecision(3))} s` : "";
  const versions = Object.entries(jsonObject(record.versions)).map(
    ([name, version]) => `${name} ${textIn(version)}`,
  );
  const parameters = Object.entries(jsonObject(record.parameters)).map(
    ([name, value]) => `${name} = ${JSON.stringify(value)}`,
  );
  const entries = [
    ["Time", escapeXml(rangeWords(record.range))],
    ["Rows asked for", paragraph([textIn(record.filter)])],
    ["Source", paragraph([textIn(record.source), serverWords(record.server)])],
    ["Asked", paragraph([instantWords(askedAt, "UTC"), read, took])],
    ["Left out or merged", list(record.reductions)],
    ["Notes", list(record.notes)],
    ["SQL", code(textIn(record.sql))],
    ["Parameters", code(parameters.join("\n"))],
    ["Made with", paragraph(versions)],
  ] as const;
  return [
    `<details class="probelab-source"><summary>Where this comes from</summary><dl>`,
    ...entries.map(([name, html]) => (html === "" ? "" : `<dt>${name}</dt><dd>${html}</dd>`)),
    `</dl></details>`,
  ].join("");
}

function list(sentences: Json | undefined): string {
  if (!Array.isArray(sentences) || sentences.length === 0) return "";
  const items = sentences.map((sentence: Json) => `<li>${escapeXml(cleanText(textIn(sentence)))}`);
  return `<ul>${items.join("")}</ul>`;
}

function code(lines: string): string {
  if (lines.trim() === "") return "";
  // Line by line: line breaks and indentation are part of it, direction marks are spelled out.
  const clean = lines
    .split(/\r?\n/)
    .map((line) => `${/^ */.exec(line)?.[0] ?? ""}${cleanText(line)}`);
  return `<pre tabindex="0"><code>${escapeXml(clean.join("\n"))}</code></pre>`;
}

function paragraph(parts: readonly string[]): string {
  return escapeXml(cleanText(parts.filter((part) => part !== "").join(", ")));
}

function textIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
