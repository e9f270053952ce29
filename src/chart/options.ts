import { types } from "node:util";
import { checkOptions, type Rules } from "../base/check-options.js";
import { deprecated } from "../base/deprecated.js";
import { ProbelabError } from "../base/error.js";
import type { Value } from "../result/json.js";
import { THEMES, type ThemeName, type VegaLiteSpec } from "../render/theme.js";

/** A deploy, an incident: a line across a chart at a moment. Made by `chart.annotation`. */
export interface Annotation {
  readonly time: Date;
  readonly label: string;
}

/** @deprecated It is called `Annotation`; this name goes with probelab 1.0. */
export type ChartMark = Annotation;

/** What a chart of a Result can be told; everything has a default from the Result. */
export interface ChartOptions {
  /** Column along the horizontal axis. Default: the time column; without one, the first dimension. */
  readonly x?: string;
  /**
   * Column along the vertical axis, or several of one unit: `["q10", "q50", "q90"]`, a series each.
   * Default: the measure that the question is about; in a stack, one that can be added up.
   */
  readonly y?: string | readonly string[];
  /** Column whose values are the series. Default: the dimensions; null for one series. */
  readonly colour?: string | null;
  /** The same as `colour`. */
  readonly color?: string | null;
  /** Default: a sentence made of the measure, the step, the dimension and the range. */
  readonly title?: string;
  /** A line under the title, before what the chart itself must say there. */
  readonly subtitle?: string;
  /** Width of the plot in pixels, without axes and legend; default 1000. Of panels: that of all beside each other. */
  readonly width?: number;
  /** Height of the plot in pixels, of panels that of each; default 300, of panels 130. */
  readonly height?: number;
  /** Default light. */
  readonly theme?: ThemeName;
  /** Deploys, incidents: `[chart.annotation("2026-03-02T09:00:00Z", "3.10 released")]`. */
  readonly annotations?: readonly Annotation[];
  /** @deprecated They are called `annotations`; this name goes with probelab 1.0. */
  readonly marks?: readonly Annotation[];
  /** Vertical scale of lines and points; default linear. A log scale draws no zeros. */
  readonly yScale?: "linear" | "log";
  /** Whether the vertical axis begins at zero; default true. False for lines and points only. */
  readonly zero?: boolean;
  /** Title of the horizontal axis; `""` for none. Default: the column's name, with the unit or the zone. */
  readonly xTitle?: string;
  /** Title of the vertical axis; `""` for none. Default: the measure with its unit. */
  readonly yTitle?: string;
  /** How numbers of y are written, on the axis and in tooltips: a d3 format, `".1f"`, `".2%"`, `"~s"`. */
  readonly yFormat?: string;
  /** Column with a panel for each of its values, the largest 12: small charts beside each other. */
  readonly facet?: string;
  /** Whether panels share the vertical scale (default) or each has its own. */
  readonly scales?: "shared" | "own";
}

/** What `chart.line` can be told besides. */
export interface LineOptions extends ChartOptions {
  /** Columns of the lower and the upper end of a band around each line: `["q10", "q90"]`. */
  readonly band?: readonly [string, string];
  /** Whether a value is drawn as a step over its bucket; default false. */
  readonly steps?: boolean;
}

/** What `chart.area` can be told besides. */
export interface AreaOptions extends ChartOptions {
  /** Whether series add up to their sum (default), or to 100 % at each x. */
  readonly stack?: "sum" | "share";
  /** Whether a value is drawn as a step over its bucket; default true for what is counted by bucket, else false. */
  readonly steps?: boolean;
}

/** What `chart.bar` can be told besides. */
export interface BarOptions extends ChartOptions {
  /** `"sum"`: series on top of each other; `"share"`: the same, to 100 %; false: beside each other. Default: `"sum"` for what adds up, else false. */
  readonly stack?: "sum" | "share" | false;
  /** Whether bars of categories lie; default: where their names have no room below upright ones. */
  readonly horizontal?: boolean;
  /**
   * Order of categories: `"value"`, the largest first, or `"given"`. Either way "other" is last. Default:
   * by value for a question's groups, unless they have an order (versions, hours, weekdays, bins).
   */
  readonly sort?: "value" | "given";
  /** Columns of the ends of each bar's interval; default: those that a question asks with its rate. null for none. */
  readonly interval?: readonly [string, string] | null;
}

