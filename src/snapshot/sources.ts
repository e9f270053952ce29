import type { Database } from "../database/database.js";
import { ProbelabError } from "../base/error.js";
import { quoteIdentifier } from "../database/time-column.js";
import {
  FirstColumns,
  tableColumn,
  type MeasurementFilter,
} from "../measurements/measurement-source.js";
import { RUN_MARGIN, runsOf, splitWhere, WHOLE_RUNS } from "../measurements/run-source.js";
import type { Asked } from "../measurements/questions.js";
import { daysOnly, type Source } from "../query/source.js";
import { and, bind, raw, select, sql, type Column, type Sql } from "../query/sql.js";
import { whereSql, whereText } from "../query/where.js";
import { explainEmpty, missingFromLists } from "../query/why-empty.js";
import { HOUR } from "../time/span.js";
import type { TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { steadyOffset } from "../time/wall-clock.js";
import { columnOf, heldTable, type Held } from "./held.js";

/** A snapshot as questions on measurements and runs ask it. */
export function askedSnapshot(database: Database, name: string, held: Held): Asked {
  return {
    database,
    measurements: (filter) =>
      promised(() => {
        checkZone(name, filter.range);
        return countedSource(name, held, filter);
      }),
    runs: (filter) => promised(() => heldRunSource(name, held, filter)),
  };
}

/** Hourly counts. */
function countedSource(
  name: string,
  held: Held,
  { range, where, dedupe }: MeasurementFilter,
): Source {
  checkAsked(name, held, range, dedupe);
  const table = heldTable(name, held, "hour");
  const find = (column: string) => tableColumn(table, column);
  const conditions = whereSql(where, find);
  const about = { table, range, where, find };
  const tells = { ...table, name: held.table, timeName: held.time.name };
  return {
    many: "measurements",
    column: find,
    instant: "hour",
    weight: raw("measurements"),
    span: { first: "earliest", last: "latest" },
    ...(dayTimes(held) && daysOnly({ ...tells, time: { ...table.time, resolution: "day" } })),
    hoursOnly: `the snapshot ${name} holds hours`,
    from: (range) => sql`${raw(table.from)}\nWHERE ${and([...hours(range), ...conditions])}`,
    notes: notesOf(name, held),
    whyEmpty: (database, signal) => explainEmpty(database, about, signal),
    missingValues: (database, signal) => missingFromLists(database, about, signal),
  };
}

/** Runs: those that are held whole as they are, the others made of their pieces. */
function heldRunSource(
  name: string,
  held: Held,
  { range, where, dedupe }: MeasurementFilter,
): Source {
  const { ofRuns, ofParts } = splitWhere(where);
  const counted = countedSource(name, held, { range, where: ofParts, dedupe });
  const table = heldTable(name, held, "first");
  const conditions = whereSql(ofParts, (column) => tableColumn(table, column));
  const none: Column[] = held.noReport ? [["_no_report", raw("0")]] : [];
  type Span = Pick<TimeRange, "start" | "end">;
  const whole = (range: Span, first: FirstColumns["names"]): Sql =>
    select({
      columns: [
        ["_first", raw("first")],
        ["_last", raw("last")],
        ["_n", raw("measurements")],
        ...none,
        ...first.map(([column, as]): Column => [as, raw(columnOf(column))]),
      ],
      from: raw(table.from),
      where: [raw("whole"), ...hours(range), ...conditions],
    });
  const around = ({ start, end }: Span) => ({
    start: new Date(+start - RUN_MARGIN),
    end: new Date(+end + RUN_MARGIN),
  });
  const inPieces = raw("NOT whole");
  return runsOf({
    table: {
      ...table,
      name: held.table,
      timeName: held.time.name,
      time: { ...table.time, sql: quoteIdentifier(held.time.name) },
    },
    first: new FirstColumns(table),
    columns: [
      ["_first", raw("min(first)")],
      ["_last", raw("max(last)")],
      ["_n", raw("sum(measurements)")],
    ],
    noReport: held.noReport ? raw("max(no_report)") : undefined,
    from: (range) =>
      sql`${raw(table.from)}\nWHERE ${and([inPieces, ...hours(around(range)), ...conditions])}`,
    groupBy: [raw("run")],
    inRange: (range) => and(hours(range, "min(hour)")),
    where: ofRuns,
    lost: select({
      columns: [["n", raw("sum(measurements)")]],
      from: raw(table.from),
      where: [inPieces, raw("no_report"), ...hours(range), ...conditions],
    }),
    whole,
    more: {
      notes: [WHOLE_RUNS, ...notesOf(name, held)],
      whyEmpty: (database, signal) => counted.whyEmpty(database, signal),
      missingValues: (database, signal) => counted.missingValues(database, signal),
    },
  });
}

/** Hours of a range: of whole hours, what begins in them is within them. */
function hours({ start, end }: Pick<TimeRange, "start" | "end">, hour = "hour"): Sql[] {
  const type = "DateTime('UTC')";
  return [
    sql`${raw(hour)} >= ${bind("start", type, +start / 1000)}`,
    sql`${raw(hour)} < ${bind("end", type, +end / 1000)}`,
  ];
}

function dayTimes({ time }: Held): boolean {
  return /^(Nullable\()?Date(32)?\)?$/.test(time.type);
}

/** @throws ProbelabError for a range that the snapshot can't tell of. */
function checkAsked(name: string, held: Held, range: TimeRange, dedupe: boolean | undefined): void {
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
  for (let at = +start; at < +end;) {
    const { offset, until } = steadyOffset(at, timeZone);
    if (offset % HOUR !== 0) {
      throw refusal(
        `by the clocks of ${timeZone}`,
        `the snapshot ${name} holds hours of UTC, and there they begin at other minutes`,
      );
    }
    at = until;
  }
}

function refusal(what: string, why: string, remedy = "Leave it out"): ProbelabError {
  return new ProbelabError(`Can't ask ${what}: ${why}. ${remedy}, or ask the table itself.`);
}

/** What the reader must know: up to when the snapshot is known to be whole, and the table's own notes. */
export function notesOf(name: string, held: Held): string[] {
  const at = (instant: Date) => formatInstant(instant, "UTC").slice(0, 16);
  const filter = whereText(held.where);
  const only = filter === "" ? "" : ` with ${filter}`;
  return [
    `Snapshot ${name} of ${held.table}${only}, taken ${at(held.takenAt)} UTC, ${ageOf(held.takenAt)}: whole as of then.`,
    ...held.notes,
  ];
}

/** "3 hours old". */
function ageOf(taken: Date): string {
  const minutes = Math.max(0, Math.floor((Date.now() - +taken) / 60_000));
  const [n, unit] =
    minutes < 120
      ? [minutes, "minute"]
      : minutes < 48 * 60
        ? [Math.floor(minutes / 60), "hour"]
        : [Math.floor(minutes / 1440), "day"];
  return `${n} ${unit}${n === 1 ? "" : "s"} old`;
}

async function promised<T>(make: () => T): Promise<T> {
  await Promise.resolve();
  return make();
}
