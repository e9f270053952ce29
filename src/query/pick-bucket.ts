import { MOST_ROWS } from "../base/limits.js";
import { autoBucket } from "../time/auto-bucket.js";
import { checkBucket, type Bucket } from "../time/bucket.js";
import { ProbelabError } from "../base/error.js";
import { usualLength } from "../time/step.js";
import { formatRange, type TimeRange } from "../time/time-range.js";

/** More buckets than rows that an answer may have. */
const MOST_BUCKETS = 2_000_000;
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
  if (wanted !== "auto") return { every: fewEnough(checkBucket(wanted), range), notes: [] };
  const every = autoBucket(range, MOST_ROWS, Math.min(groups, MANY_GROUPS));
  return {
    every,
    notes: [
      `Grouped by ${every}, the finest bucket that keeps the rows under 5,000 (every: "auto").`,
    ],
  };
}

/** The step, where the range has not too many of it to tell even one by one. */
function fewEnough(every: Bucket, range: TimeRange): Bucket {
  const count = Math.round((range.end.getTime() - range.start.getTime()) / usualLength(every));
  if (count <= MOST_BUCKETS) return every;
  throw new ProbelabError(
    `Can't group ${formatRange(range)} by ${every}: ${count.toLocaleString("en-US")} buckets are too many. Take a coarser every ("auto" picks one) or a shorter range.`,
  );
}