/** What `chart.points` can be told besides. */
export type PointsOptions = ChartOptions & Pick<BarOptions, "interval">;

/** What `chart.heatmap` can be told. */
export interface HeatmapOptions extends Pick<
  ChartOptions,
  "title" | "subtitle" | "width" | "height" | "theme" | "xTitle"
> {
  /** Column along the horizontal axis. Default: the time column; without one, the last dimension. */
  readonly x?: string;
  /** Column along the vertical axis, at most 60 values. Default: the first dimension that isn't x. */
  readonly y?: string;
  /** The measure that is the colour. Default: the one that the question is about. */
  readonly colour?: string;
  /** The same as `colour`. */
  readonly color?: string;
  /** How its numbers are written: a d3 format, `",d"`. */
  readonly format?: string;
}

/** What `chart.histogram` can be told besides. */
export interface HistogramChartOptions extends Omit<
  ChartOptions,
  "x" | "y" | "annotations" | "marks"
> {
  /** Whether each edge shows how many are below it; default false. */
  readonly cumulative?: boolean;
  /** Whether shares of each group are drawn, not counts; default true for cumulative ones and for several groups. */
  readonly share?: boolean;
}

/** The options of all kinds under the names of today, which all of the house reads. */
export interface DrawOptions
  extends
    Omit<ChartOptions, "color" | "colour" | "marks" | "y">,
    Pick<LineOptions, "band" | "steps">,
    Pick<HistogramChartOptions, "cumulative" | "share">,
    Pick<BarOptions, "stack" | "horizontal" | "sort" | "interval"> {
  readonly y?: string;
  readonly colour?: string | readonly string[] | null;
  /** Columns that go along with each point: told in tooltips and files, drawn by some kinds as fields `_name`. */
  readonly beside?: readonly string[];
  /** That of them which stands at the end of each lying bar. */
  readonly text?: string;
}

/** The same as a chart is given them, and keeps them: y may be several columns. */
export type GivenOptions = Omit<DrawOptions, "y" | "colour" | "beside" | "text"> &
  Pick<ChartOptions, "y" | "colour">;

/** The kinds of charts of a Result, as `chart` names them. */
export type KindName = "line" | "area" | "bar" | "points" | "heatmap" | "histogram";

/** How a chart was made of a Result: by its kind with options, by an analyst's own spec, as linked views, or of a finding. Postmortems keep it. */
export type Recipe =
  | { readonly mark: KindName; readonly options: GivenOptions }
  | { readonly spec: VegaLiteSpec }
  | { readonly explore: ExploreChartOptions }
  | { readonly change: ChangeRecord; readonly options: ChangeChartOptions };

/** What `chart.change` can be told, as every chart. */
export type ChangeChartOptions = Pick<
  ChartOptions,
  "title" | "subtitle" | "width" | "height" | "theme"
>;

/** What `chart.explore` can be told, as every chart. */
export type ExploreChartOptions = Pick<ChartOptions, "title" | "subtitle" | "theme" | "y">;

/** A row of a finding's table. */
export type FindingRow = Readonly<Record<string, Value>>;

/** A finding as far as its picture goes, beside the Result that is drawn. */
export interface ChangeRecord {
  readonly kind: string;
  readonly sentence: string;
  /** The finding's table, where another Result is drawn. */
  readonly rows?: readonly FindingRow[];
  /** The column of that Result that was searched. */
  readonly measure?: string;
}

/** What a page of charts can be told. */
export interface PageOptions {
  /** The page's heading; default none. */
  readonly title?: string;
}

const isText = (value: unknown): boolean => typeof value === "string";
const text = { fits: isText, pass: "a text" };
const column = { fits: isText, pass: "the name of a column" };
const pixels = {
  fits: (value: unknown) => Number.isInteger(value) && Number(value) >= 50 && Number(value) <= 4000,
  pass: "a whole number of pixels from 50 to 4000",
};

const isFlag = (value: unknown): boolean => typeof value === "boolean";
const flag = { fits: isFlag, pass: "true or false" };
const isColumns = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isText);
const isEnds = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value.every(isText);
const oneOf = (...values: readonly unknown[]) => ({
  fits: (value: unknown) => values.includes(value),
  pass: values.map((value) => JSON.stringify(value)).join(" or "),
});

