import { types } from "node:util";
import { checkOptions, type Rules } from "../base/check-options.js";
import { deprecated } from "../base/deprecated.js";
import { ProbelabError } from "../base/error.js";
import type { Value } from "../result/json.js";
import { THEMES, type ThemeName } from "./theme.js";

/** JSON of a Vega-Lite specification. */
export type VegaLiteSpec = Record<string, unknown>;

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
  /** Column along the vertical axis. Default: the measure that the question is about; in a stack, one that can be added up. */
  readonly y?: string;
  /** Column whose values are the series. Default: the dimensions; null for one series. */
  readonly colour?: string | null;
  /** The same as `colour`. */
  readonly color?: string | null;
  /** Default: a sentence made of the measure, the step, the dimension and the range. */
  readonly title?: string;
  /** A line under the title, before what the chart itself must say there. */
  readonly subtitle?: string;
  /** Width of the plot in pixels, without axes and legend; default 1000. */
  readonly width?: number;
  /** Height of the plot in pixels; default 300. */
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
}

/** The options under the names of today, which all of the house reads. */
export type DrawOptions = Omit<ChartOptions, "color" | "marks">;

/** The kinds of charts of a Result, as `chart` names them. */
export type KindName = "line" | "area" | "bar" | "points";

/** How a chart was made of a Result: by its kind with options, by an analyst's own spec, as linked views, or of a finding. Postmortems keep it. */
export type Recipe =
  | { readonly mark: KindName; readonly options: ChartOptions }
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

/** What each option of a chart takes; a picture of something else may take some of them. */
export const CHART_RULES = {
  x: column,
  y: column,
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
  zero: { fits: (value) => typeof value === "boolean", pass: "true or false" },
} satisfies Rules<DrawOptions>;

/** What each option of a page takes. */
export const PAGE_RULES = { title: text } satisfies Rules<PageOptions>;

/**
 * The options of a chart, checked, under the names of today.
 *
 * @throws ProbelabError for an option that a chart doesn't know, or a value that it doesn't take.
 */
export function checkChartOptions(given: ChartOptions): DrawOptions {
  if (given?.marks !== undefined) deprecated("the option marks of a chart", "annotations");
  const options = todaysNames(given);
  checkOptions(options, CHART_RULES, "draw a chart");
  return options;
}

/** The options with `color` and `marks` under the names that all of the house reads. */
export function todaysNames(given: ChartOptions): DrawOptions {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
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

function isAnnotation(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { time, label } = value as { time?: unknown; label?: unknown };
  return types.isDate(time) && !Number.isNaN(time.getTime()) && typeof label === "string";
}
