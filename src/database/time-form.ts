import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import type { AskRows } from "./tables.js";
import {
  boundsSql,
  digitsPattern,
  EARLIEST,
  ISO_TEXT,
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
  /** The unit that the configuration names, or `text`. */
  readonly unit: string | undefined;
  /** The remedy of its errors. */
  readonly remedy: string;
}

/** Rows of a unit counted at most in a table that is sorted by time. */
const ENOUGH = 10_000;
/** Rows read of a table that is not sorted by time, or whose time is text. */
const SAMPLE = 1_000_000;

const UNIT_NAMES = Object.keys(UNITS) as Unit[];

/** Forms of columns in empty tables: systemd counts microseconds. */
const ASSUMED = new Map<string, Unit>([["__REALTIME_TIMESTAMP", "microseconds"]]);

/** Rows by what they hold: each unit, text that is read as an instant, and what might be one. */
type Counts = Partial<Record<Unit | "text" | "other", number>> & { readonly example?: string };

/**
 * Infers how a column of numbers or text writes an instant, from many of its rows: the units, in
 * their plausible years, have no number in common. At most one row in a hundred may be written
 * otherwise; it has no usable time.
 *
 * @returns null for a type that needs no form.
 * @throws ProbelabError if rows disagree, or if there are rows and none is an instant.
 */
