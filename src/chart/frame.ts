import { zoneOf } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { measureTitle, numberFormat } from "./axes.js";
import type { Drawing } from "./draw-rows.js";
import { specFields, type Fields } from "./fields.js";
import { logTicks } from "./log-ticks.js";
import type { ChartOptions } from "./options.js";
import { seriesColours, seriesShapes } from "./series.js";
import { THEMES, type Theme } from "./theme.js";
import { words } from "./sentences.js";
import { tooltipChannel, whenTransform } from "./tooltip.js";
import { xChannel } from "./x-channel.js";
import { xDomain } from "./x-domain.js";

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

/** The channels of a chart of a Result. @param end where the last bar ends, in a chart of bars. */
export function frame(
  result: Result,
  drawing: Drawing,
  options: ChartOptions,
  end?: number,
): Frame {
  const { roles, series, xs, points } = drawing;
  const theme = THEMES[options.theme ?? "light"];
  const width = options.width ?? (roles.xKind === "category" ? categoryWidth(xs.length) : 1000);
  const height = options.height ?? 300;
  const { range } = result.origin;
  const timeZone = zoneOf(result.origin);
  const fields = specFields(drawing);
  const domain = xDomain(drawing, range, options.marks ?? [], end);
  const values = points.map(({ y }) => y);
  const format = numberFormat(roles.measure?.unit, values);
  const log = options.yScale === "log";
  const ticks = log ? logTicks(values, height) : undefined;
  const labels = series.map(({ label }) => label);
  const along = result.origin.columns.measures.find(({ name }) => name === roles.x);
  return {
    drawing,
    fields,
    theme,
    width,
    height,
    domain,
    x: {
      field: fields.x,
      ...xChannel(drawing, domain, timeZone, width, end !== undefined, along),
    },
    y: {
      field: fields.y,
      type: "quantitative",
      scale: log ? { type: "log", nice: false } : { zero: options.zero ?? true },
      axis: {
        title: measureTitle(drawing),
        // Not as `format`, which would give zero the prefix of the other ticks: 0k.
        labelExpr: valueLabel(format, log),
        titleAngle: 0,
        titleAlign: "left",
        titleAnchor: "end",
        titleBaseline: "bottom",
        titleX: 0,
        titleY: TITLE_Y,
        domain: false,
        ticks: false,
        labelPadding: 6,
        // Vega thins values of one's own down to a count.
        ...(ticks ? { values: ticks } : { tickCount: Math.max(2, Math.round(height / 50)) }),
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

/** Prefixes are for thousands: on a log scale that begins below one, half would be "500m". */
function valueLabel(format: string, log: boolean): string {
  const label = `format(datum.value, ${JSON.stringify(format)})`;
  return log && format === "~s" ? `datum.value < 1 ? format(datum.value, ",~r") : ${label}` : label;
}

/** A bar a thousand pixels wide tells no more than one of a hundred; without one there is room for words. */
function categoryWidth(categories: number): number {
  if (categories === 0) return 1000;
  return Math.min(1000, Math.max(320, categories * 90));
}
