import type { TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { explainEmpty, missingFromLists, type Filtered } from "../query/explain.js";
import { tableBounds, type Source, type SourceColumn } from "../query/source.js";
import { join, nested, raw, select, sql, type Column, type Sql } from "../query/sql.js";
import { whereSql, type Where } from "../query/where.js";
import type { TimeRange } from "../time/time-range.js";

/** Which measurements are asked about. */
export interface MeasurementFilter {
  readonly range: TimeRange;
  readonly where: Where;
  /** True counts a measurement once that the table holds twice; default: where the table merges rows. */
  readonly distinct?: boolean | undefined;
}

/** The measurements of a range: a row a measurement, with the columns of the table. */
export function measurementSource(table: TableInfo, asked: MeasurementFilter): Source {
  const find = (name: string) => tableColumn(table, name);
  const conditions = whereSql(asked.where, find);
  const about: Filtered = { table, range: asked.range, where: asked.where, find };
  return {
    one: "measurement",
    many: "measurements",
    table,
    column: find,
    instant: table.time.dateTime(table.time.sql),
    from: () => measurementsFrom(table, asked, asked.range, conditions),
    notes: [...distinctNotes(table, asked.distinct), ...table.notes],
    whyEmpty: (database, signal) => explainEmpty(database, about, signal),
    missingValues: (database, signal) => missingFromLists(database, about, signal),
  };
}

/** A column of the table, as a source gives it. */
export function tableColumn(table: TableInfo, name: string): SourceColumn {
  return { sql: raw(table.column(name)), type: table.columns.get(name) ?? "" };
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
  { distinct }: Pick<MeasurementFilter, "distinct">,
  range: Pick<TimeRange, "start" | "end">,
  conditions: readonly Sql[],
): Sql {
  const where = join([...tableBounds(table, range), ...conditions], " AND ");
  const from = raw(table.from);
  if (!(distinct ?? table.merges)) return sql`${from}\nWHERE ${where}`;
  if (table.merges) return sql`${from} FINAL\nWHERE ${where}`;
  return table.columns.has("measurement_uid")
    ? sql`(SELECT * FROM ${from} WHERE ${where} LIMIT 1 BY ${raw(table.column("measurement_uid"))})`
    : sql`(SELECT DISTINCT * FROM ${from} WHERE ${where})`;
}

/** Says how duplicates are counted, where that isn't each row. */
export function distinctNotes(table: TableInfo, distinct: boolean | undefined): string[] {
  if (distinct === true) return ["Measurements that the table holds twice are counted once."];
  if (!table.merges) return [];
  return distinct === false
    ? [
        `${table.name} is a ${table.engine}: rows that it will merge in the background are counted each, so the numbers may fall by themselves (distinct: true counts them as merged).`,
      ]
    : [
        `${table.name} is a ${table.engine}: its rows are counted as it merges them (distinct: false counts each that it still holds).`,
      ];
}

/**
 * A column at the first measurement. Of several at that instant it has the value whose hash is the
 * smallest: an arbitrary order, but the same at every asking, whatever else is asked. A key of one
 * number costs the engine 5 % of the scan where a tuple costs 150 %.
 */
export function firstOf(table: TableInfo, name: string): Sql {
  const column = table.column(name);
  const nullable = /Nullable\(/.test(table.columns.get(name) ?? "");
  const hash = nullable
    ? `cityHash64(isNull(${column}), assumeNotNull(${column}))`
    : `cityHash64(${column})`;
  const key = orderKey(table, hash);
  // A tuple keeps nulls, which argMin passes over.
  return raw(nullable ? `argMin(tuple(${column}), ${key}).1` : `argMin(${column}, ${key})`);
}

/** SQL that orders measurements by their time, then by a hash: one number where the time is one. */
function orderKey({ time, columns, timeName }: TableInfo, hash: string): string {
  const type = columns.get(timeName) ?? "";
  const plain = plainType(type);
  const known = /Nullable\(/.test(type) ? `assumeNotNull(${time.sql})` : time.sql;
  if (/^(DateTime(\(|$)|UInt32$)/.test(plain)) {
    return `bitOr(bitShiftLeft(toUInt64(toUInt32(${known})), 32), bitAnd(${hash}, 4294967295))`;
  }
  const precision = /^DateTime64\((\d)/.exec(plain)?.[1];
  const ticks =
    precision !== undefined
      ? `toUnixTimestamp64${Number(precision) > 6 ? "Nano" : "Micro"}(${known})`
      : /^U?Int64$/.test(plain)
        ? `toInt64(${known})`
        : undefined;
  return ticks === undefined
    ? `(${known}, ${hash})`
    : `bitShiftLeft(toUInt128(${ticks}), 64) + ${hash}`;
}

/**
 * The measurements of a range, each once with the `rows` that the table holds of it: rows of one
 * measurement_uid, or rows that are equal in every column. Its time and dimensions are those of its
 * first row.
 */
export function measurementOnceSource(
  table: TableInfo,
  asked: Omit<MeasurementFilter, "distinct">,
): Source {
  const find = (name: string) => tableColumn(table, name);
  const conditions = whereSql(asked.where, find);
  const about: Filtered = { table, range: asked.range, where: asked.where, find };
  const needed = new Map<string, string>();
  const byUid = table.columns.has("measurement_uid");
  const keys = byUid ? ["measurement_uid"] : [...table.columns.keys()];
  return {
    one: "measurement",
    many: "measurements",
    table,
    column(name) {
      if (name === "rows")
        return { sql: raw("_held"), type: "UInt64", label: "Rows", unit: "rows" };
      const { type } = find(name);
      if (!needed.has(name)) needed.set(name, `_c${needed.size}`);
      return { sql: raw(needed.get(name) as string), type };
    },
    instant: table.time.dateTime("_first"),
    from: () =>
      nested(
        select({
          columns: [
            ["_held", raw("count()")],
            ["_first", raw(`min(${table.time.sql})`)],
            ...[...needed].map(([name, as]): Column => [as, firstOf(table, name)]),
          ],
          from: measurementsFrom(table, { distinct: false }, asked.range, conditions),
          // A configured name stands beside the table's own.
          groupBy: [...new Set(keys.map((name) => table.column(name)))],
        }),
      ),
    notes: [
      byUid
        ? "Rows of one measurement_uid are one measurement."
        : "Rows that are equal in every column are one measurement: the table has no measurement_uid.",
      ...table.notes,
    ],
    whyEmpty: (database, signal) => explainEmpty(database, about, signal),
    missingValues: (database, signal) => missingFromLists(database, about, signal),
  };
}
