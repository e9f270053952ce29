import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import type { AskRows, TableRole } from "./tables.js";
import {
  boundsSql,
  digitsPattern,
  EARLIEST,
  isText,
  PLAUSIBLE,
  plainType,
  quoteIdentifier,
  timeColumn,
  UNITS,
  type StoredTime,
  type TimeForm,
  type Unit,
} from "./time-column.js";

/** A time column and its table. */
export interface TimedTable {
  readonly name: string;
  /** For FROM. */
  readonly from: string;
  readonly column: string;
  readonly type: string;
  /** True if the table is sorted by the column: a bound then reads only what it asks for. */
  readonly sorted: boolean;
  /** Number of rows; null if the server does not count them. */
  readonly rows: number | null;
  readonly empty: boolean;
  /** The unit that the configuration names. */
  readonly unit: string | undefined;
  /** Whose table it is; missing for one that free SQL names. */
  readonly role: TableRole | undefined;
}

/** Rows counted at most under each condition in a table that is sorted by time. */
const ENOUGH = 10_000;
/** Rows read of a table that is not sorted by time; of digits, which are slower to look through, fewer. */
const SAMPLE = 20_000_000;
const TEXTS = 1_000_000;

const UNIT_NAMES = Object.keys(UNITS) as Unit[];

/** Units of empty tables: systemd counts microseconds. */
const ASSUMED = new Map<string, Unit>([["__REALTIME_TIMESTAMP", "microseconds"]]);

/** SQL by name: a condition, and the values to bind. */
type Conditions = Readonly<Record<string, string>>;
type Parameters = Readonly<Record<string, unknown>>;

/**
 * Infers what a column of numbers or digits counts, from many of its rows: the units, in their
 * plausible years, have no number in common. At most one row in a hundred may be written otherwise; it
 * has no usable time.
 *
 * @returns null for a type that needs no form.
 * @throws ProbelabError if rows disagree, or if there are rows and none is an instant.
 */
