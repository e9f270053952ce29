import type { ColumnTable } from "arquero";
import { editDistance } from "../base/near-name.js";
import type { Database } from "../database/database.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import { grouped } from "../base/text.js";
import { columnValues } from "../result/arquero-table.js";
import { rangeText, type TimeRange } from "../time/time-range.js";
import { dateText } from "../time/time-zone.js";
import type { Measure } from "./measure.js";
import {
  NOTHING,
  tableBounds,
  type Extra,
  type Filtered,
  type Source,
  type SourceKind,
} from "./source.js";
import { join, nested, print, raw, select, sql, type Column, type Sql } from "./sql.js";
import {
  isComparison,
  isPrefix,
  matchesPrefix,
  matchList,
  prefix,
  whereSql,
  whereText,
  type Comparison,
  type FilterValue,
  type Prefix,
  type Where,
} from "./where.js";
import { isTooMuch } from "./windows.js";

interface LookedFor {
  readonly column: string;
  readonly wanted: FilterValue | Prefix | Comparison;
}

/** More values than these of a filter's list are not looked for. */
const MOST_LOOKED_FOR = 50;
/** More values than these are not explained one by one. */
const MOST_EXPLAINED = 3;

/**
 * Names what of a question's filter no row of the range matches, and what the range holds instead: of an
 * empty answer the first such condition, of any other the values of lists, since one that is misspelt
 * only makes a number smaller. Asks only within the range; the server stops where a value is found.
 *
 * @param only a condition to explain in place of the source's own filter.
 */
export async function whyEmpty(
  database: Database,
  source: Source,
  empty: boolean,
  signal: AbortSignal | undefined,
  only?: Where,
): Promise<Extra> {
  const { filtered, kind } = source;
  try {
    if (filtered) {
      const { where, ...rows } = filtered;
      return await explainFilter(database, { ...rows, where: only ?? where }, kind, empty, signal);
    }
    return { ...NOTHING, notes: empty && source.whyEmpty ? [await source.whyEmpty()] : [] };
  } catch (error) {
    const { code } = error as { code?: string };
    if (!isTooMuch(error) && code !== "TOO_MANY_ROWS_OR_BYTES") throw error;
    const note =
      "Too much for the server: the values that the range holds of the filter's columns.";
    return { ...NOTHING, notes: [note] };
  }
}

/**
 * The conditions of counts and shares that are zero in every row: a value that is misspelt, as `t` where
 * a table holds `true`, looks like a calm answer.
 */
export function zeroConditions(
  source: Source,
  measures: Readonly<Record<string, Measure<unknown>>>,
  table: ColumnTable,
): Where[] {
  if (table.numRows() === 0) return [];
  return Object.entries(measures).flatMap(([name, { measure, where, of }]) => {
    const condition =
      measure === "share" ? of?.[0]?.where : measure === "count" ? where : undefined;
    const named = Object.entries(condition ?? {}).filter(([, wanted]) => !isComparison(wanted!));
    const [column] = named[0] ?? [];
    const isZero = columnValues(table, name).every((value) => value === 0 || value === null);
    // Several at once may each match some rows, and none together.
    const isOne = column !== undefined && named.length === 1;
    return isOne && isZero && isOfTable(source, column) ? [Object.fromEntries(named)] : [];
  });
}

/** False for a run's own column, which the table may lack, or have with another meaning. */
function isOfTable(source: Source, name: string): boolean {
  try {
    return source.filtered?.find(name) !== undefined && source.column(name).label === undefined;
  } catch {
    return false;
  }
}

