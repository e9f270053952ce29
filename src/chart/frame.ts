import type { Result } from "../result/result.js";
import { measureTitle, numberFormat } from "./axes.js";
import type { Drawing } from "./draw-rows.js";
import { specFields, type Fields } from "./fields.js";
import type { ChartOptions } from "./options.js";
import { seriesColours, seriesShapes } from "./series.js";
import { THEMES, type Theme } from "./theme.js";
import { words } from "./sentences.js";
import { tooltipChannel, whenTransform } from "./tooltip.js";
import { xChannel } from "./x-channel.js";

/** JSON of a Vega-Lite specification. */
export type VegaLiteSpec = Record<string, unknown>;

/** What the specs of all marks share. */
export interface Frame {
  readonly drawing: Drawing;
  readonly fields: Fields;
  readonly theme: Theme;
  readonly width: number;
  readonly height: number;
  readonly domain: readonly [number, number];
  /** Encoding channels. */
  readonly x: VegaLiteSpec;
  readonly y: VegaLiteSpec;
  readonly colour: VegaLiteSpec;
  readonly shape?: VegaLiteSpec;
  readonly tooltip: readonly VegaLiteSpec[];
  /** Adds the text of the time as field `when`, in the range's zone. */
  readonly when: readonly VegaLiteSpec[];
}

/** Where the title of the vertical axis stands, above the plot. */
export const TITLE_Y = -8;

/** The channels of a chart of a Result. @param domain first and last x, where it isn't the data's. */
export function frame(
  result: Result,
  drawing: Drawing,
  options: ChartOptions,
  end?: number,
): Frame {
  const { roles, series, xs, points } = drawing;
  const theme = THEMES[options.theme ?? "light"];
  const width = options.width ?? (roles.xKind === "category" ? categoryWidth(xs.length) : 1000);
  const { timeZone, start: from, end: to } = result.origin.range;
  const fields = specFields(drawing);
  const numbers = roles.xKind === "category" ? [] : xs.map(Number);
  // Without a row the axis shows the time that was asked for.
  const asked = roles.xKind === "time" ? [from.getTime(), to.getTime()] : [0, 1];
  const domain = [numbers[0] ?? asked[0] ?? 0, end ?? numbers.at(-1) ?? asked[1] ?? 1] as const;
  const format = numberFormat(
    roles.measure?.unit,
    points.map(({ y }) => y),
  );
  const labels = series.map(({ label }) => label);
  const along = result.origin.columns.measures.find(({ name }) => name === roles.x);
  return {
    drawing,
    fields,
    theme,
    width,
    height: options.height ?? 300,
    domain,
    x: { field: fields.x, ...xChannel(drawing, domain, timeZone, width, end !== undefined, along) },
    y: {
      field: fields.y,
      type: "quantitative",
      scale:
        options.yScale === "log" ? { type: "log", nice: false } : { zero: options.zero ?? true },
      axis: {
        title: measureTitle(drawing),
        // Not as `format`, which would give zero the prefix of the other ticks: 0k.
        labelExpr: `format(datum.value, ${JSON.stringify(format)})`,
        titleAngle: 0,
        titleAlign: "left",
        titleAnchor: "end",
        titleBaseline: "bottom",
        titleX: 0,
        titleY: TITLE_Y,
        domain: false,
        ticks: false,
        labelPadding: 6,
        tickCount: Math.max(2, Math.round((options.height ?? 300) / 50)),
      },
    },
    colour:
      fields.series === undefined
        ? { value: theme.series[0] }
        : {
            field: fields.series,
            type: "nominal",
            scale: { domain: labels, range: seriesColours(series, theme) },
            legend: { title: words(drawing.seriesName ?? ""), values: labels, symbolOpacity: 1 },
          },
    ...(fields.series !== undefined && {
      shape: {
        field: fields.series,
        type: "nominal",
        scale: { domain: labels, range: seriesShapes(series) },
        legend: { title: words(drawing.seriesName ?? ""), values: labels },
      },
    }),
    tooltip: tooltipChannel(drawing, fields, timeZone),
    when: whenTransform(drawing, fields, timeZone, domain),
  };
}

/** A bar a thousand pixels wide tells no more than one of a hundred; without one there is room for words. */
function categoryWidth(categories: number): number {
  if (categories === 0) return 1000;
  return Math.min(1000, Math.max(320, categories * 90));
}
