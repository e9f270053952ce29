import type { MeasureColumn, TimeColumn } from "../../result/origin.js";
import { bucketStart, nextBucket } from "../../time/bucket.js";
import { usualLength } from "../../time/step.js";
import type { TimeRange } from "../../time/time-range.js";
import type { SeriesRows } from "../split-series.js";

/**
 * Puts rows where buckets are missing, as few as draw the line: a gap, or zero at the first and the
 * last missing bucket, from one end of the range to the other. Their row number is −1.
 */
export function fillMissing(
  series: SeriesRows,
  time: TimeColumn,
  missing: MeasureColumn["missing"],
  range: TimeRange,
): SeriesRows {
  const { timeZone } = range;
  // Rows no further apart than this miss no bucket between them.
  const length = usualLength(time.every);
  const x: number[] = [];
  const y: number[] = [];
  const rows: number[] = [];
  const put = (at: number): void => {
    x.push(at);
    y.push(missing === "zero" ? 0 : NaN);
    rows.push(-1);
  };
  /** Fills the buckets from `start` up to, and without, the one that begins at `end`. */
  const fill = (start: number, end: number): void => {
    if (!(start < end)) return;
    put(start);
    const last = bucketStart(new Date(end - 1), time.every, timeZone).getTime();
    if (missing === "zero" && last > start) put(last);
  };
  const after = (at: number): number =>
    nextBucket(bucketStart(new Date(at), time.every, timeZone), time.every, timeZone).getTime();
  const first = bucketStart(range.start, time.every, timeZone).getTime();
  if (missing === "zero") fill(first, series.x[0]!);
  for (let i = 0; i < series.x.length; i++) {
    const at = series.x[i]!;
    if (i > 0 && at - series.x[i - 1]! > length) fill(after(series.x[i - 1]!), at);
    x.push(at);
    y.push(series.y[i]!);
    rows.push(series.rows[i]!);
  }
  const end = after(range.end.getTime() - 1);
  if (missing === "zero") fill(after(series.x.at(-1)!), end);
  if (x.length === series.x.length) return series;
  return {
    key: series.key,
    rows: Int32Array.from(rows),
    x: Float64Array.from(x),
    y: Float64Array.from(y),
  };
}
