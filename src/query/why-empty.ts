import { editDistance } from "../base/near-name.js";
import type { Database } from "../database/database.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import { grouped } from "../base/text.js";
import type { Value } from "../result/result.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { isPrefix, matchesPrefix, prefix, type Prefix } from "./prefix.js";
import { NOTHING, tableBounds, type Extra } from "./source.js";
import { print, raw, select, sql, type Column, type Sql } from "./sql.js";
import {
  isComparison,
  matchList,
  whereSql,
  whereText,
  type ColumnSql,
  type FilterValue,
  type Where,
} from "./where.js";

/** A question's rows, as far as its filter goes: what may explain an answer. */
export interface Filtered {
  readonly table: TableInfo;
  readonly range: TimeRange;
  /** Conditions on the table's own columns. */
  readonly where: Where;
  readonly find: (name: string) => ColumnSql;
}

/** More values than these of a filter's list are not explained one by one. */
const MOST_EXPLAINED = 3;

/**
 * Says why an answer is empty: which filter no measurement of the range matches, and what the range
 * holds instead, the nearest values first. Asks only within the range.
 */
export async function explainEmpty(
  database: Database,
  question: Filtered,
  signal?: AbortSignal,
): Promise<Extra> {
  const reader = new RangeReader(database, question, signal);
  const span = formatRange(question.range);
  const sentences = await missingValues(reader, question, 1);
  if (sentences.length > 0) return reader.said(sentences.slice(0, 1));
  if (!(await reader.has())) {
    const newest = await newestOf(database, question);
    return reader.said([`${question.table.name} holds no measurement from ${span}${newest}.`]);
  }
  for (const [column, wanted] of Object.entries(question.where)) {
    if (wanted === undefined || !isComparison(wanted)) continue;
    if (!(await reader.has(whereSql({ [column]: wanted }, question.find)))) {
      return reader.said([`No measurement from ${span} has ${whereText({ [column]: wanted })}.`]);
    }
  }
  return reader.said([
    Object.keys(question.where).length > 1
      ? `No measurement from ${span} matches all filters at once, though each alone matches some.`
      : `No measurement from ${span} matches the question, though the range holds some.`,
  ]);
}

/**
 * Names the values of filter lists that no measurement of the range has: one of them misspelt would
 * otherwise only make a number smaller. The server stops reading where all values of a list are found.
 */
export async function missingFromLists(
  database: Database,
  question: Filtered,
  signal?: AbortSignal,
): Promise<Extra> {
  const reader = new RangeReader(database, question, signal);
  return reader.said(await missingValues(reader, question, 2));
}

/** The newest row's time as a clause: only an embedded database is asked beyond the range. */
async function newestOf(database: Database, { table, range }: Filtered): Promise<string> {
  if (!database.embedded) return "";
  const newest = await newestRow(database.rows, table);
  if (newest === null) return ": it is empty";
  const shown = formatInstant(newest, range.timeZone);
  return `; its newest is of ${shown}, so last("…", { now: lab.now }) finds some`;
}

/** Asks within the range and counts what was read. */
class RangeReader {
  readonly #database: Database;
  readonly #asked: Filtered;
  readonly #signal: AbortSignal | undefined;
  #rowsRead = 0;
  #bytesRead = 0;

  constructor(database: Database, question: Filtered, signal: AbortSignal | undefined) {
    this.#database = database;
    this.#asked = question;
    this.#signal = signal;
  }

  said(notes: readonly string[]): Extra {
    if (notes.length === 0 && this.#rowsRead === 0) return NOTHING;
    return { notes, rowsRead: this.#rowsRead, bytesRead: this.#bytesRead };
  }

  async rows(
    columns: readonly Column[],
    only: readonly Sql[] = [],
    rest: Sql = raw(""),
  ): Promise<Record<string, Value>[]> {
    const { table, range } = this.#asked;
    const where = [...tableBounds(table, range), ...only];
    const answer = await this.#database.ask({
      ...print(sql`${select({ columns, from: raw(table.from), where })}${rest}`),
      action: "find out which values the range holds",
      signal: this.#signal,
    });
    this.#rowsRead += answer.rowsRead;
    this.#bytesRead += answer.bytesRead;
    return answer.table.objects() as Record<string, Value>[];
  }

