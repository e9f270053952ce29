import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import type { DimensionColumn, TimeColumn } from "../result/origin.js";
import type { Value } from "../result/result.js";
import { buckets, nextBucket, type Bucket } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type AnswerRow, type PlannedMeasure } from "./plan.js";
import { bucketKey, rowsByBucket } from "./rows-by-bucket.js";

/** A grouped question, checked. */
export interface AskedGroups {
  readonly action: string;
  readonly range: TimeRange;
  /** Null where the range is one bucket. */
  readonly every: Bucket | null;
  readonly dimensions: readonly AskedDimension[];
  /** Whether what is beyond the top has a row of its own. */
  readonly other: boolean;
  readonly measures: readonly PlannedMeasure[];
  /** What a row of the source is, many: "measurements". */
  readonly many: string;
}

/** The rows of an answer, and what they mean. */
export interface GroupedRows {
  readonly table: ColumnTable;
  readonly time: TimeColumn | undefined;
  readonly dimensions: readonly DimensionColumn[];
  /** What was merged or left out. */
  readonly reductions: readonly string[];
  /** Rows that began where no bucket begins. */
  readonly moved: readonly string[];
}

/** More rows than this help nobody and would only fill the notebook's memory. */
const MOST_ROWS = 2_000_000;

/**
 * The rows of a grouped answer (SQL of `topGroupsSql`): columns `t`, the dimensions under their own
 * names, the measures; a row for every bucket and group, with zero where nothing happened and null
 * where nothing is known.
 */
export async function groupedRows(answer: ColumnTable, asked: AskedGroups): Promise<GroupedRows> {
  const groups = readGroups(answer, asked);
  const { table, moved } = await buildTable(answer, asked, groups);
  return {
    table,
    time: timeColumn(asked),
    dimensions: dimensionColumns(asked, groups),
    reductions: restSentence(asked, groups),
    moved,
  };
}

/** One group of a question: a value per dimension. */
interface Group {
  /** As the answer has them, for their order. */
  readonly raw: readonly (string | null)[];
  readonly values: readonly (string | null)[];
  /** True for those that hold the rest. */
  readonly rest: boolean;
  readonly place: number;
}

interface Groups {
  /** In the order of a legend. */
  readonly ordered: readonly Group[];
  readonly otherLabel: string;
  /** How many ranked groups there were before the rest was merged. */
  readonly total: number;
  /** How many of them keep their name. */
  readonly kept: number;
  readonly hasRest: boolean;
  /** Rows of the source in the rest. */
  readonly restRows: number;
}

/** What tells an answer's groups apart: the place, and the values that are always kept. */
function groupKey(row: AnswerRow, { dimensions }: AskedGroups): string {
  const natural = dimensions.flatMap((dimension, index) =>
    dimension.natural ? [(row[`_d${index}`] as string | null) ?? null] : [],
  );
  return `${Number(row["_place"])} ${JSON.stringify(natural)}`;
}

function readGroups(answer: ColumnTable, asked: AskedGroups): Groups {
  const { dimensions } = asked;
  const found = new Map<string, { place: number; raw: (string | null)[] }>();
  let total = 0;
  let restRows = 0;
  for (const row of answer.objects() as AnswerRow[]) {
    const place = Number(row["_place"]);
    total = Math.max(total, Number(row["_highest"]));
    if (place === 0) restRows += Number(row[ROWS]);
    const key = groupKey(row, asked);
    if (found.has(key)) continue;
    const raw = dimensions.map(
      ({ natural }, index) => (row[`${natural ? "_d" : "_k"}${index}`] as string | null) ?? null,
    );
    found.set(key, { place, raw });
  }
  const label = (raw: string | null, index: number) =>
    raw === null ? null : (dimensions[index]?.label(raw) ?? raw);
  const taken = new Set(
    [...found.values()].filter(({ place }) => place > 0).flatMap(({ raw }) => raw.map(label)),
  );
  const otherLabel =
    ["other", "other (rest)"].find((name) => !taken.has(name)) ?? "other (all the rest)";
  const all = [...found.values()].map(({ place, raw }): Group => {
    const rest = place === 0 && dimensions.some(({ natural }) => !natural);
    const values = raw.map((value, index) =>
      rest && dimensions[index]?.natural !== true ? otherLabel : label(value, index),
    );
    return { place, raw, rest, values };
  });
  const hasRest = all.some(({ rest }) => rest);
  const ordered = all
    .filter(({ rest }) => asked.other || !rest)
    .sort((a, b) => compareGroups(a, b, dimensions));
  const kept = new Set(all.filter(({ rest }) => !rest).map(({ place }) => place)).size;
  return { ordered, otherLabel, total, kept, hasRest, restRows };
}

