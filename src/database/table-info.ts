import { ProbelabError } from "../error.js";
import type { TableNames } from "./tables.js";
import { plainType, quoteIdentifier, timeColumn, type TimeColumn } from "./time-column.js";

/** What the server says of a table. */
export interface TableInfo {
  /** As errors and notes name it. */
  readonly name: string;
  /** The same for FROM: quoted, with its database. */
  readonly from: string;
  /**
   * Every name that a question may use to ClickHouse type, in the table's order: the table's own
   * columns, and the names that the configuration gives them.
   */
  readonly columns: ReadonlyMap<string, string>;
  /** SQL of a column. @throws ProbelabError for a name that the table has not. */
  column(name: string): string;
  /** Such as `MergeTree` or `ReplacingMergeTree`. */
  readonly engine: string;
  /** True where the engine merges rows in the background, so that FINAL tells them as merged. */
  readonly merges: boolean;
  /** What the reader of every answer must know of the table, a sentence each. */
  readonly notes: readonly string[];
  /** The column that bounds the table's queries in time. */
  readonly time: TimeColumn;
  /** Its name. */
  readonly timeName: string;
}

/** Asks a small question; rows as objects of text and numbers. */
export type AskRows = <Row extends object>(
  sql: string,
  parameters?: Record<string, unknown>,
  action?: string,
) => Promise<Row[]>;

/** A value of a column whose unit is known where an empty table shows none: systemd's are microseconds. */
const ASSUMED = new Map([["__REALTIME_TIMESTAMP", "1700000000000000"]]);

/**
 * Learns a table's columns, its engine, and how its time column writes an instant.
 *
 * @throws ProbelabError when the table or the time column is missing.
 */
export async function learnTable(
  ask: AskRows,
  database: string,
  { table: name, time: timeName }: TableNames,
): Promise<TableInfo> {
  const table = `${quoteIdentifier(database)}.${quoteIdentifier(name)}`;
  const described = await ask<{ name: string; type: string }>(`DESCRIBE TABLE ${table}`);
  const columns = new Map(described.map((column) => [column.name, column.type]));
  const type = columns.get(timeName);
  if (type === undefined) throw unknownColumn(timeName, name, columns);
  const [engine] = await ask<{ engine: string }>(
    "SELECT engine FROM system.tables WHERE database = {database:String} AND name = {name:String}",
    { database, name },
  );
  const needsSample = /^(U?Int|String|FixedString)/.test(plainType(type));
  const column = quoteIdentifier(timeName);
  const [sample] = needsSample
    ? await ask<{ value: string }>(
        `SELECT toString(${column}) AS value FROM ${table} WHERE isNotNull(${column}) LIMIT 1`,
      )
    : [];
  return {
    name,
    from: quoteIdentifier(name),
    columns,
    column(column) {
      if (!columns.has(column)) throw unknownColumn(column, name, columns);
      return quoteIdentifier(column);
    },
    engine: engine?.engine ?? "",
    merges: /(Replacing|Collapsing|Coalescing)/.test(engine?.engine ?? ""),
    notes: [],
    timeName,
    time: timeColumn(timeName, type, sample?.value ?? ASSUMED.get(timeName) ?? null),
  };
}

/** An error that lists what there is, the nearest names first. */
export function unknownColumn(
  name: string,
  table: string,
  columns: ReadonlyMap<string, string>,
): ProbelabError {
  const near = [...columns.keys()]
    .map((column) => ({ column, distance: editDistance(column.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = near[0];
  const meant =
    best && best.distance <= Math.max(2, name.length / 3) ? `: did you mean ${best.column}?` : ".";
  return new ProbelabError(
    `Can't find a column ${JSON.stringify(name)} in ${table}${meant} It has ${[...columns.keys()].join(", ")}.`,
  );
}

/** Levenshtein's distance: how many letters must be added, dropped or changed. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