  /** True if the range has a row that fits; reads until there is one. */
  async has(only: readonly Sql[] = []): Promise<boolean> {
    return (await this.rows([["one", raw("1")]], only, raw("\nLIMIT 1"))).length > 0;
  }
}

type Wanted = FilterValue | Prefix;

/** Sentences on wanted values that nothing in the range has, of lists of at least so many. */
async function missingValues(
  reader: RangeReader,
  { where, find, range }: Filtered,
  atLeast: number,
): Promise<string[]> {
  const sentences = Object.entries(where).map(async ([column, match]) => {
    const list = match === undefined || isComparison(match) ? [] : matchList(match);
    if (list.length < Math.max(1, atLeast)) return [];
    const missing = await missingOf(reader, column, list, find);
    if (missing.length === 0) return [];
    const span = formatRange(range);
    const found = await reader.rows(
      [["value", sql`toString(${find(column).sql})`]],
      [],
      raw("\nGROUP BY value\nORDER BY count() DESC, value\nLIMIT 1000"),
    );
    if (found.length === 0) return []; // Of an empty range that alone is said.
    const held = found.map(({ value }) => (value as string | null) ?? null);
    const sentences = missing
      .slice(0, MOST_EXPLAINED)
      .map((value) => `No measurement from ${span} has ${column} ${heldInstead(value, held)}.`);
    const more = missing.length - MOST_EXPLAINED;
    if (more <= 0) return sentences;
    const values = more === 1 ? "one more value" : `${grouped(more)} more values`;
    return [
      ...sentences,
      `No measurement from ${span} has ${values} of the list of ${column} either.`,
    ];
  });
  return (await Promise.all(sentences)).flat();
}

/** The wanted values that nothing in the range has: null and prefixes each by itself, the others at once. */
async function missingOf(
  reader: RangeReader,
  column: string,
  list: readonly Wanted[],
  find: Filtered["find"],
): Promise<readonly Wanted[]> {
  const { sql: stored, type } = find(column);
  const isAlone = (value: Wanted) => value === null || isPrefix(value);
  const matches = (wanted: Wanted | readonly Wanted[]): Sql[] =>
    whereSql({ [column]: wanted }, find, "wanted");
  const values = [...new Set(list.filter((value) => !isAlone(value)))];
  // 0 and -0 are two texts of one number.
  const isFloat = /Float/.test(type);
  const stop = isFloat ? "" : `\nLIMIT ${values.length}`;
  const found = async () => {
    if (values.length === 0) return [];
    const value: Column = ["value", sql`DISTINCT toString(${stored})`];
    return reader.rows([value], matches(values), raw(stop));
  };
  const has = async (value: Wanted) => (isAlone(value) ? reader.has(matches(value)) : undefined);
  const [rows, alone] = await Promise.all([found(), Promise.all(list.map(has))]);
  const seen = new Set(rows.map(({ value }) => (isFloat ? String(Number(value)) : value)));
  return list.filter((value, at) => !(alone[at] ?? seen.has(String(value as FilterValue))));
}

/** A wanted value, and those nearest to it that the range holds, of its commonest values. */
function heldInstead(wanted: Wanted, values: readonly (string | null)[]): string {
  const text = isPrefix(wanted) ? wanted.prefix : String(wanted);
  const near = values
    .map((value, index) => ({ value, index, distance: distanceOf(value ?? "", text) }))
    .sort((a, b) => a.distance - b.distance || a.index - b.index)
    .slice(0, 5)
    .map(({ value }) => value);
  const more = values.length > near.length ? ` and ${values.length - near.length} more` : "";
  const begins = near.some((value) => value !== null && matchesPrefix(value, prefix(text || " ")));
  const hint = begins && !isPrefix(wanted) ? ` (prefix(${JSON.stringify(text)}) matches them)` : "";
  const shown = isPrefix(wanted) ? `${short(text)}…` : short(text);
  const held = near.map((value) => JSON.stringify(value === null ? null : short(value))).join(", ");
  return `${shown}; the range holds ${held}${more}${hint}`;
}

function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Letters to change in the beginnings, in any case; a value that goes on from the wanted one is near. */
function distanceOf(value: string, wanted: string): number {
  const [a, b] = [value.slice(0, 64).toLowerCase(), wanted.slice(0, 64).toLowerCase()];
  return b !== "" && a.startsWith(b) ? 0 : editDistance(a, b);
}
