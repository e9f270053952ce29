import type { Database } from "../database/database.js";
import type { TableInfo } from "../database/table-info.js";
import type { Bounds, TimeRange } from "../time/time-range.js";
import { bind, raw, sql, type Sql } from "./sql.js";
import type { ColumnSql, FindColumn, Where } from "./where.js";

/** The rows of a table as far as the conditions on its own columns go. */
export interface Filtered {
  readonly table: TableInfo;
  readonly range: TimeRange;
  readonly where: Where;
  readonly find: FindColumn;
}

/** A column of a source, and what its numbers mean. */
export interface SourceColumn extends ColumnSql {
  /** For an axis, where the column's name is not enough: `Run duration`. */
  readonly label?: string;
  /** `s`, `measurements`; missing where nothing is known. */
  readonly unit?: string;
  /** True for numbers that are never NaN or infinite. */
  readonly finite?: true;
}

/** What a row of a source is. */
export type SourceKind = "measurements" | "runs" | "logs";

/** Rows to scan. */
export interface Rows {
  /** The text after FROM, with its WHERE: the rows of the range, or of a part of it, that match. Called last. */
  from(range: Bounds): Sql;
  /** SQL for why a row is excluded: 0 if it counts, else a code. */
  readonly unusable?: Sql;
}

/**
 * Rows that a question is asked of: measurements, runs, log lines.
 *
 * It is made for one question: `column` notes what the question needs, and `from` then selects that.
 */
export interface Source extends Rows {
  readonly kind: SourceKind;
  /** Plural name of the rows ("measurements"), for sentences and as the unit of a count. */
  readonly rowNoun: string;
  /** A column of a row. @throws ProbelabError for a name that the source has not. */
  column(name: string): SourceColumn;
  /** When a row was, a DateTime or DateTime64. */
  readonly instant: string;
  /** Number of table rows that a row stands for; missing if it is one. */
  readonly weight?: Sql;
  /** When the first and the last of those were, where they are several. */
  readonly span?: { readonly first: string; readonly last: string };
  /** A clause on why the source has no hours; missing if it has. */
  readonly daysOnly?: string;
  /** A clause on why the source has no parts of hours; missing if it has. */
  readonly hoursOnly?: string;
  /** Why the range can't be split, as a clause; undefined if it can. */
  readonly whole?: string;
  /** Sentences on the source for the reader of the answer. */
  readonly notes: readonly string[];
  /** More to say where the answer held unusable rows, of these numbers. */
  unusableNotes?(
    kinds: ReadonlySet<number>,
    database: Database,
    signal: AbortSignal | undefined,
  ): Promise<readonly Extra[]>;
  /** What its rows are of a table: an answer's notes name what of that filter nothing matches. */
  readonly filtered?: Filtered;
  /** Says why an answer is empty, where no filter on a table does. */
  whyEmpty?(): Promise<string>;
}

/** Limits of a table whose time column is a Date: all its rows are at midnight. */
export function daysOnly({ name, timeName, time }: TableInfo): Pick<Source, "daysOnly"> {
  return time.resolution === "day"
    ? { daysOnly: `${timeName} of ${name} is a Date, which has no hours` }
    : {};
}

/** Sentences that took questions of their own, and what those read. */
export interface Extra {
  readonly notes: readonly string[];
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** Nothing to say, nothing read. */
export const NOTHING: Extra = { notes: [], rowsRead: 0, bytesRead: 0 };

/**
 * The bounds of a range on a table's sort key, in its own type, so that the primary index is used;
 * and what else a row needs to have a time at all.
 */
export function tableBounds({ time }: Pick<TableInfo, "time">, range: Bounds): Sql[] {
  const start = time.bound(range.start);
  const end = time.bound(range.end);
  return [
    sql`${raw(time.sql)} >= ${bind("range_start", start.type, start.value)}`,
    sql`${raw(time.sql)} < ${bind("range_end", end.type, end.value)}`,
    ...(time.usable ? [raw(time.usable)] : []),
  ];
}
