import { DAY } from "../time/span.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { counted, grouped } from "../base/text.js";
import { NAME, nameOf, QUOTED_NAME } from "./sql-text.js";
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
  /** Unit of its numbers or digits; null if the type says it. */
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
  const stored = await tableColumns(
    ask,
    names,
    cluster === undefined ? place : from,
    database,
    name,
  );
  const columns = new Map(stored);
  const configured = new Map(Object.entries(names.columns));
  // The seed document's name for the configured time column; a table may hold something else by it.
  const seedTime = role === undefined || role === "testHelpers" ? "" : SEED_TABLES[role].time;
  if (stored.has(seedTime)) configured.delete(seedTime);
  for (const [known, column] of [[names.time, names.time] as const, ...configured]) {
    const type = stored.get(column);
    if (type !== undefined) {
      columns.set(known, type);
      continue;
    }
    const { message } = unknownColumn(column, name, stored);
    if (role === undefined) throw new ProbelabError(message);
    const key = column === known ? "time" : known;
    if (/^(Tuple|JSON|Object)/.test(stored.get(column.split(".")[0]!) ?? "")) {
      throw new ProbelabError(
        `Can't take ${column} of ${name}, a part of a column: make a view that names it, such as SELECT *, ${column} AS ${known} FROM ${name}.`,
      );
    }
    throw new ProbelabError(
      `${message} Name the column in tables.${role} of probelab.config.json or connect(), such as { "tables": { "${role}": { "${key}": "…" } } }.`,
    );
  }
  const [engine, isFiltered] = await Promise.all([
    tableEngine(ask, database, name, from, cluster),
    hasRowPolicy(ask, `${quoteIdentifier(names.time)} FROM ${from}`),
  ]);
  const type = stored.get(names.time) as string;
  const timed: TimedTable = {
    name,
    from,
    type,
    column: names.time,
    unit: names.unit,
    rows: engine.rows,
    empty:
      engine.rows === null
        ? (await ask(`SELECT 1 FROM ${from} LIMIT 1`)).length === 0
        : engine.rows === 0,
    sorted: engine.sortedBy === names.time,
    role,
  };
  const form = await learnForm(ask, timed);
  const time = timeColumn(names.time, type, form);
  const notes = [...engine.notes];
  if (isFiltered) {
    notes.push(
      `A row policy hides rows of ${name} from the database's user: answers are of those left.`,
    );
  }
  // A helper without a draining_at is a live one.
  if (role !== "testHelpers" && role !== undefined) {
    const { rows, exact, share } = await unusableRows(ask, timed, time);
    if (rows > 0) {
      const most = share < 0.5 ? "" : ` (${Math.floor(share * 100)} % of those looked at)`;
      const some = `${exact ? "" : "At least "}${counted(rows, "row")}${most}`;
      notes.push(
        `${some} of ${name} ${rows === 1 ? "has" : "have"} no usable ${names.time} and ${rows === 1 ? "is" : "are"} left out.`,
      );
    }
  }
  if (time.resolution === "day") {
    notes.push(
      `${names.time} of ${name} is a ${type}: each row counts at midnight UTC of its day.`,
    );
  }
  return {
    name,
    from,
    columns,
    column(column) {
      if (!columns.has(column)) throw unknownColumn(column, name, columns);
      const own = configured.get(column) ?? column;
      const isName = cluster === undefined && OUR_NAMES.test(own);
      return isName ? `${from}.${quoteIdentifier(own)}` : quoteIdentifier(own);
    },
    engine: engine.engine,
    merges: engine.merges,
    notes,
    settled: !timed.empty,
    timeName: names.time,
    timeForm: form,
    time,
  };
}

/** Names that our SQL gives, which ClickHouse would take for a column of the same name. */
const OUR_NAMES =
  /^_(rows|t|n|first|last|no_report|unusable|step|shared|entity|cells?|text|[a-z]\d+)$/;

