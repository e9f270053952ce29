import type { Database } from "../database/database.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import { editDistance } from "../base/near-name.js";
import type { Value } from "../result/result.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { isPrefix, matchesPrefix, prefix, type Prefix } from "./prefix.js";
import { NOTHING, tableBounds, type Extra } from "./source.js";
import { and, print, raw, select, sql, type Column, type Sql } from "./sql.js";
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

/** One thing that a filter asks for. */
interface Wanted {
  readonly column: string;
  readonly value: FilterValue | Prefix;
}

/** More values than these of a filter's list are not explained one by one. */
const MOST_EXPLAINED = 3;

/**
 * Says why an answer is empty: which filter no measurement of the range matches, and what the range
 * holds instead, the nearest values first. Asks only within the range.
 */
export async function explainEmpty(
  database: Database,
  asked: Filtered,
  signal?: AbortSignal,
): Promise<Extra> {
  const teller = new Teller(database, asked, signal);
  const span = formatRange(asked.range);
  const missing = await teller.missing(1);
  if (missing.length > 0) return teller.said(missing.slice(0, 1));
  for (const [column, wanted] of Object.entries(asked.where)) {
    if (wanted === undefined || !isComparison(wanted)) continue;
    const only = whereSql({ [column]: wanted }, asked.find);
    const [row] = await teller.rows([["n", raw("count()")]], only);
    if (Number(row?.["n"]) === 0 && (await teller.hasRows())) {
      return teller.said([`No measurement from ${span} has ${whereText({ [column]: wanted })}.`]);
    }
  }
  if (!(await teller.hasRows())) {
    const newest = await newestOf(database, asked);
    return teller.said([`${asked.table.name} holds no measurement from ${span}${newest}.`]);
  }
  return teller.said([
    Object.keys(asked.where).length > 1
      ? `No measurement from ${span} matches all filters at once, though each alone matches some.`
      : `No measurement from ${span} matches the question, though the range holds some.`,
  ]);
}

/**
 * Names the values of filter lists that no measurement of the range has: one of them misspelt would
 * otherwise only make a number smaller. One scan, whatever the length of the lists.
 */
export async function missingFromLists(
  database: Database,
  asked: Filtered,
  signal?: AbortSignal,
): Promise<Extra> {
  const teller = new Teller(database, asked, signal);
  return teller.said(await teller.missing(2));
}

/** Where the data ends: only an embedded database is asked beyond the range. */
async function newestOf(database: Database, { table, range }: Filtered): Promise<string> {
  if (!database.embedded) return "";
  const newest = await newestRow(database.rows, table);
  if (newest === null) return ": it is empty";
  const shown = formatInstant(newest, range.timeZone);
  return `; its newest is of ${shown}, so last("…", { now: lab.now }) finds some`;
}

/** Asks within the range and counts what was read. */
class Teller {
  readonly #database: Database;
  readonly #asked: Filtered;
  readonly #signal: AbortSignal | undefined;
  #rowsRead = 0;
  #bytesRead = 0;
  #hasRows: boolean | undefined;

