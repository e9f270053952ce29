import type { ColumnTable } from "arquero";
import { answerOrigin } from "../database/answer-origin.js";
import type { Database } from "../database/database.js";
import { ProbelabError } from "../error.js";
import type { DimensionColumn, MeasureColumn, TimeColumn } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { buckets } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import { formatInstant } from "../time/time-zone.js";
import { bucketKey, rowsByBucket } from "./rows-by-bucket.js";
import { explainEmpty, missingFromLists } from "./explain-empty.js";
import type { Sql } from "./filter.js";
import type { Asked } from "./question.js";
import { compareVersions } from "./version-order.js";

/** A measure of a grouped result: where it comes from and what it means. */
export interface Measure extends MeasureColumn {
  /** The value of a row of the answer; null where nothing is known. */
  readonly value: (row: Readonly<Record<string, Value>>) => number | null;
}

/** More rows than this help nobody and would only fill the notebook's memory. */
const MOST_ROWS = 2_000_000;

/**
 * Asks a grouped question (SQL of `topGroupsSql`) and gives its Result: columns `t`, the dimensions
 * under their own names, the measures; a row for every bucket and group, with zero where nothing
 * happened and null where nothing is known.
 */
export async function groupedResult(
  database: Database,
  asked: Asked,
  question: Sql,
  measures: readonly Measure[],
  groupedThing: string,
  notes: readonly string[] = [],
): Promise<Result> {
  const parameters: Record<string, unknown> = { ...question.parameters };
  if (asked.by.length > 0 && Number.isFinite(asked.top)) parameters["top"] = asked.top;
  const { sql } = question;
  const { action, signal } = asked;
  const [answer, missing] = await Promise.all([
    database.ask({ sql, parameters, action, signal }),
    missingFromLists(database, asked),
  ]);
  const groups = readGroups(answer.table, asked);
  const time = timeColumn(asked);
  const { table, moved } = await buildTable(answer.table, asked, groups, measures);
  const said: string[] = [...asked.notes, ...notes, ...moved];
  if (asked.distinct) said.push("Measurements that the table holds twice are counted once.");
  const whyEmpty = asked.whyEmpty ?? (() => explainEmpty(database, asked));
  if (table.numRows() === 0) said.push(await whyEmpty());
  else said.push(...missing, ...incompleteNotes(asked, time));
  return new Result(table, {
    ...answerOrigin(database, { sql, parameters }, asked.range, answer),
    ...(asked.filterText !== "" && { filter: asked.filterText }),
    columns: {
      ...(time && { time }),
      dimensions: dimensionColumns(asked, groups),
      measures: measures.map(meaningOf),
    },
    reductions: restSentence(asked, groups, groupedThing),
    notes: said,
  });
}

function meaningOf({ name, label, unit, additive, missing, main }: Measure): MeasureColumn {
  return { name, label, unit, additive, missing, ...(main && { main }) };
}

/** One group of a question: a value per dimension. */
interface Group {
  readonly values: readonly (string | null)[];
  /** True for the one that holds the rest. */
  readonly rest: boolean;
  readonly place: number;
}

interface Groups {
  /** In the order of a legend. */
  readonly ordered: readonly Group[];
  /** Group by its place in the answer; the rest has place 0. */
  readonly byPlace: ReadonlyMap<number, Group>;
  readonly otherLabel: string;
  /** How many groups there were before the rest was merged. */
  readonly total: number;
}

function readGroups(table: ColumnTable, asked: Asked): Groups {
  const place = table.getter("_place");
  const highest = table.getter("_highest");
  const getters = asked.by.map((_, index) => table.getter(`_k${index}`));
  const found = new Map<number, (string | null)[]>();
  let total = 0;
  for (let row = 0; row < table.numRows(); row++) {
    total = Math.max(total, Number(highest(row)));
    const at = Number(place(row));
    if (!found.has(at))
      found.set(
        at,
        getters.map((get) => (get(row) as string | null) ?? null),
      );
  }
  const taken = new Set([...found].filter(([at]) => at > 0).flatMap(([, values]) => values));
  const otherLabel =
    ["other", "other (rest)"].find((label) => !taken.has(label)) ?? "other (all the rest)";
  const byPlace = new Map<number, Group>();
  for (const [at, values] of found) {
    const rest = at === 0;
    byPlace.set(at, { place: at, rest, values: rest ? asked.by.map(() => otherLabel) : values });
  }
  const ordered = [...byPlace.values()].sort((a, b) => compareGroups(a, b, asked.by));
  return { ordered, byPlace, otherLabel, total };
}

