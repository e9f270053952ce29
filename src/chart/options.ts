import { types } from "node:util";
import { checkOptions, isPlain, type Rule } from "../base/check-options.js";
import type { Value } from "../result/json.js";
import type { Result } from "../result/result.js";
import { THEMES, type ThemeName, type VegaLiteSpec } from "./render/theme.js";

/** A deploy, an incident: a line across a chart at a moment, or a band from there to `end`. Made by `chart.annotation`. */
export interface Annotation {
  readonly time: Date;
  readonly end?: Date;
  readonly label: string;
}

/** The horizontal axis: `x: { value: "day", label: "Day of release" }`. */
export interface XOptions<C extends string = string> {
  /** Column along the axis. Default: the time column; without one, the first dimension. */
  readonly value?: C;
  /** Title of the axis; `""` for none. Default: the column's name, with the unit or the zone. */
  readonly label?: string;
  /** Scale of numbers, of dots only; default linear. A log scale draws no zeros. */
  readonly type?: "linear" | "log";
}

/** The vertical axis: `y: { value: "q50", label: "Seconds", type: "log" }`. */
export interface YOptions<C extends string = string> {
  /**
   * Column along the axis, or several of one unit: `["q10", "q50", "q90"]`, a series each.
   * Default: the measure that the question is about; in a stack, one that can be added up.
   */
  readonly value?: C | readonly C[];
  /** Title of the axis; `""` for none. Default: the measure with its unit. */
  readonly label?: string;
  /** Format of its numbers, on the axis and in tooltips: a d3 format, `".1f"`, `".2%"`, `"~s"`. */
  readonly format?: string;
  /** Scale, of lines and dots only; default linear. A log scale draws no zeros. */
  readonly type?: "linear" | "log";
  /** True for an axis that begins at zero, the default. False for lines and dots only. */
  readonly zero?: boolean;
}

/** The columns of rows; any text where their type doesn't say them. */
export type ColumnOf<Rows> =
  Rows extends Result<infer Row>
    ? NamesOf<Row>
    : Rows extends readonly (infer Row)[]
      ? NamesOf<Row>
      : string;

type NamesOf<Row> = [KeyOf<Row>] extends [never] ? string : KeyOf<Row>;
type KeyOf<Row> = Row extends unknown ? keyof Row & string : never;

/** Options of every chart of a Result; each has a default from the Result. */
export interface ChartOptions<C extends string = string> {
  /** Column along the horizontal axis, or an object with the column as `value` and the axis' `label`. */
  readonly x?: C | XOptions<C>;
  /** Column along the vertical axis, a list of columns, or an object with these as `value` and options of the axis. */
  readonly y?: C | readonly C[] | YOptions<C>;
  /** Column whose values are the series. Default: the dimensions; null for one series. */
  readonly color?: C | null;
  /** Default: a sentence made of the measure, the step, the dimension and the range. */
  readonly title?: string;
  /** A line under the title, before what the chart itself must say there. */
  readonly subtitle?: string;
  /** Width of the plot in pixels, without axes and legend; default 1000. Of panels: that of all beside each other. */
  readonly width?: number;
  /** Height of the plot in pixels, of panels that of each; default 300, of panels 130. */
  readonly height?: number;
  /** Colours for light or for dark notebooks. @default "light" */
  readonly theme?: ThemeName;
  /** Colors of series, or of bars, by their name in the legend or on the axis: `{ "3.10.0": "#d55e00" }`. Default: as in the notebook's other charts. */
  readonly colors?: Readonly<Record<string, string>>;
  /** Place of the legend; default `"right"`, of more than 12 series `"bottom"`. On a page narrower than the picture it stands below. */
  readonly legend?: "right" | "bottom";
  /** Deploys, incidents: `[chart.annotation("2026-03-02T09:00:00Z", "3.10 released")]`. */
  readonly annotations?: readonly Annotation[];
  /** A line across the plot at a number of the vertical axis, such as a goal: `{ value: 600, label: "10 minutes" }`. */
  readonly reference?: { readonly value: number; readonly label?: string };
  /** Column with a panel for each of its values, the largest 12: small charts beside each other. */
  readonly facet?: C;
  /** Draws "other", as a bar, a line, cells or a panel; default: where it is at most three times the largest of the others, else a note gives it. A stack always holds it. */
  readonly other?: boolean;
  /** The vertical scale of panels: one for all (default), or one each. */
  readonly scales?: "shared" | "own";
}

/** Options of `chart.line`. */
export interface LineOptions<C extends string = string> extends ChartOptions<C> {
  /** Columns of the lower and the upper end of a band around each line: `["q10", "q90"]`. */
  readonly band?: readonly [C, C];
}

/** Options of `chart.area`. */
export interface AreaOptions<C extends string = string> extends ChartOptions<C> {
  /** Adds series up to their sum (default), or to 100 % at each x. */
  readonly stack?: "sum" | "normalize";
}

