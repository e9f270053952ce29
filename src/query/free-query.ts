import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { arrowType, valueKind } from "../database/column-type.js";
import { isOfColumns } from "../database/server-error.js";
import { answerOrigin, type Database } from "../database/database.js";
import { NAME, nameOf, replaceInCode, sqlCode } from "../database/sql-text.js";
import { tableName, type TableInfo } from "../database/table-info.js";
import { boundsSql, quoteIdentifier } from "../database/time-column.js";
import { toTaggedJson } from "../result/json.js";
import { Result, type Value } from "../result/result.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { incompleteNotes } from "./asked-buckets.js";
import { checkNamed, nameColumns, type ColumnMeaning } from "./named-columns.js";

/** Options of `lab.query`. */
export interface QueryOptions {
  /** The time to ask about; bound wherever the SQL says `{range}`. */
  readonly range: TimeRange;
  /** Values for the SQL's own `{name:Type}` placeholders. */
  readonly params?: Readonly<Record<string, unknown>>;
  /**
   * The meaning of columns, so that charts order versions, write shares as percent and mark
   * incomplete buckets: a span for the start of a bucket, `"dimension"`, `"version"`,
   * or a measure without a condition. Others stay as they are.
   */
  readonly columns?: Readonly<Record<string, ColumnMeaning>>;
  /** Stops the query at the server. @default the interrupt of the running cell */
  readonly signal?: AbortSignal;
}

