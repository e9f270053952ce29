import { ProbelabError } from "../base/error.js";
import { editDistance } from "../base/near-name.js";
import { NAME, nameOf, QUOTED_NAME, sqlParts } from "./sql-text.js";
import { SEED_TABLES, type AskRows, type TableNames, type TableRole } from "./tables.js";
import {
  boundsSql,
  PLAUSIBLE,
  quoteIdentifier,
  timeColumn,
  type StoredTime,
  type TimeForm,
} from "./time-column.js";
import { learnForm, type TimedTable, unusableRows } from "./time-form.js";

/** A table as the server describes it. */
export interface TableInfo {
  /** Its name in errors and notes. */
  readonly name: string;
  /** For FROM: quoted, with its database, on all servers of its cluster. */
  readonly from: string;
  /**
   * Every name that a question may use to ClickHouse type, in the table's order: the table's own
   * columns, and the names that the configuration gives them.
   */
  readonly columns: ReadonlyMap<string, string>;
  /** SQL of a column. @throws ProbelabError for a name that the table has not. */
  column(name: string): string;
  /** Such as `MergeTree`, `ReplacingMergeTree` or `Distributed over MergeTree`. */
  readonly engine: string;
  /** True if the engine merges rows in the background: FINAL reads them as merged. */
  readonly merges: boolean;
  /** Notes for the reader of every answer, a sentence each. */
  readonly notes: readonly string[];
  /** False if the table was empty and has to be learned again. */
  readonly settled: boolean;
  /** The column that bounds the table's queries in time. */
  readonly time: StoredTime;
  /** Its name. */
  readonly timeName: string;
  /** Unit of its numbers or form of its text; null if the type says it. */
  readonly timeForm: TimeForm | null;
}

/**
 * Learns a table: its columns, the names that the configuration gives them, its engine, and how its
 * time column writes an instant, inferred from many of its rows.
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
  const place = quotedTable(database, name);
  const { cluster } = names;
  const from =
    cluster !== undefined
      ? onCluster(cluster, place)
      : database === defaultDatabase
        ? quoteIdentifier(name)
        : place;
  const described = await ask<{ name: string; type: string }>(
    `DESCRIBE TABLE ${cluster === undefined ? place : from}`,
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
  const engine =
    cluster === undefined
      ? await tableEngine(ask, database, name)
      : await onShards(ask, name, from, { cluster, database, table: name });
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
    settled,
    timeName: names.time,
    timeForm: form,
    time,
  };
}

type Unusable = Awaited<ReturnType<typeof unusableRows>>;

function timeNotes(table: TimedTable, time: StoredTime, left: Unusable | null): string[] {
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

/** How a table keeps its rows. */
interface TableEngine {
  /** Such as `MergeTree` or `ReplacingMergeTree`; "" where the server does not show it. */
  readonly engine: string;
  /** True if it merges rows in the background. */
  readonly merges: boolean;
  /** First column of the sort key; "" if unknown. */
  readonly sortedBy: string;
  /** Number of rows; null if the server does not count them. */
  readonly rows: number | null;
  /** Notes for the reader of every answer, a sentence each. */
  readonly notes: readonly string[];
}

interface Shown {
  readonly engine: string;
  readonly engine_full: string;
  readonly sorting_key: string;
  readonly rows: string | null;
  readonly as_select: string;
  readonly create_table_query: string;
}

/** Engines whose rows change when parts merge, plain, Replicated… and Shared…. */
const MERGING = /(Replacing|Collapsing|Coalescing|Aggregating|Summing|Graphite)MergeTree/;

/**
 * Looks at a table's engine, and behind a Distributed table or a view at the tables that they read,
 * as far as the user may see them.
 */
async function tableEngine(ask: AskRows, database: string, name: string): Promise<TableEngine> {
  const shown = await showTable(ask, database, name);
  if (shown === undefined) {
    return { engine: "", merges: false, sortedBy: "", rows: null, notes: [] };
  }
  if (shown.engine === "Distributed") {
    // Distributed('cluster', 'database', 'table'[, sharding key[, policy]]), names bare or quoted.
    const [cluster = "", from = "", table = "", sharded] = argumentsOf(shown.engine_full);
    const over = { cluster, database: from || database, table };
    return onShards(ask, name, quotedTable(database, name), { ...over, sharded });
  }
  return engineOf(ask, database, name, shown);
}

async function engineOf(
  ask: AskRows,
  database: string,
  name: string,
  shown: Shown,
): Promise<TableEngine> {
  const own = {
    engine: shown.engine,
    merges: MERGING.test(shown.engine),
    sortedBy: firstKey(shown.sorting_key),
    rows: shown.rows === null ? null : Number(shown.rows),
    notes: [],
  };
  if (shown.engine === "MaterializedView") {
    const [, target] = INTO.exec(shown.create_table_query) ?? [];
    if (target === undefined) return { ...own, merges: MERGING.test(shown.create_table_query) };
    const behind = await showTable(ask, ...tableName(target, database));
    return behind === undefined
      ? own
      : { ...own, merges: MERGING.test(behind.engine), sortedBy: firstKey(behind.sorting_key) };
  }
  if (shown.engine === "View") {
    return { ...own, notes: await viewNotes(ask, database, name, shown.as_select) };
  }
  return own;
}

/** The tables that the shards of a cluster hold. */
interface Shards {
  readonly cluster: string;
  readonly database: string;
  readonly table: string;
  /** The expression that INSERTs through the Distributed table choose a shard by. */
  readonly sharded?: string | undefined;
}

