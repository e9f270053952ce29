import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import type { AskRows, TableRole } from "./tables.js";
import {
  boundsSql,
  digitsPattern,
  EARLIEST,
  ISO_FORM,
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
  /** Whose table it is; missing for one that free SQL names. */
  readonly role: TableRole | undefined;
}

/** Rows counted at most under each condition in a table that is sorted by time. */
const ENOUGH = 10_000;
/** Rows read of a table that is not sorted by time; of text, which is slower to look through, fewer. */
const SAMPLE = 20_000_000;
const TEXTS = 1_000_000;

const UNIT_NAMES = Object.keys(UNITS) as Unit[];

/** Forms of columns in empty tables: systemd counts microseconds. */
const ASSUMED = new Map<string, Unit>([["__REALTIME_TIMESTAMP", "microseconds"]]);

/** SQL by name: a condition, and the values to bind. */
type Conditions = Readonly<Record<string, string>>;
type Parameters = Readonly<Record<string, unknown>>;

/**
 * Infers how a column of numbers or text writes an instant, from many of its rows: the units, in
 * their plausible years, have no number in common. At most one row in a hundred may be written
 * otherwise, and one in twenty broken; it has no usable time.
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
  const { conditions, parameters } = writtenAs(table, form);
  const { counts, capped, example } = await countRows(ask, table, conditions, parameters);
  const found = Object.entries(counts)
    .map(([name, rows]) => ({ name, rows }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows);
  const cant = (why: string) =>
    new ProbelabError(
      `Can't infer how ${column}, a ${type} of ${table.name}, writes an instant: ${why}. ${remedy(table, best?.name)}`,
    );
  const seen =
    typeof example === "string" ? `, such as ${JSON.stringify(example.slice(0, 40))}` : "";
  const isForm = (name: string) => name !== "other" && name !== "broken";
  const best = found.find(({ name }) => isForm(name));
  if (best === undefined) {
    const read = text ? "as text such as 2026-05-01 12:00:00 or in digits that count" : "in";
    throw cant(
      `no row read lies in 1990 to 2100 ${read} seconds, milliseconds, microseconds or nanoseconds since 1970${seen}`,
    );
  }
  const sum = found.reduce((all, { rows }) => all + rows, 0);
  const most = capped ? Math.max(sum, table.rows ?? 0) : sum;
  const others = found.filter((each) => each !== best);
  // Broken times are known as such; so many that they are a form of their own aren't.
  const share = (name: string) => (name === "broken" ? 20 : 100);
  if (others.some(({ name, rows }) => rows * share(name) > most || (capped && rows >= ENOUGH))) {
    const said = found.map(({ name, rows }) => {
      const amount = `${grouped(rows)}${capped && rows >= ENOUGH ? " or more" : ""}`;
      if (!isForm(name)) return `${amount} rows write something else${seen}`;
      return `${amount} rows write ${name === "text" ? "text such as 2026-05-01 12:00:00" : `${name}${text ? " in digits" : ""}`}`;
    });
    throw cant(said.join(", "));
  }
  return form(best.name);
}

/** How to have rows read that disagree; `best` is the form of most of them. */
function remedy({ role, column, type, name }: TimedTable, best: string | undefined): string {
  if (role === undefined) {
    return "Bound the query with {start:DateTime64(3)} and {end:DateTime64(3)} in its own SQL instead of {range}.";
  }
  const quoted = quoteIdentifier(column);
  const view = `ame a view as "table" that gives the column as a DateTime64${isText(type) ? `, such as SELECT * REPLACE (parseDateTime64BestEffortOrNull(${quoted}, 3, 'UTC') AS ${quoted}) FROM ${name}` : ""}.`;
  return best === undefined
    ? `N${view}`
    : `Set "unit" in tables.${role} of probelab.config.json or connect(), such as { "tables": { "${role}": { "unit": "${best}" } } }, which leaves out rows that write another; or n${view}`;
}

/**
 * Conditions for rows that write an instant in each form, for those that do in none that is known
 * (`other`), and for those that hold a part of a time (`broken`): a date alone, a date that no calendar has.
 */