const ACTION = "run the query";
/** Clauses that leave out groups of an answer, so that a missing row is not zero. */
const LEAVES_OUT = /\b(HAVING|QUALIFY|LIMIT|OFFSET|FETCH)\b/i;
const RANGE = new RegExp(`\\{range(?::\\s*(?:(${NAME})\\.)?(${NAME})\\s*)?\\}`, "g");
/** Milliseconds for which a question isn't learned again. */
const REMEMBERED = 60_000;
/** Types whose values arrive as bare numbers and bytes. */
const UNREAD = /(?:^|[ (,])(?:Time(?:64)?|BFloat16|U?Int(?:128|256))(?:$|[(),])/;
/** Questions that are remembered. */
const MOST_REMEMBERED = 100;

/** `lab.query`: see {@link Lab.query}. */
type FreeQuery = <Row extends object = Record<string, Value>>(
  sql: string,
  options: QueryOptions,
) => Promise<Result<Row>>;

/** Asks free SQL of a database; what the server said of a text and its values is remembered for a minute. */
export function freeQueries(database: Database): FreeQuery {
  const memory = new Map<string, Learned>();
  return async <Row extends object>(sql: string, options: QueryOptions) => {
    refuseUnknown(options, ["range", "params", "columns", "signal"], "run a query");
    const range = checkRange((options as QueryOptions | undefined)?.range, "run a query");
    const question: FreeQuestion = { ...options, database, sql, range };
    const key = JSON.stringify([sql, range.timeZone, toTaggedJson({ ...options.params })]);
    const known = memory.get(key);
    memory.delete(key);
    const isFresh = known && Date.now() < known.until && known.changes === database.changes;
    let learned = isFresh ? known : await learn(question);
    let answer = await answerTo<Row>(question, learned).catch((error: ProbelabError) => {
      if (learned !== known || !isOfColumns(error)) throw error;
      return undefined;
    });
    // The tables may be others by now.
    if (
      answer === undefined ||
      (isNothing(answer) && (await database.isChanged(learned.changes)))
    ) {
      learned = await learn(question);
      answer = await answerTo<Row>(question, learned);
    }
    // Of an empty table nothing lasting is learned.
    if (!isNothing(answer)) memory.set(key, learned);
    if (memory.size > MOST_REMEMBERED) memory.delete(memory.keys().next().value as string);
    return answer;
  };
}

type FreeQuestion = QueryOptions & { readonly database: Database; readonly sql: string };
type TimeColumn = Pick<TableInfo, "time" | "notes">;

/** The server's description of a question before it is asked. */
interface Learned {
  readonly until: number;
  /** How many changes of tables were known then. */
  readonly changes: number;
  /** The columns that are bounded, by what stands for them in the SQL: `{range:logs.t}`. */
  readonly columns: ReadonlyMap<string, TimeColumn>;
  /** The types of the answer's columns. */
  readonly types: ReadonlyMap<string, string>;
}

/** True for no row, and for one row of zeros and nulls, as of a count. */
function isNothing(answer: Result<object>): boolean {
  const [first = {}] = answer.rows(1);
  return answer.numRows() < 2 && Object.values(first).every((value) => !value);
}

async function learn(question: FreeQuestion): Promise<Learned> {
  const { database, signal } = question;
  checkCode(database, sqlCode(question.sql));
  const { changes } = database;
  const until = Date.now() + REMEMBERED;
  const wanted = new Map<string, readonly [table: string, name: string]>();
  replaceInCode(question.sql, RANGE, (whole, table = "", name) => {
    const column = name === undefined ? database.tables.measurements.time : nameOf(name);
    wanted.set(whole, [nameOf(table), column]);
    return whole;
  });
  if (wanted.size === 0 && endsOf(question.sql).length < 2) {
    throw new ProbelabError(
      `Can't run a query that does not use its time range: put {range} into its WHERE, such as "SELECT probe_cc, count() AS n FROM fastpath WHERE {range} GROUP BY probe_cc", { range: last("1 week") }.`,
    );
  }
  const columns = new Map<string, TimeColumn>();
  for (const [key, column] of wanted) columns.set(key, await findTimeColumn(question, column));
  const { sql, parameters } = boundSql(question, columns);
  const described = await database.rows<{ name: string; type: string }>(
    `DESCRIBE TABLE (${sql}\n)`,
    parameters,
    ACTION,
    signal,
  );
  const types = new Map<string, string>();
  for (const { name, type } of described) {
    if (name === "__proto__") {
      throw new ProbelabError(
        `Can't take a column named ${name}, which means something else in JavaScript: name it otherwise with AS.`,
      );
    }
    if (UNREAD.test(type)) {
      throw new ProbelabError(
        `Can't read the column ${name}, a ${type}: give it as text, toString(${name}), or as a number.`,
      );
    }
    if (types.has(name)) {
      throw new ProbelabError(
        `Can't take two columns named ${JSON.stringify(name)}: give each a name of its own with AS.`,
      );
    }
    types.set(name, type);
  }
  return { until, changes, columns, types };
}

async function answerTo<Row extends object>(
  call: FreeQuestion,
  { columns, types }: Learned,
): Promise<Result<Row>> {
  const { database, range, signal } = call;
  const bound = boundSql(call, columns);
  const question = { ...bound, sql: readable(bound.sql, types) };
  const named = checkNamed(call.columns ?? {}, types, range);
  const answer = await database.ask({ ...question, action: ACTION, signal });
  const meant = nameColumns(answer.table, named, range, LEAVES_OUT.test(sqlCode(call.sql)));
  const kinds = Object.fromEntries([...types].map(([name, type]) => [name, valueKind(type)]));
  for (const { name } of meant.columns.dimensions) kinds[name] = "text";
  const empty = answer.table.numRows() === 0;
  return new Result<Row>(meant.table, {
    ...answerOrigin(database, question, range, answer),
    columns: { ...meant.columns, kinds },
    reductions: [],
    notes: [
      ...(empty
        ? ["The query found no rows in the range."]
        : incompleteNotes(meant.columns.time, range)),
      ...new Set([...columns.values()].flatMap(({ notes }) => notes)),
    ],
  });
}

/** The SQL with those of its columns cast that Arrow has no form of. */
function readable(sql: string, types: Learned["types"]): string {
  const casts = [...types].flatMap(([name, type]) => {
    const [column, asked] = [quoteIdentifier(name), arrowType(type)];
    return asked === type ? [] : [`CAST(${column} AS ${asked}) AS ${column}`];
  });
  return casts.length === 0 ? sql : `SELECT * REPLACE (${casts.join(", ")})\nFROM (\n${sql}\n)`;
}

/** @throws ProbelabError for clauses that are ours, and for one server's part of a cluster's table. */
function checkCode({ tables, here }: Database, code: string): void {
  if (/\bFORMAT\s+\w+\s*;?\s*$/i.test(code) || /\bINTO\s+OUTFILE\b/i.test(code)) {
    throw new ProbelabError("Can't run a query with its own FORMAT or INTO OUTFILE: leave it out.");
  }
  // The server refuses those of the whole query (readonly), and takes those of a subquery.
  if (/\bSETTINGS\s+\w+\s*=/i.test(code)) {
    throw new ProbelabError(
      "Can't run a query with its own SETTINGS: leave them out; limits are set by connect({ limits }).",
    );
  }
  for (const { table, cluster } of Object.values(tables)) {
    const name = tableName(table, here).at(-1) ?? table;
    if (cluster === undefined || !new RegExp(`\\b${name}\\b`).test(code)) continue;
    throw new ProbelabError(
      `Can't run a query on ${table}: questions read it from all servers of the cluster ${cluster}, and SQL that names it reads the rows of one. Ask with lab.measurements or lab.logs, or have a Distributed table made, and configure that one without "cluster".`,
    );
  }
}

/** The ends of the range that the SQL names itself. */
function endsOf(sql: string): readonly ("start" | "end")[] {
  const code = sqlCode(sql);
  return (["start", "end"] as const).filter((end) => new RegExp(`\\{\\s*${end}\\s*:`).test(code));
}

/** The SQL as it is sent: each `{range}` replaced by the bound on its column. */
function boundSql(question: FreeQuestion, columns: Learned["columns"]) {
  const { range } = question;
  const parameters: Record<string, unknown> = { ...question.params };
  const keys = [...columns.keys()];
  const sql = replaceInCode(question.sql.replace(/[\s;]+$/, ""), RANGE, (whole) => {
    const { time } = columns.get(whole)!;
    const at = keys.indexOf(whole);
    const bounds = boundsSql(time, range, at === 0 ? "range" : `range${at + 1}`);
    Object.assign(parameters, bounds.parameters);
    return `(${bounds.sql})`;
  });
  for (const end of endsOf(question.sql)) parameters[end] = range[end].getTime() / 1000;
  return { sql, parameters };
}

/** The column that bounds the query: of the service's tables first, wherever those are. */
async function findTimeColumn(
  { database, sql, signal }: FreeQuestion,
  [table, name]: readonly [table: string, name: string],
): Promise<TimeColumn> {
  const { measurements } = database.tables;
  const own = Object.values(database.tables).map((each) =>
    tableName(each.table, database.here).join("."),
  );
  const found = await database.rows<{ database: string; table: string; type: string }>(
    `SELECT database, table, type
FROM system.columns
WHERE name = {name:String} AND ({table:String} = '' OR table = {table:String})
  AND (database = currentDatabase() OR has({own:Array(String)}, concat(database, '.', table)))
ORDER BY concat(database, '.', table) = {first:String} DESC, table`,
    { name, table, own, first: tableName(measurements.table, database.here).join(".") },
    ACTION,
    signal,
  );
  const [first] = found;
  if (first === undefined) {
    throw new ProbelabError(
      `Can't bound the query by ${table && `${table}.`}${name}: no table that you may read has such a column. Check the table's name, or write {range} for ${measurements.time}, or {range:column} with the table's own time column.`,
    );
  }
  const others = found.filter((each) => each === first || sql.includes(each.table));
  if (others.some(({ type }) => type !== first.type)) {
    const names = others.map((other) => `{range:${other.table}.${name}}`).join(" or ");
    throw new ProbelabError(
      `Can't tell which ${name} bounds the query, since its type differs between tables: write ${names}.`,
    );
  }
  const place = [first.database, first.table] as const;
  return database.timeColumn(place, name, first.type, signal);
}