/**
 * Describes a table on a cluster by its part here, or else by that on another server. How rows are
 * spread over the shards changes no answer but that of FINAL; the sharding key holds only for rows
 * that were inserted through the table.
 */
async function onShards(
  ask: AskRows,
  name: string,
  from: string,
  over: Shards,
): Promise<TableEngine> {
  const { cluster, database, table, sharded } = over;
  const local =
    (await showTable(ask, database, table)) ?? (await showTable(ask, database, table, cluster));
  if (local === undefined) {
    return { engine: "Distributed", merges: false, sortedBy: "", rows: null, notes: [] };
  }
  const own = await engineOf(ask, database, table, local);
  // Of tables whose rows the server counts, this is no scan.
  const [all] =
    own.rows === null ? [] : await ask<{ n: number }>(`SELECT count() AS n FROM ${from}`);
  const by = sharded === undefined ? "" : ` (sharded by ${sharded})`;
  const apart = `Each server of the cluster ${cluster} merges its own rows of ${name}${by}: a row that two of them hold counts twice.`;
  return {
    ...own,
    engine: `Distributed over ${own.engine}`,
    rows: all === undefined ? null : Number(all.n),
    notes: [...own.notes, ...(own.merges ? [apart] : [])],
  };
}

function onCluster(cluster: string, place: string): string {
  return `cluster(${quoteIdentifier(cluster)}, ${place})`;
}

/** The arguments of an engine as the server writes it, unquoted. */
function argumentsOf(engine: string): string[] {
  const found = [""];
  let depth = 0;
  for (const { code, text } of sqlParts(engine)) {
    for (const part of code ? text : [text]) {
      if (part === ")") depth -= 1;
      if (depth === 1 && part === ",") found.push("");
      else if (depth > 0) found[found.length - 1] += part;
      if (part === "(") depth += 1;
      if (depth === 0 && part === ")") return found.map((each) => unquoted(each.trim()));
    }
  }
  return found;
}

function unquoted(text: string): string {
  return /^'.*'$/s.test(text) ? nameOf(`"${text.slice(1, -1)}"`) : nameOf(text);
}

const PLACE = `(?:(?:${NAME})\\.)?(?:${NAME})`;
/** The table that a materialized view writes to. */
const INTO = new RegExp(`^CREATE MATERIALIZED VIEW ${PLACE} TO (${PLACE})`);
/** The tables that a view reads, with or without FINAL. */
const READ = new RegExp(`\\b(?:FROM|JOIN) (${PLACE})(?: AS (?:${NAME}))?( FINAL)?`, "g");

/** A view gives the rows of its tables as it asks for them: FINAL in it is the deployment's choice. */
async function viewNotes(
  ask: AskRows,
  database: string,
  name: string,
  select: string,
): Promise<string[]> {
  const notes: string[] = [];
  for (const [, source = "", final] of select.matchAll(READ)) {
    const behind = await showTable(ask, ...tableName(source, database));
    if (behind === undefined || !MERGING.test(behind.engine) || final !== undefined) continue;
    notes.push(
      `${name} is a view of ${source}, a ${behind.engine}, without FINAL: rows that are not merged yet count as often as they are there.`,
    );
  }
  return notes;
}

async function showTable(
  ask: AskRows,
  database: string,
  name: string,
  cluster?: string,
): Promise<Shown | undefined> {
  try {
    const [shown] = await ask<Shown>(
      `SELECT engine, engine_full, sorting_key, toString(total_rows) AS rows, as_select, create_table_query
FROM ${cluster === undefined ? "system.tables" : onCluster(cluster, "system.tables")} WHERE database = {database:String} AND name = {name:String} LIMIT 1`,
      { database, name },
    );
    return shown;
  } catch (error) {
    // A reader may be kept from the system tables.
    if (error instanceof ProbelabError && error.code === "ACCESS_DENIED") return undefined;
    throw error;
  }
}

/** `database.table`, quoted or not, as its two names. */
export function tableName(text: string, database: string): [database: string, table: string] {
  const names = text.match(new RegExp(`${QUOTED_NAME}|[^.\`]+`, "g")) ?? [];
  const [first = "", ...rest] = names.map((name) => (name[0] === "`" ? nameOf(name) : name));
  return rest.length === 0 ? [database, first] : [first, rest.join(".")];
}

/** The first of a list of expressions, where it is a plain column; "" where it is none. */
function firstKey(key: string): string {
  const [, first = ""] = new RegExp(`^(${NAME})\\s*(,|$)`).exec(key.trim()) ?? [];
  return nameOf(first);
}

/** A table for FROM. */
export function quotedTable(database: string, table: string): string {
  return `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;
}

/**
 * The time of a table's newest row, null where it has none; rows in the future are none. It looks
 * beyond any range, so only an embedded database may be asked: where its table is sorted by time,
 * ClickHouse reads only the end of it.
 */
export async function newestRow(ask: AskRows, table: TableInfo): Promise<Date | null> {
  const { time } = table;
  const bounds = boundsSql(time, { start: PLAUSIBLE.start, end: new Date() });
  const where = [bounds.sql, ...(time.usable === null ? [] : [time.usable])].join(" AND ");
  const [row] = await ask<{ newest: number }>(
    `SELECT toUnixTimestamp64Milli(toDateTime64(${time.dateTime("_raw")}, 3)) AS newest
FROM (SELECT ${time.sql} AS _raw FROM ${table.from} WHERE ${where} ORDER BY ${time.sql} DESC LIMIT 1)`,
    bounds.parameters,
  );
  return row === undefined ? null : new Date(Number(row.newest));
}