export async function learnForm(ask: AskRows, table: TimedTable): Promise<TimeForm | null> {
  const { column, type, unit } = table;
  const plain = plainType(type);
  const text = isText(type);
  const counts = text || /^(U?Int64|Float64)$/.test(plain);
  if (unit !== undefined) {
    if (counts && unit in UNITS) return { unit: unit as Unit };
    throw new ProbelabError(
      `Can't use unit ${JSON.stringify(unit)} for ${column}, a ${type}: ${counts ? `write ${UNIT_NAMES.join(", ")}` : "its type says itself what it holds; leave unit out"}.`,
    );
  }
  if (!counts) return /^U?Int32$/.test(plain) ? { unit: "seconds" } : null;
  const assumed = ASSUMED.get(column);
  if (table.empty) return assumed === undefined ? null : { unit: assumed };
  const { conditions, parameters } = writtenAs(table);
  const { rows, capped, example } = await countRows(ask, table, conditions, parameters);
  const found = Object.entries(rows)
    .map(([name, rows]) => ({ name, rows }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows);
  const best = found.find(({ name }) => name !== "other");
  const seen = example === "" ? "" : `, such as ${JSON.stringify(example.slice(0, 40))}`;
  const cant = (why: string) =>
    new ProbelabError(
      `Can't infer how ${column}, a ${type} of ${table.name}, writes an instant: ${why}. ${remedy(table, best?.name)}`,
    );
  if (best === undefined) {
    throw cant(
      `no row read lies in 1990 to 2100 in ${text ? "digits that count " : ""}seconds, milliseconds, microseconds or nanoseconds since 1970${seen}`,
    );
  }
  const sum = found.reduce((all, { rows }) => all + rows, 0);
  const most = capped ? Math.max(sum, table.rows ?? 0) : sum;
  const others = found.filter((each) => each !== best);
  if (others.some(({ rows }) => rows * 100 > most || (capped && rows >= ENOUGH))) {
    const said = found.map(({ name, rows }) => {
      const amount = `${grouped(rows)}${capped && rows >= ENOUGH ? " or more" : ""}`;
      const what =
        name === "other" ? `something else${seen}` : `${name}${text ? " in digits" : ""}`;
      return `${amount} rows write ${what}`;
    });
    throw cant(said.join(", "));
  }
  return { unit: best.name as Unit };
}

/** How to have rows read that disagree; `best` is the unit of most of them. */
function remedy({ role, column, type, name, from }: TimedTable, best: string | undefined): string {
  if (role === undefined) {
    return "Bound the query with {start:DateTime64(3)} and {end:DateTime64(3)} in its own SQL instead of {range}.";
  }
  const quoted = quoteIdentifier(column);
  const view = quoteIdentifier(`${name}_with_times`);
  // The engine reads a date of zeros as the first of January of this year.
  const parsed = `if(startsWith(toString(${quoted}), '0000'), NULL, parseDateTime64BestEffortOrNull(toString(${quoted}), 6, 'UTC'))`;
  const place = `tables.${role} of probelab.config.json or connect()`;
  if (best !== undefined) {
    return `Set "unit" in ${place}, such as { "tables": { "${role}": { "unit": "${best}" } } }, which leaves out rows that write another; or name a view as "table" that gives the column as a DateTime64.`;
  }
  if (!isText(type))
    return `Name a view as "table" in ${place} that gives the column as a DateTime64.`;
  return `Have a view made, CREATE VIEW ${view} AS SELECT * REPLACE (${parsed} AS ${quoted}) FROM ${from}, and name it as "table" in ${place}.`;
}

/** Conditions for rows that write an instant in each unit, and for those that do in none (`other`). */
function writtenAs({ column, type }: TimedTable) {
  const parameters: Record<string, unknown> = {};
  const units = UNIT_NAMES.map((unit): [string, string] => {
    if (isText(type)) return [unit, `match(_text, '${digitsPattern(unit)}')`];
    const time = timeColumn(column, type, { unit });
    const { sql, parameters: values } = boundsSql(time, PLAUSIBLE, unit);
    Object.assign(parameters, values);
    return [unit, sql];
  });
  const any = units.map(([, sql]) => `(${sql})`).join(" OR ");
  const quoted = quoteIdentifier(column);
  // Text without a digit but 0 stands for "none"; small numbers are counters and flags, the largest
  // stand for "never".
  const some = isText(type)
    ? "match(_text, '[1-9]')"
    : `${quoted} > 100000000 AND ${quoted} < 9e18`;
  const conditions = { ...Object.fromEntries(units), other: `${some} AND NOT (${any})` };
  return { conditions, parameters };
}

/**
 * Counts a table's rows under each condition: in a table that is sorted by a column of numbers all
 * rows, up to ENOUGH each (`capped`); else those of a sample.
 *
 * @returns `example`: a text under the condition `other`; `looked`: the rows of the sample.
 */
async function countRows(
  ask: AskRows,
  table: TimedTable,
  conditions: Conditions,
  parameters: Parameters,
) {
  const { from, sorted, type } = table;
  const column = quoteIdentifier(table.column);
  const text = isText(type);
  const capped = sorted && !text && plainType(type) !== "Float64";
  const names = Object.keys(conditions);
  const some = `SELECT ${column}${text ? `, ifNull(toString(${column}), '') AS _text` : ""} FROM ${from}`;
  const other = text && conditions["other"];
  const sql = capped
    ? `SELECT ${names.map((name) => `(SELECT count() FROM (SELECT 1 FROM ${from} WHERE ${conditions[name]} LIMIT ${ENOUGH + 1})) AS ${name}`).join(", ")}`
    : `SELECT count() AS _looked, ${names.map((name) => `countIf(${conditions[name]}) AS ${name}`).join(", ")}
${other ? `, anyIf(_text, ${other}) AS _example` : ""} FROM (${some} LIMIT ${text ? TEXTS : SAMPLE})`;
  const [row = {}] = await ask<Record<string, string | number>>(sql, parameters);
  return {
    rows: Object.fromEntries(names.map((name) => [name, Number(row[name] ?? 0)])),
    capped,
    looked: Number(row["_looked"] ?? 0),
    example: String(row["_example"] ?? ""),
  };
}

/** Counts the rows without a usable time; `exact` is false if there may be more, `share` 0 where it isn't known. */
export async function unusableRows(
  ask: AskRows,
  table: TimedTable,
  time: StoredTime,
): Promise<{ rows: number; exact: boolean; share: number }> {
  // The numbers of one unit are early times of another; a column of times has no unit.
  const earliest = plainType(table.type).startsWith("Date") ? EARLIEST : PLAUSIBLE.start;
  const [low, high] = [time.bound(earliest), time.bound(PLAUSIBLE.end)];
  const column = quoteIdentifier(table.column);
  // A NOT around the whole would keep the engine from using the sort key.
  const bad = [
    `${time.sql} < {low:${low.type}} OR ${time.sql} >= {high:${high.type}}`,
    ...(/Nullable\(/.test(table.type) ? [`isNull(${column})`] : []),
    ...(plainType(table.type) === "Float64" ? [`isNaN(${column})`] : []),
    ...(time.usable === null ? [] : [`NOT ${time.usable}`]),
  ].join(" OR ");
  const parameters = { low: low.value, high: high.value };
  const { rows: counts, capped, looked } = await countRows(ask, table, { bad }, parameters);
  const rows = counts["bad"] ?? 0;
  if (capped) return { rows: Math.min(rows, ENOUGH), exact: rows <= ENOUGH, share: 0 };
  const exact = looked < (isText(table.type) ? TEXTS : SAMPLE);
  return { rows, exact, share: rows / Math.max(1, looked) };
}
