import { ProbelabError } from "../../base/error.js";
import { MOST_ROWS } from "../../base/limits.js";
import { counted } from "../../base/text.js";
import { zoneOf, type MeasureColumn, type TimeColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { buckets, nextBucket } from "../../time/bucket.js";
import type { ExploreChartOptions } from "../options.js";
import type { Theme, VegaLiteSpec } from "../../render/theme.js";
import { themeOf } from "../look.js";
import { list } from "../roles.js";
import { chartSeries, seriesDimension, type Series } from "../series.js";

const MOST_PANELS = 4;
const REMEDY =
  'pass what lab.measurements.explore({ range, by: ["software_version", "probe_cc"] }) answers';

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
export function cubeOf(result: Result, options: ExploreChartOptions): Cube {
  const { time, dimensions, measures } = result.origin.columns;
  const refusal = (why: string): ProbelabError =>
    new ProbelabError(`Can't explore a Result ${why}: ${REMEDY}.`);
  const names = dimensions.map(({ name }) => name);
  if (time === undefined)
    throw refusal(`of the columns ${list(result.columnNames())}, without time`);
  if (names.length === 0 || names.length > MOST_PANELS) {
    throw refusal(`by ${counted(names.length, "dimension")}, where one to ${MOST_PANELS} fit`);
  }
  const measure =
    options.y === undefined
      ? (measures.find(({ main }) => main) ?? measures[0])
      : measures.find(({ name }) => name === options.y);
  if (measure === undefined) {
    throw refusal(
      `${options.y === undefined ? "without a measure" : `by ${String(options.y)}`}: its measures are ${list(measures.map(({ name }) => name))}`,
    );
  }
  const sums = measure.quotient ?? (measure.additive ? [measure.name] : []);
  if (sums.length === 0 || !sums.every((name) => result.columnNames().includes(name))) {
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
  return {
    result,
    time,
    measure,
    sums,
    names,
    edges,
    values: names.map((name) => {
      const column = result.column(name);
      return chartSeries(column, seriesDimension(result.origin.columns, name, column), name);
    }),
    theme: themeOf(options.theme),
    zone: zoneOf(result.origin),
  };
}

/** The buckets of the range, and where rows begin elsewhere those as well. */
function edgesOf(result: Result, { name, every }: TimeColumn): number[] {
  const { range } = result.origin;
  const zone = zoneOf(result.origin);
  const starts = new Set(
    result
      .column(name)
      .map(Number)
      .filter((start) => Number.isFinite(start)),
  );
  if (range !== undefined) for (const { start } of buckets(range, every)) starts.add(+start);
  const ordered = [...starts].sort((a, b) => a - b);
  const last = ordered.at(-1);
  return last === undefined ? [0, 1] : [...ordered, +nextBucket(new Date(last), every, zone)];
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
    return [
      {
        i,
        ...Object.fromEntries(
          names.map((name, at) => [`d${at}`, labels[at]!.get(row[name] ?? null) ?? ""]),
        ),
        ...Object.fromEntries(sums.map((name, at) => [`v${at}`, Number(row[name] ?? 0)])),
      },
    ];
  });
  return [...rows, ...[...empty].map((i) => ({ i, v0: 0, ...(sums.length > 1 && { v1: 0 }) }))];
}
