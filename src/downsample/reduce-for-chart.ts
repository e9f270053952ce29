import type { Result } from "../result/result.js";
import type { ChartPlan, Reduced } from "./chart-plan.js";
import { MOST_ROWS } from "../base/limits.js";
import { reduceLineChart } from "./reduce-line-chart.js";
import { reducePoints } from "./reduce-points.js";
import { reduceStacks } from "./reduce-stacks.js";
import { checkCount } from "./series.js";

export type { ChartPlan, Reduced } from "./chart-plan.js";

/**
 * Reduces a Result to the rows that a chart can draw; with no more than `maxRows` it stays as it is,
 * but for the buckets that a line misses.
 *
 * - Lines keep the rows that draw the same picture, gaps as gaps. Missing buckets of a Result are
 *   rows afterwards where the line needs them (null or zero): put no others in between.
 * - Areas and bars are regrouped to a coarser bucket, then the smallest series are merged. Their
 *   rows are those of a full grid, series × buckets, if that is larger than the table.
 * - Points are counted in bins (see `countColumn`).
 *
 * @throws ProbelabError where it can't be reduced truthfully, with what to change.
 * @example
 * const { table, sentences } = reduceForChart(counts, { mark: "line", x: "t", y: "measurements", width: 800 });
 */
export function reduceForChart(result: Result, plan: ChartPlan): Reduced {
  const maxRows = checkCount(plan.maxRows ?? MOST_ROWS, "maxRows", MOST_ROWS);
  checkCount(plan.width, "width", 100_000);
  checkCount(plan.height ?? 400, "height", 100_000);
  if (plan.mark === "area" || plan.mark === "bar") return reduceStacks(result, plan, maxRows);
  if (plan.mark === "line") return reduceLineChart(result, plan, maxRows);
  if (result.numRows <= maxRows) return { table: result.table, sentences: [], result };
  return reducePoints(result, plan, maxRows);
}
