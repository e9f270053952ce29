import { randomInt } from "node:crypto";
import type { Database } from "../../database/database.js";
import type { TableInfo } from "../../database/table-info.js";
import { timeColumn } from "../../database/time-column.js";
import type { Writer } from "../../database/writer.js";
import { ProbelabError } from "../../base/error.js";
import { dedupeNotes, filtered, measurementsFrom } from "../measurements/measurement-source.js";
import { RUN_MARGIN, withoutReport } from "../measurements/run-source.js";
import { print, raw, select, sql, type Column, type Sql } from "../../query/sql.js";
import type { Where } from "../../query/where.js";
import { toTaggedJson } from "../../result/json.js";
import { DAY, HOUR } from "../../time/span.js";
import { type Bounds, type TimeRange, last } from "../../time/time-range.js";
import { formatInstant } from "../../time/time-zone.js";
import {
  columnOf,
  isHeld,
  readAbout,
  tablesOf,
  writeAbout,
  type SnapshotState,
  type SnapshotSubject,
} from "./held.js";

/** What to take, from where, and into what. */
interface Taking {
  readonly name: string;
  readonly range: TimeRange;
  readonly where: Where;
  readonly dimensions: readonly string[];
  readonly database: Database;
  readonly table: TableInfo;
  readonly writer: Writer;
  readonly signal: AbortSignal | undefined;
}

/** A span of time, [start, end) in milliseconds. */
type Hours = readonly [start: number, end: number];

const ACTION = "take a snapshot";

/**
 * Takes a snapshot of a range. Days whose measurements the table holds otherwise are read, each a
 * small question, and out of all days the tables are made that questions read. A day counts once it
 * is whole, so a taking that was interrupted or killed goes on where it was, and what was there
 * before can be asked until the new tables are whole.
 *
 * @throws ProbelabError where the snapshot is of something else, or a gap would be left in it.
 */
export async function take(taking: Taking): Promise<SnapshotState> {
  const { name, writer, signal } = taking;
  const subject = await subjectOf(taking);
  const before = await readAbout(
    (text, parameters) => writer.rows(text, { ...(parameters && { parameters }) }),
    name,
  );
  if (before === undefined) await createTables(taking, subject);
  else checkSubject(name, before, subject);
  const held = isHeld(before) ? before : undefined;
  const [start, end] = wholeSpan(name, taking.range, held);
  await dropOld(taking);
  const takenAt = new Date();
  const first = Math.floor((start - RUN_MARGIN) / DAY) * DAY;
  const changed = await changedDays(taking, [first, Math.ceil((end + RUN_MARGIN) / DAY) * DAY]);
  for (const day of changed) await readDay(taking, day);
  signal?.throwIfAborted();
  const same = changed.length === 0 && +(held?.start ?? 0) === start && +(held?.end ?? 0) === end;
  const made = held && same ? held : await buildTables(taking, subject, [start, end]);
  const taken = { ...made, takenAt };
  await writeAbout(writer, name, taken);
  return taken;
}

/** What a taking is of. */
async function subjectOf(taking: Taking): Promise<SnapshotSubject> {
  const { database, table, dimensions, where } = taking;
  const now = new Date();
  const { sql, parameters } = print(piecesSql(taking, { start: now, end: now }));
  const described = await database.rows<{ name: string; type: string }>(
    `DESCRIBE TABLE (${sql})`,
    { ...parameters },
    ACTION,
  );
  const types = new Map(described.map(({ name, type }) => [name, type]));
  return {
    layout: 5,
    source: database.source,
    table: table.name,
    where,
    engine: table.engine,
    dimensions: dimensions.map((name) => [name, types.get(`by_${name}`) ?? ""] as const),
    time: { name: table.timeName, type: types.get("_began") ?? "", form: table.timeForm },
    merges: table.merges,
  };
}

