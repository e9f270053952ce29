import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { writeStreamed } from "../files/write-whole.js";
import { Result, type Value } from "../result/result.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { answerOrigin, type Database } from "../database/database.js";
import { unboundedReads, type KnownBound, type UnboundedRead } from "../database/bounded-query.js";
import { NAME, nameOf, replaceInCode, sqlCode, sqlParts } from "../database/sql-text.js";
import { checkStatement, explain, nodesOf, type ExplainNode } from "../database/statement.js";
import { type TableInfo, tableName } from "../database/table-info.js";
import { boundsSql } from "../database/time-column.js";
import { valueKind } from "../database/column-type.js";
import { incompleteNotes } from "./grouped-result.js";
import { checkNamed, nameColumns, type ColumnMeaning } from "./named-columns.js";

/** What a free query takes beside its SQL. */
export interface QueryOptions {
  /** The time to ask about; bound wherever the SQL says `{range}`. */
  readonly range: TimeRange;
  /** Values for the SQL's own `{name:Type}` placeholders. */
  readonly params?: Readonly<Record<string, unknown>>;
  /**
   * What columns of the answer hold, so that charts order versions, write shares as percent and mark
   * incomplete buckets: a span for the start of a bucket, `"dimension"`, `"version"`,
   * `{ dimension: true, other: "rest" }`, or a measure without a condition. Others stay as they are.
   */
  readonly columns?: Readonly<Record<string, ColumnMeaning>>;
  /** Stops the query at the server; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
}

const OPTIONS = ["range", "params", "columns", "signal"] as const;
type TimeOfTable = Pick<TableInfo, "time" | "notes">;
/** What leaves out groups of an answer, so that a missing row is not zero. */
const LEAVES_OUT = /\b(HAVING|QUALIFY|LIMIT|OFFSET|FETCH)\b/i;
const RANGE = new RegExp(`\\{range(?::\\s*(?:(${NAME})\\.)?(${NAME})\\s*)?\\}`, "g");
const EXAMPLE =
  '"SELECT probe_cc, count() AS n FROM fastpath WHERE {range} GROUP BY probe_cc", { range: last("1 week") }';

/**
 * Asks free SQL, bounded in time: `{range}` becomes the bound on the measurement table's time column
 * (measurement_start_time, unless the configuration names another) in its own type, which also
 * leaves out rows without a usable time; `{range:column}` or `{range:table.column}` that on another
 * time column, an odd name in backquotes; `{start:DateTime64(3)}` and `{end:DateTime64(3)}` give the
 * bare bounds. Values go into `params`, never into the text.
 *
 * The answer's DateTime columns are Dates, enums, UUIDs and addresses text, integers beyond 2^53
 * (and all of 128 or 256 bits) bigint; arrays, tuples and maps are plain arrays and objects of
 * such values, frozen. A column that `columns` names as a dimension is text.
 *
 * @typeParam Row what the SQL's columns hold; nothing checks it.
 * @throws ProbelabError without a range, without a `{range}` in the SQL, for a named column that the
 *   answer has not or of another type, or as the server says.
 * @example
 * await lab.query(
 *   `SELECT toStartOfWeek(measurement_start_time, 1) AS t, software_version,
 *     countIf(anomaly = 't') / count() AS blocked, count() AS n
 *   FROM fastpath WHERE {range} GROUP BY t, software_version`,
 *   { range, columns: { t: "week", software_version: "version", blocked: share(), n: count() } },
 * );
 */
export async function freeQuery<Row extends object = Record<string, Value>>(
  database: Database,
  sql: string,
  options: QueryOptions,
): Promise<Result<Row>> {
  refuseUnknown(options, OPTIONS, "run a query");
  const asked = await boundQuery(database, sql, options, "run a query");
  const { code, range, described, notes, ...bound } = asked;
  const roles = checkNamed(options.columns ?? {}, described, range);
  const answer = await database.ask({
    ...bound,
    action: "run the query",
    types: new Map(described.map(({ name, type }) => [name, type])),
    signal: options.signal,
  });
  const meant = nameColumns(answer.table, roles, range, LEAVES_OUT.test(code));
  const dimensions = meant.columns.dimensions.map(({ name }) => name);
  const kinds = Object.fromEntries(
    described.map(({ name, type }) => [name, dimensions.includes(name) ? "text" : valueKind(type)]),
  );
  const empty = answer.table.numRows() === 0;
  return new Result<Row>(meant.table, {
    ...answerOrigin(database, bound, range, answer),
    columns: { ...meant.columns, kinds },
    reductions: [],
    notes: [
      ...(empty
        ? ["The query found no rows in the range."]
        : incompleteNotes(meant.columns.time, range)),
      ...notes,
    ],
  });
}

/** Where the rows of a query are written. */
export interface DownloadOptions extends Pick<QueryOptions, "range" | "params" | "signal"> {
  /** A file of Parquet: a path, or a file: URL. */
  readonly to: string | URL;
}

/** A file that was written, and the question that its rows answer. */
export interface Download {
  /** Absolute. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** As it was sent. */
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What its reader must know. */
  readonly notes: readonly string[];
}

/** `lab.download`: see {@link Lab.download}. */
export async function downloadQuery(
  database: Database,
  sql: string,
  options: DownloadOptions,
): Promise<Download> {
  const action = "download a query";
  refuseUnknown(options, ["range", "params", "signal", "to"], action);
  checkRange((options as DownloadOptions | undefined)?.range, action);
  const to = options.to instanceof URL ? fileURLToPath(options.to) : options.to;
  if (typeof to !== "string" || !to.endsWith(".parquet")) {
    throw new ProbelabError(
      `Can't ${action} to ${String(to)}: pass a path that ends in .parquet, such as to: "out/rows.parquet".`,
    );
  }
  const { sql: bounded, parameters, notes } = await boundQuery(database, sql, options, action);
  const question = { sql: bounded, parameters, action, signal: options.signal };
  let rows = 0;
  const path = await writeStreamed(to, async (temporary) => {
    rows = await database.parquet(question, temporary);
  });
  return { path, rows, bytes: (await stat(path)).size, sql: bounded, parameters, notes };
}

/** The SQL as it is sent, shown to read nothing beyond its range and to do nothing but read. */
async function boundQuery(
  database: Database,
  sql: string,
  options: Pick<QueryOptions, "range" | "params">,
  action: string,
) {
  const range = checkRange((options as QueryOptions | undefined)?.range, action);
  const code = sqlCode(sql);
  const bare = /\{start\s*:/.test(code) && /\{end\s*:/.test(code);
  const usual = database.tables.measurements.time;
  const wanted = new Map<string, { table: string | undefined; name: string }>();
  const named = (table?: string, name?: string) => ({
    table: table && nameOf(table),
    name: name === undefined ? usual : nameOf(name),
  });
  const keyOf = ({ table = "", name }: ReturnType<typeof named>) => `${table}.${name}`;
  replaceInCode(sql, RANGE, (whole, table, name) => {
    const one = named(table, name);
    wanted.set(keyOf(one), one);
    return whole;
  });
  if (wanted.size === 0 && !bare) {
    throw new ProbelabError(
      `Can't ${action} that does not use its time range: put {range} into its WHERE, such as ${EXAMPLE}.`,
    );
  }
  if (/\bFORMAT\s+\w+\s*;?\s*$/i.test(code) || /\bINTO\s+OUTFILE\b/i.test(code)) {
    throw new ProbelabError(`Can't ${action} with its own FORMAT or INTO OUTFILE: leave it out.`);
  }
  const columns = new Map<string, TimeOfTable>();
  for (const [key, { table, name }] of wanted) {
    columns.set(key, await findTimeColumn(database, sql, name, table));
  }
  const parameters: Record<string, unknown> = { ...options.params };
  if (bare) {
    parameters["start"] = range.start.getTime() / 1000;
    parameters["end"] = range.end.getTime() / 1000;
  }
  const keys = [...columns.keys()];
  const known = new Map<string, KnownBound>(
    [...columns].map(([key, { time }]) => [
      key,
      { start: time.bound(range.start).value, end: time.bound(range.end).value },
    ]),
  );
  const bounded = replaceInCode(sql.replace(/[\s;]+$/, ""), RANGE, (_, table, name) => {
    const key = keyOf(named(table, name));
    const { time } = columns.get(key) as TimeOfTable;
    const index = keys.indexOf(key);
    const bounds = boundsSql(time, range, index === 0 ? "range" : `range${index + 1}`);
    Object.assign(parameters, bounds.parameters);
    return `(${[bounds.sql, ...(time.usable === null ? [] : [time.usable])].join(" AND ")})`;
  });
  checkNamesInText(bounded, parameters);
  // What the statement is tells its text, with the values that may stand for names.
  const texts = Object.values(parameters).map((value) => (typeof value === "string" ? value : 0));
  await once(database, ["statement", bounded, ...texts], async () =>
    checkStatement(await explain(database.rows, "AST", bounded, parameters)),
  );
  // Arrow alone would give DateTime and enums as bare numbers: the server names the types.
  const [, described] = await Promise.all([
    checkBounds(database, bounded, parameters, range, known, [...wanted.values()]),
    database.rows<{ name: string; type: string }>(
      `DESCRIBE TABLE (${bounded}\n)`,
      parameters,
      "run the query",
    ),
  ]);
  checkNames(described.map(({ name }) => name));
  const notes = [...new Set([...columns.values()].flatMap(({ notes }) => notes))];
  return { sql: bounded, parameters, code, range, described, notes };
}

const learned = new WeakMap<Database, Map<string, Promise<unknown>>>();

/** What was found out of a statement's text before, as long as the database is open; failures are forgotten. */
function once<T>(
  database: Database,
  about: readonly unknown[],
  find: () => Promise<T>,
): Promise<T> {
  const all = learned.get(database) ?? new Map<string, Promise<unknown>>();
  learned.set(database, all);
  const key = JSON.stringify(about);
  const before = all.get(key);
  if (before !== undefined) return before as Promise<T>;
  // Statements that differ in their values would fill the memory.
  if (all.size >= 1_000) all.clear();
  const found = find();
  all.set(key, found);
  found.catch(() => all.delete(key));
  return found;
}

/**
 * Shows that the query reads nothing outside of the range, by what the server makes of it, before
 * any of it runs.
 */
async function checkBounds(
  database: Database,
  sql: string,
  parameters: Record<string, unknown>,
  range: TimeRange,
  known: ReadonlyMap<string, KnownBound>,
  wanted: readonly { readonly name: string }[],
): Promise<void> {
  const tree = await explain(database.rows, "QUERY TREE", sql, parameters).catch((cause) => {
    if ((cause as ProbelabError).code !== "NOT_IMPLEMENTED") throw cause;
    throw new ProbelabError(
      "Can't show that the query stays in its time range: the profile of the database's user turns the server's analyzer off. Have enable_analyzer set to 1, or ask with lab.measurements or lab.logs.",
      { cause },
    );
  });
  checkCluster(database, tree);
  const reads = unboundedReads(tree, range, known);
  const [read] = await needBound(
    database,
    reads,
    wanted.map(({ name }) => name),
  );
  if (read === undefined) return;
  const name = read.table.split(".").pop() ?? read.table;
  throw new ProbelabError(
    `Can't show that the query stays in its time range: it reads ${name} beyond it${read.filteredLater ? " (a HAVING or QUALIFY limits no read)" : ""}. Put {range}${known.has(`.${database.tables.measurements.time}`) || known.size === 0 ? "" : " or {range:column}"} into the WHERE of each SELECT that reads ${name}, joined to the rest by AND, such as SELECT … FROM ${name} WHERE {range} AND (… OR …); in a JOIN read it by such a subquery.`,
  );
}

/** SQL names this server's part of a table that the configuration reads from all of a cluster. */
function checkCluster({ tables, here }: Database, tree: ExplainNode): void {
  const named = new Set(
    [...nodesOf(tree)].map(({ text }) => / table_name: ([^,]*)/.exec(text)?.[1]),
  );
  for (const { table, cluster } of Object.values(tables)) {
    if (cluster === undefined || !named.has(tableName(table, here).join("."))) continue;
    throw new ProbelabError(
      `Can't run a query on ${table}: questions read it from all servers of the cluster ${cluster}, and SQL that names it reads the rows of one. Ask with lab.measurements or lab.logs, or have a Distributed table made, and configure that one without "cluster".`,
    );
  }
}

/** The server's explanation names things as they are: a line break in a name could look like a line of it. */
function checkNamesInText(sql: string, parameters: Readonly<Record<string, unknown>>): void {
  const names = sqlParts(sql).filter(({ code, text }) => !code && /^["`]/.test(text));
  const identifiers = [...sql.matchAll(/\{\s*(\w+)\s*:\s*Identifier\s*\}/g)].map(([, name = ""]) =>
    String(parameters[name]),
  );
  const odd = [...names.map(({ text }) => nameOf(text)), ...identifiers].find((text) =>
    /[\0-\x1f]|(function|source|column|constant|table)_\w+:/.test(text),
  );
  if (odd === undefined && !/[\u201c\u201d]/.test(sqlCode(sql))) return;
  throw new ProbelabError(
    "Can't read a query with a line break (with a backslash or without) in a name, or with curly quotes around one: write names in plain quotes without them, and rename columns with AS.",
  );
}

/** Engines that keep all rows in memory, or none: what they hold is looked up, not scanned. */
const LOOKED_UP = ["Memory", "Set", "Join", "Dictionary", "EmbeddedRocksDB", "Null"];

/**
 * The reads that must be bounded: of the service's two tables, of tables that a `{range:column}` names,
 * and of all that are kept along time (in their sort or partition key; a view or a distributed table
 * in any column). What else a query joins, such as the names of networks, has no time to bound.
 */
async function needBound(
  database: Database,
  reads: readonly UnboundedRead[],
  columns: readonly string[],
): Promise<UnboundedRead[]> {
  const tables = [...new Set(reads.map(({ table }) => table))].filter(
    (table) => table !== "system.one" && !table.startsWith("_temporary_and_external_tables."),
  );
  if (tables.length === 0) return [];
  const found = await database.rows<{ name: string; known: number; alongTime: number }>(
    `SELECT concat(c.database, '.', c.table) AS name, max(c.name IN {columns:Array(String)}) AS known,
  max(match(c.type, '^(Nullable\\\\(|LowCardinality\\\\()*Date') AND (c.is_in_sorting_key OR c.is_in_partition_key
    OR NOT (t.engine LIKE '%MergeTree' OR c.database = 'system' OR has({lookedUp:Array(String)}, t.engine)))) AS alongTime
FROM system.columns AS c INNER JOIN system.tables AS t ON c.database = t.database AND c.table = t.name
WHERE has({tables:Array(String)}, concat(c.database, '.', c.table)) GROUP BY name`,
    {
      tables,
      lookedUp: LOOKED_UP,
      columns,
    },
    "run the query",
  );
  const asked = new Map(found.map((row) => [row.name, row]));
  const own = await Promise.all(
    (["measurements", "logs"] as const).map((role) =>
      database.table(role).then(
        ({ name }) => name,
        () => undefined,
      ),
    ),
  );
  return reads.filter(({ table }) => {
    if (!tables.includes(table)) return false;
    const row = asked.get(table);
    const name = table.slice(table.indexOf(".") + 1);
    return row === undefined || row.known > 0 || row.alongTime > 0 || own.includes(name);
  });
}

/** A table holds each column under a name of its own. */
function checkNames(names: readonly string[]): void {
  const bad = names.find((name, at) => name === "__proto__" || names.indexOf(name) !== at);
  if (bad === undefined) return;
  throw new ProbelabError(
    bad === "__proto__"
      ? `Can't take a column named ${bad}, which means something else in JavaScript: name it otherwise with AS.`
      : `Can't take two columns named ${JSON.stringify(bad)}: give each a name of its own with AS.`,
  );
}

/** The column that bounds the query: of the service's tables first, wherever those are. */
async function findTimeColumn(
  database: Database,
  sql: string,
  name: string,
  table: string | undefined,
): Promise<TimeOfTable> {
  const { measurements, logs, testHelpers } = database.tables;
  // `.fastpath` is that of the source's own database.
  const own = [measurements, logs, testHelpers].map((each) => tableName(each.table, "").join("."));
  const find = async () => {
    const found = await database.rows<{ database: string; table: string; type: string }>(
      `SELECT database, table, type, database = currentDatabase() AS here,
  indexOf({own:Array(String)}, concat(database, '.', table)) AS far, if(here, indexOf({own:Array(String)}, concat('.', table)), 0) AS near
FROM system.columns
WHERE name = {name:String} AND ({table:String} = '' OR table = {table:String}) AND (here OR far > 0)
ORDER BY far = 1 OR near = 1 DESC, table`,
      { name, table: table ?? "", own },
    );
    if (found.length > 0) return found;
    throw new ProbelabError(
      `Can't bound the query by ${table ? `${table}.` : ""}${name}: the database has no such column. Write {range} for ${measurements.time}, or {range:column} with the table's own time column.`,
    );
  };
  const found = await once(database, ["columns", sql, name, table], find);
  const first = found[0]!;
  const others = found.filter((each) => each === first || sql.includes(each.table));
  if (others.some(({ type }) => type !== first.type)) {
    const names = others.map((one) => `{range:${one.table}.${name}}`).join(" or ");
    throw new ProbelabError(
      `Can't tell which ${name} bounds the query, since its type differs between tables: write ${names}.`,
    );
  }
  return database.timeColumn([first.database, first.table], name, first.type);
}
