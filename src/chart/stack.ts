import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { counted, lowered } from "../base/text.js";
import { smallest } from "../base/statistics.js";
import { formatInstantIso, label, words } from "./render/label.js";
import { buckets, BUCKETS } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import type { Result } from "../result/result.js";
import { list, type Roles, type RowsKind } from "./roles.js";
import { coarserBuckets } from "./work-table.js";
import { rowsInOnePlace, type Point, type Rows } from "./rows.js";
import { pointsBySeries } from "./plot.js";
import { gapSentence, LONG_STEP, usualStep } from "./reduce-line-chart.js";

/**
 * What kinds that draw values as sizes have in common: rows that are too many are added up by coarser buckets,
 * and those in one place are refused, as they would hide each other.
 *
 * @param everyBucket true where each series has a value in every bucket, whether there is a row or not.
 */
export function sizes(
  noun: string,
  everyBucket = false,
): Pick<RowsKind, "noun" | "sizes" | "reduce" | "shared"> {
  return {
    noun,
    sizes: true,
    reduce: (work, roles, _, most) => coarserBuckets(work, roles, noun, most, everyBucket),
    shared: (result, roles, lines) => refuseSharedPlaces(result, roles, lines, noun),
  };
}

function refuseSharedPlaces(
  result: Result,
  roles: Roles,
  lines: string | undefined,
  noun: string,
): [] {
  const columns = [roles.x, ...(lines === undefined ? [] : [lines])];
  const found = rowsInOnePlace(result, roles, columns);
  if (found === undefined) return [];
  const { said, first } = found;
  const shown = first instanceof Date ? formatInstantIso(first.getTime()) : label(first);
  const same = columns.map((name) => JSON.stringify(name)).join(" and ");
  throw new ProbelabError(
    `Can't draw ${noun} of ${list([roles.y])}: ${said} (the same ${same}, first at ${shown}) and would hide each other; aggregate in SQL, one row for each ${same}, or pass the column that tells them apart as color.`,
  );
}

/**
 * Every series at every x. Where one of them is null the whole stack is: what is unknown isn't zero.
 *
 * @param fills false leaves out what has no row, for marks that aren't joined.
 * @throws ProbelabError for what can't be added up, or is unknown.
 */
export function stacked(rows: Rows, fills = true): Rows {
  const { roles, series, points, xs, every, sentences } = rows;
  if (series.length < 2) return rows;
  const refusal = (why: string): ProbelabError =>
    new ProbelabError(`Can't stack ${JSON.stringify(roles.y)}: ${why}; draw it with chart.line.`);
  if (roles.measure && !roles.measure.additive) {
    throw refusal(`its values (${roles.measure.label.toLowerCase()}) can't be added up`);
  }
  const negative = points.find(({ y }) => Number(y) < 0);
  if (negative) throw refusal(`it holds negative values such as ${negative.y}`);
  const at = new Map(points.map((point) => [`${point.series} ${point.x}`, point]));
  const unknown = new Set(points.flatMap(({ x, y }) => (y === null ? [x] : [])));
  const filled = xs.flatMap((x) =>
    series.flatMap((_, index): Point[] => {
      const point = at.get(`${index} ${x}`);
      const isUnknown = unknown.has(x);
      if (point !== undefined) return [isUnknown ? { ...point, y: null } : point];
      if (roles.measure?.missing === "gap" && !isUnknown) {
        throw refusal("it is unknown for some of the series, which isn't zero");
      }
      return fills ? [{ x, y: isUnknown ? null : 0, series: index }] : [];
    }),
  );
  const noun = every === undefined ? "place" : bucketNoun(every, false);
  const gaps = `Gaps: ${counted(unknown.size, noun)} where a series is unknown.`;
  const said = unknown.size === 0 ? sentences : [...sentences, gaps];
  return { ...rows, points: filled, sentences: said };
}

/**
 * Areas along times whose buckets nobody knows, with the steps that have no row: a gap of one area, zero in a
 * stack. @throws ProbelabError for series at times of their own, of which nobody knows what is between.
 */
