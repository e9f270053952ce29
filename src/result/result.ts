import type { ColumnTable } from "arquero";
import { inspect } from "node:util";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { counted, grouped } from "../base/text.js";
import { formatRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { isArqueroTable, pickRows } from "./arquero-table.js";
import { changedOrigin } from "./changed.js";
import { joined } from "./join.js";
import type { Value } from "./json.js";
import { zoneOf, type Origin } from "./origin.js";

export type { Value } from "./json.js";

/** Names of a row's columns. */
export type ColumnName<Row> = keyof Row & string;

/**
 * An answer: an Arquero table with its origin. `Row` is the type of its rows where the question
 * gives it; a function that takes any answer takes `Result<object>`.
 *
 * `with` applies Arquero's verbs, `filter` a function of a row. Both keep the range, the SQL and the
 * meaning of the columns that stayed as they were; a note says what was done.
 *
 * @example
 * const counts = await lab.measurements.counts({ range: last("3 months"), every: "week", by: "probe_cc" });
 * const least = 1000;
 * chart.line(counts.filter((row) => row.measurements >= least));
 * counts.origin.sql;
 */
export class Result<out Row extends object = Record<string, Value>> {
  /**
   * The rows, as an Arquero table. Arquero reads its functions as text, so they don't see variables:
   * write `table.params({ least }).filter((d, $) => d.measurements >= $.least)` or
   * `table.filter(aq.escape((d) => d.measurements >= least))`.
   */
  readonly table: ColumnTable;
  /** The question, the server and what was done to the rows. */
  readonly origin: Origin;

  constructor(table: ColumnTable, origin: Origin) {
    this.table = table;
    this.origin = origin;
    // Arquero hands parameters on to every table that it makes of this one: the first Result is its owner.
    if (ownerIn(table)?.table !== table) table.params({ [OWNER]: { table, result: this } });
  }

  /**
   * Number of rows.
   *
   * @example
   * const counts = await lab.measurements.counts({ range: last("1 week", { now: lab.now }) });
   * counts.numRows();
   */
  numRows(): number {
    return this.table.numRows();
  }

  /**
   * Names of the columns, in order.
   *
   * @example
   * const counts = await lab.measurements.counts({ range: last("1 week", { now: lab.now }) });
   * counts.columnNames(); // ["t", "measurements"]
   */
  columnNames(): string[] {
    return this.table.columnNames();
  }

  /**
   * The rows as plain objects, all of them or the first `limit`.
   *
   * @example
   * counts.rows()[0]?.measurements;
   */
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
  column<Name extends ColumnName<Row>>(name: Name): Row[Name][] {
    checkColumn(this.columnNames(), name);
    const column = this.table.getter(name);
    return Array.from({ length: this.numRows() }, (_, row) => column(row) as Row[Name]);
  }

  /**
   * The rows for which `keep` returns true. It is plain JavaScript, which sees the cell's variables.
   *
   * @throws ProbelabError for what is no function.
   * @example
   * counts.filter((row) => row.probe_cc === "BR" && row.t >= new Date("2026-03-01"));
   */
  filter(keep: (row: Row, index: number) => boolean): Result<Row> {
    if (typeof keep !== "function") {
      throw new ProbelabError(
        `Can't filter by ${JSON.stringify(keep) ?? String(keep)}: pass a function of a row, counts.filter((row) => row.measurements > 0).`,
      );
    }
    const rows = this.rows().flatMap((row, index) => (keep(row, index) ? [index] : []));
    return this.with<Row>(pickRows(this.table, rows));
  }

  /**
   * Rows made of these by Arquero's verbs (https://idl.uw.edu/arquero/api/verbs), joins with other
   * tables among them. Columns whose values stay as they were keep their meaning for charts; the
   * others are plain columns, and a note names them.
   *
   * @param made a function of the table, or the table that it would return.
   * @param change what is true of the origin instead; internal.
   * @throws ProbelabError for what is no Arquero table.
   * @example
   * counts.with((table) => table.orderby("t").slice(0, 10));
   * counts.with((table) => table.groupby("t").rollup({ all: (d) => op.sum(d.measurements) }));
   * counts.with((table) => table.join_left(other.table, ["t", "probe_cc"]));
   */
  with<Other extends object = Record<string, Value>>(
    made: ColumnTable | ((table: ColumnTable) => ColumnTable),
    change: Partial<Origin> = {},
  ): Result<Other> {
    const table: unknown = typeof made === "function" ? made(this.table) : made;
    if (!isArqueroTable(table)) {
      throw new ProbelabError(
        `Can't make a Result of ${table instanceof Result ? "a Result: take it as it is, or pass its table" : "what is no Arquero table: pass one, or a function that returns one"}, such as counts.with((table) => table.slice(0, 10)).`,
      );
    }
    if (table === this.table) return new Result<Other>(table, { ...this.origin, ...change });
    if (change.reductions === undefined && change.columns === undefined) {
      return new Result<Other>(table, { ...changedOrigin(this, table), ...change });
    }
    return new Result<Other>(table, { ...this.origin, ...change });
  }

  /**
   * These rows with the columns of another Result beside them, by the time and the dimensions that both
   * have, or by the columns `on`. Every row stays: where the other has none, its columns are null. Own
   * rows are made a Result by `rows`.
   *
   * @throws ProbelabError for Results without a common column, of other buckets, with several rows for
   *   one of these, or with columns of the same name.
   * @example
   * const releases = rows([{ t: "2026-03-02", probes: 1200 }], { t: "week", probes: max("probes") });
   * counts.join(releases);
   */
  join(
    other: Result<object>,
    options: { readonly on?: readonly string[] } = {},
  ): Result<Record<string, Value>> {
    if (!isResult(other)) {
      throw new ProbelabError(
        'Can\'t join what is no Result: make rows of your own one, counts.join(rows(list, { t: "day", n: count() })).',
      );
    }
    const { table, origin } = joined(this, other, options);
    return new Result(table, { ...this.origin, ...origin });
  }

  /** Text for a console: the first rows, the count, the range, what was left out. */
  toString(): string {
    const { range, reductions, notes } = this.origin;
    const zone = zoneOf(this.origin);
    const shown = this.rows(20);
    const lines = shown.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value instanceof Date ? formatInstant(value, zone) : (value as unknown),
        ]),
      ),
    );
    const body = lines.map((line) => inspect(line, { breakLength: Infinity, compact: true }));
    if (this.numRows() > shown.length)
      body.push(`… ${grouped(this.numRows() - shown.length)} more rows`);
    return [
      `Result of ${counted(this.numRows(), "row")}${range ? `, ${formatRange(range)}` : ""}`,
      ...body,
      ...reductions,
      ...notes,
    ].join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

