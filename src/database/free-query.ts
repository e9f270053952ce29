import { ProbelabError } from "../error.js";
import { Result } from "../result/result.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { answerOrigin } from "./answer-origin.js";
import { unboundedReads, type KnownBound, type UnboundedRead } from "./bounded-query.js";
import type { Database } from "./database.js";
import { replaceInCode, sqlCode, sqlParts } from "./sql-text.js";
import { checkStatement, explain } from "./statement.js";
import { boundsSql, timeColumn, type TimeColumn } from "./time-column.js";
import { valueKind } from "./value-kind.js";

/** What a free query takes beside its SQL. */
export interface QueryOptions {
  /** The time to ask about; bound wherever the SQL says `{range}`. */
  readonly range: TimeRange;
  /** Values for the SQL's own `{name:Type}` placeholders. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Stops the query at the server; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
}

const RANGE = /\{range(?::\s*(?:(\w+)\.)?(\w+)\s*)?\}/g;
const EXAMPLE =
  'lab.query("SELECT probe_cc, count() AS n FROM fastpath WHERE {range} GROUP BY probe_cc", { range: last("1 week") })';

/**
 * Asks free SQL, bounded in time: `{range}` becomes the bound on measurement_start_time in its own
 * type, `{range:column}` or `{range:table.column}` that on another time column; `{start:DateTime64(3)}`
 * and `{end:DateTime64(3)}` give the bare bounds. Values go into `params`, never into the text.
 *
 * The answer's DateTime columns are Dates, enums, UUIDs and addresses text, integers beyond 2^53
 * (and all of 128 or 256 bits) bigint; arrays, tuples and maps are plain arrays and objects of
 * such values, frozen.
 *
 * @throws ProbelabError without a range, without a `{range}` in the SQL, or as the server says.
 */
export async function freeQuery(
  database: Database,
  sql: string,
  options: QueryOptions,
): Promise<Result> {
  const range = checkRange((options as QueryOptions | undefined)?.range, "run a query");
  const code = sqlCode(sql);
  const bare = /\{start\s*:/.test(code) && /\{end\s*:/.test(code);
  if (!new RegExp(RANGE.source).test(code) && !bare) {
    throw new ProbelabError(
      `Can't run a query that does not use its time range: put {range} into its WHERE, such as ${EXAMPLE}.`,
    );
  }
  if (/\bFORMAT\s+\w+\s*;?\s*$/i.test(code) || /\bINTO\s+OUTFILE\b/i.test(code)) {
    throw new ProbelabError(
      "Can't run a query with its own FORMAT or INTO OUTFILE: leave it out, the answer comes as a table.",
    );
  }
  const columns = new Map<string, TimeColumn>();
  for (const [, table, name = "measurement_start_time"] of code.matchAll(RANGE)) {
    const key = `${table ?? ""}.${name}`;
    if (!columns.has(key)) columns.set(key, await findTimeColumn(database, name, table));
  }
  const parameters: Record<string, unknown> = { ...options.params };
  if (bare) {
    parameters["start"] = range.start.getTime() / 1000;
    parameters["end"] = range.end.getTime() / 1000;
  }
  const keys = [...columns.keys()];
  const known = new Map<string, KnownBound>(
    [...columns].map(([key, column]) => [
      key,
      { start: column.bound(range.start).value, end: column.bound(range.end).value },
    ]),
  );
  const bounded = replaceInCode(
    sql.replace(/[\s;]+$/, ""),
    RANGE,
    (_, table, name = "measurement_start_time") => {
      const key = `${table ?? ""}.${name}`;
      const index = keys.indexOf(key);
      const bounds = boundsSql(
        columns.get(key) as TimeColumn,
        range,
        index === 0 ? "range" : `range${index + 1}`,
      );
      Object.assign(parameters, bounds.parameters);
      return `(${bounds.sql})`;
    },
  );
  await checkBounds(database, bounded, parameters, range, known);
  // Arrow alone would give DateTime and enums as bare numbers: the server names the types.
  const described = await database.rows<{ name: string; type: string }>(
    `DESCRIBE TABLE (${bounded}\n)`,
    parameters,
    "run the query",
  );
  checkNames(described.map(({ name }) => name));
  const answer = await database.ask({
    sql: bounded,
    parameters,
    action: "run the query",
    types: new Map(described.map(({ name, type }) => [name, type])),
    signal: options.signal,
  });
  return new Result(answer.table, {
    ...answerOrigin(database, { sql: bounded, parameters }, range, answer),
    columns: {
      dimensions: [],
      measures: [],
      kinds: Object.fromEntries(described.map(({ name, type }) => [name, valueKind(type)])),
    },
    reductions: [],
    notes: answer.table.numRows() === 0 ? ["The query found no rows in the range."] : [],
  });
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
): Promise<void> {
  checkNamesInText(sql, parameters);
  checkStatement(await explain(database.rows, "AST", sql, parameters));
  const tree = await explain(database.rows, "QUERY TREE", sql, parameters);
  const reads = unboundedReads(tree, range, known);
  const [read] = await needBound(database, reads, known);
  if (read === undefined) return;
  const name = read.table.split(".").pop() ?? read.table;
  throw new ProbelabError(
    `Can't show that the query stays in its time range: it reads ${name} beyond it${read.filteredLater ? " (a HAVING or QUALIFY limits no read)" : ""}. Put {range}${known.has(".measurement_start_time") || known.size === 0 ? "" : " or {range:column}"} into the WHERE of each SELECT that reads ${name}, joined to the rest by AND, such as SELECT … FROM ${name} WHERE {range} AND (… OR …); in a JOIN read it by such a subquery.`,
  );
}

/** The server's explanation names things as they are: a line break in a name could look like a line of it. */
function checkNamesInText(sql: string, parameters: Readonly<Record<string, unknown>>): void {
  const names = sqlParts(sql).filter(({ code, text }) => !code && /^["`]/.test(text));
  const identifiers = [...sql.matchAll(/\{\s*(\w+)\s*:\s*Identifier\s*\}/g)].map(([, name = ""]) =>
    String(parameters[name]),
  );
  const odd = [...names.map(({ text }) => text), ...identifiers].find((text) =>
    /[\0-\x1f\\\u201c]|(function|source|column|constant|table)_\w+:/.test(text),
  );
  if (odd === undefined && !/[\u201c\u201d]/.test(sqlCode(sql))) return;
  throw new ProbelabError(
    "Can't read a query with a backslash, a line break or curly quotes in or around a name: write names in plain quotes without them, and rename columns with AS.",
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
  known: ReadonlyMap<string, KnownBound>,
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
      columns: [...known.keys()].map((key) => key.slice(key.indexOf(".") + 1)),
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

async function findTimeColumn(
  database: Database,
  name: string,
  table: string | undefined,
): Promise<TimeColumn> {
  const found = await database.rows<{ table: string; type: string }>(
    `SELECT table, type FROM system.columns WHERE database = currentDatabase() AND name = {name:String} AND ({table:String} = '' OR table = {table:String}) ORDER BY table = 'fastpath' DESC, table`,
    { name, table: table ?? "" },
  );
  const [first] = found;
  if (first === undefined) {
    throw new ProbelabError(
      `Can't bound the query by ${table ? `${table}.` : ""}${name}: the database has no such column. Write {range} for measurement_start_time, or {range:column} with the table's own time column.`,
    );
  }
  if (found.some(({ type }) => type !== first.type)) {
    const names = found.map((one) => `{range:${one.table}.${name}}`).join(" or ");
    throw new ProbelabError(
      `Can't tell which ${name} bounds the query, since its type differs between tables: write ${names}.`,
    );
  }
  return first.type === "String" || /Int/.test(first.type)
    ? database.timeColumn(first.table, name)
    : timeColumn(name, first.type, null);
}
