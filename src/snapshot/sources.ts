import type { Database } from "../database/database.js";
import { ProbelabError } from "../base/error.js";
import { quoteIdentifier } from "../database/time-column.js";
import { FirstColumns, type MeasurementFilter } from "../measurements/measurement-source.js";
import { isOwn, noReportNote, runColumn, WHOLE_RUNS } from "../measurements/run-source.js";
import type { Asked } from "../measurements/questions.js";
import { daysOnly, NOT_HELD, type Extra, type Source } from "../query/source.js";
import { and, bind, join, nested, raw, select, sql, type Column, type Sql } from "../query/sql.js";
import { whereSql, whereText, type Where } from "../query/where.js";
import { explainEmpty, missingFromLists } from "../query/why-empty.js";
import type { TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { steadyOffset } from "../time/wall-clock.js";
import { columnOf, heldTable, MARGIN, tablesOf, type Held } from "./held.js";
import { HOUR } from "../time/span.js";

/** A snapshot as questions on measurements and runs ask it. */
export function askedSnapshot(database: Database, name: string, held: Held): Asked {
  return {
    database,
    measurements: (filter) =>
      promised(() => {
        checkZone(name, filter.range);
        return countedSource(name, held, filter);
      }),
    runs: (filter) => promised(() => heldRunSource(database, name, held, filter)),
  };
}

/** Hourly counts: of all that hold the columns of the question, the fewest. */
function countedSource(
  name: string,
  held: Held,
  { range, where, dedupe }: MeasurementFilter,
): Source {
  checkAsked(name, held, range, dedupe);
  const all = held.dimensions.map(([dimension]) => dimension);
  const whole = heldTable(name, held, tablesOf(name).counts(held.edition, 0), all, "hour");
  const used = new Set<string>();
  const find = (column: string) => {
    const found = { sql: raw(whole.column(column)), type: whole.columns.get(column) ?? "" };
    used.add(column);
    return found;
  };
  const conditions = whereSql(where, find);
  /** The narrowest counts that have the dimensions. */
  const narrowest = (needed: Iterable<string>) => {
    const wanted = [...needed];
    const { at, dimensions } = held.counts.find((counts) =>
      wanted.every((dimension) => counts.dimensions.includes(dimension)),
    )!;
    return heldTable(name, held, tablesOf(name).counts(held.edition, at), dimensions, "hour");
  };
  const about = () => ({ table: narrowest(Object.keys(where)), range, where, find });
  const tells = { ...whole, name: held.table, timeName: held.time.name };
  return {
    many: "measurements",
    column: find,
    instant: "hour",
    weight: raw("measurements"),
    span: { first: "earliest", last: "latest" },
    ...(dayTimes(held) ? daysOnly({ ...tells, time: { ...whole.time, resolution: "day" } }) : {}),
    hoursOnly: `the snapshot ${name} holds hours`,
    from: () =>
      sql`${raw(narrowest(used).from)}\nWHERE ${join([...hours(range), ...conditions], " AND ")}`,
    notes: notesOf(name, held),
    whyEmpty: (database, signal) => explainEmpty(database, about(), signal),
    missingValues: (database, signal) => missingFromLists(database, about(), signal),
  };
}

/**
 * Runs: those that are the same whatever the question as they are, the others made of their pieces.
 */
function heldRunSource(
  reader: Database,
  name: string,
  held: Held,
  { range, where: asked, dedupe }: MeasurementFilter,
): Source {
  checkAsked(name, held, range, dedupe);
  const tables = tablesOf(name);
  const all = held.dimensions.map(([dimension]) => dimension);
  const pieces = heldTable(name, held, tables.odd(held.edition), all, "first");
  const entries = Object.entries(asked);
  const runWhere: Where = Object.fromEntries(entries.filter(([column]) => isOwn(column)));
  const where: Where = Object.fromEntries(entries.filter(([column]) => !isOwn(column)));
  const first = new FirstColumns(pieces);
  /** In the order of the first columns that are selected. */
  const plain = new Set<string>();
  const own = {
    ...pieces,
    name: held.table,
    time: { ...pieces.time, sql: quoteIdentifier(held.time.name) },
  };
  const column = (column: string) => {
    if (isOwn(column)) return runColumn(own, column);
    const found = first.column(column);
    plain.add(column);
    return found;
  };
  const conditions = whereSql(where, (column) => ({
    sql: raw(pieces.column(column)),
    type: pieces.columns.get(column) ?? "",
  }));
  const runConditions = whereSql(runWhere, column, "run");
  const orNoReport = (condition: Sql): Sql =>
    held.noReport ? sql`((${condition}) OR _no_report)` : condition;
  const none: Column[] = held.noReport ? [["_no_report", raw("0")]] : [];
  const from = (): Sql => {
    const whole = select({
      columns: [
        ["_first", raw("first")],
        ["_last", raw("last")],
        ["_n", raw("measurements")],
        ...none,
        ...first.selected.map(([as], at): Column => [as, raw(columnOf([...plain][at]!))]),
      ],
      from: raw(tables.runs(held.edition)),
      where: [...hours(range), ...conditions],
    });
    const around = { start: new Date(+range.start - MARGIN), end: new Date(+range.end + MARGIN) };
    const made = select({
      columns: [
        ["_first", raw("min(first)")],
        ["_last", raw("max(last)")],
        ["_n", raw("sum(measurements)")],
        ...(held.noReport ? [["_no_report", raw("max(no_report)")] as const] : []),
        ...first.selected,
      ],
      from: raw(pieces.from),
      where: [...hours(around), ...conditions],
      groupBy: [raw("run")],
      having: [orNoReport(and(hours(range, "min(hour)")))],
    });
    const runs = nested(held.pieces === 0 ? whole : sql`${whole}\nUNION ALL\n${made}`);
    return runConditions.length === 0
      ? runs
      : sql`${runs}\nWHERE ${orNoReport(and(runConditions))}`;
  };
  const counted = countedSource(name, held, { range, where });
  const unusableNote = (database: Database, signal: AbortSignal | undefined): Promise<Extra> => {
    const question = select({
      columns: [["n", raw("sum(measurements)")]],
      from: raw(pieces.from),
      where: [raw("no_report"), ...hours(range), ...conditions],
    });
    return noReportNote(database, question, signal);
  };
  return {
    many: "runs",
    column,
    instant: pieces.time.dateTime("_first"),
    ...(dayTimes(held) ? daysOnly({ ...own, timeName: held.time.name }) : {}),
    ...(held.noReport && { unusable: raw("_no_report"), unusableNote }),
    from,
    notes: [WHOLE_RUNS, ...notesOf(name, held)],
    whyEmpty: (database, signal) => counted.whyEmpty(database, signal),
    missingValues: (database, signal) => counted.missingValues(database, signal),
  };
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
  return new ProbelabError(`Can't ask ${what}: ${why}. ${remedy}, or ask the table itself.`, {
    code: NOT_HELD,
  });
}

/** What the reader must know: from when the snapshot is, and what it may lack. */
export function notesOf(name: string, held: Held): string[] {
  const at = (instant: Date) => formatInstant(instant, "UTC").slice(0, 16);
  const filter = whereText(held.where);
  const only = filter === "" ? "" : ` with ${filter}`;
  const late =
    held.settled < held.end
      ? `; from ${at(held.settled)} on rows may be missing that were stored since`
      : "";
  return [
    `Snapshot ${name} of ${held.table}${only}, taken ${at(held.takenAt)} UTC, ${ageOf(held.takenAt)}${late}.`,
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
