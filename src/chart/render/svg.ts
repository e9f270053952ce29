import { createHash } from "node:crypto";
import type * as Vega from "vega";
import { ProbelabError } from "../../base/error.js";
import { cleanText, textOf } from "../label.js";
import { inertLoader } from "./inert-loader.js";
import { collectAfter } from "../../base/collect-after.js";
import { loadVega } from "./vega.js";
import { escapeXml, legalXml } from "./xml.js";

/** Bytes that Vega leaves behind for each character of a picture: a line of 5,000 rows, some 30 MB. */
const GARBAGE = 320;

/**
 * A Vega-Lite spec as an SVG document, with title, description and origin for readers and tools.
 *
 * @param spec its data inline: whatever would have to be loaded is left out.
 */
export async function svgPicture(spec: Record<string, unknown>): Promise<string> {
  const { vega, vegaLite } = await loadVega();
  const faults: string[] = [];
  const logger = quietLogger(vega, faults);
  let view: Vega.View | undefined;
  try {
    // Vega writes into the rows that it is given; the chart's own stay as they are.
    const copy = structuredClone(spec) as unknown as Parameters<typeof vegaLite.compile>[0];
    // Labels of each mark would triple the file; the picture's own description says it.
    const compiled = vegaLite.compile(copy, { logger, config: { aria: false } });
    const loader = inertLoader as never;
    view = new vega.View(vega.parse(compiled.spec), { renderer: "none", loader, logger });
    const drawn = await view.toSVG();
    collectAfter(drawn.length * GARBAGE);
    if (faults.length > 0) throw new Error(faults[0]);
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

/**
 * Vega's logger would write data to the console: hostile text, and output in the wrong cell. What
 * fails while the picture is made is kept: Vega goes on without it, and would draw an empty chart.
 */
function quietLogger(vega: typeof Vega, faults: string[]): Vega.LoggerInterface {
  const logger = vega.logger(vega.None);
  logger.error = (...args: readonly unknown[]) => {
    faults.push(
      args.map((part) => (part instanceof Error ? part.message : textOf(part))).join(" "),
    );
    return logger;
  };
  return logger;
}

function finish(drawn: string, spec: Record<string, unknown>): string {
  const title = titleText(spec.title);
  const description = typeof spec.description === "string" ? spec.description : "";
  const usermeta = spec.usermeta as { probelab?: unknown } | undefined;
  const origin = JSON.stringify(usermeta?.probelab ?? null);
  const body = ownIds(legalXml(drawn));
  const end = body.indexOf(">", body.indexOf("<svg"));
  return `${body.slice(0, end)} role="img">${[
    ...(title === "" ? [] : [`<title>${escapeXml(title)}</title>`]),
    ...(description === "" ? [] : [`<desc>${escapeXml(description)}</desc>`]),
    `<metadata><origin xmlns="urn:probelab:origin">${escapeXml(origin)}</origin></metadata>`,
  ].join("")}${body.slice(end + 1)}\n`;
}

/** The title of a spec as one text. */
export function titleText(title: unknown): string {
  if (typeof title === "string") return title;
  if (Array.isArray(title)) return title.join(" ");
  const text = (title as { text?: unknown } | undefined)?.text;
  return text === undefined ? "" : titleText(text);
}

/**
 * Ids of clip paths and gradients: Vega numbers them through the life of the process. Here they
 * follow from the picture, so that the same chart has the same bytes and several fit one page.
 */
function ownIds(svg: string): string {
  const numbers = new Map<string, number>();
  for (const [, id = ""] of svg.matchAll(
    /<(?:clipPath|linearGradient|radialGradient|pattern) id="([^"]*)"/g,
  )) {
    numbers.set(id, numbers.size);
  }
  if (numbers.size === 0) return svg;
  const rename = (prefix: string): string =>
    svg.replace(
      /(<(?:clipPath|linearGradient|radialGradient|pattern) id="|="url\(#)([^")]*)/g,
      (_, before: string, id: string) => `${before}${prefix}${numbers.get(id) ?? id}`,
    );
  const digest = createHash("sha256").update(rename("id-")).digest("hex").slice(0, 8);
  return rename(`p${digest}-`);
}