async function explainFilter(
  database: Database,
  { table, range, where, find }: Filtered,
  kind: SourceKind,
  empty: boolean,
  signal: AbortSignal | undefined,
): Promise<Extra> {
  const conditions = Object.entries(where).flatMap(([column, wanted = []]): LookedFor[] => {
    if (isComparison(wanted)) return empty ? [{ column, wanted }] : [];
    const list = matchList(wanted).slice(0, MOST_LOOKED_FOR);
    return empty || list.length > 1 ? list.map((wanted) => ({ column, wanted })) : [];
  });
  if (!empty && conditions.length === 0) return NOTHING;
  const cost = { rowsRead: 0, bytesRead: 0 };
  const ask = async (question: Sql) => {
    const action = "find out which values the range holds";
    const answer = await database.ask({ ...print(question), action, signal });
    cost.rowsRead += answer.rowsRead;
    cost.bytesRead += answer.bytesRead;
    return answer.table.objects() as Record<string, unknown>[];
  };
  const rows = (column: Column, only: readonly Sql[] = []): Sql => {
    const bounded = [...tableBounds(table, range), ...only];
    return select({ columns: [column], from: raw(table.from), where: bounded });
  };
  const exists = (only: readonly Sql[]): Sql =>
    sql`(SELECT count() FROM ${nested(sql`${rows(["one", raw("1")], only)}\nLIMIT 1`)})`;
  const each = conditions.map(({ column, wanted }) =>
    exists(whereSql({ [column]: wanted }, find, "wanted")),
  );
  const [row] = await ask(sql`SELECT [${join([exists([]), ...each])}] AS found`);
  const [any, ...found] = Array.from(row?.["found"] as ArrayLike<unknown>, Number);
  const none = `No measurement of ${rangeText(range)}`;
  // If the range is empty, say only that.
  if (any === 0) {
    const newest = empty ? await newestOf(database, table, range) : "";
    const said = `${table.name} holds no measurement of ${rangeText(range)}${newest}.`;
    return { ...cost, notes: empty ? [said] : [] };
  }
  const missing = conditions.filter((_, at) => found[at] === 0).slice(0, empty ? 1 : Infinity);
  const notes: string[] = [];
  for (const name of new Set(missing.map(({ column }) => column))) {
    const wanted = missing.flatMap(({ column, wanted }) => (column === name ? [wanted] : []));
    const [compared] = wanted.filter(isComparison);
    if (compared) {
      notes.push(`${none} has ${whereText({ [name]: compared })}.`);
      continue;
    }
    const values = rows(["value", sql`toString(${find(name).sql})`]);
    const common = await ask(
      sql`${values}\nGROUP BY value\nORDER BY count() DESC, value\nLIMIT 1000`,
    );
    const held = common.map(({ value }) => (value as string | null) ?? null);
    for (const one of wanted.slice(0, MOST_EXPLAINED) as (FilterValue | Prefix)[]) {
      notes.push(`${none} has ${name} ${heldInstead(one, held)}.`);
    }
    const more = wanted.length - MOST_EXPLAINED;
    const others = more === 1 ? "one more value" : `${grouped(more)} more values`;
    if (more > 0) notes.push(`${none} has ${others} of the list of ${name} either.`);
  }
  if (empty && notes.length === 0) {
    const [row, held] = kind === "runs" ? ["run", "measurements"] : ["measurement", "some"];
    notes.push(
      Object.keys(where).length > 1
        ? `No ${row} of ${rangeText(range)} matches all filters at once, though each alone matches ${held}.`
        : `No ${row} of ${rangeText(range)} matches the question, though the range holds ${held}.`,
    );
  }
  return { ...cost, notes };
}

/** The newest row's time as a clause: only an embedded database is asked beyond the range. */
async function newestOf(database: Database, table: TableInfo, { timeZone }: TimeRange) {
  if (!database.embedded) return "";
  const newest = await newestRow(database.rows, table);
  return newest === null
    ? ": it is empty"
    : `; its newest is of ${dateText(newest.at, timeZone)}, so last("…", { now: lab.now }) finds some`;
}

/** A wanted value, and those nearest to it of the range's commonest values. */
function heldInstead(wanted: FilterValue | Prefix, values: readonly (string | null)[]): string {
  const text = isPrefix(wanted) ? wanted.prefix : String(wanted);
  const near = values
    .map((value) => ({ value, far: distance(value ?? "", text) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, 5)
    .map(({ value }) => value);
  const more = values.length > near.length ? ` and ${values.length - near.length} more` : "";
  const begins = near.some((value) => value !== null && matchesPrefix(value, prefix(text || " ")));
  const hint = begins && !isPrefix(wanted) ? ` (prefix(${JSON.stringify(text)}) matches them)` : "";
  const held = near.map((value) => JSON.stringify(value === null ? null : short(value))).join(", ");
  const before = isPrefix(wanted) && wanted.anywhere ? "…" : "";
  return `${before}${text === "" ? '""' : short(text)}${isPrefix(wanted) ? "…" : ""}; the range holds ${held}${more}${hint}`;
}

function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Letters to change in the beginnings, in any case; a value that goes on from the wanted one is near. */
function distance(value: string, wanted: string): number {
  const [a, b] = [value, wanted].map((text) => text.slice(0, 64).toLowerCase()) as [string, string];
  return b !== "" && a.startsWith(b) ? 0 : editDistance(a, b);
}
