import type { ColumnTable } from "arquero";
import { inspect } from "node:util";
import { formatInstant } from "../time/time-zone.js";
import { formatRange } from "../time/time-range.js";
import type { Origin } from "./origin.js";

/** A value of a Result's cell. */
export type Value = string | number | bigint | boolean | Date | null | undefined | object;

/**
 * An answer: an Arquero table with its origin.
 *
 * @example
 * const counts = await lab.measurements.counts({ range: last("3 months"), every: "week" });
 * counts.table.filter((row) => row.measurements > 0).print();
 * counts.origin.sql;
 */
export class Result {
  /** The rows, as an Arquero table. */
  readonly table: ColumnTable;
  /** The question, the server and what was done to the rows. */
  readonly origin: Origin;

  constructor(table: ColumnTable, origin: Origin) {
    this.table = table;
    this.origin = origin;
  }

  /** Number of rows. */
  get numRows(): number {
    return this.table.numRows();
  }

  /** Names of the columns, in order. */
  get columnNames(): string[] {
    return this.table.columnNames();
  }

  /** The rows as plain objects, all of them or the first `limit`. */
  rows(limit = Infinity): Record<string, Value>[] {
    return this.table.objects({ limit }) as Record<string, Value>[];
  }

  /** One column's values, in row order. @throws RangeError for a name that the table has not. */
  column(name: string): Value[] {
    const column = this.table.getter(name);
    return Array.from({ length: this.numRows }, (_, row) => column(row) as Value);
  }

  /**
   * The same origin with another table, and what made it so. Rows that were changed without a word
   * of it get a note: the SQL no longer tells the whole of them.
   */
  with(table: ColumnTable, change: Partial<Origin> = {}): Result {
    const { question, ...origin } = this.origin;
    // Other rows are no longer what the question gives.
    const same = table === this.table;
    return new Result(table, {
      ...origin,
      ...(same && question && { question }),
      ...(!same && !change.reductions && { notes: changedNotes(this, table.numRows()) }),
      ...change,
    });
  }

  /** Text for a console: the first rows, the count, the range, what was left out. */
  toString(): string {
    const { range, reductions, notes } = this.origin;
    const shown = this.rows(20);
    const lines = shown.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value instanceof Date ? formatInstant(value, range.timeZone) : value,
        ]),
      ),
    );
    const body = lines.map((line) => inspect(line, { breakLength: Infinity, compact: true }));
    if (this.numRows > shown.length)
      body.push(`… ${(this.numRows - shown.length).toLocaleString("en-US")} more rows`);
    return [
      `Result of ${this.numRows.toLocaleString("en-US")} ${this.numRows === 1 ? "row" : "rows"}, ${formatRange(range)}`,
      ...body,
      ...reductions,
      ...notes,
    ].join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** How the note on rows that were changed by hand begins. */
export const CHANGED = "The rows were changed after the answer";

function changedNotes({ origin, numRows }: Result, left: number): string[] {
  const counts =
    left === numRows
      ? ""
      : `: ${left.toLocaleString("en-US")} of ${numRows.toLocaleString("en-US")} ${numRows === 1 ? "row" : "rows"}`;
  return [...origin.notes.filter((note) => !note.startsWith(CHANGED)), `${CHANGED}${counts}.`];
}
