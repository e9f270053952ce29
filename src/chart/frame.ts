import type { Result } from "../result/result.js";
import { measureTitle, numberFormat, timeAxis } from "./axes.js";
import type { Drawing } from "./draw-rows.js";
import { categoryLabels, specFields, type Fields } from "./fields.js";
import type { ChartOptions } from "./options.js";
import { textWidth } from "./render/font.js";
import { seriesColours, seriesShapes } from "./series.js";
import { THEMES, type Theme } from "./theme.js";
import { words } from "./sentences.js";
import { zoneExpression } from "./zone-expression.js";

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

const LABEL_SIZE = 11;

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
  const { timeZone } = result.origin.range;
  const fields = specFields(drawing);
  const numbers = roles.xKind === "category" ? [] : xs.map(Number);
  const domain = [numbers[0] ?? 0, end ?? numbers.at(-1) ?? 1] as const;
  const format = numberFormat(
    roles.measure?.unit,
    points.map(({ y }) => y),
  );
  const labels = series.map(({ label }) => label);
  return {
    drawing,
    fields,
    theme,
    width,
    height: options.height ?? 300,
    domain,
    x: { field: fields.x, ...xChannel(drawing, domain, timeZone, width, end !== undefined) },
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
    tooltip: [
      roles.xKind === "time"
        ? { field: "when", type: "nominal", title: quoteless(`${words(roles.x)} (${timeZone})`) }
        : {
            field: fields.x,
            type: roles.xKind === "number" ? "quantitative" : "nominal",
            title: quoteless(words(roles.x)),
          },
      ...(fields.series === undefined
        ? []
        : [
            {
              field: fields.series,
              type: "nominal",
              title: quoteless(words(drawing.seriesName ?? "")),
            },
          ]),
      {
        field: fields.y,
        type: "quantitative",
        title: quoteless(measureTitle(drawing)),
        format: roles.measure?.unit === "share" ? ".2%" : ",.6~r",
      },
    ],
    when:
      roles.xKind === "time"
        ? [
            {
              calculate: zoneExpression(
                `toDate(datum[${JSON.stringify(fields.x)}])`,
                drawing.every === undefined ||
                  drawing.every === "minute" ||
                  drawing.every === "hour"
                  ? "%Y-%m-%d %H:%M"
                  : "%Y-%m-%d",
                timeZone,
                domain,
              ),
              as: "when",
            },
          ]
        : [],
  };
}

/** Vega-Lite writes a tooltip's titles into an expression, escaping \" but not a \\ before it. */
function quoteless(title: string): string {
  return title.replace(/["\\]/g, "'");
}

/** A bar a thousand pixels wide tells no more than one of a hundred. */
function categoryWidth(categories: number): number {
  return Math.min(1000, Math.max(320, categories * 90));
}

function xChannel(
  drawing: Drawing,
  domain: readonly [number, number],
  timeZone: string,
  width: number,
  bars: boolean,
): VegaLiteSpec {
  const { roles, xs, every } = drawing;
  if (roles.xKind === "number") {
    return {
      type: "quantitative",
      scale: { zero: false, nice: false, padding: 0 },
      axis: { title: words(roles.x), grid: false },
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
  const [start, end] = domain;
  // A lone instant has no width: it is drawn in the middle of two hours.
  const shown = xs.length > 0 && start === end ? ([start - 36e5, end + 36e5] as const) : domain;
  return {
    type: "temporal",
    scale: {
      type: "utc",
      nice: false,
      padding: 0,
      // Bars span it themselves, and their second x would give Vega-Lite a second domain.
      ...(!bars && { domain: [...shown] }),
    },
    axis: timeAxis(shown, timeZone, width, every),
  };
}
