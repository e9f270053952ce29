import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { BUCKETS, buckets, bucketStart, checkBucket, type Bucket } from "../time/bucket.js";
import { isMultiple, usualLength } from "../time/step.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import type { AnswerRow, PlannedMeasure } from "./plan.js";

/** Buckets that a series should have before values are named instead. */
const FEW_BUCKETS = 12;
/** More buckets than this can't be seen in the figure, and cost the answer rows. */
const MANY_BUCKETS = 400;
const MOST_CELLS = 500_000;

/** A value of a dimension, and how large it is in the range. */
export interface Ranked {
  readonly value: string | null;
  readonly hash: bigint;
  readonly size: number;
}

/** The steps that the cut may take, from the one that is asked to its coarser multiples. */
export function candidates(
  wanted: Bucket | "auto",
  range: TimeRange,
  named: readonly number[],
  action: string,
): readonly Bucket[] {
  const groups = named.reduce((all, kept) => all * (kept + 1), 1);
  const fits = (every: Bucket, most: number): boolean =>
    (+range.end - +range.start) / usualLength(every) <= most + 1;
  if (wanted !== "auto") {
    const every = checkBucket(wanted);
    if (fits(every, MOST_ROWS)) return [every];
    throw new ProbelabError(
      `Can't ${action} by ${every} over ${formatRange(range)}: take a coarser every ("auto" picks one) or a shorter range.`,
    );
  }
  const most = Math.min(MANY_BUCKETS, MOST_CELLS / groups);
  const fine = BUCKETS.find((every) => fits(every, Math.max(most, FEW_BUCKETS))) ?? BUCKETS.at(-1)!;
  return BUCKETS.slice(BUCKETS.indexOf(fine)).filter((every) => isMultiple(every, fine));
}

/** Cells of fine buckets and of more values than may be drawn. */
export interface Cells {
  /** Starts of the fine buckets that have a cell, in milliseconds. */
  readonly starts: readonly number[];
  /** Of each cell: the place in `starts`, the place of each dimension's value, each part of the measure. */
  readonly at: Int32Array;
  readonly codes: readonly Int32Array[];
  readonly values: readonly Float64Array[];
  /** Buckets that the database began where none begins. */
  readonly elsewhere: ReadonlySet<number>;
}

export function readCells(
  rows: readonly AnswerRow[],
  named: readonly number[],
  parts: readonly PlannedMeasure[],
  every: Bucket,
  { timeZone }: TimeRange,
): Cells {
  const places = new Map<number, number>();
  const elsewhere = new Set<number>();
  const startOf = (began: number): number => {
    const start = +bucketStart(new Date(began), every, timeZone);
    if (start !== began) elsewhere.add(began);
    return start;
  };
  const known = new Map(
    [...new Set(rows.map((row) => Number(row["_t"])))].map((began) => [began, startOf(began)]),
  );
  for (const start of known.values()) if (!places.has(start)) places.set(start, places.size);
  const at = Int32Array.from(rows, (row) => places.get(known.get(Number(row["_t"]))!)!);
  const codes = named.map((_, d) => Int32Array.from(rows, (row) => Number(row[`_p${d}`])));
  const values = parts.map(({ value }) =>
    Float64Array.from(rows, (row) => Number(value(row, 1) ?? 0)),
  );
  return { starts: [...places.keys()], at, codes, values, elsewhere };
}

/** The values that keep their name and the bucket, so that all cells fit; and the merged cell of each cell. */
export function cut(
  cells: Cells,
  ranked: readonly (readonly Ranked[])[],
  named: readonly number[],
  steps: readonly Bucket[],
  { range, action }: { range: TimeRange; action: string },
): { kept: readonly number[]; every: Bucket; keys: Keys } {
  const given = givenUp(ranked, named);
  const keptAfter = (drops: number): number[] =>
    named.map((all, at) => {
      const left = all - given.slice(0, drops).filter((dimension) => dimension === at).length;
      // As in the beginning: an "other" of one value is that value.
      return left === ranked[at]!.length - 1 ? ranked[at]!.length : left;
    });
  const keysOf = (drops: number, every: Bucket): Keys =>
    keysAt(cells, keptAfter(drops), every, range.timeZone);
  // A bucket without a cell takes a row of the figure.
  const fits = ({ many, filled, step }: Keys): boolean =>
    many + Math.max(0, buckets(range, step).length - filled) <= MOST_ROWS;
  const few = steps.findLast((every) => buckets(range, every).length >= FEW_BUCKETS) ?? steps[0]!;
  let [low, high] = [0, given.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(keysOf(middle, few))) high = middle;
    else low = middle + 1;
  }
  for (const every of steps) {
    const keys = keysOf(low, every);
    if (fits(keys)) return { kept: keptAfter(low), every, keys };
  }
  throw new ProbelabError(
    `Can't ${action} by ${few} over ${formatRange(range)}: even two values of each dimension make 5,000 rows or more. Take a coarser every, a shorter range or fewer dimensions.`,
  );
}

/** The dimensions in the order in which they give up their last value: the one that names the most, of equals the smallest value. */
function givenUp(ranked: readonly (readonly Ranked[])[], named: readonly number[]): number[] {
  const left = [...named];
  const order: number[] = [];
  for (;;) {
    const size = (at: number): number => ranked[at]![left[at]! - 1]!.size;
    const [next] = left
      .flatMap((values, at) => (values > 1 ? [at] : []))
      .sort((a, b) => left[b]! - left[a]! || size(a) - size(b) || a - b);
    if (next === undefined) return order;
    left[next]! -= 1;
    order.push(next);
  }
}

interface Keys {
  readonly step: Bucket;
  /** Numbers of cells left and of buckets with a cell. */
  readonly many: number;
  readonly filled: number;
  /** The place of each cell among them, in their order. */
  readonly place: Int32Array;
  /** The start of their bucket, by the place in `starts`. */
  readonly starts: readonly number[];
}

function keysAt(cells: Cells, kept: readonly number[], step: Bucket, timeZone: string): Keys {
  const starts = cells.starts.map((start) => +bucketStart(new Date(start), step, timeZone));
  const coarse = [...new Set(starts)].sort((a, b) => a - b);
  const numbers = new Map(coarse.map((start, index) => [start, index]));
  const bucket = starts.map((start) => numbers.get(start)!);
  const keys = Float64Array.from(cells.at, (at) => bucket[at]!);
  cells.codes.forEach((codes, d) => {
    const size = kept[d]! + 1;
    // "Other" last.
    codes.forEach((code, cell) => {
      keys[cell] = keys[cell]! * size + (code === 0 || code > kept[d]! ? kept[d]! : code - 1);
    });
  });
  const ordered = [...new Set(keys)].sort((a, b) => a - b);
  const places = new Map(ordered.map((key, index) => [key, index]));
  const place = Int32Array.from(keys, (key) => places.get(key)!);
  return { step, many: ordered.length, filled: coarse.length, place, starts };
}

/** The cells that are left, in order. */
export function merged({ at, codes, values }: Cells, { many, place, starts }: Keys) {
  const rows = Array.from({ length: many }, () => ({
    start: 0,
    codes: [] as number[],
    values: values.map(() => 0),
  }));
  place.forEach((index, cell) => {
    const row = rows[index]!;
    row.start = starts[at[cell]!]!;
    row.codes = codes.map((of) => of[cell]!);
    values.forEach((of, part) => (row.values[part]! += of[cell]!));
  });
  return rows;
}
