import { nextBucket } from "../time/bucket.js";
import type { TimeRange } from "../time/time-range.js";
import type { Drawing } from "./draw-rows.js";
import type { ChartMark } from "./options.js";

const HOUR = 36e5;

/**
 * The first and the last x that a chart shows: those of the data, and moments of marks beside them
 * that belong to the data all the same. A line ends where its last bucket begins, so that most of
 * that bucket, and with it the newest deploy, would lie outside.
 *
 * @param end where the last bar ends, in a chart of bars.
 */
export function xDomain(
  { roles, xs, every }: Drawing,
  range: TimeRange | undefined,
  marks: readonly ChartMark[],
  end?: number,
): readonly [number, number] {
  const asked = range && ([range.start.getTime(), range.end.getTime()] as const);
  const [first, last] = [xs[0], xs.at(-1)].map(Number) as [number, number];
  // Without a row the axis shows the time that was asked for.
  if (xs.length === 0) return (roles.xKind === "time" && asked) || [0, 1];
  if (roles.xKind === "category") return [0, 1];
  if (roles.xKind === "number") return [first, end ?? last];
  const times = marks.map(({ time }) => time.getTime());
  const bucketEnd =
    every === undefined
      ? last
      : nextBucket(new Date(last), every, range?.timeZone ?? "UTC").getTime();
  // Another column of times, birthdays say, has nothing to do with the range.
  const within = asked !== undefined && last >= asked[0] && first <= asked[1];
  const earliest = within ? Math.min(first, asked[0]) : first;
  const latest = Math.max(last, bucketEnd, within ? asked[1] : last);
  const inside = times.filter((time) => time >= earliest && time <= latest);
  const domain = [Math.min(first, ...inside), Math.max(end ?? last, ...inside)] as const;
  if (end !== undefined || first !== last) return domain;
  // A lone instant has no width: it is drawn in the middle of two hours, or of more for its marks.
  const half = Math.max(HOUR, first - domain[0], domain[1] - first);
  return [first - half, first + half];
}
