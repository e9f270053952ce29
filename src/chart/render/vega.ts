import type * as Vega from "vega";
import type * as VegaLite from "vega-lite";
import { textOf } from "../../base/text.js";
import { textWidth } from "./font.js";

/** Both modules. */
interface Libraries {
  readonly vega: typeof Vega;
  readonly vegaLite: typeof VegaLite;
}

/** A text item of Vega's scene graph, as far as its width depends on it. */
interface TextItem {
  readonly limit?: number | null;
  readonly fontSize?: number | null;
  readonly fontWeight?: string | number | null;
}

let loading: Promise<Libraries> | undefined;

/**
 * Vega and Vega-Lite, loaded when the first picture is drawn: at the top of a module they would
 * cost every kernel their start-up time, and can't be required by a stock tslab cell.
 */
export function loadVega(): Promise<Libraries> {
  return (loading ??= load());
}

/**
 * A Vega-Lite spec as Vega's own, without origin and description.
 *
 * @param faults where what Vega-Lite says is an error goes; its console would show data.
 */
export async function compiledSpec(
  spec: Record<string, unknown>,
  faults: string[] = [],
): Promise<Vega.Spec> {
  const { vega, vegaLite } = await loadVega();
  // Vega writes into the rows that it is given; the chart's own stay as they are.
  const drawn = structuredClone(spec);
  delete drawn.usermeta;
  delete drawn.description;
  return vegaLite.compile(drawn as never, {
    logger: quietLogger(vega, faults),
    // Labels of each mark would triple the file; the picture's own description says it.
    config: { aria: false },
  }).spec;
}

/**
 * Vega's logger would write data to the console: hostile text, and output in the wrong cell. What
 * fails while the picture is made is kept: Vega goes on without it, and would draw an empty chart.
 */
export function quietLogger(vega: typeof Vega, faults: string[]): Vega.LoggerInterface {
  const logger = vega.logger(vega.None);
  logger.error = (...args: readonly unknown[]) => {
    faults.push(
      args.map((part) => (part instanceof Error ? part.message : textOf(part))).join(" "),
    );
    return logger;
  };
  return logger;
}

/** True for the weights that the shipped font draws bold. */
export function isBold(weight: string | number | null | undefined): boolean {
  return weight === "bold" || weight === "bolder" || Number(weight) >= 600;
}

async function load(): Promise<Libraries> {
  const [vega, vegaLite] = await Promise.all([import("vega"), import("vega-lite")]);
  // Without a canvas Vega guesses widths 60 % too wide, and cuts labels that would fit.
  const { textMetrics } = vega as object as {
    textMetrics: { width: (item: TextItem, text: unknown) => number };
  };
  textMetrics.width = (item, text) => {
    if (text === null || text === undefined) return 0;
    const weight = isBold(item.fontWeight) ? 700 : 400;
    const width = textWidth(textOf(text).trim(), item.fontSize ?? 11, weight);
    return item.limit ? Math.min(item.limit, width) : width;
  };
  return { vega, vegaLite };
}
