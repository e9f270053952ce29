import { ProbelabError } from "../error.js";
import { Result } from "../result/result.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { answerOrigin } from "./answer-origin.js";
import type { Database } from "./database.js";
import { replaceInCode, sqlCode } from "./sql-text.js";
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
