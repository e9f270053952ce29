import { ProbelabError } from "../base/error.js";
import type { AskRows } from "./tables.js";
import {
  boundsSql,
  EARLIEST,
  isText,
  PLAUSIBLE,
  plainType,
  timeColumn,
  UNITS,
  type StoredTime,
  type Unit,
} from "./time-column.js";

/** The column to be learned, and what is known of its table. */
export interface TimedTable {
  readonly name: string;
  /** For FROM. */
  readonly from: string;
  readonly column: string;
  readonly type: string;
  /** Whether the table is sorted by the column, so that a bound reads only what it asks for. */
  readonly sorted: boolean;
  /** How many rows it holds, where the server counts them. */
  readonly rows: number | null;
  /** The unit that the configuration names. */
  readonly unit: string | undefined;
  /** How an analyst names one, for errors. */
  readonly remedy: string;
}

/** Rows of a unit that are counted in a table which is sorted by time: more are "many". */
const MANY = 10_000;

/** Rows that are looked at where the table is not sorted by time, or writes digits as text. */
const LOOKED_AT = 1_000_000;

/** The unit of a column that is known where an empty table shows none: systemd's counts microseconds. */
const ASSUMED = new Map<string, Unit>([["__REALTIME_TIMESTAMP", "microseconds"]]);

/**
 * What a column's numbers, or its digits, count, told by many of its rows: the units, in their
 * plausible years, have no number in common. At most one row in a hundred may write something else:
 * it has no usable time.
 *
 * @returns undefined for a type that needs no unit.
 * @throws ProbelabError where rows disagree, or where there are rows and none is an instant.
 */
export async function learnUnit(ask: AskRows, table: TimedTable): Promise<Unit | undefined> {
  const { column, name, type, unit, remedy } = table;
  const plain = plainType(type);
  const counts = isText(type) || /^(U?Int64|Float64)$/.test(plain);
  if (unit !== undefined) {
    if (counts && unit in UNITS) return unit as Unit;
    throw new ProbelabError(
      `Can't use unit ${JSON.stringify(unit)} for ${column}, a ${type}: ${counts ? `write ${Object.keys(UNITS).join(", ")}` : "its type says itself what it holds; leave unit out"}.`,
    );
  }
  if (!counts) return undefined;
  const [best, ...others] = (await rowsByUnit(ask, table))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows);
  if (best === undefined) {
    const [any] = await ask(`SELECT 1 FROM ${table.from} LIMIT 1`);
    if (any === undefined) return ASSUMED.get(column);
    throw new ProbelabError(
      `Can't tell how ${column}, a ${type} of ${name}, writes an instant: none of the rows looked at is one of 1990 to 2100 in ${isText(type) ? "digits that count " : ""}seconds, milliseconds, microseconds or nanoseconds since 1970. ${remedy}`,
    );
  }
  const capped = isSearched(table);
  const rest = others.reduce((sum, { rows }) => sum + rows, 0);
  const most = capped ? Math.max(best.rows, (table.rows ?? 0) - rest) : best.rows;
  if (others.some(({ rows }) => rows * 100 > most + rest || (capped && rows >= MANY))) {
    const told = [best, ...others].map(({ unit, rows }) => {
      const atLeast = capped && rows >= MANY ? " or more" : "";
      return `${rows.toLocaleString("en-US")}${atLeast} rows write ${unit}`;
    });
    throw new ProbelabError(
      `Can't tell how ${column}, a ${type} of ${name}, writes an instant, since rows disagree: ${told.join(", ")}. ${remedy}`,
    );
  }
  return best.unit;
}

/** True where the table's order finds rows by their time, so that few of them are read. */
function isSearched({ sorted, type }: TimedTable): boolean {
  return sorted && !isText(type);
}

/** How many rows lie in each unit's plausible years: up to MANY of them where the table is sorted by time. */
async function rowsByUnit(
  ask: AskRows,
  table: TimedTable,
): Promise<{ readonly unit: Unit; readonly rows: number }[]> {
  const units = Object.keys(UNITS) as Unit[];
  const parameters: Record<string, unknown> = {};
  const { sql } = timeColumn(table.column, table.type);
  const counts = units.map((unit) => {
    const time = timeColumn(table.column, table.type, unit);
    const bounds = boundsSql(time, PLAUSIBLE, unit);
    Object.assign(parameters, bounds.parameters);
    const where = time.usable === null ? bounds.sql : `${bounds.sql} AND ${time.usable}`;
    return isSearched(table)
      ? `(SELECT count() FROM (SELECT 1 FROM ${table.from} WHERE ${where} LIMIT ${MANY})) AS ${unit}`
      : `countIf(${where}) AS ${unit}`;
  });
  const from = isSearched(table)
    ? ""
    : ` FROM (SELECT ${sql} FROM ${table.from} LIMIT ${LOOKED_AT})`;
  const [row] = await ask<Record<Unit, number>>(`SELECT ${counts.join(", ")}${from}`, parameters);
  return units.map((unit) => ({ unit, rows: Number(row?.[unit] ?? 0) }));
}

/** How many rows have no usable time, and whether that is all of them. */
export async function unusableRows(
  ask: AskRows,
  table: TimedTable,
  time: StoredTime,
): Promise<{ rows: number; exact: boolean; looked: number | null }> {
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
    return { rows: Math.min(rows, MANY), exact: rows <= MANY, looked: null };
  }
  const [row] = await ask<{ looked: number; bad: number }>(
    `SELECT count() AS looked, countIf(${outside}) AS bad FROM (SELECT ${time.sql} FROM ${table.from} LIMIT ${LOOKED_AT})`,
    parameters,
  );
  const looked = Number(row?.looked ?? 0);
  return { rows: Number(row?.bad ?? 0), exact: looked < LOOKED_AT, looked };
}