/** Options of `chart.bar`. */
export interface BarOptions<C extends string = string> extends ChartOptions<C> {
  /** `"sum"`: series on top of each other; `"normalize"`: the same, to 100 %; false: beside each other, for categories. Default: `"sum"` for what adds up, else false. */
  readonly stack?: "sum" | "normalize" | false;
  /** True for horizontal bars of categories; default: where their names don't fit below upright bars. */
  readonly horizontal?: boolean;
  /**
   * Order of categories: `"value"`, the largest first, or `"given"`. Either way "other" is last. Default:
   * by value for a question's groups, unless they have an order (versions, hours, weekdays, bins).
   */
  readonly sort?: "value" | "given";
  /** Columns of the ends of each bar's interval; default: those that a question asks with its rate. null for none. */
  readonly interval?: readonly [string, string] | null;
}

/** Options of `chart.dot`. */
export type DotOptions<C extends string = string> = ChartOptions<C> & Pick<BarOptions, "interval">;

/** Options of `chart.dotPlot`. */
export type DotPlotOptions<C extends string = string> = ChartOptions<C> &
  Pick<BarOptions, "sort" | "interval">;

/** Options of `chart.heatmap`. */
export interface HeatmapOptions<C extends string = string> extends Pick<
  ChartOptions<C>,
  "title" | "subtitle" | "width" | "height" | "theme" | "x" | "other"
> {
  /** Column along the vertical axis, at most 60 values. Default: the first dimension that isn't x. */
  readonly y?: C;
  /** The measure that is the color. Default: the one that the question is about. */
  readonly color?: C;
  /** Format of its numbers: a d3 format, `",d"`. */
  readonly format?: string;
}

/** Options of `chart.histogram`. */
export interface HistogramChartOptions extends Omit<
  ChartOptions,
  "x" | "y" | "annotations" | "other"
> {
  /** The axis of the bins. */
  readonly x?: Pick<XOptions, "label">;
  /** The axis of counts, or of several groups their shares. */
  readonly y?: Omit<YOptions, "value">;
}

/** Options of `chart.change`. */
export type ChangeChartOptions = Pick<
  ChartOptions,
  "title" | "subtitle" | "width" | "height" | "theme"
>;

/** Options of `chart.explore`. */
export type ExploreChartOptions = Pick<ChartOptions, "title" | "subtitle" | "theme"> & {
  /** The measure. Default: the one that the question is about. */
  readonly y?: string;
};

/** Kinds of charts of a Result, as `chart` names them. */
export type KindName = "line" | "area" | "bar" | "dot" | "dotPlot" | "heatmap" | "histogram";

/** Pixels of a plot whose size nobody chose. */
export const PLOT = { width: 1000, height: 300 };

/**
 * The options of a chart of any kind, checked: those that an analyst wrote, the axes' own beside the others, and
 * what pictures of findings and of bins add.
 */
export interface Options
  extends
    Omit<ChartOptions, "x" | "y" | "color" | "annotations">,
    Pick<LineOptions, "band">,
    Pick<BarOptions, "stack" | "horizontal" | "sort" | "interval">,
    Pick<HeatmapOptions, "format"> {
  readonly x?: string;
  readonly xLabel?: string;
  readonly xType?: "linear" | "log";
  readonly y?: string;
  /** Several columns along y, a series each. */
  readonly ys?: readonly string[];
  readonly yLabel?: string;
  readonly yFormat?: string;
  readonly yType?: "linear" | "log";
  readonly yZero?: boolean;
  readonly color?: string | readonly string[] | null;
  /** Those of a panel stand in it alone. */
  readonly annotations?: readonly (Annotation & { readonly panel?: string })[];
  /** Panels beside each other; default by their number. */
  readonly columns?: number;
  /** Pixels of the place of a screen that it is laid out for, where no width was chosen; else that of the file. */
  readonly place?: number;
  /** Columns that go along with each point: in tooltips and files, and as fields `_name` for some kinds. */
  readonly extras?: readonly string[];
  /** The one of them that is written at the end of each horizontal bar. */
  readonly text?: string;
  /** The edges of the bins along x, whose ends `extras` holds. */
  readonly edges?: readonly number[];
}

/** How a chart was made: of a Result by its kind with options, by an analyst's own spec, as linked views, or of a finding. */
export type Recipe =
  | { readonly mark: KindName; readonly options: object }
  | { readonly spec: VegaLiteSpec }
  | { readonly explore: ExploreChartOptions }
  | { readonly change: ChangeRecord; readonly options: ChangeChartOptions };

/** A row of a finding's table. */
export type FindingRow = Readonly<Record<string, Value>>;

