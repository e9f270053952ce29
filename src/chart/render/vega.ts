import type * as Vega from "vega";
import type * as VegaLite from "vega-lite";
import { textOf } from "../label.js";
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

async function load(): Promise<Libraries> {
  const [vega, vegaLite] = await Promise.all([import("vega"), import("vega-lite")]);
  // Without a canvas Vega guesses widths 60 % too wide, and cuts labels that would fit.
  const { textMetrics } = vega as unknown as {
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

function isBold(weight: string | number | null | undefined): boolean {
  return weight === "bold" || weight === "bolder" || Number(weight) >= 600;
}