/** Column to type, of the columns that the user may read; an EPHEMERAL one holds nothing. */
async function tableColumns(
  ask: AskRows,
  names: TableNames,
  described: string,
  database: string,
  table: string,
): Promise<Map<string, string>> {
  type Column = { name: string; type: string; default_type: string };
  let columns: Column[] = [];
  try {
    columns = await ask<Column>(`DESCRIBE TABLE ${described}`);
  } catch (error) {
    const { code = "", message } = error as ProbelabError;
    if (code === "ACCESS_DENIED" && names.cluster === undefined) {
      // A user with grants of single columns sees those here.
      columns = await ask<Column>(
        "SELECT name, type, default_kind AS default_type FROM system.columns WHERE database = {database:String} AND table = {table:String} ORDER BY position",
        { database, table },
      );
    }
    if (/^UNKNOWN_(TABLE|DATABASE)$/.test(code) && /^[^`]+\.[^`]+$/.test(names.table)) {
      throw new ProbelabError(
        `${message} If ${names.table} is the table's name, not database.table, write it in backquotes: "\`${names.table}\`".`,
        { cause: error, code },
      );
    }
    if (columns.length === 0) throw error;
  }
  if (columns.length === 0) {
    throw new ProbelabError(
      `Can't ask ${names.table}: the server shows no column of it, as of a view with parameters. Name a table, or a view without parameters.`,
    );
  }
  const stored = columns.filter(({ default_type }) => default_type !== "EPHEMERAL");
  return new Map(stored.map(({ name, type }) => [name, type]));
}

/** An error that names the nearest column and lists what there is. */
export function unknownColumn(
  name: string,
  table: string,
  columns: ReadonlyMap<string, string>,
): ProbelabError {
  const known = [...columns.keys()];
  const near = nearName(name, known);
  const shown = known.length > 200 ? known.slice(0, 20) : known;
  const more = known.length - shown.length;
  return new ProbelabError(
    `Can't find a column ${JSON.stringify(name)} in ${table}${near === undefined ? "." : `: did you mean ${near}?`} It has ${shown.join(", ")}${more > 0 ? ` and ${grouped(more)} more` : ""}.`,
    { code: "UNKNOWN_COLUMN" },
  );
}

/** A table's engine and keys; `engine` is "" if the server does not show it. */
interface TableEngine extends Pick<TableInfo, "engine" | "merges" | "notes"> {
  /** First column of the sort key; "" if unknown. */
  readonly sortedBy: string;
  /** Number of rows; null if the server does not count them. */
  readonly rows: number | null;
}

/** Engines whose rows change when parts merge, plain, Replicated… and Shared…. */
const MERGING = /(Replacing|Collapsing|Coalescing|Aggregating|Summing|Graphite)MergeTree/;
/** Engines that hold rows as they were written. */
const PLAIN = /^(Replicated|Shared)?MergeTree$|^(Memory|Log|TinyLog|StripeLog)$/;
/** Distributed('cluster', 'database', 'table'[, sharding key]), names bare or quoted. */
const DISTRIBUTED =
  /^Distributed\(('(?:[^'\\]|\\[^])*'|\w+), ('(?:[^'\\]|\\[^])*'|\w*), ('(?:[^'\\]|\\[^])*'|\w+)/;

/**
 * Looks at a table's engine, as far as the user may see it. How rows are spread over a cluster changes
 * no answer but that of FINAL.
 */
async function tableEngine(
  ask: AskRows,
  database: string,
  name: string,
  from: string,
  named: string | undefined,
): Promise<TableEngine> {
  let place = { cluster: named, database, table: name };
  let shown = named === undefined ? await showTables(ask, place) : [];
  if (shown[0]?.engine === "Distributed") {
    const names = DISTRIBUTED.exec(shown[0].engine_full)?.slice(1) ?? [];
    const [cluster, of, table = ""] = names.map((text) =>
      nameOf(text.replace(/^'(.*)'$/s, '"$1"')),
    );
    place = { cluster, database: of || database, table };
  }
  const isSpread = place.cluster !== undefined;
  if (isSpread) {
    shown = await showTables(ask, place).catch(() => []);
    if (shown.length === 0) shown = await showTables(ask, { ...place, cluster: undefined });
  }
  const kinds = [...new Set(shown.map(({ engine }) => engine))].sort();
  const over = kinds.join(" and ");
  const engine = isSpread ? `Distributed${over && ` over ${over}`}` : over;
  const merges = kinds.length > 0 && kinds.every((kind) => MERGING.test(kind));
  const notes: string[] = [];
  if (engine !== "" && !merges && !(kinds.length > 0 && kinds.every((kind) => PLAIN.test(kind)))) {
    notes.push(`Can't tell whether ${name}, a ${engine}, merges rows: copies would count.`);
  } else if (isSpread && merges) {
    notes.push(
      `Each server of the cluster ${place.cluster} merges its own rows of ${name}: a row that two of them hold counts twice.`,
    );
  }
  let { rows = null } = shown[0] ?? {};
  // Of tables whose rows the server counts, this is no scan.
  if (isSpread && rows !== null) {
    [{ rows }] = (await ask<{ rows: string }>(`SELECT count() AS rows FROM ${from}`)) as [Shown];
  }
  // The key's first expression, where it is a plain column.
  const key = new RegExp(`^(${NAME})\\s*(,|$)`).exec(shown[0]?.sorting_key.trim() ?? "");
  return {
    engine,
    merges,
    sortedBy: nameOf(key?.[1] ?? ""),
    rows: rows === null ? null : Number(rows),
    notes,
  };
}

