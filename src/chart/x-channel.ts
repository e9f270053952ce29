import type { Drawing } from "./draw-rows.js";
import type { MeasureColumn } from "../result/origin.js";
import { columnTitle, timeAxis } from "./axes.js";
import { categoryLabels } from "./fields.js";
import type { VegaLiteSpec } from "./frame.js";
import { textWidth } from "./render/font.js";
import { words } from "./sentences.js";

const LABEL_SIZE = 11;

/**
 * The horizontal channel without its field: times in UTC, numbers, or categories.
 *
 * @param measure what the numbers mean, where the Result knows.
 */
export function xChannel(
  drawing: Drawing,
  domain: readonly [number, number],
  timeZone: string,
  width: number,
  bars: boolean,
  measure?: MeasureColumn,
): VegaLiteSpec {
  const { roles, xs, every } = drawing;
  if (roles.xKind === "number") {
    return {
      type: "quantitative",
      scale: { zero: false, nice: false, padding: 0 },
      axis: {
        title: measure === undefined ? words(roles.x) : columnTitle(measure),
        grid: false,
        // A lone number has no step that would tell Vega how many digits count.
        ...(xs.length === 1 && { format: "," }),
        ...(measure?.unit === "share" && { format: "~%" }),
      },
    };
  }
  if (roles.xKind === "category") {
    const labels = [...categoryLabels(drawing).values()];
    return {
      type: "nominal",
      sort: labels,
      scale: { domain: labels, paddingInner: 0.2, paddingOuter: 0.1 },
      axis: {
        title: words(roles.x),
        ...(labels.every((text) => textWidth(text, LABEL_SIZE) + 6 <= width / labels.length)
          ? { labelAngle: 0 }
          : { labelAngle: -40, labelLimit: 160 }),
        domain: true,
        ticks: false,
      },
    };
  }
  return {
    type: "temporal",
    scale: {
      type: "utc",
      nice: false,
      padding: 0,
      // Bars span it themselves, and their second x would give Vega-Lite a second domain.
      ...(!bars && { domain: [...domain] }),
    },
    axis: timeAxis(domain, timeZone, width, every),
  };
}
