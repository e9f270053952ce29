import { autoBucket } from "../time/auto-bucket.js";
import { checkBucket, type Bucket } from "../time/bucket.js";
import type { TimeRange } from "../time/time-range.js";

/** Rows that a chart may have. */
const CHART_ROWS = 4_999;
/** More groups than this are not drawn; `top: Infinity` may give fewer or more. */
const MANY_GROUPS = 50;

/**
 * The bucket of a grouped question: null for `"all"`, for `"auto"` the finest that keeps the answer
 * under 5,000 rows, with a note that says so.
 */
export function pickBucket(
  wanted: Bucket | "auto" | "all",
  range: TimeRange,
  groups: number,
): { readonly every: Bucket | null; readonly notes: readonly string[] } {
  if (wanted === "all") return { every: null, notes: [] };
  if (wanted !== "auto") return { every: checkBucket(wanted), notes: [] };
  const every = autoBucket(range, CHART_ROWS, Math.min(groups, MANY_GROUPS));
  return {
    every,
    notes: [
      `Grouped by ${every}, the finest bucket that keeps the rows under 5,000 (every: "auto").`,
    ],
  };
}
