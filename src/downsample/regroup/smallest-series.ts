import type { Result } from "../../result/result.js";
import { numericColumn } from "../numeric-column.js";
import { seriesCodes } from "../split-series.js";

/** Which series go into "other". */
export interface Merging {
  /** Keys of the series that are merged. */
  readonly merged: ReadonlySet<unknown>;
  /** What the merged series is called. */
  readonly label: string;
  /** Keys that are left, in their order, the label last. */
  readonly order: readonly (string | null)[];
}

/** All series but the `keep` largest, by their sum of `measure`; the earlier one of equal sums stays. */
export function smallestSeries(
  result: Result,
  series: string,
  measure: string,
  keep: number,
): Merging {
  const { codes, keys } = seriesCodes(result.table, series);
  const values = numericColumn(result.table, measure).values;
  const sums = new Float64Array(keys.length);
  for (let row = 0; row < codes.length; row++) {
    if (Number.isFinite(values[row]!)) sums[codes[row]!]! += values[row]!;
  }
  const dimension = result.origin.columns.dimensions.find(({ name }) => name === series);
  const label = dimension?.other ?? "other";
  // A row that held the rest before belongs to the rest now.
  const ranked = keys
    .map((_, code) => code)
    .filter((code) => keys[code] !== label)
    .sort((a, b) => sums[b]! - sums[a]! || a - b);
  const merged = new Set(ranked.slice(keep).map((code) => keys[code]));
  if (keys.includes(label)) merged.add(label);
  const order = (dimension?.order ?? (keys as (string | null)[])).filter((key) => !merged.has(key));
  return { merged, label, order: [...order, label] };
}
