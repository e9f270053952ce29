import { randomInt } from "node:crypto";
import { dedupeNotes } from "../measurements/measurement-source.js";
import { timeColumn } from "../database/time-column.js";
import {
  columnOf,
  tablesOf,
  type Counts,
  type Held,
  type Pass,
  type Subject,
  type Taking,
} from "./held.js";
import type { Span } from "./passes.js";

/** Pieces that are grouped at once: their runs are in memory. */
const SLICE = 4_000_000;
const MEMORY = 2 ** 31;

/**
 * Makes the tables that questions read out of the pieces: hourly counts by all dimensions and, where
 * that makes them half as many at most, by some of them; a row for each run that is the same
 * whatever the question; the pieces of all other runs (their measurements differ in a dimension, or
 * they last longer than what is read beyond a range, or they have no report).
 */
export async function buildEdition(
  taking: Taking,
  subject: Subject,
  [start, end]: Span,
  passes: readonly Pass[],
): Promise<Held> {
  const { name, writer, late, table } = taking;
  const edition = randomInt(1, 2 ** 32);
  const tables = tablesOf(name);
  const run = (text: string) =>
    writer.command(text, {
      settings: { max_memory_usage: MEMORY, allow_suspicious_low_cardinality_types: 1 },
      ...(taking.signal && { signal: taking.signal }),
    });
  const list = passes.map(
    ({ pass, start, end }) =>
      `(pass = ${pass} AND hour >= ${+start / 1000} AND hour < ${+end / 1000})`,
  );
  const from = `${tables.pieces} WHERE ${list.length === 0 ? "false" : `(${list.join(" OR ")})`}`;
  const dimensions = subject.dimensions.map(([dimension]) => dimension);
  const counts = await buildCounts(taking, subject, edition, from, run);
  const runs = tables.runs(edition);
  const odd = tables.odd(edition);
  const types = subject.dimensions.map(([dimension, type]) => `${columnOf(dimension)} ${type}`);
  const own = `first ${subject.time.type}, last ${subject.time.type}, measurements UInt64`;
  await run(
    `CREATE TABLE ${runs} (${[`hour DateTime('UTC')`, own, ...types].join(", ")}) ENGINE = MergeTree ORDER BY hour`,
  );
  await run(
    `CREATE TABLE ${odd} (${["hour DateTime('UTC')", "run UInt128", "no_report UInt8", own, ...types].join(", ")}) ENGINE = MergeTree ORDER BY hour`,
  );
  const [all] = await writer.rows<{ n: number }>(`SELECT count() AS n FROM ${from}`);
  const slices = Math.ceil(Number(all?.n ?? 0) / SLICE);
  const names = dimensions.map(columnOf);
  const time = timeColumn("first", subject.time.type, subject.time.form);
  const kind = hashOf(subject, dimensions);
  const isOdd = `(max(no_report) OR min(${kind}) != max(${kind}) OR ${time.seconds("min(first)", "max(last)")} > 86400)`;
  for (let slice = 0; slice < slices; slice++) {
    const part = `${from} AND run % ${slices} = ${slice}`;
    await run(
      `INSERT INTO ${runs} SELECT min(hour), min(first), max(last), sum(measurements)${names.map((name) => `, any(${name})`).join("")}
FROM ${part} GROUP BY run HAVING NOT ${isOdd}`,
    );
    await run(
      `INSERT INTO ${odd} SELECT ${["hour", "run", "no_report", "first", "last", "measurements", ...names].join(", ")}
FROM ${part} AND run IN (SELECT run FROM ${part} GROUP BY run HAVING ${isOdd})`,
    );
  }
  const inside = `hour >= ${start / 1000} AND hour < ${end / 1000}`;
  const [sizes] = await writer.rows<Record<"measurements" | "runs" | "pieces" | "none", number>>(
    `SELECT (SELECT sum(measurements) FROM ${tables.counts(edition, 0)} WHERE ${inside}) AS measurements,
  (SELECT count() FROM ${runs} WHERE ${inside}) + (SELECT uniqExactIf(run, NOT no_report) FROM ${odd} WHERE ${inside}) AS runs,
  (SELECT count() FROM ${odd}) AS pieces, (SELECT countIf(no_report) FROM ${odd}) AS none`,
  );
  const early = passes.filter((pass) => +pass.at < +pass.end + late.milliseconds);
  const settled = early.map((pass) => Math.max(+pass.start, +pass.at - late.milliseconds));
  return {
    ...subject,
    edition,
    start: new Date(start),
    end: new Date(end),
    counts,
    takenAt: new Date(),
    late: late.text,
    settled: new Date(Math.min(end, ...settled)),
    measurements: Number(sizes?.measurements ?? 0),
    runs: Number(sizes?.runs ?? 0),
    pieces: Number(sizes?.pieces ?? 0),
    noReport: Number(sizes?.none ?? 0) > 0,
    notes: [...dedupeNotes(table, undefined), ...table.notes],
  };
}