function checkSubject(name: string, held: SnapshotSubject, wanted: SnapshotSubject): void {
  for (const key of ["source", "table", "where", "dimensions", "time"] as const) {
    const [a, b] = [held, wanted].map((subject) => toTaggedJson(subject[key]));
    if (a === b) continue;
    throw new ProbelabError(
      `Can't take the snapshot ${name}: there is one of another ${key}, ${a} instead of ${b}. Give this one another name.`,
    );
  }
}

/** The whole hours of a range, and what the snapshot holds already. */
function wholeSpan(
  name: string,
  { start, end }: TimeRange,
  held: SnapshotState | undefined,
): Hours {
  const [from, to] = [Math.floor(+start / HOUR) * HOUR, Math.ceil(+end / HOUR) * HOUR];
  if (held === undefined) return [from, to];
  if (from > +held.end || to < +held.start) {
    const shown = (at: Date) => formatInstant(at, "UTC");
    throw new ProbelabError(
      `Can't add ${shown(start)} to ${shown(end)} to the snapshot ${name}, which holds ${shown(held.start)} to ${shown(held.end)}: a gap would be between. Take a range that reaches it, or give this one another name.`,
    );
  }
  return [Math.min(from, +held.start), Math.max(to, +held.end)];
}

/** A low-cardinality column of numbers is stored as the table has it. */
const SETTINGS = { allow_suspicious_low_cardinality_types: 1 };

/** The columns of pieces and of runs, and of hours, as a CREATE TABLE takes them. */
function columnsOf({ time, dimensions }: SnapshotSubject, more: readonly string[]): string {
  const own = [...more, `_began ${time.type}`, `_ended ${time.type}`, "_n UInt64", "_hash UInt64"];
  const by = dimensions.map(([name, type]) => `${columnOf(name)} ${type}`);
  return ["_hour DateTime('UTC')", ...own, ...by].join(", ");
}

async function createTables({ name, writer }: Taking, subject: SnapshotSubject): Promise<void> {
  const { about, pieces, staged } = tablesOf(name);
  const columns = columnsOf(subject, ["_run UInt128", "_no_report UInt8"]);
  for (const table of [pieces, staged]) {
    await writer.command(
      `CREATE TABLE IF NOT EXISTS ${table} (${columns}) ENGINE = MergeTree PARTITION BY toDate(_hour, 'UTC') ORDER BY _hour`,
      { settings: SETTINGS },
    );
  }
  await writer.command(
    `CREATE TABLE IF NOT EXISTS ${about} (at DateTime64(6, 'UTC'), about String) ENGINE = MergeTree ORDER BY at`,
  );
  await writeAbout(writer, name, subject);
}

/**
 * The pieces of runs in a table: a row for each run, hour of UTC and combination of dimensions, with
 * its first and last time as the table writes them and its measurements (`_n`).
 *
 * Whatever hours a question is about, the measurements of a run that it sees are whole pieces, so
 * counts and runs made of pieces are those of the table. A run is known by 128 bits of its
 * report_id's hash: two of 10⁹ share one with a probability of 10⁻²¹.
 */
