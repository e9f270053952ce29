import { ProbelabError } from "../base/error.js";
import type { AskRows } from "./tables.js";
import {
  boundsSql,
  EARLIEST,
  PLAUSIBLE,
  plainType,
  quoteIdentifier,
  TEXT_FORMS,
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
  /** The unit or form that the configuration names. */
  readonly unit: string | undefined;
  /** The remedy of its errors. */
  readonly remedy: string;
}

/** Rows of a form counted at most in a table that is sorted by time. */
const MANY = 10_000;

/** Rows read of a table that is not sorted by time, or whose time is text. */
const LOOKED_AT = 1_000_000;

/** Forms of columns in empty tables: systemd counts microseconds. */
const ASSUMED = new Map<string, TimeForm>([["__REALTIME_TIMESTAMP", { unit: "microseconds" }]]);

interface Found {
  readonly form: TimeForm;
  readonly rows: number;
}

/**
 * Infers the form of a column of numbers or text from many of its rows: the units, in their plausible
 * years, have no number in common. At most one row in a hundred may have another form; it has no
 * usable time.
 *
 * @returns null for a type that needs no form.
 * @throws ProbelabError if rows disagree, or if there are rows and none is an instant.
 */
export async function learnForm(ask: AskRows, table: TimedTable): Promise<TimeForm | null> {
  const plain = plainType(table.type);
  const text = /^(String|FixedString)/.test(plain);
  const wide = /^(U?Int64|Float64)$/.test(plain);
  const wanted = wantedForm(table, text, wide);
  if (!text && !wide) return /^U?Int32$/.test(plain) ? { unit: "seconds" } : null;
  if (wanted !== null && !("text" in wanted)) return wanted;
  const all = text ? await textForms(ask, table) : await units(ask, table);
  const found = all
    .filter(({ form }) => wanted === null || ("text" in form && form.text === wanted.text))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows);
  const [best, ...others] = found;
  if (best === undefined) {
    if (wanted !== null) return wanted;
    const [any] = await ask(`SELECT 1 FROM ${table.from} LIMIT 1`);
    const assumed = ASSUMED.get(table.column);
    if (any === undefined) return (assumed && { ...assumed, digits: text }) ?? null;
    throw new ProbelabError(
      `Can't infer how ${table.column}, a ${table.type} of ${table.name}, writes an instant: no row read lies in 1990 to 2100 ${text ? "as text such as 2026-05-01 12:00:00 or in digits that count" : "in"} seconds, milliseconds, microseconds or nanoseconds since 1970. ${table.remedy}`,
    );
  }
  if (wanted !== null) return best.form;
  const capped = !text && table.sorted;
  const rest = others.reduce((sum, { rows }) => sum + rows, 0);
  const most = capped ? Math.max(best.rows, (table.rows ?? 0) - rest) : best.rows;
  if (others.some(({ rows }) => rows * 100 > most + rest || (capped && rows >= MANY))) {
    const counts = found.map(({ form, rows }) => {
      const atLeast = capped && rows >= MANY ? " or more" : "";
      return `${rows.toLocaleString("en-US")}${atLeast} rows write ${formName(form)}`;
    });
    throw new ProbelabError(
      `Can't infer how ${table.column}, a ${table.type} of ${table.name}, writes an instant: ${counts.join(", ")}. ${table.remedy}`,
    );
  }
  return best.form;
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
  const outside = [
    `${time.sql} < {low:${low.type}}`,
    `${time.sql} >= {high:${high.type}}`,
    ...(/Nullable\(/.test(table.type) ? [`isNull(${time.sql})`] : []),
    ...(float ? [`isNaN(${time.sql})`] : []),
    ...(time.usable === null ? [] : [`NOT ${time.usable}`]),
  ].join(" OR ");
  const parameters = { low: low.value, high: high.value };
  if (table.sorted && time.usable === null && !float) {
    const [row] = await ask<{ bad: number }>(
      `SELECT count() AS bad FROM (SELECT 1 FROM ${table.from} WHERE ${outside} LIMIT ${MANY + 1})`,
      parameters,
    );
    const rows = Number(row?.bad ?? 0);
    return { rows: Math.min(rows, MANY), exact: rows <= MANY };
  }
  const [row] = await ask<{ looked: number; bad: number }>(
    `SELECT count() AS looked, countIf(${outside}) AS bad FROM (SELECT ${time.sql} FROM ${table.from} LIMIT ${LOOKED_AT})`,
    parameters,
  );
  const looked = Number(row?.looked ?? 0);
  return { rows: Number(row?.bad ?? 0), exact: looked < LOOKED_AT };
}