/** True if a row policy filters what the user reads; on other servers of a cluster it can't be seen. */
async function hasRowPolicy(ask: AskRows, columns: string): Promise<boolean> {
  const plan = await ask<{ explain: string }>(`EXPLAIN actions = 1 SELECT ${columns}`).catch(
    () => [],
  );
  return plan.some(({ explain }) => /row.level/i.test(explain));
}

function onCluster(cluster: string, place: string): string {
  return `cluster(${quoteIdentifier(cluster)}, ${place})`;
}

type Shown = Readonly<Record<"engine" | "engine_full" | "sorting_key", string>> & {
  readonly rows: string | null;
};

/** A table's row of system.tables, on a cluster one of each server; none for a user who is kept from it. */
async function showTables(
  ask: AskRows,
  {
    cluster,
    database,
    table,
  }: Readonly<Record<"database" | "table", string>> & { readonly cluster: string | undefined },
): Promise<Shown[]> {
  const tables = cluster === undefined ? "system.tables" : onCluster(cluster, "system.tables");
  return ask<Shown>(
    `SELECT engine, engine_full, sorting_key, toString(total_rows) AS rows
FROM ${tables} WHERE database = {database:String} AND name = {table:String}`,
    { database, table },
  ).catch((error: ProbelabError) => {
    if (error.code === "ACCESS_DENIED") return [];
    throw error;
  });
}

/** `database.table`, quoted or not, as its two names. */
export function tableName(text: string, database: string): [database: string, table: string] {
  const names = text.match(new RegExp(`${QUOTED_NAME}|[^.\`]+`, "g")) ?? [];
  const [first = "", ...rest] = names.map((name) => (name[0] === "`" ? nameOf(name) : name));
  return rest.length === 0 ? [database, first] : [first, rest.join(".")];
}

/** A table for FROM. */
export function quotedTable(database: string, table: string): string {
  return `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;
}

/** The end of a table's rows, and how many stray ones stand behind it, up to when. */
export interface NewestRow {
  readonly at: Date;
  readonly stray: number;
  readonly last: Date;
}

/** At most this many rows after a gap are taken for clocks ahead. */
const MOST_STRAY = 10;
/** So many rows before the gap say how far apart rows are. */
const USUAL_ROWS = 100;
/** A gap is so many times as long as rows are apart, and at least a day. */
const GAP = 20;

/**
 * The time of a table's newest row, null where it has none; rows in the future are none, and a few rows
 * behind a gap of a day or more are those of clocks ahead. It looks beyond any range, so only an embedded
 * database may be asked: where its table is sorted by time, ClickHouse reads only the end of it.
 */
export async function newestRow(ask: AskRows, table: TableInfo): Promise<NewestRow | null> {
  const { time } = table;
  const bounds = boundsSql(time, { start: PLAUSIBLE.start, end: new Date() });
  const found = await ask<{ at: number }>(
    `SELECT toUnixTimestamp64Milli(toDateTime64(${time.dateTime("_raw")}, 3)) AS at
FROM (SELECT ${time.sql} AS _raw FROM ${table.from} WHERE ${bounds.sql} ORDER BY _raw DESC LIMIT ${MOST_STRAY + USUAL_ROWS})
ORDER BY at DESC`,
    bounds.parameters,
  );
  const times = found.map(({ at }) => Number(at));
  if (times.length === 0) return null;
  const isGap = (at: number): boolean => {
    const usual = (times[at]! - times[at + USUAL_ROWS - 1]!) / USUAL_ROWS;
    return times[at - 1]! - times[at]! >= Math.max(DAY, GAP * usual);
  };
  const places = Array.from({ length: MOST_STRAY }, (_, at) => MOST_STRAY - at);
  const stray = times.length < MOST_STRAY + USUAL_ROWS ? 0 : (places.find(isGap) ?? 0);
  return { at: new Date(times[stray]!), stray, last: new Date(times[0]!) };
}
