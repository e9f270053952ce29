import { ProbelabError } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import type { Result } from "../result/result.js";
import type { ChartPlan, Reduced } from "./chart-plan.js";
import { MOST_ROWS } from "../base/limits.js";
import { reduceLineChart } from "./reduce-line-chart.js";
import { reduceStacks } from "./reduce-stacks.js";
import { checkCount } from "./series.js";

export type { ChartPlan, Reduced } from "./chart-plan.js";

/**
 * The rows of a Result that a chart can draw: lines that draw the same picture, with rows where buckets
 * are missing; areas and bars by a coarser bucket.
 *
 * @throws ProbelabError where it can't be reduced truthfully, with what to change.
 */
export function reduceForChart(result: Result, plan: ChartPlan): Reduced {
  const maxRows = checkCount(plan.maxRows ?? MOST_ROWS, "maxRows", MOST_ROWS);
  checkCount(plan.width, "width", 100_000);
  if (plan.mark === "area" || plan.mark === "bar") return reduceStacks(result, plan, maxRows);
  if (plan.mark === "line") return reduceLineChart(result, plan, maxRows);
  if (result.numRows() <= maxRows) return { table: result.table, sentences: [], result };
  throw new ProbelabError(
    `Can't draw ${counted(result.numRows(), "row")} as dots, a chart of these takes at most ${grouped(maxRows)}: count them in the question (every, by; in SQL GROUP BY), and draw chart.heatmap or chart.histogram.`,
  );
}
