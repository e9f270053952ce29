import { ProbelabError } from "../base/error.js";
import { editDistance } from "../base/near-name.js";
import { quotedTable, tableEngine, tableName } from "./table-engine.js";
import { SEED_TABLES, type TableNames, type TableRole } from "./tables.js";
import { quoteIdentifier, timeColumn, type TimeColumn } from "./time-column.js";
import { learnForm, unusableRows, type TimedTable } from "./time-form.js";

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
  /** What could not be told of the table, a sentence each: for `probelab doctor`. */
  readonly untold: readonly string[];
  /** False where the table was empty, so that it has to be learned again. */
  readonly settled: boolean;
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

/**
 * Learns a table: its columns, the names that the configuration gives them, its engine, and how its
 * time column writes an instant, told by many of its rows.
 *
 * @param role whose table it is; without one it is a table that free SQL names.
 * @throws ProbelabError when the table or a configured column is missing, or when its rows don't
 *   agree on how they write an instant.
 */
export async function learnTable(
  ask: AskRows,
  defaultDatabase: string,
  names: TableNames,
  role?: TableRole,
): Promise<TableInfo> {
  const [database, name] = tableName(names.table, defaultDatabase);
  const from = database === defaultDatabase ? quoteIdentifier(name) : quotedTable(database, name);
  const described = await ask<{ name: string; type: string }>(
    `DESCRIBE TABLE ${quotedTable(database, name)}`,
  );
  const own = new Map(described.map((column) => [column.name, column.type]));
  const columns = new Map(own);
  const configured = new Map(Object.entries(names.columns));
  // The seed document's name for the configured time column; a table may hold something else by it.
  const seedTime = role === undefined || role === "testHelpers" ? "" : SEED_TABLES[role].time;
  if (own.has(seedTime)) configured.delete(seedTime);
  for (const [known, column] of [[names.time, names.time] as const, ...configured]) {
    const type = own.get(column);
    if (type === undefined) throw missingColumn(known, column, name, own, role);
    columns.set(known, type);
  }
  const engine = await tableEngine(ask, database, name);
  const type = own.get(names.time) as string;
  const timed: TimedTable = {
    ...{ name, from, type, column: names.time, unit: names.unit, rows: engine.rows },
    sorted: engine.sortedBy === names.time,
    remedy:
      role === undefined
        ? "Bound the query with {start:DateTime64(3)} and {end:DateTime64(3)} in its own SQL instead of {range}."
        : `Set "unit" in tables.${role} of probelab.config.json or connect(), such as { "tables": { "${role}": { "unit": "microseconds" } } }; rows that write another are left out then.`,
  };
  const form = await learnForm(ask, timed);
  const time = timeColumn(names.time, type, form);
  const left =
    // A helper without a draining_at is a live one.
    role === "testHelpers" || role === undefined ? null : await unusableRows(ask, timed, time);
  const settled =
    engine.rows === null
      ? (await ask(`SELECT 1 FROM ${from} LIMIT 1`)).length > 0
      : engine.rows > 0;
  return {
    name,
    from,
    columns,
    column(column) {
      if (!columns.has(column)) throw unknownColumn(column, name, columns);
      return quoteIdentifier(configured.get(column) ?? column);
    },
    engine: engine.engine,
    merges: engine.merges,
    notes: [...engine.notes, ...timeNotes(timed, time, left)],
    untold: [...engine.untold, ...untoldOf(timed, left)],
    settled,
    timeName: names.time,
    time,
  };
}

type Unusable = Awaited<ReturnType<typeof unusableRows>>;

function timeNotes(table: TimedTable, time: TimeColumn, left: Unusable | null): string[] {
  const notes: string[] = [];
  if (left !== null && left.rows > 0) {
    const rows = `${left.exact ? "" : "At least "}${left.rows.toLocaleString("en-US")} ${left.rows === 1 ? "row" : "rows"}`;
    const [have, are] = left.rows === 1 ? ["has", "is"] : ["have", "are"];
    notes.push(`${rows} of ${table.name} ${have} no usable ${table.column} and ${are} left out.`);
  }
  if (time.resolution === "day") {
    notes.push(
      `${table.column} of ${table.name} is a ${table.type}: each row counts at midnight UTC of its day.`,
    );
  }
  return notes;
}

function untoldOf({ name, column, rows }: TimedTable, left: Unusable | null): string[] {
  if (left === null || left.exact || left.looked === null) return [];
  const all = rows === null ? "" : ` of ${rows.toLocaleString("en-US")}`;
  return [
    `Only ${left.looked.toLocaleString("en-US")}${all} rows of ${name} were looked at for a ${column} that can't be used, since it is not sorted by it in a type that tells.`,
  ];
}

function missingColumn(
  known: string,
  column: string,
  table: string,
  columns: ReadonlyMap<string, string>,
  role: TableRole | undefined,
): ProbelabError {
  const error = unknownColumn(column, table, columns);
  if (role === undefined) return error;
  const key = column === known ? "time" : known;
  return new ProbelabError(
    `${error.message} Name the column in tables.${role} of probelab.config.json or connect(), such as { "tables": { "${role}": { "${key}": "…" } } }.`,
  );
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
