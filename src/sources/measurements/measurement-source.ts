import type { TableInfo } from "../../database/table-info.js";
import { daysOnly, tableBounds, type Source, type SourceColumn } from "../../query/source.js";
import { join, nested, raw, select, sql, type Column, type Sql } from "../../query/sql.js";
import { whereSql, type Where } from "../../query/where.js";
import type { Bounds, TimeRange } from "../../time/time-range.js";

/** The measurements that a question is about. */
export interface MeasurementFilter {
  readonly range: TimeRange;
  readonly where: Where;
  /** True counts a measurement once that the table holds twice. @default where the table merges rows */
  readonly dedupe?: boolean | undefined;
}

/** The measurements of a range: a row a measurement, with the columns of the table. */
export function measurementSource(table: TableInfo, filter: MeasurementFilter): Source {
  const { conditions, ...own } = filtered(table, filter.range, filter.where);
  return {
    kind: "measurements",
    rowNoun: "measurements",
    column: (name) => tableColumn(table, name),
    instant: table.time.dateTime(table.time.sql),
    ...daysOnly(table),
    ...onceOverall(table, filter.dedupe),
    from: (range) => measurementsFrom(table, filter, range, conditions),
    notes: [...dedupeNotes(table, filter.dedupe), ...table.notes],
    ...own,
  };
}

/**
 * The measurements of a range, each once with the `rows` that the table holds of it, all but one of
 * them `surplus_rows`: rows of one measurement_uid, or rows that are equal in every column. Its time and
 * dimensions are those of its first row.
 *
 * @param byUid false: rows that are equal in every column but measurement_uid.
 */
export function measurementOnceSource(
  table: TableInfo,
  range: TimeRange,
  where: Where,
  byUid = table.columns.has("measurement_uid"),
): Source {
  const { conditions, ...own } = filtered(table, range, where);
  const first = new FirstColumns(table);
  const keys = [...table.columns.keys()].filter((name) => name !== "measurement_uid");
  return {
    kind: "measurements",
    rowNoun: "measurements",
    column: (name) =>
      name === "rows" || name === "surplus_rows"
        ? { sql: raw(name === "rows" ? "_held" : "(_held - 1)"), type: "UInt64", unit: "rows" }
        : first.column(name),
    instant: table.time.dateTime("_first"),
    ...daysOnly(table),
    whole: HELD_TWICE,
    from: (range) =>
      nested(
        select({
          columns: [
            ["_held", raw("count()")],
            ["_first", raw(`min(${table.time.sql})`)],
            ...first.selected,
          ],
          from: measurementsFrom(table, { dedupe: false }, range, conditions),
          // A configured name stands beside the table's own.
          groupBy: byUid
            ? identityKeys(table, "measurement_uid")
            : [...new Set(keys.map((name) => table.column(name)))],
        }),
      ),
    notes: [
      byUid
        ? "Rows of one measurement_uid are one measurement."
        : "Rows that are equal in every column are one measurement: the table has no measurement_uid.",
      ...table.notes,
    ],
    ...own,
  };
}

/**
 * The key that groups rows of equal text: two 64-bit hashes of it, which are compared in one step
 * and kept in half the memory. One of 64 bits would merge two of 10¹⁰ texts in most answers (n²/2⁶⁵)
 * and two of 10⁹ in 3 of 100; with 128 the chance is below 10⁻¹⁸ at 10¹⁰. Other types are their own key.
 */
export function identityKeys(table: TableInfo, name: string, text = table.column(name)): Sql[] {
  if (table.columns.get(name) !== "String") return [raw(text)];
  return [raw(`cityHash64(${text})`), raw(`xxh3(${text})`)];
}

/** A column of the table, as a source gives it. */
export function tableColumn(table: TableInfo, name: string): SourceColumn {
  return { sql: raw(table.column(name)), type: table.columns.get(name) ?? "" };
}

/** A filter on the table's own columns: for a source's notes, and as conditions. */
export function filtered(table: TableInfo, range: TimeRange, where: Where) {
  const find = (name: string) => tableColumn(table, name);
  return { filtered: { table, range, where, find }, conditions: whereSql(where, find) };
}

