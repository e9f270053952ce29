import { createHash } from "node:crypto";
import type * as Vega from "vega";
import { ProbelabError } from "../../base/error.js";
import { collectAfter } from "../../base/collect-after.js";
import { escapeXml, legalXml, unescapeXml } from "../../base/xml.js";
import { cleanText, textOf } from "../../base/text.js";
import { textWidth } from "./fonts/shipped-font.js";
import { inertLoader, quietLogger } from "./inert-loader.js";

/** Bytes that Vega leaves behind for each character of a picture: a line of 5,000 rows, some 30 MB. */
const GARBAGE = 320;

/** The last layout of each spec, and a digest of what the spec said then. */
const layouts = new WeakMap<object, { readonly digest: string; readonly svg: Promise<string> }>();

/**
 * A spec as an SVG document with title, description and origin. A spec is laid out once, however many
 * files are made of it; one that was changed since is laid out anew.
 */
export function layOut(spec: Record<string, unknown>): Promise<string> {
  const digest = createHash("sha1").update(JSON.stringify(spec)).digest("base64");
  const known = layouts.get(spec);
  if (known?.digest === digest) return known.svg;
  const svg = draw(spec);
  layouts.set(spec, { digest, svg });
  return svg;
}

/** The title of a spec as one text. */
export function titleText(title: unknown): string {
  if (typeof title === "string") return title;
  if (Array.isArray(title)) return title.join(" ");
  const text = (title as { text?: unknown } | undefined)?.text;
  return text === undefined ? "" : titleText(text);
}

/** The record of where a spec's data comes from, as JSON. */
export function originJson({ usermeta }: Record<string, unknown>): string {
  return JSON.stringify((usermeta as { probelab?: unknown } | undefined)?.probelab ?? null);
}

/** The texts that an SVG shows, without its description and origin. */
export function shownText(svg: string): string {
  const texts = svg.matchAll(/<text\b[^>]*>(.*?)<\/text>/gs);
  return unescapeXml([...texts].map(([, text = ""]) => text).join(" "));
}

/** Width of an SVG document of ours, in CSS pixels. */
export function svgWidth(svg: string): number {
  return Number(/<svg[^>]* width="([\d.]+)"/.exec(svg)?.[1] ?? 0);
}

let loading: ReturnType<typeof loadVega> | undefined;

// Vega and Vega-Lite, loaded when the first picture is drawn: at the top of a module they would
// cost every kernel their start-up time, and can't be required by a stock tslab cell.
async function loadVega() {
  const [vega, vegaLite] = await Promise.all([import("vega"), import("vega-lite")]);
  // Without a canvas Vega guesses widths 60 % too wide, and cuts labels that would fit.
  const { textMetrics } = vega as object as {
    textMetrics: { width: (item: TextItem, text: unknown) => number };
  };
  textMetrics.width = (item, text) => {
    if (text === null || text === undefined) return 0;
    const bold = /^bold/.test(String(item.fontWeight)) || Number(item.fontWeight) >= 600;
    const width = textWidth(textOf(text).trim(), item.fontSize ?? 11, bold ? 700 : 400);
    return item.limit ? Math.min(item.limit, width) : width;
  };
  return { vega, vegaLite };
}

/** Loads what draws pictures, before one is drawn. */
export async function loadPictures(): Promise<void> {
  await (loading ??= loadVega());
}

/** A text item of Vega's scene graph, as far as its width depends on it. */
interface TextItem {
  readonly limit?: number | null;
  readonly fontSize?: number | null;
  readonly fontWeight?: string | number | null;
}

/** A spec as Vega's own, without origin and description; `faults` takes what went wrong. */
export async function compiledSpec(
  spec: Record<string, unknown>,
  faults: unknown[][] = [],
): Promise<{ readonly signals?: readonly unknown[] }> {
  const { vega, vegaLite } = await (loading ??= loadVega());
  // Vega writes into the rows that it is given; the chart's own stay as they are.
  const drawn = structuredClone(spec);
  delete drawn.usermeta;
  delete drawn.description;
  return vegaLite.compile(drawn as never, {
    logger: quietLogger(vega.logger(vega.None), faults),
    // Labels of each mark would triple the file; the picture's own description says it.
    config: { aria: false },
  }).spec;
}

async function draw(spec: Record<string, unknown>): Promise<string> {
  const { vega } = await (loading ??= loadVega());
  const faults: unknown[][] = [];
  let view: Vega.View | undefined;
  try {
    const compiled = await compiledSpec(spec, faults);
    const logger = quietLogger(vega.logger(vega.None), faults);
    const loader = inertLoader as never;
    view = new vega.View(vega.parse(compiled as Vega.Spec), { renderer: "none", loader, logger });
    const drawn = await view.toSVG();
    collectAfter(drawn.length * GARBAGE);
    const said = faults[0]?.map((part) => (part instanceof Error ? part.message : textOf(part)));
    if (said) throw new Error(said.join(" "));
    return finish(drawn, spec);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProbelabError(
      `Can't draw the chart: Vega says ${JSON.stringify(cleanText(message, 300))}; check the parts of chart.spec that it names.`,
      { cause: error },
    );
  } finally {
    view?.finalize();
  }
}

function finish(drawn: string, spec: Record<string, unknown>): string {
  const title = titleText(spec.title);
  const description = typeof spec.description === "string" ? spec.description : "";
  const body = ownIds(withoutAddresses(legalXml(drawn)));
  const end = body.indexOf(">", body.indexOf("<svg"));
  // Vega laid the text out without kerning.
  return `${body.slice(0, end)} role="img" kerning="0">${[
    ...(title === "" ? [] : [`<title>${escapeXml(title)}</title>`]),
    ...(description === "" ? [] : [`<desc>${escapeXml(description)}</desc>`]),
    `<metadata><origin xmlns="urn:probelab:origin">${escapeXml(originJson(spec))}</origin></metadata>`,
  ].join("")}${body.slice(end + 1)}\n`;
}

/** A fill or a stroke of an address (`url(https://…)`) would be loaded by whatever shows the picture. */
function withoutAddresses(svg: string): string {
  return svg.replace(/<[^<>]*\burl\([^<>]*>/gi, (tag) =>
    tag.replace(/\burl\((?!#)[^)"]*\)?/gi, "none"),
  );
}

// Ids of clip paths and gradients: Vega numbers them through the life of the process. Here they
// follow from the picture, so that the same chart has the same bytes and several fit one page.
function ownIds(svg: string): string {
  const ids = [...svg.matchAll(/<(?:clipPath|\w+Gradient|pattern) id="([^"]*)"/g)].map(
    ([, id]) => id,
  );
  if (ids.length === 0) return svg;
  const rename = (prefix: string): string =>
    svg.replace(
      /(<(?:clipPath|\w+Gradient|pattern) id="|="url\(#)([^")]*)/g,
      (_, before: string, id: string) =>
        `${before}${prefix}${ids.includes(id) ? ids.indexOf(id) : id}`,
    );
  const digest = createHash("sha256").update(rename("id-")).digest("hex").slice(0, 8);
  return rename(`p${digest}-`);
}
