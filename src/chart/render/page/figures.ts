import { cleanText } from "../../../base/text.js";
import { escapeXml } from "../../../base/xml.js";
import type { Origin } from "../../../result/origin.js";
import { screensOf } from "../screens.js";
import { originEntries, originRecord, type OriginRecord } from "../origin.js";
import { compiledSpec, titleText } from "../svg.js";
import type { TableModel } from "../table-outputs.js";
import { THEMES, type VegaLiteSpec } from "../theme.js";
import { jsonScript, pageDocument } from "./page-document.js";

/** A chart as far as its figure goes. */
export interface Drawable {
  readonly spec: VegaLiteSpec;
  screenSpec(): Promise<VegaLiteSpec>;
  svg(): Promise<string>;
}

/** A table as far as its figure goes. */
interface Tabular {
  readonly html: string;
  readonly model: TableModel;
  readonly origin: Origin;
}

/**
 * A chart as a `<figure>` of `pageDocument`: its picture as SVG, for print and readers without
 * JavaScript; the compiled chart, which the runtime makes live; what it says in words; its origin.
 */
export async function chartFigure(chart: Drawable, id: string): Promise<string> {
  const { spec } = chart;
  const svg = await chart.svg();
  const { block, scaled } = await liveContent(await chart.screenSpec());
  const origin = (spec.usermeta as { probelab?: OriginRecord } | undefined)?.probelab ?? {};
  const words = typeof spec.description === "string" ? spec.description : "";
  // Vega finds the pointer only in a drawing of its own size.
  return `<figure class="probelab-chart" id="${escapeXml(id)}" aria-label="${escapeXml(titleText(spec.title))}">
<div class="probelab-plot${scaled ? " probelab-scaled" : ""}" tabindex="0" role="group" aria-label="Chart"><div class="probelab-picture">${inlineSvg(svg)}</div></div>
<figcaption>${words === "" ? "" : details("words", "In words", `<p>${escapeXml(words)}</p>`)}
${originDetails(origin)}</figcaption>
${block}
${jsonScript("probelab-origin", origin)}
</figure>
`;
}

/** A table as a `<figure>` of a page, with where it comes from. */
export function tableFigure({ html, model, origin }: Tabular, id: string): string {
  const record = originRecord(origin, [], model.caption);
  return `<figure class="probelab-table" id="${escapeXml(id)}" aria-label="${escapeXml(model.caption)}">
<div class="probelab-wide" tabindex="0" role="group" aria-label="Table">${html}</div>
<figcaption>${originDetails(record)}</figcaption>
${jsonScript("probelab-origin", record)}
</figure>
`;
}

/** A chart as the runtime of a page draws it: a data block; whether it shrinks as a whole, having one layout and nothing that follows the pointer. */
export async function liveContent(
  spec: VegaLiteSpec,
): Promise<{ readonly block: string; readonly scaled: boolean }> {
  const { rows, screens } = screensOf(spec);
  const drawn = await Promise.all(
    screens.map(async ({ least, spec: one }) => ({ least, vega: await compiledSpec(one) })),
  );
  return {
    block: jsonScript("probelab-content", { rows, screens: drawn }),
    scaled:
      drawn.length === 1 && !JSON.stringify(drawn[0]!.vega.signals ?? []).includes('"events":'),
  };
}

/** The picture without the origin, which the figure holds already. */
function inlineSvg(svg: string): string {
  return svg.replace(/<metadata>[^<]*(?:<origin[^>]*>[^<]*<\/origin>)?<\/metadata>/, "").trim();
}

function details(kind: "words" | "source", summary: string, html: string): string {
  return `<details class="probelab-${kind}"><summary>${summary}</summary>${html}</details>`;
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
  return details("source", "Where this comes from", `<dl>${entries.join("")}</dl>`);
}

const STYLE = `
main { max-width: 84rem; padding-top: 1rem; }
main > figure:first-child { margin-top: 0; }
main > .probelab-table { padding: 0 12px; }
main > .probelab-table caption { color: var(--ink); font-weight: 600; font-size: 1rem; }
`;

/**
 * Charts and tables as one HTML page: interactive, self-contained, offline; dark where all its charts
 * are, without charts as the reader's system is.
 */
export async function chartPage(contents: readonly (Drawable | Tabular)[]): Promise<string> {
  const charts = contents.filter((each) => "spec" in each);
  const figures = await Promise.all(
    contents.map(async (each, at) => {
      const id = `figure-${at + 1}`;
      return "spec" in each ? chartFigure(each, id) : tableFigure(each, id);
    }),
  );
  const [first] = contents.map((each) =>
    "spec" in each ? titleText(each.spec.title) : each.model.caption,
  );
  const dark = charts.every(({ spec }) => spec.background === THEMES.dark.background);
  return pageDocument({
    title: first || "Charts",
    theme: charts.length === 0 ? "auto" : dark ? "dark" : "light",
    style: STYLE,
    body: figures.join(""),
  });
}
