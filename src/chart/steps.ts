import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { buckets, BUCKETS } from "../time/bucket.js";
import type { Drawing, Point } from "./draw-rows.js";
import { pointsBySeries } from "./frame.js";
import type { DrawOptions } from "./options.js";

/** Where the bucket of each x ends. @throws ProbelabError for instants that are no buckets. */
export function bucketEnds(
  { xs, every, roles }: Drawing,
  timeZone: string,
  drawn = "bars",
): Map<number, number> {
  const numbers = xs.map(Number);
  if (every !== undefined) {
    const [first, last] = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
    // The buckets may reach beyond the range that was asked for: they are counted from the data's.
    const wide = { start: new Date(first), end: new Date(last + 1), timeZone };
    return new Map(buckets(wide, every).map(({ start, end }) => [start.getTime(), end.getTime()]));
  }
  const step = Math.min(...numbers.slice(1).map((x, index) => x - (numbers[index] ?? 0)));
  const even = numbers.every((x) => Number.isInteger((x - (numbers[0] ?? 0)) / step));
  if (numbers.length > 1 && !even) {
    throw new ProbelabError(
      `Can't draw ${drawn} along ${JSON.stringify(roles.x)}: its values have no common step; group them by time (every: ${BUCKETS.map((b) => `"${b}"`).join(", ")}), or use chart.dot.`,
    );
  }
  return new Map(numbers.map((x) => [x, x + (Number.isFinite(step) ? step : 1)]));
}

/**
 * Points by which a line of steps ("step-after") holds each value up to the end of its bucket: one more
 * before each gap and at the end. In a stack a gap is zero, as an area has no hole in the middle.
 */
export function stepPoints(
  points: readonly Point[],
  ends: ReadonlyMap<number, number>,
  stacked: boolean,
): Point[] {
  const stepped = [...pointsBySeries(points).values()].flatMap((own) =>
    own.flatMap((point, at) => {
      const end = ends.get(Number(point.x));
      const next = own[at + 1];
      if (point.y === null || end === undefined) return [point];
      const open = next !== undefined && Number(next.x) > end;
      if (next !== undefined && !open && next.y !== null) return [point];
      const after = { ...point, x: end + 1, y: stacked ? 0 : null };
      return [point, { ...point, x: end, from: Number(point.x) }, ...(open ? [after] : [])];
    }),
  );
  return stepped.sort((a, b) => Number(a.x) - Number(b.x));
}

/**
 * The ends of the buckets of a chart that draws its values as steps; undefined for one that doesn't.
 * @param usual whether it does unless the option `steps` says otherwise.
 */
export function stepEnds(
  drawing: Drawing,
  timeZone: string,
  { steps }: DrawOptions,
  usual: boolean,
): Map<number, number> | undefined {
  const { roles, xs, series, points } = drawing;
  if (!(steps ?? usual) || roles.xKind === "category" || xs.length === 0) return undefined;
  const ends = bucketEnds(drawing, timeZone, "steps");
  // Thousands of gaps, narrower than a pixel: steps would need more rows than a chart may have.
  return stepPoints(points, ends, series.length > 1).length <= MOST_ROWS ? ends : undefined;
}

export function lastEnd(ends: ReadonlyMap<number, number> | undefined): number | undefined {
  return ends && [...ends.values()].at(-1);
}
