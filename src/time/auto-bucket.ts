import { ProbelabError } from "../base/error.js";
import { BUCKETS, buckets, type Bucket } from "./bucket.js";
import { usualLength } from "./step.js";
import { formatRange, type TimeRange } from "./time-range.js";

const DAY = 86_400_000;

/**
 * The finest bucket whose rows fit a budget: one row a bucket and series, over the whole range.
 *
 * @param budgetRows most rows, such as 4,999 for a chart.
 * @param seriesCount how many series are asked for, at least 1.
 * @throws ProbelabError when not even months fit.
 * @example
 * autoBucket(last("3 months", { now: "2026-05-01" }), 4_999, 6); // "3 hours"
 */
export function autoBucket(range: TimeRange, budgetRows: number, seriesCount: number): Bucket {
  const most = budgetRows / Math.max(1, seriesCount);
  const fitting = BUCKETS.find((every) => countBuckets(range, every, most) <= most);
  if (fitting !== undefined) return fitting;
  throw new ProbelabError(
    `Can't fit ${seriesCount.toLocaleString("en-US")} series over ${formatRange(range)} into ${budgetRows.toLocaleString("en-US")} rows, not even by month: ask for fewer series (top) or a shorter range.`,
  );
}

/** How many buckets a range touches; Infinity where these are surely more than `most`. */
function countBuckets(range: TimeRange, every: Bucket, most: number): number {
  const start = range.start.getTime();
  const end = range.end.getTime();
  // Clocks that are set back make buckets longer than they are named, by hours altogether.
  if (every !== "month" && (end - start - DAY) / usualLength(every) > most) return Infinity;
  return buckets(range, every).length;
}
