import type { ColumnTable } from "arquero";
import { newTable } from "../../result/arquero-table.js";
import { zoneOf } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { bucketStart, type Bucket } from "../../time/bucket.js";
import type { ChartPlan } from "../chart-plan.js";
import { numericColumn } from "../numeric-column.js";
import { seriesCodes } from "../split-series.js";
import type { Merging } from "./smallest-series.js";

/**
 * The additive measures of a Result added up by coarser bucket and series, in order of time, then of
 * the series' first rows. Null where all values are missing.
 */
export function regroup(
  result: Result,
  plan: Pick<ChartPlan, "x" | "series">,
  every: Bucket,
  merging?: Merging,
): ColumnTable {
  const { table, origin } = result;
  const starts = numericColumn(table, plan.x).values;
  const { codes, keys } =
    plan.series === undefined
      ? { codes: new Int32Array(table.numRows()), keys: [undefined] }
      : seriesCodes(table, plan.series);
  const other = keys.length;
  const groupOf = keys.map((key, code) => (merging?.merged.has(key) ? other : code));
  const labels = [...keys, merging?.label];
  const coarse = new Map<number, number>();
  const groups = new Map<string, { start: number; series: number }>();
  const groupKeys: string[] = [];
  for (let row = 0; row < starts.length; row++) {
    const at = starts[row]!;
    let start = coarse.get(at);
    if (start === undefined && Number.isFinite(at)) {
      start = bucketStart(new Date(at), every, zoneOf(origin)).getTime();
      coarse.set(at, start);
    }
    const series = groupOf[codes[row]!]!;
    const key = start === undefined ? "" : `${start} ${series}`;
    groupKeys.push(key);
    if (start !== undefined && !groups.has(key)) groups.set(key, { start, series });
  }
  const sorted = [...groups].sort(([, a], [, b]) => a.start - b.start || a.series - b.series);
  const place = new Map(sorted.map(([key], i) => [key, i]));
  const columns: [string, unknown[]][] = [[plan.x, sorted.map(([, { start }]) => new Date(start))]];
  if (plan.series !== undefined) {
    columns.push([plan.series, sorted.map(([, { series }]) => labels[series])]);
  }
  for (const { name } of origin.columns.measures.filter(({ additive }) => additive)) {
    const sums = new Array<number | null>(sorted.length).fill(null);
    const { values } = numericColumn(table, name);
    groupKeys.forEach((key, row) => {
      const group = place.get(key);
      if (group === undefined || Number.isNaN(values[row]!)) return;
      sums[group] = (sums[group] ?? 0) + values[row]!;
    });
    columns.push([name, sums]);
  }
  return newTable(table, columns);
}