export async function learnForm(ask: AskRows, table: TimedTable): Promise<TimeForm | null> {
  const { column, type, unit } = table;
  const plain = plainType(type);
  const text = isText(type);
  const wide = /^(U?Int64|Float64)$/.test(plain);
  const form = (name: string): TimeForm =>
    name === "text" ? { text: name } : { unit: name as Unit, ...(text && { digits: true }) };
  if (unit !== undefined) {
    const fits = unit === "text" ? text : unit in UNITS && (text || wide);
    if (fits) return form(unit);
    throw new ProbelabError(
      `Can't use unit ${JSON.stringify(unit)} for ${column}, a ${type}: ${wide ? `write ${UNIT_NAMES.join(", ")}` : "its type says itself what it holds; leave unit out"}.`,
    );
  }
  if (!text && !wide) return /^U?Int32$/.test(plain) ? { unit: "seconds" } : null;
  const assumed = ASSUMED.get(column);
  if (table.empty) return assumed === undefined ? null : form(assumed);
  const { example, ...counts } = await (text ? countTexts(ask, table) : countNumbers(ask, table));
  const found = Object.entries(counts)
    .map(([name, rows]) => ({ name, rows: Number(rows) }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows);
  const cant = (why: string) =>
    new ProbelabError(
      `Can't infer how ${column}, a ${type} of ${table.name}, writes an instant: ${why}. ${table.remedy}`,
    );
  const seen = example ? `, such as ${JSON.stringify(example.slice(0, 40))}` : "";
  const best = found.find(({ name }) => name !== "other");
  if (best === undefined) {
    const read = text ? "as text such as 2026-05-01 12:00:00 or in digits that count" : "in";
    throw cant(
      `no row read lies in 1990 to 2100 ${read} seconds, milliseconds, microseconds or nanoseconds since 1970${seen}`,
    );
  }
  const capped = !text && table.sorted;
  const sum = found.reduce((all, { rows }) => all + rows, 0);
  const most = capped ? Math.max(sum, table.rows ?? 0) : sum;
  const others = found.filter((each) => each !== best);
  if (others.some(({ rows }) => rows * 100 > most || (capped && rows >= ENOUGH))) {
    const said = found.map(({ name, rows }) => {
      const amount = `${grouped(rows)}${capped && rows >= ENOUGH ? " or more" : ""}`;
      if (name === "other") return `${amount} rows write something else${seen}`;
      return `${amount} rows write ${name === "text" ? "text such as 2026-05-01 12:00:00" : `${name}${text ? " in digits" : ""}`}`;
    });
    throw cant(said.join(", "));
  }
  return form(best.name);
}

/** Counts the rows in each unit's plausible years, up to ENOUGH each if the table is sorted by time. */
async function countNumbers(ask: AskRows, table: TimedTable): Promise<Counts> {
  const column = quoteIdentifier(table.column);
  const parameters: Record<string, unknown> = {};
  const conditions = UNIT_NAMES.map((unit): [string, string] => {
    const bounds = boundsSql(timeColumn(table.column, table.type, { unit }), PLAUSIBLE, unit);
    Object.assign(parameters, bounds.parameters);
    return [unit, bounds.sql];
  });
  // Below lie counters and flags, above what stands for "never".
  const other = `${column} > 100000000 AND ${column} < 9e18 AND NOT (${conditions.map(([, sql]) => sql).join(" OR ")})`;
  const counts = [...conditions, ["other", other] as const].map(([name, condition]) =>
    table.sorted
      ? `(SELECT count() FROM (SELECT 1 FROM ${table.from} WHERE ${condition} LIMIT ${ENOUGH})) AS ${name}`
      : `countIf(${condition}) AS ${name}`,
  );
  const from = table.sorted ? "" : ` FROM (SELECT ${column} FROM ${table.from} LIMIT ${SAMPLE})`;
  const [row = {}] = await ask<Counts>(`SELECT ${counts.join(", ")}${from}`, parameters);
  return row;
}

/** Counts the rows of a text column by what they hold. */
async function countTexts(ask: AskRows, table: TimedTable): Promise<Counts> {
  const column = quoteIdentifier(table.column);
  const some = `SELECT ${column} AS _raw FROM ${table.from} WHERE ${column} != ''`;
  // If not all rows are read, the oldest and the newest are: forms change with the years.
  const ends =
    table.sorted && (table.rows === null || table.rows > SAMPLE)
      ? ["", " DESC"].map((order) => `${some} ORDER BY ${column}${order} LIMIT ${SAMPLE / 10}`)
      : [];
  const rows = [`${some} LIMIT ${SAMPLE}`, ...ends].map((sql) => `SELECT _raw FROM (${sql})`);
  const digits = UNIT_NAMES.map((unit) => [unit, `match(_text, '${digitsPattern(unit)}')`]);
  // A date alone, or a broken one, is no time; what has more digits may be one in another form.
  const other = `NOT match(_text, '${ISO_TEXT}') AND length(replaceRegexpAll(_text, '[^0-9]', '')) > 9 AND NOT (${digits.map(([, sql]) => sql).join(" OR ")})`;
  const [row = {}] = await ask<Counts>(
    `SELECT ${digits.map(([unit, sql]) => `countIf(${sql}) AS ${unit}`).join(", ")},
  countIf(match(_text, '${ISO_TEXT}') AND parseDateTime64BestEffortOrZero(_text, 6, 'UTC') >= toDateTime64('1990-01-01 00:00:00', 6, 'UTC')) AS text,
  countIf(${other}) AS other, anyIf(_text, ${other}) AS example
FROM (SELECT assumeNotNull(toString(_raw)) AS _text FROM (${rows.join(" UNION ALL ")}))`,
  );
  return row;
}

/** Counts the rows without a usable time; `exact` is false if there may be more. */
export async function unusableRows(
  ask: AskRows,
  table: TimedTable,
  time: StoredTime,
): Promise<{ rows: number; exact: boolean }> {
  // The numbers of one unit are early times of another; a column of times has no unit.
  const earliest = plainType(table.type).startsWith("Date") ? EARLIEST : PLAUSIBLE.start;
  const [low, high] = [time.bound(earliest), time.bound(PLAUSIBLE.end)];
  const float = plainType(table.type) === "Float64";
  const column = quoteIdentifier(table.column);
  const outside = [
    `${time.sql} < {low:${low.type}}`,
    `${time.sql} >= {high:${high.type}}`,
    ...(/Nullable\(/.test(table.type) ? [`isNull(${column})`] : []),
    ...(float ? [`isNaN(${column})`] : []),
    ...(time.usable === null ? [] : [`NOT ${time.usable}`]),
  ].join(" OR ");
  const parameters = { low: low.value, high: high.value };
  if (table.sorted && time.usable === null && !float) {
    const [row] = await ask<{ bad: number }>(
      `SELECT count() AS bad FROM (SELECT 1 FROM ${table.from} WHERE ${outside} LIMIT ${ENOUGH + 1})`,
      parameters,
    );
    const rows = Number(row?.bad ?? 0);
    return { rows: Math.min(rows, ENOUGH), exact: rows <= ENOUGH };
  }
  const [row] = await ask<{ looked: number; bad: number }>(
    `SELECT count() AS looked, countIf(${outside}) AS bad FROM (SELECT ${column} FROM ${table.from} LIMIT ${SAMPLE})`,
    parameters,
  );
  const looked = Number(row?.looked ?? 0);
  return { rows: Number(row?.bad ?? 0), exact: looked < SAMPLE };
}
