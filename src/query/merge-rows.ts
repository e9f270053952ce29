import { MOST_ROWS } from "../base/limits.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type Aggregate, type AnswerRow } from "./plan.js";

/** A row of an answer that is being put together. */
export type Cell = Record<string, AnswerRow[string]>;

type Merge = (a: AnswerRow[string], b: AnswerRow[string]) => AnswerRow[string];

/** One number of two cells, by the function that merges them. */
const MERGES: Readonly<Record<string, Merge>> = {
  sum: (a, b) => Number(a) + Number(b),
  min: (a, b) => (Number(b) < Number(a) ? b : a),
  max: (a, b) => (Number(b) > Number(a) ? b : a),
};

/** True where two cells' values make the value of both: not of quantiles and counts of different values. */
export function mergesAsNumbers({ merge }: Pick<Aggregate, "merge">): boolean {
  return /^(sum|min|max)\(/.test(merge);
}

/** Adds to a cell's value that of another row; `merge` is that of the aggregate. */
export function addTo(cell: Cell, as: string, merge: string, value: AnswerRow[string]): void {
  if (value === null || value === undefined) return;
  const together = MERGES[merge.slice(0, 3)] ?? MERGES["sum"]!;
  cell[as] = cell[as] === null || cell[as] === undefined ? value : together(cell[as], value);
}

/** Names of the columns of places, of the ranked dimensions. */
export function placeNames(dimensions: readonly Pick<AskedDimension, "natural">[]): string[] {
  return dimensions.flatMap(({ natural }, at) => (natural ? [] : [`_p${at}`]));
}

/** How many values of each dimension may keep their name, and the rows that they may make. */
export interface Fit {
  readonly top: number;
  readonly most: number;
}

/**
 * How many values of each dimension may keep their name so that the answer stays under 5,000 rows,
 * or has no more than one dimension with as many values would make. Only of several dimensions: one
 * makes as many rows as were asked for.
 *
 * @param buckets how many buckets of time the answer has.
 */
export function fittingTop(
  rows: readonly AnswerRow[],
  dimensions: readonly AskedDimension[],
  { top, buckets }: { readonly top: number; readonly buckets: number },
): Fit {
  const names = placeNames(dimensions);
  const natural = dimensions.reduce((all, { natural, most }) => (natural ? all * most : all), 1);
  const most = Math.max(Math.floor(MOST_ROWS / buckets), (top + 1) * natural);
  if (names.length < 2 || !Number.isFinite(top)) return { top, most: Infinity };
  const columns = dimensions.map((dimension, at) => `${dimension.natural ? "_d" : "_p"}${at}`);
  const groups = new Map(
    rows.map((row) => {
      const values = columns.map((name) => row[name] as string | number | bigint | null);
      return [values.join(" "), values];
    }),
  );
  const isPlace = columns.map((name) => names.includes(name));
  const fits = (kept: number): boolean => {
    const left = new Set<string>();
    for (const values of groups.values()) {
      const cut = values.map((value, at) => (isPlace[at]! && Number(value) > kept ? 0 : value));
      left.add(cut.join(" "));
      if (left.size > most) return false;
    }
    return true;
  };
  let [low, high] = [1, top];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return { top: low, most: most * buckets };
}

/**
 * Rows of which only the first values of each dimension keep their name: what has the same bucket and
 * names is one row.
 *
 * @param differ called before rows of different values are merged.
 */
export function mergeRows(
  rows: readonly AnswerRow[],
  dimensions: readonly AskedDimension[],
  aggregates: readonly Aggregate[],
  top: number,
  differ: () => void = () => undefined,
): Cell[] {
  const ranked = dimensions.flatMap(({ natural }, at) => (natural ? [] : [at]));
  const natural = dimensions.flatMap(({ natural }, at) => (natural ? [`_d${at}`] : []));
  const all = [{ as: ROWS, merge: "sum(", spread: undefined }, ...aggregates];
  const cells = new Map<string, { cell: Cell; from: string; spreads: Map<string, Spread> }>();
  for (const row of rows) {
    const places = ranked.map((at) => Number(row[`_p${at}`]));
    const cut = places.map((place) => (place <= top ? place : 0));
    const fixed = natural.map((name) => row[name] as string | null);
    const id = [Number(row["_t"] ?? 0), Number(row["_unusable"] ?? 0), ...fixed, ...cut].join(" ");
    const from = places.join(" ");
    const before = cells.get(id);
    if (before !== undefined && before.from !== from) differ();
    const made = before ?? { cell: { ...row }, from, spreads: new Map<string, Spread>() };
    const { cell } = made;
    cells.set(id, made);
    ranked.forEach((at, index) => {
      cell[`_p${at}`] = cut[index]!;
      if (cut[index] === 0) cell[`_k${at}`] = null;
      cell[`_h${at}`] = Math.max(Number(cell[`_h${at}`]), Number(row[`_h${at}`]));
    });
    for (const { as, merge, spread } of all) {
      if (spread !== undefined) {
        const numbers = made.spreads.get(as) ?? new Map<number, number>();
        made.spreads.set(as, numbers);
        const [values, times] = [row[`${as}v`], row[`${as}n`]] as ArrayLike<number>[];
        for (let i = 0; i < values!.length; i++) {
          numbers.set(values![i]!, (numbers.get(values![i]!) ?? 0) + times![i]!);
        }
      } else if (before !== undefined) addTo(cell, as, merge, row[as]);
    }
  }
  return [...cells.values()]
    .map(({ cell, spreads }) => {
      for (const { as, spread } of aggregates) {
        if (spread) cell[as] = quantilesOf(spreads.get(as)!, spread.levels);
      }
      return cell;
    })
    .sort((a, b) => Number(a["_t"] ?? 0) - Number(b["_t"] ?? 0));
}

/** Numbers, and how often each occurs. */
type Spread = Map<number, number>;

/** Quantiles of numbers of which each occurs so often. */
function quantilesOf(counts: Spread, levels: readonly number[]): number[] {
  const values = Float64Array.from(counts.keys()).sort();
  let all = 0;
  const until = Float64Array.from(values, (value) => (all += counts.get(value)!));
  const nth = (index: number): number => {
    let [low, high] = [0, until.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (until[middle]! > index) high = middle;
      else low = middle + 1;
    }
    return values[low] ?? NaN;
  };
  // In the engine's own order of operations, so that windows give the same bits as one question.
  return levels.map((level) => {
    const place = level * (all - 1) + 1;
    const index = Math.floor(place);
    const low = nth(index - 1);
    return low + (place - index) * (nth(Math.min(index, all - 1)) - low);
  });
}
