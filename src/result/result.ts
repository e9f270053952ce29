import type { ColumnTable } from "arquero";
import { inspect } from "node:util";
import { formatInstant } from "../time/time-zone.js";
import { formatRange } from "../time/time-range.js";
import { nearName } from "../near-name.js";
import type { Origin } from "./origin.js";

/** A value of a Result's cell. */
export type Value = string | number | bigint | boolean | Date | null | undefined | object;

/**
 * An answer: an Arquero table with its origin. `Row` is the type of its rows where the question
 * tells it; a function that takes any answer takes `Result<object>`.
 *
 * @example
 * const counts = await lab.measurements.counts({ range: last("3 months"), every: "week" });
 * counts.table.filter((row) => row.measurements > 0).print();
 * counts.origin.sql;
 */
export class Result<out Row extends object = Record<string, Value>> {
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
  rows(limit = Infinity): Row[] {
    return this.table.objects({ limit }) as Row[];
  }

  /**
   * One column's values, in row order.
   *
   * @throws RangeError for a name that the table has not.
   * @example
   * const medians = durations.column("q50"); // (number | null)[]
   */
  column<Name extends keyof Row & string>(name: Name): Row[Name][] {
    if (!this.columnNames.includes(name)) throw noColumn(name, this.columnNames);
    const column = this.table.getter(name);
    return Array.from({ length: this.numRows }, (_, row) => column(row) as Row[Name]);
  }

  /**
   * The same origin with another table, and what made it so. Rows that were changed without a word
   * of it get a note: the SQL no longer tells the whole of them.
   */
  with<Other extends object = Record<string, Value>>(
    table: ColumnTable,
    change: Partial<Origin> = {},
  ): Result<Other> {
    const { question, ...origin } = this.origin;
    // Other rows are no longer what the question gives.
    const same = table === this.table;
    return new Result<Other>(table, {
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

function noColumn(name: string, names: readonly string[]): RangeError {
  const near = nearName(name, names);
  const known = names.length === 0 ? "it has no columns" : `the columns are ${names.join(", ")}`;
  return new RangeError(
    `Can't take the column ${JSON.stringify(name)} of a Result: ${near === undefined ? "" : `did you mean ${near}? `}${near === undefined ? known : `${known[0]?.toUpperCase()}${known.slice(1)}`}.`,
  );
}

function changedNotes({ origin, numRows }: Result<object>, left: number): string[] {
  const counts =
    left === numRows
      ? ""
      : `: ${left.toLocaleString("en-US")} of ${numRows.toLocaleString("en-US")} ${numRows === 1 ? "row" : "rows"}`;
  return [...origin.notes.filter((note) => !note.startsWith(CHANGED)), `${CHANGED}${counts}.`];
}
