import { ProbelabError } from "../base/error.js";
import { NAME, nameOf, QUOTED_NAME } from "./sql-text.js";
import { quoteIdentifier } from "./time-column.js";
import type { AskRows } from "./table-info.js";

/** What the server says of how a table keeps its rows. */
export interface TableEngine {
  /** Such as `MergeTree` or `ReplacingMergeTree`; "" where the server does not show it. */
  readonly engine: string;
  /** True where it merges rows in the background, so that FINAL tells them as merged. */
  readonly merges: boolean;
  /** The first expression that rows are sorted by; "" where it isn't known. */
  readonly sortedBy: string;
  /** How many rows it holds; null where the server does not count them. */
  readonly rows: number | null;
  /** What the reader of every answer must know of it. */
  readonly notes: readonly string[];
  /** What could not be told. */
  readonly untold: readonly string[];
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
export async function tableEngine(
  ask: AskRows,
  database: string,
  name: string,
): Promise<TableEngine> {
  const shown = await showTable(ask, database, name);
  if (shown === undefined) {
    return {
      ...{ engine: "", merges: false, sortedBy: "", rows: null, notes: [] },
      untold: [
        `The server does not show the engine of ${name}: whether it holds rows twice until a merge isn't known.`,
      ],
    };
  }
  const own = {
    engine: shown.engine,
    merges: MERGING.test(shown.engine),
    sortedBy: firstKey(shown.sorting_key),
    rows: shown.rows === null ? null : Number(shown.rows),
    notes: [],
    untold: [],
  };
  if (shown.engine === "Distributed") {
    const [, from, table] =
      /^Distributed\('?[^',]+'?, '?([^',]*)'?, '?([^',)]+)'?/.exec(shown.engine_full) ?? [];
    const local = table && (await showTable(ask, from || database, table));
    return local
      ? { ...own, merges: MERGING.test(local.engine), sortedBy: firstKey(local.sorting_key) }
      : { ...own, untold: [unseen(`${name} is Distributed over ${from}.${table}`)] };
  }
  if (shown.engine === "MaterializedView") {
    const [, target] = INTO.exec(shown.create_table_query) ?? [];
    if (target === undefined) return { ...own, merges: MERGING.test(shown.create_table_query) };
    const behind = await showTable(ask, ...tableName(target, database));
    return behind
      ? { ...own, merges: MERGING.test(behind.engine), sortedBy: firstKey(behind.sorting_key) }
      : { ...own, untold: [unseen(`${name} is a materialized view into ${target}`)] };
  }
  if (shown.engine === "View") return { ...own, ...(await behindView(ask, database, name, shown)) };
  if (shown.engine === "Merge") {
    return { ...own, untold: [unseen(`${name} reads other tables (engine Merge)`)] };
  }
  return own;
}

const PLACE = `(?:(?:${NAME})\\.)?(?:${NAME})`;
/** Where a materialized view writes to. */
const INTO = new RegExp(`^CREATE MATERIALIZED VIEW ${PLACE} TO (${PLACE})`);
/** What a view reads, and whether with FINAL. */
const READ = new RegExp(`\\b(?:FROM|JOIN) (${PLACE})(?: AS (?:${NAME}))?( FINAL)?`, "g");

/** A view gives the rows of its tables as it asks for them: FINAL in it is the deployment's choice. */
async function behindView(ask: AskRows, database: string, name: string, { as_select }: Shown) {
  const sources = [...as_select.matchAll(READ)];
  const notes: string[] = [];
  const untold: string[] = [];
  for (const [, source = "", final] of sources) {
    const behind = await showTable(ask, ...tableName(source, database));
    if (behind === undefined) untold.push(unseen(`${name} is a view of ${source}`));
    else if (MERGING.test(behind.engine) && final === undefined) {
      notes.push(
        `${name} is a view of ${source}, a ${behind.engine}, without FINAL: rows that are not merged yet count as often as they are there.`,
      );
    }
  }
  if (sources.length === 0) untold.push(unseen(`${name} is a view`));
  return { notes, untold };
}

async function showTable(ask: AskRows, database: string, name: string): Promise<Shown | undefined> {
  try {
    const [shown] = await ask<Shown>(
      `SELECT engine, engine_full, sorting_key, toString(total_rows) AS rows, as_select, create_table_query
FROM system.tables WHERE database = {database:String} AND name = {name:String}`,
      { database, name },
    );
    return shown;
  } catch (error) {
    // A reader may be kept from the system tables; what it may not see is told as such.
    if (error instanceof ProbelabError && error.code === "ACCESS_DENIED") return undefined;
    throw error;
  }
}

function unseen(what: string): string {
  return `${what}, which can't be looked at with this user: whether rows count twice until a merge isn't known.`;
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
