import type { VegaLiteSpec } from "../frame.js";
import { compiledSpec } from "../render/vega.js";
import { titleText } from "../render/svg.js";
import { escapeXml } from "../../base/xml.js";
import { jsonScript } from "./json-script.js";
import { originDetails, type OriginRecord } from "./origin-details.js";

/** A chart as far as its figure goes. */
export interface Drawable {
  readonly spec: VegaLiteSpec;
  svg(): Promise<string>;
}

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
  const scaled = usesPointer(vega) ? "" : " probelab-scaled";
  return `<figure class="probelab-chart" id="${escapeXml(id)}" aria-label="${escapeXml(titleText(spec.title))}">
<div class="probelab-plot${scaled}" tabindex="0" role="group" aria-label="Chart"><div class="probelab-picture">${inlineSvg(svg)}</div></div>
<figcaption>${words === "" ? "" : `<details class="probelab-words"><summary>In words</summary><p>${escapeXml(words)}</p></details>`}
${originDetails(origin)}</figcaption>
${jsonScript("probelab-content", { vega, ...(series !== undefined && { series }) })}
${jsonScript("probelab-origin", origin)}
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

/** Whether the chart follows the pointer: Vega finds it only in a drawing of its own size. */
function usesPointer(vega: { readonly signals?: unknown }): boolean {
  return JSON.stringify(vega.signals ?? []).includes('"events":');
}