/** Versions by component, a single other dimension by size, several by their text; the rest last. */
function compareGroups(a: Group, b: Group, by: readonly string[]): number {
  if (a.rest !== b.rest) return Number(a.rest) - Number(b.rest);
  for (const [index, column] of by.entries()) {
    if (by.length === 1 && !isVersion(column)) continue;
    const compare = isVersion(column) ? compareVersions : compareText;
    const order = compare(a.values[index] ?? null, b.values[index] ?? null);
    if (order !== 0) return order;
  }
  return a.place - b.place;
}

function compareText(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : a > b ? 1 : 0;
}

function isVersion(column: string): boolean {
  return /(^|_)version$/.test(column);
}

function dimensionColumns(asked: Asked, groups: Groups): DimensionColumn[] {
  return asked.by.map((name, index) => {
    const order = [...new Set(groups.ordered.map((group) => group.values[index] ?? null))];
    if (isVersion(name)) order.sort((a, b) => compareVersions(a, b));
    const rest = groups.byPlace.has(0);
    const sorted = rest
      ? [...order.filter((value) => value !== groups.otherLabel), groups.otherLabel]
      : order;
    return { name, order: sorted, ...(rest && { other: groups.otherLabel }) };
  });
}

function restSentence(asked: Asked, groups: Groups, thing: string): string[] {
  if (!groups.byPlace.has(0)) return [];
  const kept = groups.byPlace.size - 1;
  const merged = (groups.total - kept).toLocaleString("en-US");
  return [
    `The ${kept} largest of ${groups.total.toLocaleString("en-US")} groups by ${asked.by.join(" and ")} (${thing}); "${groups.otherLabel}" holds the other ${merged}.`,
  ];
}

function timeColumn(asked: Asked): TimeColumn | null {
  if (asked.every === null) return null;
  const incomplete = buckets(asked.range, asked.every).filter((bucket) => !bucket.complete);
  return { name: "t", every: asked.every, incomplete: incomplete.map((bucket) => bucket.start) };
}

function incompleteNotes(asked: Asked, time: TimeColumn | null): string[] {
  if (time === null || time.incomplete.length === 0) return [];
  const zone = asked.range.timeZone;
  const starts = time.incomplete.map((start) => formatInstant(start, zone)).join(" and ");
  const one = time.incomplete.length === 1;
  return [
    `The ${bucketNoun(time.every, !one)} of ${starts} ${one ? "is" : "are"} covered only in part by the range.`,
  ];
}

async function buildTable(
  answer: ColumnTable,
  asked: Asked,
  groups: Groups,
  measures: readonly Measure[],
): Promise<{ table: ColumnTable; moved: readonly string[] }> {
  const aq = await import("arquero");
  const times =
    asked.every === null ? [null] : buckets(asked.range, asked.every).map((bucket) => bucket.start);
  const { found, moved } = rowsByBucket(answer, asked, times, measures);
  if (found.size > 0 && times.length * groups.ordered.length > MOST_ROWS) {
    throw new ProbelabError(
      `Can't ${asked.action} in ${times.length} buckets for ${groups.ordered.length} groups: take a coarser every, a shorter range or a smaller top.`,
    );
  }
  const columns: Record<string, Value[]> = {};
  if (asked.every !== null) columns["t"] = [];
  for (const name of [...asked.by, ...measures.map((measure) => measure.name)]) columns[name] = [];
  for (const time of found.size === 0 ? [] : times) {
    for (const group of groups.ordered) {
      const values = found.get(bucketKey(time, group.place));
      columns["t"]?.push(time);
      asked.by.forEach((name, index) => columns[name]?.push(group.values[index] ?? null));
      measures.forEach(({ name, missing }, index) => {
        columns[name]?.push(values ? (values[index] ?? null) : missing === "zero" ? 0 : null);
      });
    }
  }
  return { table: aq.table(columns), moved };
}
