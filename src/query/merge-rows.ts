import { MOST_ROWS } from "../base/limits.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type Aggregate, type AnswerRow } from "./plan.js";

/** A row of an answer that is being put together. */
type Cell = Record<string, AnswerRow[string]>;

type Merge = (a: AnswerRow[string], b: AnswerRow[string]) => AnswerRow[string];

/** One number of two cells, by the function that merges them. */
const MERGES: Readonly<Record<string, Merge>> = {
  sum: (a, b) => Number(a) + Number(b),
  min: (a, b) => (Number(b) < Number(a) ? b : a),
  max: (a, b) => (Number(b) > Number(a) ? b : a),
};

/** True where two cells' values make the value of both: not of quantiles and counts of different values. */
export function isMerged({ merge }: Pick<Aggregate, "merge">): boolean {
  return Object.hasOwn(MERGES, merge);
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
  const natural = dimensions.reduce((all, { natural }) => all * (natural || 1), 1);
  const most = Math.max(Math.floor(MOST_ROWS / buckets), (top + 1) * natural);
  const ranked = dimensions.filter((dimension) => !dimension.natural).length;
  if (ranked < 2 || !Number.isFinite(top)) return { top, most: Infinity };
  const groups = new Map(
    rows.map((row) => {
      const values = dimensions.map(({ natural }, at) =>
        natural > 0 ? String(row[`_d${at}`] as string) : Number(row[`_p${at}`]),
      );
      return [values.join(" "), values];
    }),
  );
  const cut = (value: string | number, kept: number) =>
    typeof value === "number" && value > kept ? 0 : value;
  const fits = (kept: number): boolean => {
    const left = new Set<string>();
    for (const values of groups.values()) {
      left.add(values.map((value) => cut(value, kept)).join(" "));
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

/** Rows of windows with the places of their values over all: the largest is 1, ties by their text, rows without one last. */
export function placed(
  rows: readonly AnswerRow[],
  dimensions: readonly AskedDimension[],
): AnswerRow[] {
  const made = rows.map((row): Cell => ({ ...row }));
  dimensions.forEach(({ natural }, at) => {
    if (natural) return;
    const valueOf = (row: AnswerRow) => (row[`_k${at}`] as string | null | undefined) ?? null;
    const sizes = new Map<string | null, number>();
    for (const row of rows) {
      const size = Number(row["_unusable"] ?? 0) === 0 ? Number(row[ROWS]) : 0;
      sizes.set(valueOf(row), (sizes.get(valueOf(row)) ?? 0) + size);
    }
    const byText = (a: string | null, b: string | null): number =>
      a === null || b === null
        ? Number(a === null) - Number(b === null)
        : Buffer.compare(Buffer.from(a), Buffer.from(b));
    const order = [...sizes].sort(([a, x], [b, y]) => y - x || byText(a, b));
    const places = new Map(order.map(([value], index) => [value, index + 1]));
    for (const row of made) row[`_p${at}`] = row[`_h${at}`] = places.get(valueOf(row))!;
  });
  return made;
}

/**
 * Rows of which only the first values of each dimension keep their name: what has the same bucket and
 * names is one row.
 */
export function mergeRows(
  rows: readonly AnswerRow[],
  dimensions: readonly Pick<AskedDimension, "natural">[],
  aggregates: readonly Pick<Aggregate, "as" | "merge" | "spread">[],
  top: number,
): AnswerRow[] {
  const ranked = dimensions.flatMap(({ natural }, at) => (natural ? [] : [at]));
  const natural = dimensions.flatMap(({ natural }, at) => (natural ? [`_d${at}`] : []));
  const cells = new Map<string, { cell: Cell; spreads: Map<string, Spread> }>();
  for (const row of rows) {
    const cut = ranked.map((at) => (Number(row[`_p${at}`]) <= top ? Number(row[`_p${at}`]) : 0));
    const fixed = ["_t", "_unusable", ...natural].map((name) => row[name] ?? null);
    const id = JSON.stringify([fixed, cut]);
    const before = cells.get(id);
    const { cell, spreads } = before ?? { cell: { ...row }, spreads: new Map<string, Spread>() };
    cells.set(id, { cell, spreads });
    ranked.forEach((at, index) => {
      cell[`_p${at}`] = cut[index]!;
      if (cut[index] === 0) cell[`_k${at}`] = null;
      cell[`_h${at}`] = Math.max(Number(cell[`_h${at}`]), Number(row[`_h${at}`]));
    });
    for (const { as, merge, spread } of aggregates) {
      if (spread !== undefined) {
        const numbers = spreads.get(as) ?? new Map<number, number>();
        spreads.set(as, numbers);
        const [values, times] = [row[`${as}v`], row[`${as}n`]] as ArrayLike<number>[];
        for (let i = 0; i < values!.length; i++) {
          numbers.set(values![i]!, (numbers.get(values![i]!) ?? 0) + times![i]!);
        }
      } else if (before !== undefined) {
        cell[as] =
          cell[as] == null || row[as] == null
            ? (cell[as] ?? row[as])
            : MERGES[merge]!(cell[as], row[as]);
      }
    }
  }
  const merged = [...cells.values()].map(({ cell, spreads }) => {
    for (const { as, spread } of aggregates) {
      if (spread) cell[as] = quantilesOf(spreads.get(as)!, spread.levels);
    }
    return cell;
  });
  return merged.sort((a, b) => Number(a["_t"] ?? 0) - Number(b["_t"] ?? 0));
}

/** Numbers, and how often each occurs. */
type Spread = Map<number, number>;

/** R-7 quantiles from a map of value to count. */
function quantilesOf(counts: Spread, levels: readonly number[]): number[] {
  const values = Float64Array.from(counts.keys()).sort();
  let all = 0;
  const until = Float64Array.from(values, (value) => (all += counts.get(value)!));
  const nth = (index: number): number => values[until.findIndex((end) => end > index)] ?? NaN;
  // In the engine's own order of operations, so that windows give the same bits as one question.
  return levels.map((level) => {
    const place = level * (all - 1) + 1;
    const index = Math.floor(place);
    const low = nth(index - 1);
    return low + (place - index) * (nth(Math.min(index, all - 1)) - low);
  });
}