/** The configured form, checked against the type. */
function wantedForm(
  { column, type, unit }: TimedTable,
  text: boolean,
  wide: boolean,
): TimeForm | null {
  if (unit === undefined) return null;
  if (unit in UNITS && (text || wide)) return { unit: unit as Unit, digits: text };
  const form = TEXT_FORMS.find((one) => one === unit);
  if (form !== undefined && text) return { text: form };
  throw new ProbelabError(
    `Can't use unit ${JSON.stringify(unit)} for ${column}, a ${type}: ${wide ? `write ${Object.keys(UNITS).join(", ")}` : "its type says itself what it holds; leave unit out"}.`,
  );
}

/** Counts the rows in each unit's plausible years, up to MANY each if the table is sorted by time. */
async function units(ask: AskRows, table: TimedTable): Promise<Found[]> {
  const column = quoteIdentifier(table.column);
  const parameters: Record<string, unknown> = {};
  const counts = (Object.keys(UNITS) as Unit[]).map((unit) => {
    const bounds = boundsSql(timeColumn(table.column, table.type, { unit }), PLAUSIBLE, unit);
    Object.assign(parameters, bounds.parameters);
    return table.sorted
      ? `(SELECT count() FROM (SELECT 1 FROM ${table.from} WHERE ${bounds.sql} LIMIT ${MANY})) AS ${unit}`
      : `countIf(${bounds.sql}) AS ${unit}`;
  });
  const from = table.sorted ? "" : ` FROM (SELECT ${column} FROM ${table.from} LIMIT ${LOOKED_AT})`;
  const [row] = await ask<Record<Unit, number>>(`SELECT ${counts.join(", ")}${from}`, parameters);
  return (Object.keys(UNITS) as Unit[]).map((unit) => ({
    form: { unit },
    rows: Number(row?.[unit] ?? 0),
  }));
}

/** Counts the rows of a text column by form, of those that can be a time of 1990 to 2100. */
async function textForms(ask: AskRows, table: TimedTable): Promise<Found[]> {
  const column = quoteIdentifier(table.column);
  const some = `SELECT ${column} AS raw FROM ${table.from} WHERE ${column} >= '1' AND ${column} < '5'`;
  // If not all rows are read, the oldest and the newest are: forms change with the years.
  const ends = table.sorted && (table.rows === null || table.rows > LOOKED_AT);
  const rows = [
    `SELECT raw FROM (${some} LIMIT ${LOOKED_AT})`,
    ...(ends
      ? [
          `SELECT raw FROM (${some} ORDER BY ${column} LIMIT ${LOOKED_AT / 10})`,
          `SELECT raw FROM (${some} ORDER BY ${column} DESC LIMIT ${LOOKED_AT / 10})`,
        ]
      : []),
  ].join(" UNION ALL ");
  // A shape: every digit is a 9, and +00:00 a U, since another offset is another time.
  const shapes = await ask<{ shape: string; rows: number }>(
    `SELECT translate(replaceRegexpOne(text, '[+]00:00$', 'U'), '012345678', '999999999') AS shape,
  countIf(match(shape, '^9+$') OR (text >= '1990' AND text < '2100'
    AND match(text, '^.{11}([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]')
    AND isNotNull(parseDateTime64BestEffortOrNull(text, 6, 'UTC')))) AS rows
FROM (SELECT assumeNotNull(toString(raw)) AS text FROM (${rows}))
GROUP BY shape ORDER BY rows DESC, shape LIMIT 1000`,
  );
  const found = new Map<string, Found>();
  for (const { shape, rows } of shapes) {
    const form = formOfShape(shape);
    if (form === null) continue;
    const key = JSON.stringify(form);
    found.set(key, { form, rows: (found.get(key)?.rows ?? 0) + Number(rows) });
  }
  return [...found.values()];
}

/** The form that a shape stands for. */
function formOfShape(shape: string): TimeForm | null {
  const unit = (Object.keys(UNITS) as Unit[]).find(
    (one) => shape === "9".repeat(9 + String(UNITS[one]).length),
  );
  if (unit !== undefined) return { unit, digits: true };
  const [, between, fraction, zone] = /^9999-99-99([ T])99:99:99([.]9+)?([ZU])?$/.exec(shape) ?? [];
  const written = `YYYY-MM-DD${between}hh:mm:ss${zone === "U" ? "+00:00" : (zone ?? "")}`;
  const text = TEXT_FORMS.find((one) => one === written);
  if (text === undefined) return null;
  return zone === "Z" ? { text, fraction: Math.max(0, (fraction ?? "").length - 1) } : { text };
}

function formName(form: TimeForm): string {
  if ("unit" in form) return `${form.unit}${form.digits ? " in digits" : ""}`;
  const { text, fraction = 0 } = form;
  return fraction > 0 ? text.replace("ss", `ss.${"f".repeat(fraction)}`) : text;
}