  constructor(database: Database, asked: Filtered, signal: AbortSignal | undefined) {
    this.#database = database;
    this.#asked = asked;
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
    const from = raw(table.from);
    const where = [...tableBounds(table, range), ...only];
    const question = print(sql`${select({ columns, from, where })}${rest}`);
    const answer = await this.#database.ask({
      ...question,
      action: "find out which values the range holds",
      signal: this.#signal,
    });
    this.#rowsRead += answer.rowsRead;
    this.#bytesRead += answer.bytesRead;
    return answer.table.objects() as Record<string, Value>[];
  }

  async hasRows(): Promise<boolean> {
    this.#hasRows ??= (await this.rows([["one", raw("1")]], [], raw("\nLIMIT 1"))).length > 0;
    return this.#hasRows;
  }

  /** Sentences on wanted values that nothing in the range has, of lists of at least so many. */
  async missing(atLeast: number): Promise<string[]> {
    const wanted = Object.entries(this.#asked.where).flatMap(([column, match]) => {
      if (match === undefined || isComparison(match)) return [];
      const list = matchList(match);
      return list.length < atLeast ? [] : [{ column, list }];
    });
    if (wanted.length === 0) return [];
    const { find } = this.#asked;
    const has = (column: string, value: FilterValue | Prefix) =>
      sql`countIf(${and(whereSql({ [column]: value }, find, "wanted"))}) > 0`;
    const columns = wanted.flatMap(({ column, list }, index): Column[] => {
      const plain = list.filter((value) => value !== null && !isPrefix(value));
      const listed = whereSql({ [column]: plain.length > 0 ? plain : [null] }, find, "wanted");
      const seen = sql`groupUniqArrayIf(toString(${find(column).sql}), ${and(listed)})`;
      return [
        [`_seen${index}`, seen],
        ...list.flatMap((value, at): Column[] =>
          value === null || isPrefix(value) ? [[`_has${index}_${at}`, has(column, value)]] : [],
        ),
      ];
    });
    const [row] = await this.rows([["_all", raw("count()")], ...columns]);
    this.#hasRows = Number(row?.["_all"] ?? 0) > 0;
    if (!this.#hasRows) return [];
    const sentences = await Promise.all(
      wanted.map(({ column, list }, index) => {
        const seen = new Set(row?.[`_seen${index}`] as readonly string[] | undefined);
        const missing = list.filter((value, at) =>
          value === null || isPrefix(value)
            ? Number(row?.[`_has${index}_${at}`]) === 0
            : !seen.has(String(value)),
        );
        return this.#sentences(column, missing);
      }),
    );
    return sentences.flat();
  }

  async #sentences(column: string, missing: readonly (FilterValue | Prefix)[]): Promise<string[]> {
    if (missing.length === 0) return [];
    const span = formatRange(this.#asked.range);
    const values = await this.#valuesOf(column);
    const more = missing.length - MOST_EXPLAINED;
    return [
      ...missing.slice(0, MOST_EXPLAINED).map((value) => sentence({ column, value }, values, span)),
      ...(more > 0
        ? [
            `No measurement from ${span} has ${more === 1 ? "one more value" : `${more.toLocaleString("en-US")} more values`} of the list of ${column} either.`,
          ]
        : []),
    ];
  }

  /** The range's commonest values of a column. */
  async #valuesOf(column: string): Promise<(string | null)[]> {
    const rows = await this.rows(
      [["value", sql`toString(${this.#asked.find(column).sql})`]],
      [],
      raw("\nGROUP BY value\nORDER BY count() DESC, value\nLIMIT 1000"),
    );
    return rows.map((row) => (row["value"] as string | null) ?? null);
  }
}

function sentence({ column, value }: Wanted, values: readonly (string | null)[], span: string) {
  const text = isPrefix(value) ? value.prefix : String(value);
  const near = nearest(values, text);
  const more = values.length > near.length ? ` and ${values.length - near.length} more` : "";
  const begins = near.some((one) => one !== null && matchesPrefix(one, prefix(text || " ")));
  const hint = begins && !isPrefix(value) ? ` (prefix(${JSON.stringify(text)}) matches them)` : "";
  const shown = isPrefix(value) ? `${text}…` : text;
  return `No measurement from ${span} has ${column} ${shown}; the range holds ${near.map((one) => JSON.stringify(one)).join(", ")}${more}${hint}.`;
}

function nearest(values: readonly (string | null)[], wanted: string): (string | null)[] {
  return values
    .map((value, index) => ({ value, index, distance: distanceOf(value ?? "", wanted) }))
    .sort((a, b) => a.distance - b.distance || a.index - b.index)
    .slice(0, 5)
    .map(({ value }) => value);
}

/** Letters to change, upper and lower case alike; a value that goes on from the wanted one is near. */
function distanceOf(value: string, wanted: string): number {
  const [a, b] = [value.toLowerCase(), wanted.toLowerCase()];
  return b !== "" && a.startsWith(b) ? 0 : editDistance(a, b);
}
