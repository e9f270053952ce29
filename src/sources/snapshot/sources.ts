import type { Database } from "../../database/database.js";
import { ProbelabError } from "../../base/error.js";
import { quoteIdentifier } from "../../database/time-column.js";
import {
  filtered,
  FirstColumns,
  tableColumn,
  type MeasurementFilter,
} from "../measurements/measurement-source.js";
import { RUN_MARGIN, runsOf, splitWhere, WHOLE_RUNS } from "../measurements/run-source.js";
import type { QuestionSource } from "../measurements/questions.js";
import { daysOnly, type Source } from "../../query/source.js";
import { and, bind, raw, select, sql, type Column, type Sql } from "../../query/sql.js";
import { whereSql, whereText } from "../../query/where.js";
import { durationText, HOUR } from "../../time/span.js";
import type { Bounds, TimeRange } from "../../time/time-range.js";
import { formatInstant, momentText } from "../../time/time-zone.js";
import { steadyOffset } from "../../time/bucket.js";
import { columnOf, heldTable, type SnapshotState } from "./held.js";

/** A snapshot as questions on measurements and runs ask it. */
export function askedSnapshot(
  database: Database,
  name: string,
  held: SnapshotState,
): QuestionSource {
  return {
    database,
    async measurements(filter) {
      checkZone(name, filter.range);
      return Promise.resolve(countedSource(name, held, filter));
    },
    runs: async (filter) => Promise.resolve(heldRunSource(name, held, filter)),
  };
}

/** Hourly counts. */
function countedSource(
  name: string,
  held: SnapshotState,
  { range, where, dedupe }: MeasurementFilter,
): Source {
  checkAsked(name, held, range, dedupe);
  const table = heldTable(name, held, "_hour");
  const { conditions, ...own } = filtered(table, range, where);
  const isDate = /^(Nullable\()?Date(32)?\)?$/.test(held.time.type);
  const time = { ...table.time, ...(isDate && { resolution: "day" as const }) };
  return {
    kind: "measurements",
    rowNoun: "measurements",
    column: own.filtered.find,
    instant: "_hour",
    weight: raw("_n"),
    span: { first: "_earliest", last: "_latest" },
    ...daysOnly({ ...table, name: held.table, timeName: held.time.name, time }),
    hoursOnly: `the snapshot ${name} holds hours`,
    from: (range) => sql`${raw(table.from)}\nWHERE ${and([...hours(range), ...conditions])}`,
    notes: notesOf(name, held),
    ...own,
  };
}

/** Runs: those of one piece as they are, the others made of their pieces. */
function heldRunSource(
  name: string,
  held: SnapshotState,
  { range, where, dedupe }: MeasurementFilter,
): Source {
  const { ofRuns, ofParts } = splitWhere(where);
  const counted = countedSource(name, held, { range, where: ofParts, dedupe });
  const table = heldTable(name, held, "_began");
  const conditions = whereSql(ofParts, (column) => tableColumn(table, column));
  const rows = (only: string, range: Bounds): Sql =>
    sql`${raw(table.from)}\nWHERE ${and([raw(only), ...hours(range), ...conditions])}`;
  return runsOf({
    table: {
      ...table,
      name: held.table,
      timeName: held.time.name,
      time: { ...table.time, sql: quoteIdentifier(held.time.name) },
    },
    first: new FirstColumns(table),
    columns: [
      ["_first", raw("min(_began)")],
      ["_last", raw("max(_ended)")],
      ["_n", raw("sum(_n)")],
    ],
    noReport: held.noReport ? raw("max(_no_report)") : undefined,
    from: ({ start, end }) => {
      const margin = { start: new Date(+start - RUN_MARGIN), end: new Date(+end + RUN_MARGIN) };
      return rows("NOT _whole", margin);
    },
    groupBy: [raw("_run")],
    inRange: (range) => and(hours(range, "min(_hour)")),
    where: ofRuns,
    lost: select({ columns: [["n", raw("sum(_n)")]], from: rows("_no_report", range) }),
    within: sql`sumIf(_n, ${and(hours(range))})`,
    range,
    whole: (range, first) => {
      const columns: Column[] = [
        ["_first", raw("_began")],
        ["_last", raw("_ended")],
        ["_n", raw("_n")],
        ["_no_run", raw("toUInt8(0)")],
        ...first.map(([column, as]): Column => [as, raw(columnOf(column))]),
      ];
      return select({ columns, from: rows("_whole", range) });
    },
    more: {
      notes: [WHOLE_RUNS, ...notesOf(name, held)],
      ...(counted.filtered && { filtered: counted.filtered }),
    },
  });
}

/** Hours of a range: of whole hours, what begins in them is within them. */
function hours({ start, end }: Bounds, hour = "_hour"): Sql[] {
  const type = "DateTime('UTC')";
  return [
    sql`${raw(hour)} >= ${bind("start", type, +start / 1000)}`,
    sql`${raw(hour)} < ${bind("end", type, +end / 1000)}`,
  ];
}

/** @throws ProbelabError for a range that the snapshot can't tell of. */
function checkAsked(
  name: string,
  held: SnapshotState,
  range: TimeRange,
  dedupe: boolean | undefined,
): void {
  const at = (instant: Date) => formatInstant(instant, "UTC");
  if (range.start < held.start || range.end > held.end) {
    throw refusal(
      `from ${at(range.start)} to ${at(range.end)} UTC`,
      `the snapshot ${name} holds ${at(held.start)} to ${at(held.end)}`,
      "Take the range again with lab.snapshot, or pass a range within it, such as range: snapshot.range",
    );
  }
  const odd = [range.start, range.end].find((edge) => +edge % HOUR !== 0);
  if (odd !== undefined) {
    throw refusal(
      `with a range that begins or ends at ${at(odd)} UTC`,
      `the snapshot ${name} holds whole hours`,
      'Pass such a range, as snapshot.range and last("1 week", { now: snapshot.now }) are',
    );
  }
  if (dedupe !== undefined && dedupe !== held.merges) {
    throw refusal(
      `with dedupe: ${String(dedupe)}`,
      `the snapshot ${name} counts ${held.merges ? "rows as the table merges them" : "each row"}`,
    );
  }
}

/** @throws ProbelabError for a zone whose hours are not those of UTC. */
function checkZone(name: string, { start, end, timeZone }: TimeRange): void {
  for (let at = +start; at < +end; at = steadyOffset(at, timeZone).until) {
    if (steadyOffset(at, timeZone).offset % HOUR === 0) continue;
    throw refusal(
      `by the clocks of ${timeZone}`,
      `the snapshot ${name} holds hours of UTC, and there they begin at other minutes`,
    );
  }
}

function refusal(what: string, why: string, remedy = "Leave it out"): ProbelabError {
  return new ProbelabError(`Can't ask ${what}: ${why}. ${remedy}, or ask the table itself.`);
}

/** What the reader must know: up to when the snapshot is known to be whole, and the table's own notes. */
export function notesOf(name: string, held: SnapshotState): string[] {
  const at = (instant: Date) => momentText(instant, "UTC");
  const filter = whereText(held.where);
  const only = filter === "" ? "" : ` with ${filter}`;
  return [
    `Snapshot ${name} of ${held.table}${only}, taken ${at(held.takenAt)}, ${durationText(Math.max(0, Date.now() - +held.takenAt))} old: whole as of then.`,
    ...held.notes,
  ];
}