/** What each option of a chart takes; a picture of something else may take some of them. */
export const CHART_RULES = {
  x: column,
  y: {
    fits: (value) => isText(value) || isColumns(value),
    pass: `${column.pass}, or a list of several, ["q10", "q50"]`,
  },
  colour: { fits: (value) => value === null || isText(value), pass: `${column.pass}, or null` },
  title: text,
  subtitle: text,
  width: pixels,
  height: pixels,
  theme: {
    fits: (value) => isText(value) && Object.hasOwn(THEMES, String(value)),
    pass: '"light" or "dark"',
  },
  annotations: {
    fits: (value) => Array.isArray(value) && value.every(isAnnotation),
    pass: 'a list of annotations, [chart.annotation("2026-03-02T09:00:00Z", "3.10 released")]',
  },
  yScale: { fits: (value) => value === "linear" || value === "log", pass: '"linear" or "log"' },
  zero: flag,
  xTitle: text,
  yTitle: text,
  yFormat: {
    // The grammar of https://d3js.org/d3-format: what it can't read ends the drawing.
    fits: (value) =>
      isText(value) &&
      /^(?:[^{}]?[<>=^])?[-+( ]?[$#]?0?\d{0,2},?(?:\.\d{1,2})?~?[%bcdefgnoprsxX]?$/.test(
        String(value),
      ),
    pass: 'a format of numbers, ".1f", ",d", ".2%" or "~s"',
  },
  facet: column,
  scales: oneOf("shared", "own"),
} satisfies Rules<Omit<GivenOptions, KindOption>>;

/** What the options take that only some kinds of charts know. */
const KIND_RULES = {
  band: { fits: isEnds, pass: 'the columns of its two ends, ["q10", "q90"]' },
  interval: {
    fits: (value) => value === null || isEnds(value),
    pass: 'the columns of its two ends, ["low", "high"], or null for none',
  },
  steps: flag,
  stack: oneOf("sum", "share", false),
  horizontal: flag,
  sort: oneOf("value", "given"),
  cumulative: flag,
  share: flag,
} satisfies Rules<Pick<GivenOptions, KindOption>>;

/** An option that only some kinds of charts know. */
export type KindOption =
  "band" | "interval" | "steps" | "stack" | "horizontal" | "sort" | "cumulative" | "share";

/** What each option of a page takes. */
export const PAGE_RULES = { title: text } satisfies Rules<PageOptions>;

/**
 * The options of a chart, checked, under the names of today.
 *
 * @param takes those that its kind knows beside those of all.
 * @throws ProbelabError for an option that a chart doesn't know, or a value that it doesn't take.
 */
export function checkChartOptions(
  given: ChartOptions,
  takes: readonly KindOption[] = [],
): GivenOptions {
  if (given?.marks !== undefined) deprecated("the option marks of a chart", "annotations");
  const options = todaysNames(given);
  const own = Object.fromEntries(takes.map((name) => [name, KIND_RULES[name]]));
  checkOptions(options, { ...CHART_RULES, ...own }, "draw a chart");
  return options;
}

/** The options of a heat map, checked, under the names of today. @throws ProbelabError as those of a chart. */
export function checkHeatmapOptions(given: HeatmapOptions): Omit<HeatmapOptions, "color"> {
  const { title, subtitle, width, height, theme, xTitle, x, yFormat } = CHART_RULES;
  const rules = { title, subtitle, width, height, theme, xTitle, x, y: x, colour: x };
  const options = todaysNames(given);
  checkOptions(options, { ...rules, format: yFormat }, "draw a heat map");
  return options as Omit<HeatmapOptions, "color">;
}

/** The options with `color` and `marks` under the names that all of the house reads. */
export function todaysNames(given: ChartOptions): GivenOptions {
  // What is no object of options is refused by the check that follows.
  if (!isPlain(given)) return given;
  const { color, marks, ...options } = given;
  for (const [now, other] of [
    ["colour", "color"],
    ["annotations", "marks"],
  ] as const) {
    if (given[now] === undefined || given[other] === undefined) continue;
    throw new ProbelabError(
      `Can't draw a chart with ${now} and ${other}, which are the same option: pass one of them.`,
    );
  }
  return {
    ...options,
    ...(color !== undefined && { colour: color }),
    ...(marks !== undefined && { annotations: marks }),
  };
}

function isPlain(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAnnotation(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { time, label } = value as { time?: unknown; label?: unknown };
  return types.isDate(time) && !Number.isNaN(time.getTime()) && typeof label === "string";
}
