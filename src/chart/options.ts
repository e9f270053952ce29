import type { ThemeName } from "./theme.js";

/** A deploy, an incident: a line across a chart at a moment. Made by `chart.mark`. */
export interface ChartMark {
  readonly time: Date;
  readonly label: string;
}

/** What a chart of a Result can be told; everything has a default from the Result. */
export interface ChartOptions {
  /** Column along the horizontal axis. Default: the time column; without one, the first dimension. */
  readonly x?: string;
  /** Column along the vertical axis. Default: the measure that the question is about; in a stack, one that can be added up. */
  readonly y?: string;
  /** Column whose values are the series. Default: the dimensions; null for one series. */
  readonly colour?: string | null;
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
  /** Deploys, incidents: `[chart.mark("2026-03-02T09:00:00Z", "3.10 released")]`. */
  readonly marks?: readonly ChartMark[];
  /** Vertical scale of lines and points; default linear. A log scale draws no zeros. */
  readonly yScale?: "linear" | "log";
  /** Whether the vertical axis begins at zero; default true. False for lines and points only. */
  readonly zero?: boolean;
}

/** What a page of charts can be told. */
export interface PageOptions {
  /** The page's heading; default none. */
  readonly title?: string;
}
