import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { isPromise, shownValue } from "../base/text.js";
import { columnValues, isArqueroTable } from "../result/arquero-table.js";
import { resultOfRows, resultOfTable } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { nextBucket } from "../time/bucket.js";
import { readInstant } from "../time/instant.js";
import { DAY, readSpan } from "../time/span.js";
import { between } from "../time/time-range.js";
import { checkNamed, nameColumns, type ColumnMeaning } from "./named-columns.js";

/**
 * Rows of your own as a Result that charts, tables, `join`, `change` and findings take as they take an
 * answer: plain objects or an Arquero table, and what their columns hold, named as those of free SQL. Texts
 * in a column of time are read in UTC. A missing row is unknown, not zero.
 *
 * @param columns the span of a time column's buckets (`"day"`), `"dimension"`, `"version"`, or a measure.
 * @throws ProbelabError for what are no rows, a column that isn't there or holds something else, and a
 *   time at which no bucket begins.
 * @example
 * const outages = rows(await aq.loadCSV("outages.csv"), { t: "day", probe_cc: "dimension", hours: sum("hours") });
 * chart.line(counts.join(outages), { y: "hours" });
 */
export function rows<Row extends object = Record<string, never>>(
  given: ColumnTable | readonly Row[],
  columns: Readonly<Record<string, ColumnMeaning>> = {},
): Result<Row> {
  const list: readonly unknown[] | undefined = Array.isArray(given) ? given : undefined;
  if (!isArqueroTable(given) && !list?.every((row) => typeof row === "object" && row !== null)) {
    const remedy = isPromise(given)
      ? "write await before it, rows(await aq.loadCSV(path), …)"
      : 'pass an Arquero table or plain objects, rows([{ t: "2026-05-04", runs: 12 }], { t: "day" })';
    throw new ProbelabError(`Can't take ${shownValue(given)} as rows: ${remedy}.`);
  }
  const own = isArqueroTable(given) ? resultOfTable(given) : resultOfRows(given);
  const table = withTimes(own.table, columns);
  const none = between(new Date(0), new Date(DAY));
  const named = checkNamed(columns, described(table), none);
  const [name, every] = named.times[0] ?? [];
  const starts = name === undefined ? [] : columnValues(table, name).map(Number);
  const first = starts.reduce((least, start) => Math.min(least, start), Infinity);
  const last = starts.reduce((most, start) => Math.max(most, start), -Infinity);
  const range =
    every === undefined || starts.length === 0
      ? none
      : between(new Date(first), nextBucket(new Date(last), every, "UTC"));
  const meant = nameColumns(table, named, range, true);
  const twice = meant.columns.dimensions.flatMap(({ name }) => spelledTwice(table, name));
  return new Result(meant.table, {
    ...own.origin,
    columns: meant.columns,
    notes: [...own.origin.notes, ...twice],
  });
}

/** Says which values of a column differ only in their case or in the AS before a number. */
function spelledTwice(table: ColumnTable, column: string): string[] {
  const seen = new Map<string, unknown>();
  for (const value of new Set(columnValues(table, column) as (string | number)[])) {
    const plain = String(value)
      .toLowerCase()
      .replace(/^as(?=\d+$)/, "");
    if (!seen.has(plain)) seen.set(plain, value);
    else
      return [
        `${column} holds ${shownValue(seen.get(plain))} and ${shownValue(value)}: they count as two.`,
      ];
  }
  return [];
}

/** The table with the texts of its columns of time as Dates. */
function withTimes(table: ColumnTable, columns: Readonly<Record<string, unknown>>): ColumnTable {
  const times = Object.keys(Object(columns) as object).filter(
    (name) => readSpan(columns[name]) !== undefined && table.columnNames().includes(name),
  );
  if (times.length === 0) return table;
  return table.assign(
    Object.fromEntries(
      times.map((name) => [
        name,
        columnValues(table, name).map((value) => {
          refuseLocal(value, name);
          return readInstant(value, "UTC", `column ${JSON.stringify(name)}`);
        }),
      ]),
    ),
  );
}

/** @throws ProbelabError for a Date that is midnight in the machine's zone, and not in UTC. */
function refuseLocal(value: unknown, name: string): void {
  if (!(value instanceof Date) || value.getTimezoneOffset() === 0 || +value % DAY === 0) return;
  if (value.getHours() + value.getMinutes() + value.getSeconds() > 0) return;
  const column = JSON.stringify(name);
  throw new ProbelabError(
    `Can't take ${value.toISOString()} of the column ${column} as a time in UTC: it is midnight in this machine's zone, in which Arquero and Date read "2026-05-01T00:00:00". Keep the column as text: aq.fromCSV(text, { parse: { ${column}: String } }).`,
  );
}

/** ClickHouse's names of the types of what the columns hold. */
function described(table: ColumnTable): Map<string, string> {
  const typed = table.columnNames().map((name): [string, string] => {
    const known = columnValues(table, name).filter((value) => value !== null);
    const all = (fits: (value: unknown) => boolean): boolean =>
      known.length > 0 && known.every(fits);
    const number = (value: unknown): boolean =>
      typeof value === "number" || typeof value === "bigint";
    const type = all((value) => value instanceof Date)
      ? "DateTime64(3)"
      : all(number)
        ? "Float64"
        : "String";
    return [name, type];
  });
  return new Map(typed);
}