/**
 * FROM and WHERE: the table bounded on its sort key in its own type and filtered.
 *
 * Duplicates, where they are to be counted once, are what the table's engine would merge (FINAL);
 * in a table that merges nothing, rows of one measurement_uid where there is such a column, else
 * rows that are equal in every column.
 */
export function measurementsFrom(
  table: TableInfo,
  { dedupe }: Pick<MeasurementFilter, "dedupe">,
  range: Bounds,
  conditions: readonly Sql[],
): Sql {
  const where = join([...tableBounds(table, range), ...conditions], " AND ");
  const from = raw(table.from);
  if (!(dedupe ?? table.merges)) return sql`${from}\nWHERE ${where}`;
  if (table.merges) return sql`${from} FINAL\nWHERE ${where}`;
  return table.columns.has("measurement_uid")
    ? sql`(SELECT * FROM ${from} WHERE ${where} LIMIT 1 BY ${join(identityKeys(table, "measurement_uid"))})`
    : sql`(SELECT DISTINCT * FROM ${from} WHERE ${where})`;
}

const HELD_TWICE = "a measurement may be held twice, in two of them";

/** Why such measurements can't be asked for in parts of the range. */
export function onceOverall(table: TableInfo, dedupe: boolean | undefined): Pick<Source, "whole"> {
  return dedupe === true && !table.merges ? { whole: HELD_TWICE } : {};
}

/** Says how duplicates are counted, where that isn't each row. */
export function dedupeNotes(table: TableInfo, dedupe: boolean | undefined): string[] {
  if (dedupe === true) return ["Measurements that the table holds twice are counted once."];
  if (!table.merges) return [];
  return dedupe === false
    ? [
        `${table.name} is a ${table.engine}: rows that it will merge in the background are counted each, so the numbers may fall by themselves (dedupe: true counts them as merged).`,
      ]
    : [
        `${table.name} is a ${table.engine}: its rows are counted as it merges them (dedupe: false counts each that it still holds).`,
      ];
}

/**
 * Columns of the first measurement of a group (a run, a measurement held twice), selected as far as a
 * question needs them.
 *
 * Of several measurements at the first instant it is the one whose hash of the column is the
 * smallest: an arbitrary order, but the same at every asking, whatever else is asked. A key of one
 * number costs the engine 5 % of the scan where a tuple costs 150 %.
 */
export class FirstColumns {
  readonly #table: TableInfo;
  readonly #names = new Map<string, string>();

  constructor(table: TableInfo) {
    this.#table = table;
  }

  /** @throws ProbelabError for a name that the table has not. */
  column(name: string): SourceColumn {
    const { type } = tableColumn(this.#table, name);
    const as = this.#names.get(name) ?? `_c${this.#names.size}`;
    this.#names.set(name, as);
    return { sql: raw(as), type };
  }

  /** The names that were asked for, and what their columns are called. */
  get names(): readonly (readonly [name: string, as: string])[] {
    return [...this.#names];
  }

  /** The columns of the group's SELECT. */
  get selected(): Column[] {
    return [...this.#names].map(([name, as]) => [as, this.#first(name)]);
  }

  #first(name: string): Sql {
    const column = this.#table.column(name);
    const nullable = /Nullable\(/.test(this.#table.columns.get(name) ?? "");
    const hash = nullable
      ? `cityHash64(isNull(${column}), assumeNotNull(${column}))`
      : `cityHash64(${column})`;
    const key = this.#orderKey(hash);
    // A tuple keeps nulls, which argMin passes over.
    return raw(nullable ? `argMin(tuple(${column}), ${key}).1` : `argMin(${column}, ${key})`);
  }

  /** SQL that orders measurements by their time, then by a hash: one number where the time is one. */
  #orderKey(hash: string): string {
    const { sql, ticks } = this.#table.time;
    if (ticks === undefined) return `(${sql}, ${hash})`;
    return ticks.perSecond === 1
      ? `bitOr(bitShiftLeft(toUInt64(${ticks.of(sql)}), 32), bitAnd(${hash}, 4294967295))`
      : `bitShiftLeft(toUInt128(${ticks.of(sql)}), 64) + ${hash}`;
  }
}