function writtenAs({ column, type }: TimedTable, form: (name: string) => TimeForm) {
  const text = isText(type);
  const parameters: Record<string, unknown> = {};
  const known = (text ? [...UNIT_NAMES, "text"] : UNIT_NAMES).map((name): [string, string] => {
    const time = timeColumn(column, type, form(name));
    if (text && name !== "text") return [name, `match(_text, '${digitsPattern(name as Unit)}')`];
    const { sql, parameters: values } = boundsSql({ ...time, coarse: () => [] }, PLAUSIBLE, name);
    Object.assign(parameters, values);
    return [name, sql];
  });
  const any = known.map(([, sql]) => `(${sql})`).join(" OR ");
  if (!text) {
    const quoted = quoteIdentifier(column);
    // Small numbers are counters and flags, the largest stand for "never".
    const other = `${quoted} > 100000000 AND ${quoted} < 9e18 AND NOT (${any})`;
    return { conditions: { ...Object.fromEntries(known), other }, parameters };
  }
  // What has more digits than a date may be a time in another form. Without a digit but 0, and of 1970,
  // it stands for "none".
  const strange = `NOT match(_text, '^(1970-01-01|0000-)') AND NOT (${any})`;
  const digits = "length(replaceRegexpAll(_text, '[^0-9]', ''))";
  const conditions = {
    ...Object.fromEntries(known),
    other: `${digits} > 9 AND NOT match(_text, '${ISO_FORM}') AND ${strange}`,
    broken: `match(_text, '[1-9]') AND (${digits} <= 9 OR match(_text, '${ISO_FORM}')) AND ${strange}`,
  };
  return { conditions, parameters };
}

/**
 * Counts a table's rows under each condition: in a table that is sorted by a column of numbers all
 * rows, up to ENOUGH each (`capped`); else those of a sample.
 *
 * @returns `example`: a text under the condition `other` or `broken`; `looked`: the rows of the sample.
 */
async function countRows(
  ask: AskRows,
  table: TimedTable,
  conditions: Conditions,
  parameters: Parameters,
): Promise<{
  counts: Record<string, number>;
  capped: boolean;
  looked: number;
  /** A text. */
  example: unknown;
}> {
  const { from, sorted, type } = table;
  const column = quoteIdentifier(table.column);
  const text = isText(type);
  const capped = sorted && !text && plainType(type) !== "Float64";
  const names = Object.keys(conditions);
  const numbers = ({ _other, _broken, _looked, ...row }: Record<string, unknown>) => ({
    counts: Object.fromEntries(names.map((name) => [name, Number(row[name] ?? 0)])),
    capped,
    looked: Number(_looked ?? 0),
    example: [_other, _broken].find((text) => typeof text === "string" && text !== ""),
  });
  if (capped) {
    const counts = names.map(
      (name) =>
        `(SELECT count() FROM (SELECT 1 FROM ${from} WHERE ${conditions[name]} LIMIT ${ENOUGH + 1})) AS ${name}`,
    );
    const [row = {}] = await ask<Record<string, unknown>>(
      `SELECT ${counts.join(", ")}`,
      parameters,
    );
    return numbers(row);
  }
  const some = `SELECT ${column} FROM ${from}`;
  // If not all rows are read, the oldest and the newest are: forms change with the years.
  const ends =
    text && sorted && (table.rows === null || table.rows > TEXTS)
      ? ["", " DESC"].map(
          (order) => `${some} WHERE ${column} != '' ORDER BY ${column}${order} LIMIT ${TEXTS / 10}`,
        )
      : [];
  const rows = [`${some} LIMIT ${text ? TEXTS : SAMPLE}`, ...ends].map(
    (sql) => `SELECT ${column} FROM (${sql})`,
  );
  const counts = names.map((name) => `countIf(${conditions[name]}) AS ${name}`);
  const example =
    "broken" in conditions
      ? `, anyIf(_text, ${conditions["other"]}) AS _other, anyIf(_text, ${conditions["broken"]}) AS _broken`
      : "";
  const [row = {}] = await ask<Record<string, unknown>>(
    `SELECT count() AS _looked, ${counts.join(", ")}${example}
FROM (SELECT ${column}${text ? `, ifNull(toString(${column}), '') AS _text` : ""} FROM (${rows.join(" UNION ALL ")}))`,
    parameters,
  );
  return numbers(row);
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
  const { counts, capped, looked } = await countRows(ask, table, { bad }, parameters);
  const rows = counts["bad"] ?? 0;
  if (capped) return { rows: Math.min(rows, ENOUGH), exact: rows <= ENOUGH, share: 0 };
  const exact = looked < (isText(table.type) ? TEXTS : SAMPLE);
  return { rows, exact, share: rows / Math.max(1, looked) };
}
