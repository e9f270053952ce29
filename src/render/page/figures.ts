import type { Origin } from "../../result/origin.js";
import { cleanText, counted } from "../../base/text.js";
import { compiledForScreen, withoutRuler } from "../fluid.js";
import type { VegaLiteSpec } from "../theme.js";
import { originRecord } from "../origin/origin-record.js";
import { originEntries } from "../origin/origin-words.js";
import { notesOf, titleText } from "../svg.js";
import { escapeXml } from "../../base/xml.js";
import type { TableModel } from "../table-outputs.js";

/** A chart as far as its figure goes. */
export interface Drawable {
  readonly spec: VegaLiteSpec;
  /** The spec as screens draw it, where that is another. */
  screenSpec?(): Promise<VegaLiteSpec>;
  svg(): Promise<string>;
}

/** A table as far as its figure goes. */
export interface Tabular {
  readonly html: string;
  readonly markdown: string;
  readonly model: TableModel;
  readonly origin: Origin;
}

type OriginRecord = ReturnType<typeof originRecord>;

/**
 * A chart as a `<figure>` of `pageDocument`: its picture as SVG, for print and readers without
 * JavaScript; the compiled chart, which the runtime makes live; what it says in words; its origin.
 */
export async function chartFigure(chart: Drawable, id: string): Promise<string> {
  const { spec } = chart;
  const svg = await chart.svg();
  const screen = (await chart.screenSpec?.()) ?? spec;
  const { block, follows } = await liveContent(screen);
  const origin = (spec.usermeta as { probelab?: OriginRecord } | undefined)?.probelab ?? {};
  const words = typeof spec.description === "string" ? spec.description : "";
  // A fluid one has the width of its place, and Vega finds the pointer only in a drawing of its own size.
  return `<figure class="probelab-chart" id="${escapeXml(id)}" aria-label="${escapeXml(titleText(spec.title))}">
<div class="probelab-plot${follows ? "" : " probelab-scaled"}" tabindex="0" role="group" aria-label="Chart"><div class="probelab-picture">${inlineSvg(svg)}</div></div>
<figcaption>${notesDetails(notesOf(spec))}${words === "" ? "" : `<details class="probelab-words"><summary>In words</summary><p>${escapeXml(words)}</p></details>`}
${originDetails(origin)}</figcaption>
${block}
${jsonScript("probelab-origin", origin)}
</figure>
`;
}

/** The notes beyond the subtitle; a picture has them below. */
function notesDetails(notes: readonly string[]): string {
  if (notes.length === 0) return "";
  const items = notes.map((note) => `<li>${escapeXml(note)}</li>`).join("");
  return `<details class="probelab-words"><summary>${counted(notes.length, "note")}</summary><ul>${items}</ul></details>`;
}

/** A chart as the runtime of a page draws it: a data block; whether it follows the pointer or the window. */
export async function liveContent(
  spec: VegaLiteSpec,
): Promise<{ readonly block: string; readonly follows: boolean }> {
  const vega = withoutRuler(await compiledForScreen(spec));
  const series = seriesField(spec);
  return {
    block: jsonScript("probelab-content", {
      vega: packed(vega),
      ...(series !== undefined && { series }),
    }),
    follows: JSON.stringify(vega.signals ?? []).includes('"events":'),
  };
}

/** A short list needs no packing. */
const FEW = 100;

/** The same with long lists of alike rows as `names` and `rows` of values, which the runtime unpacks. */
function packed(vega: Awaited<ReturnType<typeof compiledForScreen>>): object {
  const data = vega.data?.map((source) => {
    const { values, ...rest } = source as { values?: unknown };
    if (!Array.isArray(values) || values.length < FEW) return source;
    const rows = values as Readonly<Record<string, unknown>>[];
    const names = Object.keys(rows[0]!);
    const alike = rows.every(
      (row) => Object.keys(row).join("\n") === names.join("\n") && !Array.isArray(row),
    );
    return alike ? { ...rest, names, rows: rows.map((row) => Object.values(row)) } : source;
  });
  return data === undefined ? vega : { ...vega, data };
}

/** A table as a `<figure>` of a page, with where it comes from. */
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
  return [spec, ...layers]
    .map(({ encoding }) => (encoding as { color?: { field?: unknown } } | undefined)?.color?.field)
    .find((field) => typeof field === "string");
}

/** A value as a data block of an HTML page: nothing in it can end the block or begin a comment. */
export function jsonScript(className: string, value: unknown): string {
  const json = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `<script type="application/json" class="${className}">${json}</script>`;
}

/** The origin of a chart, for a reader. */
function originDetails(record: OriginRecord): string {
  const entries = originEntries(record).map(([name, texts]) => {
    // Line by line: line breaks and indentation are part of it, direction marks are spelled out.
    const clean = texts
      .flatMap((text) => text.split(/\r?\n/))
      .map((line) => `${/^ */.exec(line)?.[0] ?? ""}${escapeXml(cleanText(line))}`);
    const html = /^(SQL|Parameters)$/.test(name)
      ? `<pre tabindex="0"><code>${clean.join("\n")}</code></pre>`
      : clean.length === 1
        ? clean.join("")
        : `<ul>${clean.map((sentence) => `<li>${sentence}`).join("")}</ul>`;
    return `<dt>${escapeXml(cleanText(name, 100))}</dt><dd>${html}</dd>`;
  });
  return `<details class="probelab-source"><summary>Where this comes from</summary><dl>${entries.join("")}</dl></details>`;
}
