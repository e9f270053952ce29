import type { ColumnTable } from "arquero";
import { inspect } from "node:util";
import { ProbelabError } from "../base/error.js";
import { formatInstant } from "../time/time-zone.js";
import { formatRange } from "../time/time-range.js";
import { columnValues, isArqueroTable, newTable, pickRows } from "./arquero-table.js";
import { changedOrigin, rowsText, withoutQuestion, withStep, type Step } from "./changed.js";
import type { Value } from "./json.js";
import { zoneOf, type Origin } from "./origin.js";
import { checkColumns, checkFunction, joined, pivoted, sortedRows } from "./verbs.js";

export type { Value } from "./json.js";

/** Names of a row's columns. */
export type ColumnName<Row> = keyof Row & string;

/** What rows are ordered by: a column, or a function of a row. */
export type OrderKey<Row> = ColumnName<Row> | ((row: Row) => Value);

/** An object type written out, as an editor shows it. */
type Flat<Row> = { [Name in keyof Row]: Row[Name] };

/** Functions of a row, each under the name of the column that it computes. */
export type Computed<Row> = Readonly<Record<string, (row: Row, index: number) => Value>>;

/** Rows with computed columns: those of a name that is there are replaced. */
export type Derived<Row, Columns> = Flat<
  Omit<Row, keyof Columns> & {
    [Name in keyof Columns]: Columns[Name] extends (...given: never) => infer Cell ? Cell : never;
  }
>;

/** Rows with other names of columns. */
export type Renamed<Row, Names> = {
  [Name in keyof Row as Name extends keyof Names ? Names[Name] & string : Name]: Row[Name];
};

/** Rows with the columns of another answer's rows beside them; null where there is none. */
export type Joined<Row, Other, On, Kind> = Row & {
  [Name in Exclude<keyof Other, On>]: Kind extends "left" ? Other[Name] | null : Other[Name];
};

/** What `Result.pivot` is told. */
export interface PivotOptions<Rows, Names, Values> {
  /** The columns that stay: a row for each of their values. */
  readonly rows: Rows | readonly Rows[];
  /** The column whose values become columns. */
  readonly names: Names;
  /** The column whose values fill them. */
  readonly values: Values;
}

