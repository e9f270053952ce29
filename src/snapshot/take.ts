import { randomInt } from "node:crypto";
import { ProbelabError } from "../base/error.js";
import { timeColumn } from "../database/time-column.js";
import { dedupeNotes, filtered, measurementsFrom } from "../measurements/measurement-source.js";
import { RUN_MARGIN, withoutReport } from "../measurements/run-source.js";
import { print, raw, select, sql, type Column, type PrintedSql, type Sql } from "../query/sql.js";
import { toTaggedJson } from "../result/json.js";
import { DAY, HOUR } from "../time/span.js";
import { last, type TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import {
  columnOf,
  readAbout,
  tablesOf,
  writeAbout,
  type Held,
  type Subject,
  type Taking,
} from "./held.js";

/** A span of time, [start, end) in milliseconds. */
type Span = readonly [start: number, end: number];

/**
 * Takes a snapshot of a range. Days that the table counts otherwise than the snapshot are read, each a
 * small question, and out of all days the tables are made that questions read. A day counts once it
 * is whole, so a taking that was interrupted or killed goes on where it was, and what was there
 * before can be asked until the new tables are whole.
 *
 * @throws ProbelabError where the snapshot is of something else, or a gap would be left in it.
 */
export async function take(taking: Taking): Promise<Held> {
  const { name, writer, signal } = taking;
  const subject = await subjectOf(taking);
  const ask = <Row extends object>(text: string, parameters: Record<string, unknown> = {}) =>
    writer.rows<Row>(text, { parameters });
  const before = await readAbout(ask, name);
  if (before === undefined) await createTables(taking, subject);
  else checkSubject(name, before.subject, subject);
  const [start, end] = wholeSpan(name, taking.range, before?.held);
  await dropOld(taking);
  const takenAt = new Date();
  const days: Span = [
    Math.floor((start - RUN_MARGIN) / DAY) * DAY,
    Math.ceil((end + RUN_MARGIN) / DAY) * DAY,
  ];
  const other = await changedDays(taking, days);
  for (const day of other) await readDay(taking, day);
  signal?.throwIfAborted();
  const { held } = before ?? {};
  const same = held !== undefined && +held.start === start && +held.end === end;
  const taken =
    same && other.length === 0
      ? { ...held, takenAt }
      : { ...(await buildTables(taking, subject, [start, end])), takenAt };
  await writeAbout(writer, name, taken);
  return taken;
}

/** What a taking is of. */
async function subjectOf({ database, table, dimensions, where }: Taking): Promise<Subject> {
  const now = new Date();
  const question = print(piecesSql({ table, dimensions, where }, { start: now, end: now }));
  const described = await database.rows<{ name: string; type: string }>(
    `DESCRIBE TABLE (${question.sql})`,
    { ...question.parameters },
    "take a snapshot",
  );
  const types = new Map(described.map(({ name, type }) => [name, type]));
  return {
    layout: 2,
    source: database.source,
    table: table.name,
    where,
    engine: table.engine,
    dimensions: dimensions.map((name) => [name, types.get(`by_${name}`) ?? ""] as const),
    time: { name: table.timeName, type: types.get("_first") ?? "", form: table.timeForm },
    merges: table.merges,
  };
}

function checkSubject(name: string, held: Subject, wanted: Subject): void {
  const what = (subject: Subject) => {
    const { source, table, where, dimensions, time } = subject;
    return { source, table, where, dimensions: dimensions.map(String), time };
  };
  const [a, b] = [what(held), what(wanted)];
  const other = (Object.keys(a) as (keyof typeof a)[]).find(
    (key) => toTaggedJson(a[key]) !== toTaggedJson(b[key]),
  );
  if (other === undefined) return;
  throw new ProbelabError(
    `Can't take the snapshot ${name}: there is one of another ${other}, ${toTaggedJson(a[other])} instead of ${toTaggedJson(b[other])}. Give this one another name.`,
  );
}

/** The whole hours of a range, and what the snapshot holds already. */
function wholeSpan(name: string, { start, end }: TimeRange, held: Held | undefined): Span {
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

/** The columns of a piece, besides its dimensions. */
const PIECE = ["hour", "run", "no_report", "first", "last", "measurements"] as const;

async function createTables({ name, writer, dimensions }: Taking, subject: Subject) {
  const { about, pieces, staged } = tablesOf(name);
  const columns = columnsOf(subject, dimensions, "run UInt128, no_report UInt8");
  for (const table of [pieces, staged]) {
    await writer.command(
      `CREATE TABLE IF NOT EXISTS ${table} (${columns}) ENGINE = MergeTree PARTITION BY toDate(hour, 'UTC') ORDER BY hour`,
      { settings: LOW_CARDINALITY },
    );
  }
  await writer.command(
    `CREATE TABLE IF NOT EXISTS ${about} (at DateTime64(6, 'UTC'), about String) ENGINE = MergeTree ORDER BY at`,
  );
  await writeAbout(writer, name, subject);
}

const LOW_CARDINALITY = { allow_suspicious_low_cardinality_types: 1 };

/** The columns of runs, or of pieces of them, as a CREATE TABLE takes them. */
function columnsOf({ time, dimensions: types }: Subject, names: readonly string[], more: string) {
  const dimensions = names.map((name, at) => `, ${columnOf(name)} ${types[at]![1]}`);
  return `hour DateTime('UTC'), ${more}, first ${time.type}, last ${time.type}, measurements UInt64${dimensions.join("")}`;
}

/**
 * The pieces of runs in a table: a row for each run, hour of UTC and combination of dimensions, with
 * its first and last time as the table writes them and its measurements.
 *
 * Whatever hours a question is about, the measurements of a run that it sees are whole pieces, so
 * counts and runs made of pieces are those of the table. A run is known by 128 bits of its
 * report_id's hash: two of 10⁹ share one with a probability of 10⁻²¹.
 */
function piecesSql(
  { table, dimensions, where }: Pick<Taking, "table" | "dimensions" | "where">,
  range: Pick<TimeRange, "start" | "end">,
): Sql {
  const { time } = table;
  const report = table.column("report_id");
  const nullable = /Nullable\(/.test(table.columns.get("report_id") ?? "");
  const known = nullable ? `assumeNotNull(${report})` : report;
  // Columns of the table may be called hour or run.
  const columns: Column[] = [
    ["_hour", raw(hourOf(time.dateTime(time.sql)))],
    ["_run", raw(`any(reinterpretAsUInt128(sipHash128(${known})))`)],
    ["_no_report", sql`toUInt8(any(${withoutReport(table) ?? raw("0")}))`],
    ["_first", raw(`min(${time.sql})`)],
    ["_last", raw(`max(${time.sql})`)],
    ["_measurements", raw("count()")],
    ...dimensions.map((name): Column => [columnOf(name), raw(table.column(name))]),
  ];
  const from = tableFrom({ table, where }, range);
  return select({ columns, from, groupBy: [raw(report), "_hour", ...dimensions.map(columnOf)] });
}

function tableFrom(
  { table, where }: Pick<Taking, "table" | "where">,
  range: Pick<TimeRange, "start" | "end">,
): Sql {
  const { conditions } = filtered(table, last("1 hour", { now: range.end }), where);
  return measurementsFrom(table, {}, range, conditions);
}

function hourOf(instant: string): string {
  return `toDateTime(intDiv(toUnixTimestamp(${instant}), 3600) * 3600, 'UTC')`;
}

/** The days of which the table holds another number of measurements than the snapshot. */
async function changedDays(taking: Taking, [start, end]: Span): Promise<number[]> {
  const { name, writer, database, table, signal } = taking;
  const of = (rows: readonly { day: number; n: number }[]) =>
    new Map(rows.map(({ day, n }) => [Number(day) * DAY, Number(n)]));
  const held = of(
    await writer.rows(
      `SELECT toUInt32(toDate(hour, 'UTC')) AS day, sum(measurements) AS n FROM ${tablesOf(name).pieces} GROUP BY day`,
    ),
  );
  const day = `toUInt32(intDiv(toUnixTimestamp(${table.time.dateTime(table.time.sql)}), 86400))`;
  const columns: Column[] = [
    ["day", raw(day)],
    ["n", raw("count()")],
  ];
  const from = tableFrom(taking, { start: new Date(start), end: new Date(end) });
  const { sql, parameters } = print(select({ columns, from, groupBy: ["day"] }));
  const counted = of(await database.rows(sql, { ...parameters }, "take a snapshot", signal));
  const days = Array.from({ length: (end - start) / DAY }, (_, at) => start + at * DAY);
  return days.filter((day) => (held.get(day) ?? 0) !== (counted.get(day) ?? 0));
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

const LOCAL_MEMORY = 2 ** 30;

/** Reads a span's pieces into the staged ones. */
async function stage(taking: Taking, span: Pick<TimeRange, "start" | "end">): Promise<void> {
  const { name, database, writer, dimensions, local, signal } = taking;
  const { staged } = tablesOf(name);
  const names = [...PIECE, ...dimensions.map(columnOf)];
  const selected = [
    ...PIECE.map((column) => `_${column} AS ${column}`),
    ...dimensions.map(columnOf),
  ];
  const pieces = print(piecesSql(taking, span));
  const question = { ...pieces, sql: `SELECT ${selected.join(", ")} FROM (${pieces.sql})` };
  const into = `${staged} (${names.join(", ")})`;
  const cancel = signal === undefined ? {} : { signal };
  if (local) {
    return writer.command(`INSERT INTO ${into} ${question.sql}`, {
      ...cancel,
      parameters: question.parameters,
      settings: { max_memory_usage: LOCAL_MEMORY },
    });
  }
  const answer = await database.native({ ...question, action: "take a snapshot", signal });
  const bytes = answer.body.byteLength;
  if (bytes > 0) await writer.insert(into, answer.body, cancel);
  // Behind a proxy that drops the server's summary, an answer that was cut may look empty.
  const sent = bytes > 0 ? answer.rows : undefined;
  const wanted = sent ?? (await countOf(taking, question));
  const [{ n = 0 } = {}] = await writer.rows<{ n: number }>(
    `SELECT count() AS n FROM ${staged} WHERE hour >= {start:UInt32} AND hour < {end:UInt32}`,
    { parameters: { start: +span.start / 1000, end: +span.end / 1000 } },
  );
  if (Number(n) === wanted) return;
  throw new ProbelabError(
    `Can't take a snapshot: ${n} of ${wanted} rows came, the connection was cut. Take it again, it goes on where it was.`,
  );
}

/** The number of rows of a question, as the server counts them. */
async function countOf({ database, signal }: Taking, { sql, parameters }: PrintedSql) {
  const [row] = await database.rows<{ n: number }>(
    `SELECT count() AS n FROM (${sql})`,
    { ...parameters },
    "take a snapshot",
    signal,
  );
  return Number(row?.n ?? 0);
}

/** Pieces that are grouped at once: their runs are in memory. */
const SLICE = 4_000_000;
const MEMORY = 2 ** 31;

/**
 * Makes the tables that questions read out of the pieces: hourly counts, and the runs. A run is one
 * row (`whole`) where it is the same whatever the question; the others (their measurements differ in a
 * dimension, or they last longer than what is read beyond a range, or they have no report) stay in pieces.
 */
async function buildTables(
  { name, writer, table, signal }: Taking,
  subject: Subject,
  [start, end]: Span,
): Promise<Omit<Held, "takenAt">> {
  const edition = randomInt(1, 2 ** 32);
  const { pieces, hours: hoursOf, runs: runsOf } = tablesOf(name);
  const [hours, runs] = [hoursOf(edition), runsOf(edition)];
  const { dimensions } = subject;
  const names = dimensions.map(([dimension]) => columnOf(dimension));
  const write = (text: string) =>
    writer.command(text, {
      settings: { max_memory_usage: MEMORY, ...LOW_CARDINALITY },
      ...(signal && { signal }),
    });
  const time = timeColumn("first", subject.time.type, subject.time.form);
  const instant = (of: string) => `toDateTime64(${time.dateTime(of)}, 3, 'UTC')`;
  const keys = ["hour", ...names].join(", ");
  const types = dimensions.map(([dimension, type]) => `, ${columnOf(dimension)} ${type}`);
  await write(
    `CREATE TABLE ${hours} (hour DateTime('UTC')${types.join("")}, measurements UInt64, earliest DateTime64(3, 'UTC'), latest DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY hour`,
  );
  await write(
    `INSERT INTO ${hours} SELECT ${keys}, sum(measurements), min(${instant("first")}), max(${instant("last")}) FROM ${pieces} GROUP BY ${keys}`,
  );
  const own = "whole UInt8, run UInt128, no_report UInt8";
  const columns = columnsOf(
    subject,
    dimensions.map(([dimension]) => dimension),
    own,
  );
  await write(`CREATE TABLE ${runs} (${columns}) ENGINE = MergeTree ORDER BY (whole, hour)`);
  // A hash of null is null.
  const values = dimensions.map(([dimension, type]) => {
    const column = columnOf(dimension);
    return /Nullable\(/.test(type) ? `isNull(${column}), assumeNotNull(${column})` : column;
  });
  const kind = `cityHash64(${["0", ...values].join(", ")})`;
  const isOdd = `(max(no_report) OR min(${kind}) != max(${kind}) OR ${time.seconds("min(first)", "max(last)")} > ${RUN_MARGIN / 1000})`;
  const [all] = await writer.rows<{ n: number }>(`SELECT count() AS n FROM ${pieces}`);
  const slices = Math.ceil(Number(all?.n ?? 0) / SLICE);
  for (let slice = 0; slice < slices; slice++) {
    const part = `${pieces} WHERE run % ${slices} = ${slice}`;
    await write(
      `INSERT INTO ${runs} SELECT min(hour), 1, 0, 0, min(first), max(last), sum(measurements)${names.map((name) => `, any(${name})`).join("")}
FROM ${part} GROUP BY run HAVING NOT ${isOdd}`,
    );
    await write(
      `INSERT INTO ${runs} SELECT ${["hour", "0", "run", "no_report", "first", "last", "measurements", ...names].join(", ")}
FROM ${part} AND run IN (SELECT run FROM ${part} GROUP BY run HAVING ${isOdd})`,
    );
  }
  const inside = `hour >= ${start / 1000} AND hour < ${end / 1000}`;
  const [sizes] = await writer.rows<Record<"measurements" | "runs" | "pieces" | "none", number>>(
    `SELECT (SELECT sum(measurements) FROM ${hours} WHERE ${inside}) AS measurements,
  (SELECT countIf(whole) + uniqExactIf(run, NOT whole AND NOT no_report) FROM ${runs} WHERE ${inside}) AS runs,
  (SELECT countIf(NOT whole) FROM ${runs}) AS pieces, (SELECT countIf(no_report) FROM ${runs}) AS none`,
  );
  return {
    ...subject,
    edition,
    start: new Date(start),
    end: new Date(end),
    measurements: Number(sizes?.measurements ?? 0),
    runs: Number(sizes?.runs ?? 0),
    pieces: Number(sizes?.pieces ?? 0) > 0,
    noReport: Number(sizes?.none ?? 0) > 0,
    notes: [...dedupeNotes(table, undefined), ...table.notes],
  };
}

/** Drops the tables of all takings but the last two, and those that are younger than an hour. */
async function dropOld({ name, writer }: Taking): Promise<void> {
  const [kept] = await writer.rows<{ editions: number[] }>(
    `SELECT groupArray(edition) AS editions FROM (SELECT JSONExtractUInt(about, 'edition') AS edition FROM ${tablesOf(name).about} WHERE edition > 0 GROUP BY edition ORDER BY max(at) DESC LIMIT 2)`,
  );
  const old = await writer.rows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND metadata_modification_time < now() - INTERVAL 1 HOUR
  AND match(name, {pattern:String}) AND NOT match(name, {kept:String})`,
    {
      parameters: {
        pattern: `^snapshot_${name}_e[0-9]+_(hours|runs)$`,
        kept: `_e(${(kept?.editions ?? []).join("|")})_`,
      },
    },
  );
  for (const { name } of old) await writer.command(`DROP TABLE IF EXISTS \`${name}\``);
}