/** What is drawn of a finding, beside its Result. */
export interface ChangeRecord {
  readonly kind: string;
  readonly sentence: string;
  /** True if the sentence stands beside the picture, not in it. */
  readonly bare?: boolean;
  /** The finding's table, where another Result is drawn. */
  readonly rows?: readonly FindingRow[];
}

export const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isText);
export const isEnds = (value: unknown): boolean =>
  isTexts(value) && (value as unknown[]).length === 2;
const isPixels = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 50 && Number(value) <= 4000;
// The grammar of https://d3js.org/d3-format: what it can't read ends the drawing.
const FORMAT = /^(?:[^{}]?[<>=^])?[-+( ]?[$#]?0?\d{0,2},?(?:\.\d{1,2})?~?[%bcdefgnoprsxX]?$/;
const COLOR = /^(#[\da-f]{3,8}|[a-z]+|(rgb|hsl)a?\([\d\s,.%/]+\))$/i;

/** Checks of options by their names; those of an axis as `x.label`. */
export type Checks = Readonly<Record<string, Rule>>;

export const text: Rule = { fits: isText, pass: "a text" };
export const column: Rule = { fits: isText, pass: "the name of a column" };
const pixels: Rule = { fits: isPixels, pass: "a whole number of pixels from 50 to 4000" };
export const format: Rule = {
  fits: (value) => isText(value) && FORMAT.test(value),
  pass: 'a format of numbers, ".1f", ",d", ".2%" or "~s"',
};
export const oneOf = (...values: readonly unknown[]): Rule => ({
  fits: (value) => values.includes(value),
  pass: values.map((value) => JSON.stringify(value)).join(" or "),
});
export const flag = oneOf(true, false);

/** Checks of the options of every picture. */
export const PICTURE_RULES = {
  title: text,
  subtitle: text,
  width: pixels,
  height: pixels,
  theme: oneOf(...Object.keys(THEMES)),
};

/** Those of charts with a vertical axis of numbers. */
export const GRAPH_RULES = {
  "y.label": text,
  "y.format": format,
  "y.type": oneOf("linear", "log"),
  "y.zero": flag,
  color: {
    fits: (value) => value === null || isText(value),
    pass: `${column.pass}, or null`,
  },
  colors: {
    fits: (value) =>
      isPlain(value) && Object.values(value).every((name) => isText(name) && COLOR.test(name)),
    pass: 'names with colors of CSS, { "3.10.0": "#d55e00" }',
  },
  legend: oneOf("right", "bottom"),
  facet: column,
  scales: oneOf("shared", "own"),
  annotations: {
    fits: (value) => Array.isArray(value) && value.every(isAnnotation),
    pass: 'a list of annotations, [chart.annotation("2026-03-02T09:00:00Z", "3.10 released")]',
  },
  ...PICTURE_RULES,
} satisfies Checks;

/** Those of charts of any columns. */
export const PLOT_RULES = {
  x: column,
  "x.label": text,
  y: {
    fits: (value) => isText(value) || isTexts(value),
    pass: `${column.pass}, or a list of several, ["q10", "q50"]`,
  },
  ...GRAPH_RULES,
  other: flag,
  reference: {
    fits: (value) =>
      isPlain(value) && Number.isFinite(value["value"]) && isText(value["label"] ?? ""),
    pass: 'a number with its label, { value: 600, label: "10 minutes" }',
  },
} satisfies Checks;

/** The option of the intervals of bars and dots. */
export const INTERVAL: Rule = {
  fits: (value) => value === null || isEnds(value),
  pass: 'the columns of its two ends, ["low", "high"], or null for none',
};

/**
 * Checks the options of a chart, and puts those of its axes beside the others: `{ y: { value: "q50",
 * label: "Seconds" } }` as `{ y: "q50", yLabel: "Seconds" }`.
 *
 * @throws ProbelabError for an option that this kind of chart doesn't know, or a value that it doesn't take.
 */
export function checkChartOptions(given: object, rules: Checks, action = "draw a chart"): Options {
  if (!isPlain(given)) checkOptions(given, rules, action);
  const flat = Object.entries(given).flatMap(([name, value]): [string, unknown][] =>
    /^[xy]$/.test(name) && isPlain(value)
      ? Object.entries(value).map(([part, inner]) => [
          part === "value" ? name : `${name}.${part}`,
          inner,
        ])
      : [[name, value]],
  );
  checkOptions(Object.fromEntries(flat), rules, action);
  const joined = flat.map(([name, value]): [string, unknown] =>
    name === "y" && Array.isArray(value)
      ? value.length > 1
        ? ["ys", value]
        : ["y", value[0]]
      : [name.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()), value],
  );
  return Object.fromEntries(joined);
}

function isAnnotation(value: unknown): boolean {
  if (!isPlain(value)) return false;
  const { time, end = time, label } = value;
  return [time, end].every((at) => types.isDate(at) && Number.isFinite(+at)) && isText(label);
}