/**
 * An answer: an Arquero table with its origin. `Row` is the type of its rows where the question
 * tells it; a function that takes any answer takes `Result<object>`.
 *
 * The verbs (`filter`, `derive`, `orderby`, `slice`, `select`, `rename`, `join`, `pivot`) give
 * another Result, whose origin says what was done and keeps what is still true. They take plain
 * JavaScript functions of a row, which see the variables of the cell. For anything else there is
 * `table`: give what Arquero made of it to a chart, or to `with`.
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
    const { partial, reductions } = origin;
    const untold = partial !== undefined && !reductions.includes(partial);
    this.origin = untold ? { ...origin, reductions: [partial, ...reductions] } : origin;
    // Arquero hands parameters on to every table that it makes of this one: the first Result is its owner.
    if (ownerIn(table)?.table !== table) table.params({ [OWNER]: { table, result: this } });
  }

  /** Number of rows. */
  get numRows(): number {
    return this.table.numRows();
  }

  /** Names of the columns, in order. */
  get columnNames(): string[] {
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
    checkColumns(this.columnNames, [name]);
    const column = this.table.getter(name);
    return Array.from({ length: this.numRows }, (_, row) => column(row) as Row[Name]);
  }

  /**
   * The rows for which `keep` says true.
   *
   * @example
   * counts.filter((row) => row.probe_cc === "BR" && row.t >= new Date("2026-03-01"));
   */
  filter(keep: (row: Row, index: number) => boolean): Result<Row> {
    checkFunction(keep, "filter", "counts.filter((row) => row.measurements > 0)");
    const rows = this.rows().flatMap((row, index) => (keep(row, index) ? [index] : []));
    return picked(
      this,
      rows,
      `kept ${rows.length.toLocaleString("en-US")} of ${rowsText(this.numRows)} (filter)`,
    );
  }

  /**
   * The rows with computed columns; one of a name that is there is replaced.
   *
   * @example
   * summary.derive({ share: (row) => row.failed / row.measurements });
   */
  derive<Columns extends Computed<Row>>(columns: Columns): Result<Derived<Row, Columns>> {
    for (const [name, compute] of Object.entries(columns)) {
      checkFunction(compute, `derive ${name}`, `counts.derive({ ${name}: (row) => row.t })`);
    }
    const rows = this.rows();
    const made = new Map<string, unknown>(
      this.columnNames.map((name) => [name, columnValues(this.table, name)]),
    );
    for (const [name, compute] of Object.entries(columns)) made.set(name, rows.map(compute));
    const done = `computed ${columnsText(Object.keys(columns))} (derive)`;
    return changed(this, newTable(this.table, [...made]), { rows: [...rows.keys()], done });
  }

  /**
   * The rows in the order of one or more columns, or of what functions give for a row. Versions are
   * ordered by component (3.9 before 3.10), null stands last. Rows of equal values keep their order.
   *
   * @example
   * counts.orderby("measurements", "descending").slice(0, 10);
   */
  orderby(
    by: OrderKey<Row> | readonly OrderKey<Row>[],
    order: "ascending" | "descending" = "ascending",
  ): Result<Row> {
    const rows = this.rows();
    const keys = (Array.isArray(by) ? (by as readonly OrderKey<Row>[]) : [by as OrderKey<Row>]).map(
      (key) => {
        if (typeof key === "function") return { values: rows.map(key) };
        checkColumns(this.columnNames, [key]);
        return { name: key, values: columnValues(this.table, key) };
      },
    );
    if (order !== "ascending" && order !== "descending") {
      throw new ProbelabError(
        `Can't order rows ${JSON.stringify(order)}: pass "ascending" or "descending".`,
      );
    }
    return picked(this, sortedRows(keys, rows.length, order === "descending"));
  }

  /**
   * The rows from `start` up to, and without, `end`, as Array.prototype.slice counts them.
   *
   * @example
   * counts.slice(-7);
   */
  slice(start = 0, end = Infinity): Result<Row> {
    const rows = Array.from({ length: this.numRows }, (_, row) => row).slice(start, end);
    const done = `kept ${rows.length.toLocaleString("en-US")} of ${rowsText(this.numRows)} (slice)`;
    return picked(this, rows, rows.length === this.numRows ? undefined : done);
  }

  /**
   * These columns only, in this order.
   *
   * @throws RangeError for a name that the table has not.
   * @example
   * counts.select("t", "measurements");
   */
  select<Name extends ColumnName<Row>>(...names: readonly Name[]): Result<Flat<Pick<Row, Name>>> {
    checkColumns(this.columnNames, names);
    const table = newTable(
      this.table,
      names.map((name) => [name, columnValues(this.table, name)]),
    );
    const left = this.columnNames.filter((name) => !(names as readonly string[]).includes(name));
    return changed(this, table, {
      rows: Array.from({ length: this.numRows }, (_, row) => row),
      ...(left.length > 0 && { done: `left out ${columnsText(left)} (select)` }),
    });
  }

  /**
   * The rows under other names of columns, which keep their meaning.
   *
   * @example
   * before.rename({ measurements: "measurements_before" });
   */
  rename<const Names extends Readonly<Partial<Record<ColumnName<Row>, string>>>>(
    names: Names,
  ): Result<Renamed<Row, Names>> {
    const renames = new Map(Object.entries<string | undefined>(names));
    checkColumns(this.columnNames, [...renames.keys()]);
    const now = (name: string): string => renames.get(name) ?? name;
    const all = this.columnNames.map(now);
    const twice = all.find((name, at) => all.indexOf(name) !== at);
    if (twice !== undefined) {
      throw new ProbelabError(
        `Can't rename two columns to ${JSON.stringify(twice)}: give each a name of its own.`,
      );
    }
    const origin = withoutQuestion(this.origin);
    const { time, dimensions, measures, kinds } = origin.columns;
    const columns = {
      ...(time && { time: { ...time, name: now(time.name) } }),
      dimensions: dimensions.map((each) => ({ ...each, name: now(each.name) })),
      measures: measures.map(({ interval, quotient, ...each }) => ({
        ...each,
        name: now(each.name),
        ...(interval && { interval: [now(interval[0]), now(interval[1])] as const }),
        ...(quotient && { quotient: [now(quotient[0]), now(quotient[1])] as const }),
      })),
      ...(kinds && {
        kinds: Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [now(name), kind])),
      }),
    };
    const table = newTable(
      this.table,
      this.columnNames.map((name) => [now(name), columnValues(this.table, name)]),
    );
    const done = `renamed ${[...renames].map((pair) => pair.join(" to ")).join(", ")} (rename)`;
    return new Result(table, withStep({ ...origin, columns }, [done], this.numRows));
  }

  /**
   * The columns of another answer beside these, where the values of `on` are equal. Rows that match
   * several of the other come several times; measures whose values are repeated so aren't added up.
   *
   * @param kind `inner`, the default: rows that match none are left out; `left`: they stay, with null.
   * @throws ProbelabError where both have a column of one name, which `rename` tells apart.
   * @example
   * counts.join(durations, ["t", "probe_cc"], "left");
   */
  join<
    Other extends object,
    On extends ColumnName<Row> & ColumnName<Other>,
    Kind extends "inner" | "left" = "inner",
  >(
    other: Result<Other>,
    on: On | readonly On[],
    kind?: Kind,
  ): Result<Joined<Row, Other, On, Kind>> {
    const names = [on].flat();
    if (!isResult(other)) {
      throw new ProbelabError(
        `Can't join ${isArqueroTable(other) ? "an Arquero table" : "what is no Result"}: pass a Result; of rows of your own it is table(rows).result.`,
      );
    }
    if (kind !== undefined && kind !== "inner" && kind !== "left") {
      throw new ProbelabError(`Can't join ${JSON.stringify(kind)}: pass "inner" or "left".`);
    }
    checkColumns(this.columnNames, names);
    checkColumns(other.columnNames, names);
    const { table, origin } = joined(this, other, names, kind ?? "inner");
    return new Result(table, origin);
  }

  /**
   * A column for each value of `names`, a row for each value of `rows`. Columns are in the order of
   * the dimension (versions by component, times by time) and named as a person writes the value:
   * `2026-05-04` for a day in the range's zone. A cell without a row is 0 where the measure says that
   * nothing happened then, else null.
   *
   * @throws ProbelabError where several rows would fill one cell.
   * @example
   * counts.pivot({ rows: "probe_cc", names: "t", values: "measurements" });
   */
  pivot<
    Rows extends ColumnName<Row>,
    Names extends ColumnName<Row>,
    Values extends ColumnName<Row>,
  >(
    options: PivotOptions<Rows, Names, Values>,
  ): Result<Pick<Row, Rows> & Readonly<Record<string, Row[Values] | null>>> {
    const { names, values } = options;
    const rows: string[] = [options.rows].flat();
    checkColumns(this.columnNames, [...rows, names, values]);
    const { table, origin } = pivoted(this, { rows, names, values });
    return new Result(table, origin);
  }

  /**
   * The same origin with another table, of rows that Arquero made of these. It keeps what is still
   * true: columns whose values are those that were asked for keep their meaning, the range is that
   * which the rows still cover; a note tells that they were changed. A `change` that tells what was
   * done (`reductions`), or what the columns mean (`columns`), is taken as it is.
   *
   * @example
   * counts.with(counts.table.filter((row) => row.measurements > 100));
   */
  with<Other extends object = Record<string, Value>>(
    table: ColumnTable,
    change: Partial<Origin> = {},
  ): Result<Other> {
    if (table === this.table) return new Result<Other>(table, { ...this.origin, ...change });
    if (change.reductions === undefined && change.columns === undefined) {
      return new Result<Other>(table, { ...changedOrigin(this, table), ...change });
    }
    const origin = withoutQuestion(this.origin);
    return new Result<Other>(table, { ...origin, ...change });
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
    if (this.numRows > shown.length)
      body.push(`… ${(this.numRows - shown.length).toLocaleString("en-US")} more rows`);
    return [
      `Result of ${rowsText(this.numRows)}${range ? `, ${formatRange(range)}` : ""}`,
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
  return Array.isArray(columnNames) && typeof column === "function" && origin !== undefined;
}

function picked<Row extends object>(
  result: Result<Row>,
  rows: readonly number[],
  done?: string,
): Result<Row> {
  const step = { rows, ...(done !== undefined && { done }) };
  return changed(result, pickRows(result.table, rows), step);
}

function changed<Row extends object>(
  result: Result<object>,
  table: ColumnTable,
  step: Step,
): Result<Row> {
  return new Result<Row>(table, changedOrigin(result, table, step));
}

function columnsText(names: readonly string[]): string {
  return `${names.length === 1 ? "column" : "columns"} ${names.join(", ")}`;
}