function piecesSql(taking: Taking, range: Bounds): Sql {
  const { table, dimensions } = taking;
  const { time } = table;
  const report = table.column("report_id");
  const nullable = /Nullable\(/.test(table.columns.get("report_id") ?? "");
  const known = nullable ? `assumeNotNull(${report})` : report;
  const seconds = `toUnixTimestamp(${time.dateTime(time.sql)})`;
  const columns: Column[] = [
    ["_hour", raw(`toDateTime(intDiv(${seconds}, 3600) * 3600, 'UTC')`)],
    ["_run", raw(`any(reinterpretAsUInt128(sipHash128(${known})))`)],
    ["_no_report", sql`toUInt8(any(${withoutReport(table) ?? raw("0")}))`],
    ["_began", raw(`min(${time.sql})`)],
    ["_ended", raw(`max(${time.sql})`)],
    ["_n", raw("count()")],
    ["_hash", raw(hashSql(taking))],
    ...dimensions.map((name): Column => [columnOf(name), raw(table.column(name))]),
  ];
  const groupBy = [raw(report), "_hour", ...dimensions.map(columnOf)];
  return select({ columns, from: tableFrom(taking, range), groupBy });
}

function tableFrom({ table, where }: Taking, range: Bounds): Sql {
  const { conditions } = filtered(table, last("1 hour", { now: range.end }), where);
  return measurementsFrom(table, {}, range, conditions);
}

/** A sum of hashes of what a snapshot holds of each row: it changes with any of them. */
function hashSql({ table, dimensions }: Taking): string {
  const held = [
    table.column("report_id"),
    table.time.sql,
    ...dimensions.map((name) => table.column(name)),
  ];
  return `sum(cityHash64(${held.map((column) => `ifNull(toString(${column}), '\\\\N')`).join(", ")}))`;
}

/** The days of which the table holds other measurements than the snapshot, by their number and their hash. */
async function changedDays(taking: Taking, [start, end]: Hours): Promise<number[]> {
  const { name, writer, database, table, signal } = taking;
  const held = await writer.rows<{ day: number; sum: string }>(
    `SELECT toUInt32(toDate(_hour, 'UTC')) AS day, concat(toString(sum(_n)), ' ', toString(sum(_hash))) AS sum FROM ${tablesOf(name).pieces} GROUP BY day`,
  );
  const seconds = `toUnixTimestamp(${table.time.dateTime(table.time.sql)})`;
  const columns: Column[] = [
    ["day", raw(`toUInt32(intDiv(${seconds}, 86400))`)],
    ["sum", raw(`concat(toString(count()), ' ', toString(${hashSql(taking)}))`)],
  ];
  const from = tableFrom(taking, { start: new Date(start), end: new Date(end) });
  const { sql, parameters } = print(select({ columns, from, groupBy: ["day"] }));
  const counted = await database.rows<(typeof held)[number]>(
    sql,
    { ...parameters },
    ACTION,
    signal,
  );
  const [was, is] = [held, counted].map(
    (rows) => new Map(rows.map(({ day, sum }) => [Number(day) * DAY, sum])),
  );
  const days = Array.from({ length: (end - start) / DAY }, (_, at) => start + at * DAY);
  return days.filter((day) => was!.get(day) !== is!.get(day));
}

/** What the server says to a question that is too large for it. */
const TOO_LARGE =
  /^(MEMORY_LIMIT_EXCEEDED|TIMEOUT_EXCEEDED|TOO_SLOW|TOO_MANY_(ROWS|BYTES|ROWS_OR_BYTES))$/;

/** Reads a day, hour by hour where it is too large for the server, in place of what was held of it. */
async function readDay(taking: Taking, day: number): Promise<void> {
  const { name, writer, signal } = taking;
  const { pieces, staged } = tablesOf(name);
  signal?.throwIfAborted();
  const read = async (length: number) => {
    await writer.command(`TRUNCATE TABLE ${staged}`);
    for (let from = day; from < day + DAY; from += length) {
      await stage(taking, { start: new Date(from), end: new Date(from + length) });
    }
  };
  await read(DAY).catch((error: unknown) => {
    if (!(error instanceof ProbelabError) || !TOO_LARGE.test(error.code ?? "")) throw error;
    return read(HOUR);
  });
  const partition = new Date(day).toISOString().slice(0, 10);
  await writer.command(`ALTER TABLE ${pieces} REPLACE PARTITION '${partition}' FROM ${staged}`);
}

/** Reads a span's pieces into the staged ones. */
async function stage(taking: Taking, span: Bounds): Promise<void> {
  const { name, database, writer, signal } = taking;
  const { staged } = tablesOf(name);
  const { sql, parameters } = print(piecesSql(taking, span));
  const { body, rows } = await database.native({ sql, parameters, action: ACTION, signal });
  if (body.byteLength > 0) await writer.insert(staged, body, { ...(signal && { signal }) });
  const [came] = await writer.rows<{ n: number }>(
    `SELECT count() AS n FROM ${staged} WHERE _hour >= {start:UInt32} AND _hour < {end:UInt32}`,
    { parameters: { start: +span.start / 1000, end: +span.end / 1000 } },
  );
  if (rows === undefined || Number(came?.n ?? 0) === rows) return;
  throw new ProbelabError(
    `Can't take a snapshot: ${came?.n ?? 0} of ${rows} rows came, the connection was cut. Take it again, it goes on where it was.`,
  );
}

/**
 * Makes the tables that questions read out of the pieces: hourly counts, and the pieces as they are now.
 * Most runs are one piece (`_whole`), which needs no grouping.
 */
async function buildTables(
  { name, writer, table, signal }: Taking,
  subject: SnapshotSubject,
  [start, end]: Hours,
): Promise<Omit<SnapshotState, "takenAt">> {
  const edition = randomInt(1, 2 ** 32);
  const { pieces, hours: hoursOf, runs: runsOf } = tablesOf(name);
  const [hours, runs] = [hoursOf(edition), runsOf(edition)];
  const settings = { ...SETTINGS, max_bytes_before_external_group_by: 2 ** 30 };
  const write = (text: string) => writer.command(text, { settings, ...(signal && { signal }) });
  const by = subject.dimensions.map(([dimension]) => columnOf(dimension));
  const time = timeColumn("_began", subject.time.type, subject.time.form);
  const instant = (of: string) => `toDateTime64(${time.dateTime(of)}, 3, 'UTC')`;
  const keys = ["_hour", ...by].join(", ");
  await write(
    `CREATE TABLE ${hours} ENGINE = MergeTree ORDER BY _hour AS SELECT ${keys}, sum(_n) AS _n, min(${instant("_began")}) AS _earliest, max(${instant("_ended")}) AS _latest FROM ${pieces} GROUP BY ${keys}`,
  );
  await write(
    `CREATE TABLE ${runs} ENGINE = MergeTree ORDER BY (_whole, _hour) AS
SELECT *, toUInt8(NOT _no_report AND _run NOT IN (SELECT _run FROM ${pieces} GROUP BY _run HAVING count() > 1)) AS _whole FROM ${pieces}`,
  );
  const inside = `_hour >= ${start / 1000} AND _hour < ${end / 1000}`;
  const [sizes] = await writer.rows<Record<"measurements" | "runs" | "none", number>>(
    `SELECT sumIf(_n, ${inside}) AS measurements, countIf(_no_report) AS none,
  (SELECT count() FROM (SELECT min(_hour) AS _hour FROM ${runs} WHERE NOT _no_report GROUP BY _run HAVING ${inside})) AS runs FROM ${runs}`,
  );
  return {
    ...subject,
    edition,
    start: new Date(start),
    end: new Date(end),
    measurements: Number(sizes?.measurements ?? 0),
    runs: Number(sizes?.runs ?? 0),
    noReport: Number(sizes?.none ?? 0) > 0,
    notes: [...dedupeNotes(table, undefined), ...table.notes],
  };
}

/** Drops the tables of all takings but the last two, and those that are younger than an hour. */
async function dropOld({ name, writer }: Taking): Promise<void> {
  const old = await writer.rows<{ name: string }>(
    `WITH (SELECT groupArray(edition) FROM (SELECT JSONExtractUInt(about, 'edition') AS edition FROM ${tablesOf(name).about} WHERE edition > 0 GROUP BY edition ORDER BY max(at) DESC LIMIT 2)) AS kept
SELECT name FROM system.tables WHERE database = currentDatabase() AND metadata_modification_time < now() - INTERVAL 1 HOUR
  AND match(name, {pattern:String}) AND NOT has(kept, toUInt64OrZero(extract(name, '_e([0-9]+)_(?:hours|runs)$')))`,
    { parameters: { pattern: `^snapshot_${name}_e[0-9]+_(hours|runs)$` } },
  );
  for (const { name } of old) await writer.command(`DROP TABLE IF EXISTS \`${name}\``);
}