/** Hourly counts: by all dimensions, then by those that make far fewer rows. The narrowest first. */
async function buildCounts(
  { name, writer }: Taking,
  { dimensions, time }: Subject,
  edition: number,
  from: string,
  run: (text: string) => Promise<void>,
): Promise<Counts[]> {
  const tables = tablesOf(name);
  const all = dimensions.map(([dimension]) => dimension);
  const column = timeColumn("first", time.type, time.form);
  const instant = (raw: string) => `toDateTime64(${column.dateTime(raw)}, 3, 'UTC')`;
  const make = async (at: number, by: readonly string[], of: string, columns: string) => {
    const table = tables.counts(edition, at);
    const types = dimensions.filter(([dimension]) => by.includes(dimension));
    const keys = ["hour", ...by.map(columnOf)];
    await run(
      `CREATE TABLE ${table} (${["hour DateTime('UTC')", ...types.map(([dimension, type]) => `${columnOf(dimension)} ${type}`)].join(", ")}, measurements UInt64, earliest DateTime64(3, 'UTC'), latest DateTime64(3, 'UTC'))
ENGINE = MergeTree ORDER BY hour`,
    );
    await run(
      `INSERT INTO ${table} SELECT ${keys.join(", ")}, ${columns} FROM ${of} GROUP BY ${keys.join(", ")} ORDER BY ${keys.join(", ")}`,
    );
    const [row] = await writer.rows<{ n: number }>(`SELECT count() AS n FROM ${table}`);
    return { at, dimensions: by, rows: Number(row?.n ?? 0) };
  };
  const whole = await make(
    0,
    all,
    from,
    `sum(measurements), min(${instant("first")}), max(${instant("last")})`,
  );
  const kept: Counts[] = [whole];
  const subsets = subsetsOf(all);
  const hashes = subsets.map((by) => `uniqCombined(hour, ${hashOf({ dimensions }, by)})`);
  const [sizes = {}] = await writer.rows<Record<string, number>>(
    `SELECT ${hashes.map((hash, at) => `${hash} AS n${at}`).join(", ") || 0} FROM ${tables.counts(edition, 0)}`,
  );
  for (const [place, by] of subsets.entries()) {
    const wider = kept
      .filter((counts) => by.every((dimension) => counts.dimensions.includes(dimension)))
      .sort((a, b) => a.rows - b.rows)[0]!;
    if (Number(sizes[`n${place}`]) > wider.rows / 2) continue;
    const columns = "sum(measurements), min(earliest), max(latest)";
    kept.push(await make(kept.length, by, tables.counts(edition, wider.at), columns));
  }
  return kept.sort((a, b) => a.rows - b.rows);
}

/** Which dimensions counts may be kept by, besides all of them: all but one, two, one, none. */
function subsetsOf(all: readonly string[]): string[][] {
  const sizes = [...new Set([all.length - 1, 2, 1, 0])].filter(
    (size) => size >= 0 && size < all.length,
  );
  const of = (size: number, from: readonly string[]): string[][] =>
    size === 0
      ? [[]]
      : from.flatMap((dimension, at) =>
          of(size - 1, from.slice(at + 1)).map((rest) => [dimension, ...rest]),
        );
  return sizes.flatMap((size) => of(size, all));
}

/** A number for each combination of dimensions; where some are null, too, of which a hash is null. */
function hashOf({ dimensions }: Pick<Subject, "dimensions">, by: readonly string[]): string {
  const known = dimensions
    .filter(([dimension]) => by.includes(dimension))
    .map(([dimension, type]) => {
      const column = columnOf(dimension);
      return /Nullable\(/.test(type) ? `isNull(${column}), assumeNotNull(${column})` : column;
    });
  return `cityHash64(${["0", ...known].join(", ")})`;
}

/** Drops what earlier takings left: editions but the last two, passes that others took the place of. */
export async function dropOld({ name, writer }: Taking, passes: readonly Pass[]): Promise<void> {
  const tables = tablesOf(name);
  const [kept] = await writer.rows<{ editions: number[] }>(
    `SELECT groupArray(edition) AS editions FROM (SELECT JSONExtractUInt(about, 'edition') AS edition FROM ${tables.about} ORDER BY at DESC LIMIT 2)`,
  );
  // What another snapshot owns, whose name ends like an edition, has an `about` beside it.
  const old = await writer.rows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND metadata_modification_time < now() - INTERVAL 1 HOUR
  AND match(name, {pattern:String}) AND NOT match(name, {kept:String})
  AND replaceRegexpOne(name, '_(counts[0-9]+|runs|pieces)$', '_about') NOT IN (SELECT name FROM system.tables WHERE database = currentDatabase())`,
    {
      parameters: {
        pattern: `^snapshot_${name}_e[0-9]+_(counts[0-9]+|runs|pieces)$`,
        kept: `_e(${(kept?.editions ?? []).join("|")})_`,
      },
    },
  );
  for (const { name } of old) await writer.command(`DROP TABLE IF EXISTS \`${name}\``);
  const parts = await writer.rows<{ partition: string }>(
    `SELECT DISTINCT partition FROM system.parts WHERE active AND database = currentDatabase() AND table = {table:String}
  AND modification_time < now() - INTERVAL 1 HOUR`,
    { parameters: { table: `snapshot_${name}_pieces` } },
  );
  const current = new Set(passes.map(({ pass }) => String(pass)));
  for (const { partition } of parts) {
    if (!current.has(partition)) {
      await writer.command(`ALTER TABLE ${tables.pieces} DROP PARTITION ${partition}`);
    }
  }
}