/** Versions by component, hours and bins by number, a single other dimension by size, several by their text; the rest last. */
function compareGroups(a: Group, b: Group, dimensions: readonly AskedDimension[]): number {
  if (a.rest !== b.rest) return Number(a.rest) - Number(b.rest);
  for (const [index, { compare }] of dimensions.entries()) {
    if (dimensions.length === 1 && compare === undefined) continue;
    const order = compareRaw(a.raw[index] ?? null, b.raw[index] ?? null, compare);
    if (order !== 0) return order;
  }
  return a.place - b.place;
}

function compareRaw(
  a: string | null,
  b: string | null,
  compare: AskedDimension["compare"] = (x, y) => (x < y ? -1 : x > y ? 1 : 0),
): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}

function dimensionColumns(asked: AskedGroups, groups: Groups): DimensionColumn[] {
  return asked.dimensions.map(({ name, natural, compare }, index) => {
    const raw = new Map(
      groups.ordered
        .filter(({ rest }) => !rest || natural)
        .map(({ values, raw }) => [values[index] ?? null, raw[index] ?? null]),
    );
    const order = [...raw.keys()];
    if (compare !== undefined) {
      order.sort((a, b) => compareRaw(raw.get(a) ?? null, raw.get(b) ?? null, compare));
    }
    const rest = groups.hasRest && asked.other && !natural;
    return {
      name,
      order: rest ? [...order, groups.otherLabel] : order,
      ...(rest && { other: groups.otherLabel }),
    };
  });
}

function restSentence(asked: AskedGroups, groups: Groups): string[] {
  if (!groups.hasRest) return [];
  const { total, kept, otherLabel } = groups;
  const number = (value: number) => value.toLocaleString("en-US");
  const ranked = asked.dimensions.filter(({ natural }) => !natural).map(({ name }) => name);
  const largest = `The ${kept} largest of ${number(total)} groups by ${ranked.join(" and ")} (by ${asked.many} in the range)`;
  return [
    asked.other
      ? `${largest}; "${otherLabel}" holds the other ${number(total - kept)}.`
      : `${largest}; the other ${number(total - kept)}, with ${number(groups.restRows)} ${asked.many}, are left out.`,
  ];
}

function timeColumn({ range, every }: AskedGroups): TimeColumn | undefined {
  if (every === null) return undefined;
  const incomplete = buckets(range, every).filter((bucket) => !bucket.complete);
  return { name: "t", every, incomplete: incomplete.map((bucket) => bucket.start) };
}

/** Names the buckets that the range covers only in part. */
export function incompleteNotes(time: TimeColumn | undefined, { timeZone }: TimeRange): string[] {
  if (time === undefined || time.incomplete.length === 0) return [];
  const starts = time.incomplete.map((start) => formatInstant(start, timeZone)).join(" and ");
  const one = time.incomplete.length === 1;
  return [
    `The ${bucketNoun(time.every, !one)} of ${starts} ${one ? "is" : "are"} covered only in part by the range.`,
  ];
}

async function buildTable(answer: ColumnTable, asked: AskedGroups, groups: Groups) {
  const aq = await import("arquero");
  const { range, every, dimensions, measures } = asked;
  const times = every === null ? [null] : buckets(range, every).map((bucket) => bucket.start);
  const { found, moved } = rowsByBucket(
    answer,
    asked,
    times,
    measures,
    (row) => groupKey(row, asked),
    (start) => coveredMinutes(start, every, range),
  );
  if (found.size > 0 && times.length * groups.ordered.length > MOST_ROWS) {
    throw new ProbelabError(
      `Can't ${asked.action} in ${times.length} buckets for ${groups.ordered.length} groups: take a coarser every, a shorter range or a smaller top.`,
    );
  }
  const columns: Record<string, Value[]> = {};
  if (every !== null) columns["t"] = [];
  for (const { name } of [...dimensions, ...measures]) columns[name] = [];
  const keyed = groups.ordered.map((group) => ({ ...group, key: keyOf(group, dimensions) }));
  for (const time of found.size === 0 ? [] : times) {
    for (const group of keyed) {
      const values = found.get(bucketKey(time, group.key));
      columns["t"]?.push(time);
      dimensions.forEach(({ name }, index) => columns[name]?.push(group.values[index] ?? null));
      measures.forEach(({ name, missing }, index) => {
        columns[name]?.push(values ? (values[index] ?? null) : missing === "zero" ? 0 : null);
      });
    }
  }
  return { table: aq.table(columns), moved };
}

function keyOf({ place, raw }: Group, dimensions: readonly AskedDimension[]): string {
  return `${place} ${JSON.stringify(raw.filter((_, index) => dimensions[index]?.natural))}`;
}

/** Minutes of a bucket, or of all, that the range covers. */
function coveredMinutes(start: Date | null, every: Bucket | null, range: TimeRange): number {
  if (every === null || start === null) {
    return (range.end.getTime() - range.start.getTime()) / 60_000;
  }
  const from = Math.max(start.getTime(), range.start.getTime());
  const to = Math.min(nextBucket(start, every, range.timeZone).getTime(), range.end.getTime());
  return (to - from) / 60_000;
}
