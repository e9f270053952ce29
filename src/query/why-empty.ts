import { editDistance } from "../base/near-name.js";
import type { Database } from "../database/database.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import { grouped } from "../base/text.js";
import type { Value } from "../result/result.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { NOTHING, tableBounds, type Extra } from "./source.js";
import { and, join, nested, print, raw, select, sql, type Column, type Sql } from "./sql.js";
import {
  isComparison,
  isPrefix,
  matchesPrefix,
  matchList,
  prefix,
  whereSql,
  whereText,
  type ColumnSql,
  type Comparison,
  type FilterValue,
  type Prefix,
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

/** More values than these of a filter's list are not looked for. */
const MOST_LOOKED_FOR = 50;
/** More values than these are not explained one by one. */
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
  const { where, table, range } = question;
  const reader = new RangeReader(database, question, signal);
  const lists = wantedValues(where, 1);
  const compared = Object.entries(where).flatMap(([column, wanted]) =>
    wanted !== undefined && isComparison(wanted) ? [{ column, wanted }] : [],
  );
  const { any, missing } = await reader.missing<Wanted | Comparison>([...lists, ...compared]);
  const span = formatRange(range);
  if (!any) {
    const newest = await newestOf(database, question);
    return reader.said([`${table.name} holds no measurement from ${span}${newest}.`]);
  }
  const [first] = missing;
  if (first !== undefined) {
    const { column, wanted } = first;
    return reader.said(
      isComparison(wanted)
        ? [`No measurement from ${span} has ${whereText({ [column]: wanted })}.`]
        : await reader.explained([{ column, wanted }]),
    );
  }
  return reader.said([
    Object.keys(where).length > 1
      ? `No measurement from ${span} matches all filters at once, though each alone matches some.`
      : `No measurement from ${span} matches the question, though the range holds some.`,
  ]);
}

/**
 * Names the values of filter lists that no measurement of the range has: one of them misspelt would
 * otherwise only make a number smaller. The server stops reading where a value is found.
 */
export async function missingFromLists(
  database: Database,
  question: Filtered,
  signal?: AbortSignal,
): Promise<Extra> {
  const lists = wantedValues(question.where, 2);
  if (lists.length === 0) return NOTHING;
  const reader = new RangeReader(database, question, signal);
  const { any, missing } = await reader.missing(lists);
  // Of an empty range that alone is said.
  return reader.said(any ? await reader.explained(missing) : []);
}

/** The newest row's time as a clause: only an embedded database is asked beyond the range. */
async function newestOf(database: Database, { table, range }: Filtered): Promise<string> {
  if (!database.embedded) return "";
  const newest = await newestRow(database.rows, table);
  if (newest === null) return ": it is empty";
  const shown = formatInstant(newest, range.timeZone);
  return `; its newest is of ${shown}, so last("…", { now: lab.now }) finds some`;
}

type Wanted = FilterValue | Prefix;

/** What a filter wants of a column. */
interface Condition<W extends Wanted | Comparison = Wanted | Comparison> {
  readonly column: string;
  readonly wanted: W;
}

/** Each value of the filter's lists of at least so many. */
function wantedValues(where: Where, atLeast: number): Condition<Wanted>[] {
  return Object.entries(where).flatMap(([column, match]) => {
    const list = match === undefined || isComparison(match) ? [] : matchList(match);
    if (list.length < atLeast) return [];
    return list.slice(0, MOST_LOOKED_FOR).map((wanted) => ({ column, wanted }));
  });
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
    return { notes, rowsRead: this.#rowsRead, bytesRead: this.#bytesRead };
  }

  /** Whether the range has any row, and which conditions no row of it fits. */
  async missing<W extends Wanted | Comparison>(
    conditions: readonly Condition<W>[],
  ): Promise<{ any: boolean; missing: readonly Condition<W>[] }> {
    const { find } = this.#asked;
    const wanted = conditions.map(({ column, wanted }) =>
      whereSql({ [column]: wanted }, find, "wanted"),
    );
    const columns = [[], ...wanted].map((only): Sql => {
      const one = sql`${this.#rows([["one", raw("1")]], only)}\nLIMIT 1`;
      return sql`(SELECT count() FROM ${nested(one)})`;
    });
    const [row] = await this.#ask(sql`SELECT [${join(columns)}] AS found`);
    const found = Array.from(row?.["found"] as ArrayLike<unknown>, Number);
    return { any: found[0] === 1, missing: conditions.filter((_, at) => found[at + 1] === 0) };
  }

  /** Sentences on wanted values that no row has, with those nearest to them that the range holds. */
  async explained(missing: readonly Condition<Wanted>[]): Promise<string[]> {
    const span = formatRange(this.#asked.range);
    const names = [...new Set(missing.map(({ column }) => column))];
    const sentences = names.map(async (name) => {
      const all = missing.filter(({ column }) => column === name);
      const value: Column = ["value", sql`toString(${this.#asked.find(name).sql})`];
      const rows = await this.#ask(
        sql`${this.#rows([value])}\nGROUP BY value\nORDER BY count() DESC, value\nLIMIT 1000`,
      );
      const held = rows.map(({ value }) => (value as string | null) ?? null);
      const more = all.length - MOST_EXPLAINED;
      const values = more === 1 ? "one more value" : `${grouped(more)} more values`;
      return [
        ...all
          .slice(0, MOST_EXPLAINED)
          .map(
            ({ wanted }) => `No measurement from ${span} has ${name} ${heldInstead(wanted, held)}.`,
          ),
        ...(more > 0
          ? [`No measurement from ${span} has ${values} of the list of ${name} either.`]
          : []),
      ];
    });
    return (await Promise.all(sentences)).flat();
  }

  #rows(columns: readonly Column[], only: readonly Sql[] = []): Sql {
    const { table, range } = this.#asked;
    const where = [...tableBounds(table, range), ...only];
    return select({ columns, from: raw(table.from), where: [and(where)] });
  }

  async #ask(question: Sql): Promise<Record<string, Value>[]> {
    const answer = await this.#database.ask({
      ...print(question),
      action: "find out which values the range holds",
      signal: this.#signal,
    });
    this.#rowsRead += answer.rowsRead;
    this.#bytesRead += answer.bytesRead;
    return answer.table.objects() as Record<string, Value>[];
  }
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
