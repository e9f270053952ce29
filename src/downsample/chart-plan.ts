import type { ColumnTable } from "arquero";
import type { Result } from "../result/result.js";

/** The columns and the size of a chart. */
export interface ChartPlan {
  readonly mark: "line" | "area" | "bar" | "dot";
  /** Column along the horizontal axis: times (Date) or numbers; for bars also text. */
  readonly x: string;
  /** Column along the vertical axis: numbers. */
  readonly y: string;
  /** Column whose values are the series; without it there is one. */
  readonly series?: string;
  /** Width of the plot in pixels: as many pixel columns. */
  readonly width: number;
  /** Most rows to draw, at most 4,999, the default. */
  readonly maxRows?: number;
  /** Default linear. A log scale draws only values above zero. */
  readonly yType?: "linear" | "log";
}

/** The rows that a chart draws, and how they were reduced. */
export interface Reduced {
  /** Fewer than 5,000 rows; the Result's own table where nothing was to be done. */
  readonly table: ColumnTable;
  /** Sentences for the chart's subtitle on what was done; empty where nothing was. */
  readonly sentences: readonly string[];
  /** The Result with this table, its origin telling what was done (step of time, order of series). */
  readonly result: Result;
}
