import { ProbelabError } from "../../base/error.js";
import { MOST_ROWS } from "../../base/limits.js";
import { counted } from "../../base/text.js";
import { zoneOf, type MeasureColumn, type TimeColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { buckets, nextBucket } from "../../time/bucket.js";
import type { ExploreChartOptions } from "../options.js";
import type { Theme, VegaLiteSpec } from "../../render/theme.js";
import { list } from "../roles.js";
import { chartSeries, seriesDimension, themeOf, type Series } from "../series.js";

const MOST_PANELS = 4;

/** What the figure is drawn of. */
export interface Cube {
  readonly result: Result;
  readonly time: TimeColumn;
  readonly measure: MeasureColumn;
  /** The columns that are added up: one, or the part and the whole. */
  readonly sums: readonly string[];
  readonly names: readonly string[];
  readonly values: readonly (readonly Series[])[];
  /** Starts of all buckets, and the end of the last. */
  readonly edges: readonly number[];
  readonly theme: Theme;
  readonly zone: string;
}

/** @throws ProbelabError for a measure that can't be computed under every choice. */
export function cubeOf(result: Result, { y, theme }: ExploreChartOptions): Cube {
  const { time, dimensions, measures } = result.origin.columns;
  const columns = result.columnNames();
  const refusal = (why: string): ProbelabError =>
    new ProbelabError(
      `Can't explore a Result ${why}: pass what lab.measurements.explore({ range, by: ["software_version", "probe_cc"] }) answers.`,
    );
  const names = dimensions.map(({ name }) => name);
  if (time === undefined) throw refusal(`of the columns ${list(columns)}, without time`);
  if (names.length === 0 || names.length > MOST_PANELS) {
    throw refusal(`by ${counted(names.length, "dimension")}, where one to ${MOST_PANELS} fit`);
  }
  const main = measures.find((each) => each.main) ?? measures[0];
  const measure = y === undefined ? main : measures.find(({ name }) => name === y);
  if (measure === undefined) {
    const known = list(measures.map(({ name }) => name));
    throw refusal(
      `${y === undefined ? "without a measure" : `by ${y}`}: its measures are ${known}`,
    );
  }
  const sums = measure.quotient ?? (measure.additive ? [measure.name] : []);
  if (sums.length === 0 || !sums.every((name) => columns.includes(name))) {
    throw refusal(`by ${measure.name}, whose values don't add up`);
  }
  const negative = sums.some((name) => result.column(name).some((value) => Number(value) < 0));
  if (negative) throw refusal(`by ${measure.name}, of which some values are below zero`);
  const edges = edgesOf(result, time);
  const filled = new Set(result.column(time.name).map(Number)).size;
  // A bucket without a row takes one.
  const rows = result.numRows() + edges.length - 1 - filled;
  if (rows > MOST_ROWS) {
    throw refusal(`of ${counted(rows, "row")}, where fewer than 5,000 are drawn`);
  }
  const values = names.map((name) => {
    const column = result.column(name);
    return chartSeries(column, seriesDimension(result.origin.columns, name, column), name);
  });
  const zone = zoneOf(result.origin);
  return { result, time, measure, sums, names, values, edges, theme: themeOf(theme), zone };
}

/** The buckets of the range, and where rows begin elsewhere those as well. */
function edgesOf(result: Result, { name, every }: TimeColumn): number[] {
  const { range } = result.origin;
  const known = result.column(name).map(Number).filter(Number.isFinite);
  const asked = range === undefined ? [] : buckets(range, every).map(({ start }) => +start);
  const starts = [...new Set([...known, ...asked])].sort((a, b) => a - b);
  const last = starts.at(-1);
  if (last === undefined) return [0, 1];
  return [...starts, +nextBucket(new Date(last), every, zoneOf(result.origin))];
}

/** A row for each cell: its bucket, the labels of its values, what is added up; for a bucket without one a row of zeros. */
export function cellRows({ result, time, names, values, sums, edges }: Cube): VegaLiteSpec[] {
  const places = new Map(edges.map((edge, index) => [edge, index]));
  const labels = values.map((all) => new Map(all.map(({ value, label }) => [value, label])));
  const empty = new Set(edges.slice(0, -1).keys());
  const rows = result.rows().flatMap((row) => {
    const i = places.get(Number(row[time.name]));
    if (i === undefined) return [];
    empty.delete(i);
    const cell: VegaLiteSpec = { i };
    names.forEach((name, at) => (cell[`d${at}`] = labels[at]!.get(row[name] ?? null) ?? ""));
    sums.forEach((name, at) => (cell[`v${at}`] = Number(row[name] ?? 0)));
    return [cell];
  });
  return [...rows, ...[...empty].map((i) => ({ i, v0: 0, ...(sums.length > 1 && { v1: 0 }) }))];
}