const OWNER = Symbol.for("probelab.owner");

interface Owner {
  readonly table: ColumnTable;
  readonly result: Result<object>;
}

function ownerIn(table: ColumnTable): Owner | undefined {
  return (table.params() as Readonly<Record<symbol, Owner | undefined>> | undefined)?.[OWNER];
}

/** The Result of whose table Arquero made this one, or whose table it is. */
export function ownerOf(table: ColumnTable): Result<object> | undefined {
  return ownerIn(table)?.result;
}

/** Also one of another copy of this library, as a notebook may import it. */
export function isResult(value: unknown): value is Result {
  if (value instanceof Result) return true;
  if (typeof value !== "object" || value === null) return false;
  const { columnNames, column, origin } = value as Partial<Result>;
  return typeof columnNames === "function" && typeof column === "function" && origin !== undefined;
}

/** @throws RangeError for a name that is none of the columns, with the nearest one. */
function checkColumn(names: readonly string[], name: string): void {
  if (names.includes(name)) return;
  const near = nearName(String(name), names);
  const known = names.length === 0 ? "it has none" : `its columns are ${names.join(", ")}`;
  throw new RangeError(
    `Can't take the column ${JSON.stringify(name)} of a Result: ${near === undefined ? known : `did you mean ${near}? ${known[0]?.toUpperCase()}${known.slice(1)}`}.`,
  );
}
