import { randomInt } from "node:crypto";
import { ProbelabError } from "../base/error.js";
import { nested, print, raw, select, type Column, type PrintedSql } from "../query/sql.js";
import { toTaggedJson } from "../result/json.js";
import type { TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { buildEdition, dropOld } from "./edition.js";
import {
  columnOf,
  MARGIN,
  readAbout,
  tablesOf,
  writeAbout,
  type Held,
  type Pass,
  type Subject,
  type Taking,
} from "./held.js";
import { current, missing, type Span } from "./passes.js";
import { PIECE, piecesSql } from "./pieces.js";
import { HOUR } from "../time/span.js";

/**
 * Takes what a snapshot lacks of a range, hour by hour in passes that each are a small question, and
 * makes an edition of it that can be asked. What was read stays, so a taking that was interrupted or
 * killed goes on where it was; the edition before can be asked until the new one is whole.
 *
 * @throws ProbelabError where the snapshot is of something else, or a gap would be left in it.
 */
export async function take(taking: Taking): Promise<Held> {
  const { name, writer, late, signal } = taking;
  const ask = <Row extends object>(text: string, parameters: Record<string, unknown> = {}) =>
    writer.rows<Row>(text, { parameters });
  const subject = await subjectOf(taking);
  const before = await readAbout(ask, name);
  if (before === undefined) await createTables(taking, subject);
  else checkSubject(name, before.subject, subject);
  const span = wholeSpan(name, taking.range, before?.held);
  const known = current(await passesOf(taking));
  await dropOld(taking, known);
  const around: Span = [span[0] - MARGIN, span[1] + MARGIN];
  const wanted = missing(known, around, late.milliseconds);
  const { held } = before ?? {};
  if (
    wanted.length === 0 &&
    held !== undefined &&
    +held.start === span[0] &&
    +held.end === span[1]
  ) {
    return held;
  }
  const step: Step = { hours: 24 };
  for (const [start, end] of wanted) {
    for (let from = start; from < end;) from = await readPass(taking, from, end, step);
  }
  signal?.throwIfAborted();
  const taken = await buildEdition(taking, subject, span, current(await passesOf(taking)));
  await writeAbout(writer, name, taken);
  return taken;
}

/** What a taking is of. */
export async function subjectOf({ database, table, dimensions, where }: Taking): Promise<Subject> {
  const now = new Date();
  const question = print(piecesSql(table, dimensions, { start: now, end: now }, where));
  const described = await database.rows<{ name: string; type: string }>(
    `DESCRIBE TABLE (${question.sql})`,
    { ...question.parameters },
    "take a snapshot",
  );
  const types = new Map(described.map(({ name, type }) => [name, type]));
  return {
    layout: 1,
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

async function createTables({ name, writer, dimensions }: Taking, subject: Subject): Promise<void> {
  const { about, passes, pieces } = tablesOf(name);
  const settings = { allow_suspicious_low_cardinality_types: 1 };
  const { type } = subject.time;
  const columns = dimensions.map(
    (dimension, at) => `${columnOf(dimension)} ${subject.dimensions[at]![1]}`,
  );
  await writer.command(
    `CREATE TABLE IF NOT EXISTS ${passes} (pass UInt32, start DateTime('UTC'), end DateTime('UTC'), at DateTime64(6, 'UTC'))
ENGINE = MergeTree ORDER BY at`,
  );
  await writer.command(
    `CREATE TABLE IF NOT EXISTS ${pieces} (pass UInt32, hour DateTime('UTC'), run UInt128, no_report UInt8, first ${type}, last ${type}, measurements UInt64${columns.map((column) => `, ${column}`).join("")})
ENGINE = MergeTree PARTITION BY pass ORDER BY hour`,
    { settings },
  );
  await writer.command(
    `CREATE TABLE IF NOT EXISTS ${about} (at DateTime64(6, 'UTC'), about String) ENGINE = MergeTree ORDER BY at`,
  );
  await writeAbout(writer, name, subject);
}

async function passesOf({ name, writer }: Pick<Taking, "name" | "writer">): Promise<Pass[]> {
  const rows = await writer.rows<{ pass: number; start: number; end: number; at: number }>(
    `SELECT pass, toUnixTimestamp(start) AS start, toUnixTimestamp(end) AS end, toUnixTimestamp64Milli(at) AS at
FROM ${tablesOf(name).passes}`,
  );
  return rows.map(({ pass, start, end, at }) => ({
    pass,
    start: new Date(start * 1000),
    end: new Date(end * 1000),
    at: new Date(Number(at)),
  }));
}

/** How many hours the next pass takes: as many as are read in a few seconds. */
interface Step {
  hours: number;
}

const MOST_HOURS = 24 * 31;
/** A pass that is shorter lets the next one be longer, and the other way round. */
const SECONDS = { short: 2, long: 8 };
/** Of an answer that crosses the wire. */
const BYTES = { few: 2 ** 24, many: 2 ** 26 };
/** What the server says to a question that is too large for it. */
const TOO_LARGE =
  /^(MEMORY_LIMIT_EXCEEDED|TIMEOUT_EXCEEDED|TOO_SLOW|TOO_MANY_(ROWS|BYTES|ROWS_OR_BYTES))$/;

/** Reads hours from an instant on. @returns where the next pass begins. */
async function readPass(taking: Taking, from: number, end: number, step: Step): Promise<number> {
  const { name, database, writer, table, dimensions, where, local, signal } = taking;
  signal?.throwIfAborted();
  const until = Math.min(end, from + step.hours * HOUR);
  const span = { start: new Date(from), end: new Date(until) };
  const pass = randomInt(1, 2 ** 32);
  const { passes, pieces } = tablesOf(name);
  const names = ["pass", ...PIECE, ...dimensions.map(columnOf)];
  const at = new Date();
  let bytes = 0;
  try {
    const question = print(
      select({
        columns: [
          ["pass", raw(`toUInt32(${pass})`)],
          ...PIECE.map((column): Column => [column, raw(`_${column}`)]),
          ...dimensions.map((dimension): Column => [columnOf(dimension), raw(columnOf(dimension))]),
        ],
        from: nested(piecesSql(table, dimensions, span, where)),
      }),
    );
    const into = `${pieces} (${names.join(", ")})`;
    const cancel = signal === undefined ? {} : { signal };
    if (local) {
      await writer.command(`INSERT INTO ${into} ${question.sql}`, {
        ...cancel,
        parameters: question.parameters,
        settings: { max_memory_usage: LOCAL_MEMORY, max_partitions_per_insert_block: 0 },
      });
    } else {
      const answer = await database.native({ ...question, action: "take a snapshot", signal });
      bytes = answer.body.byteLength;
      if (bytes > 0) await writer.insert(into, answer.body, cancel);
      // Behind a proxy that drops the server's summary, an answer that was cut may look empty.
      const sent = bytes > 0 ? answer.rows : undefined;
      await checkWhole(taking, pass, sent ?? (await countOf(taking, question)));
    }
  } catch (error) {
    const code = error instanceof ProbelabError ? error.code : undefined;
    if (step.hours === 1 || code === undefined || !TOO_LARGE.test(code)) throw error;
    step.hours = Math.max(1, Math.floor(Math.min(step.hours, (until - from) / HOUR) / 4));
    return from;
  }
  await writer.command(
    `INSERT INTO ${passes} SELECT {pass:UInt32}, {start:UInt32}, {end:UInt32}, {at:DateTime64(3, 'UTC')}`,
    {
      parameters: { pass, start: from / 1000, end: until / 1000, at: (+at / 1000).toFixed(3) },
    },
  );
  const seconds = (Date.now() - +at) / 1000;
  if (seconds > SECONDS.long || bytes > BYTES.many) step.hours = Math.ceil(step.hours / 2);
  else if (seconds < SECONDS.short && bytes < BYTES.few) {
    step.hours = Math.min(MOST_HOURS, step.hours * 2);
  }
  return until;
}

const LOCAL_MEMORY = 2 ** 30;

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

/** @throws ProbelabError where fewer rows came than the server counted. */
async function checkWhole({ name, writer }: Taking, pass: number, rows: number) {
  const [{ n = 0 } = {}] = await writer.rows<{ n: number }>(
    `SELECT count() AS n FROM ${tablesOf(name).pieces} WHERE pass = {pass:UInt32}`,
    { parameters: { pass } },
  );
  if (Number(n) === rows) return;
  throw new ProbelabError(
    `Can't take a snapshot: ${n} of ${rows} rows came, the connection was cut. Take it again, it goes on where it was.`,
  );
}
