import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";

/** A column as numbers, in the order of the table's rows. */
export interface NumericColumn {
  /** Dates as milliseconds since 1970; null, undefined and what is no number as NaN. Don't write to it. */
  readonly values: Float64Array;
  /** True where the column holds Dates. */
  readonly dates: boolean;
}

/**
 * Reads a column of a table as numbers, without a copy where the table holds a Float64Array (as
 * Arrow's float columns without nulls do) and is neither filtered nor ordered.
 *
 * @throws ProbelabError when the table has no such column or it holds text.
 */
export function numericColumn(table: ColumnTable, name: string): NumericColumn {
  const column = table.column(name);
  if (column === undefined) {
    throw new ProbelabError(
      `Can't find the column ${JSON.stringify(name)}: the table has ${table.columnNames().join(", ") || "no columns"}.`,
    );
  }
  const indices = table.isFiltered() || table.isOrdered() ? table.indices() : undefined;
  const length = table.numRows();
  const source: ArrayLike<unknown> = asArray(column, length);
  if (source instanceof Float64Array && indices === undefined) {
    return { values: source.length === length ? source : source.subarray(0, length), dates: false };
  }
  const values = new Float64Array(length);
  let dates = false;
  for (let i = 0; i < length; i++) {
    const value = source[indices === undefined ? i : indices[i]!];
    if (typeof value === "number") values[i] = value;
    else if (value instanceof Date) {
      values[i] = value.getTime();
      dates = true;
    } else if (typeof value === "bigint" || typeof value === "boolean") values[i] = Number(value);
    else if (value === null || value === undefined) values[i] = NaN;
    else {
      throw new ProbelabError(
        `Can't read ${JSON.stringify(value)} in the column ${JSON.stringify(name)} as a number or a time: take a column of numbers or Dates.`,
      );
    }
  }
  return { values, dates };
}

type Column = NonNullable<ReturnType<ColumnTable["column"]>>;

function asArray(column: Column, length: number): ArrayLike<unknown> {
  if (Array.isArray(column) || ArrayBuffer.isView(column)) return column as ArrayLike<unknown>;
  const array = column.toArray?.();
  if (array !== undefined) return array as unknown as ArrayLike<unknown>;
  return Array.from({ length }, (_, row) => column.at(row) as unknown);
}
