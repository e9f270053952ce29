import type { ColumnTable } from "arquero";
import type { Result } from "../result/result.js";

/** What a chart draws from a Result. */
export interface ChartPlan {
  readonly mark: "line" | "area" | "bar" | "points";
  /** Column along the horizontal axis: times (Date) or numbers; for bars also text. */
  readonly x: string;
  /** Column along the vertical axis: numbers. */
  readonly y: string;
  /** Column that tells the series apart; one series without it. */
  readonly series?: string;
  /** Width of the plot in pixels: as many pixel columns. */
  readonly width: number;
  /** Height of the plot in pixels, default 400. */
  readonly height?: number;
  /** Most rows to draw, at most 4,999, the default. */
  readonly maxRows?: number;
  /** Default linear. A log scale draws only values above zero. */
  readonly yScale?: "linear" | "log";
}

/** The rows that a chart draws, and what was done to get them. */
export interface Reduced {
  /** Fewer than 5,000 rows; the Result's own table where nothing was to be done. */
  readonly table: ColumnTable;
  /** What was done, a sentence each, for the chart's subtitle; empty where nothing was. */
  readonly sentences: readonly string[];
  /** The Result with this table, its origin telling what was done (step of time, order of series). */
  readonly result: Result;
  /** Name of the column that counts the rows of a bin, where points were binned. */
  readonly countColumn?: string;
}