export function withMissingSteps(rows: Rows): Rows {
  const { roles, series, points, xs, every, sentences } = rows;
  if (every !== undefined || roles.xKind !== "time") return rows;
  const several = series.length > 1;
  const times = xs.map(Number);
  const step = usualStep(times);
  const lacks = several && points.length < xs.length * series.length;
  if (lacks && step === undefined && roles.measure === undefined) {
    throw new ProbelabError(
      `Can't stack ${JSON.stringify(roles.y)}: not every series has a row at each ${JSON.stringify(roles.x)}, and what is missing is not zero; group them by time, or draw it with chart.line.`,
    );
  }
  const added = times.flatMap((at, index) => {
    const before = times[index - 1];
    if (step === undefined || before === undefined || at - before <= LONG_STEP * step) return [];
    return several ? [before + step, at - step] : [before + step];
  });
  if (added.length === 0 && !lacks) return rows;
  const xsFilled = [...new Set([...xs, ...added])].sort((a, b) => Number(a) - Number(b));
  if (several) {
    // A stack has a value of each series at each of them.
    return { ...rows, xs: xsFilled, sentences: [...sentences, "What has no row is zero."] };
  }
  const gaps = added.map((x): Point => ({ x, y: null, series: 0 }));
  return {
    ...rows,
    xs: xsFilled,
    points: [...points, ...gaps].sort((a, b) => Number(a.x) - Number(b.x)),
    sentences: [...sentences, gapSentence(step!)],
  };
}

/** Every value as its share of all series at its x. @throws ProbelabError for what can't be added up. */
export function shares(rows: Rows): Rows {
  const { roles, series } = rows;
  if (series.length < 2) {
    throw new ProbelabError(
      `Can't draw shares of one series, each would be 100 %: pass the column of several series as color, or leave stack out.`,
    );
  }
  const { points, sentences } = stacked(rows);
  const totals = new Map<Point["x"], number>();
  for (const { x, y } of points) totals.set(x, (totals.get(x) ?? 0) + Number(y));
  const { name, label } = roles.measure ?? { name: roles.y, label: words(roles.y) };
  const of = `Share of ${lowered(label)}`;
  const measure = { name, label: of, unit: "share", additive: true, missing: "zero" } as const;
  return {
    ...rows,
    sentences: [
      ...sentences,
      ...([...totals.values()].includes(0) ? ["Gaps: 0 of 0 is no share."] : []),
    ],
    roles: { ...roles, measure },
    points: points.map((point) => {
      // 0 of 0 is no share.
      const total = totals.get(point.x)!;
      return { ...point, y: point.y === null || total === 0 ? null : point.y / total };
    }),
  };
}

/** Where the bucket of each x ends; undefined for categories. @throws ProbelabError for instants that are no buckets. */
export function bucketEnds(
  { xs, every, roles }: Rows,
  timeZone: string,
  drawn = "bars",
): Map<number, number> | undefined {
  if (roles.xKind === "category" || xs.length === 0) return undefined;
  const numbers = xs.map(Number);
  const first = numbers[0] ?? 0;
  if (every !== undefined) {
    // The buckets may reach beyond the range that was asked for: they are counted from the data's.
    const wide = { start: new Date(first), end: new Date((numbers.at(-1) ?? 0) + 1), timeZone };
    return new Map(buckets(wide, every).map(({ start, end }) => [+start, +end]));
  }
  const step = smallest(numbers.slice(1).map((x, index) => x - (numbers[index] ?? 0)));
  const even = numbers.every((x) => Number.isInteger((x - first) / step));
  if (numbers.length > 1 && !even) {
    const group =
      roles.xKind === "time"
        ? `group them by time (every: ${BUCKETS.map((b) => `"${b}"`).join(", ")})`
        : "round them in the question (in SQL round(x, 1), or toString(x) for names)";
    throw new ProbelabError(
      `Can't draw ${drawn} along ${JSON.stringify(roles.x)}: its values have no common step; ${group}, or use chart.dot.`,
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

/** The ends of the buckets of counts, which are so in all of a bucket, not on the way to the next; undefined for what is drawn as slopes. */
export function stepEnds(rows: Rows, timeZone: string): Map<number, number> | undefined {
  const { roles, every, series, points } = rows;
  if (every === undefined || !roles.measure?.additive) return undefined;
  const ends = bucketEnds(rows, timeZone, "steps");
  if (ends === undefined) return undefined;
  // Thousands of gaps, narrower than a pixel: steps would need more rows than a chart may have.
  return stepPoints(points, ends, series.length > 1).length <= MOST_ROWS ? ends : undefined;
}
