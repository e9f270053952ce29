import type { Origin } from "../../../result/origin.js";
import type { Result, Value } from "../../../result/result.js";

/** A number, or another value, that is not what it was. */
export interface ChangedValue {
  /** What names the row: bucket and dimensions, or its place. */
  readonly row: readonly Value[];
  readonly column: string;
  readonly before: Value;
  readonly now: Value;
}

/** What differs between two answers to one question. */
export interface Differences {
  /** Columns that name a row; empty where rows are compared by their place. */
  readonly keys: readonly string[];
  readonly rows: number;
  readonly changed: readonly ChangedValue[];
  /** Rows that only the earlier answer has, by their keys. */
  readonly gone: readonly (readonly Value[])[];
  /** Rows that only the later answer has. */
  readonly come: readonly (readonly Value[])[];
  /** Columns that only one of them has. */
  readonly columns: readonly string[];
}

// Sums of fractions depend on the order in which the server's threads add them up.
const SAME_NUMBER = 1e-9;

/**
 * Compares two answers row by row: rows are the same by their bucket and dimensions, or by their
 * place where those don't name them. Numbers are the same within a billionth of their size.
 */
export function compareResults(before: Result, now: Result): Differences {
  const shared = before.columnNames.filter((name) => now.columnNames.includes(name));
  const keys = rowKeys(before, now).filter((name) => shared.includes(name));
  const named = keys.length > 0 && isUnique(before, keys) && isUnique(now, keys) ? keys : [];
  const [then, later] = [rowsByKey(before, named), rowsByKey(now, named)];
  const changed: ChangedValue[] = [];
  for (const [key, row] of then) {
    const other = later.get(key);
    if (other === undefined) continue;
    for (const column of shared) {
      if (named.includes(column)) continue;
      const [old, fresh] = [row.values[column], other.values[column]];
      if (!isSame(old, fresh)) changed.push({ row: row.key, column, before: old, now: fresh });
    }
  }
  const only = (one: typeof then, other: typeof then) =>
    [...one].filter(([key]) => !other.has(key)).map(([, { key }]) => key);
  return {
    keys: named,
    rows: before.numRows,
    changed,
    gone: only(then, later),
    come: only(later, then),
    columns: [
      ...before.columnNames.filter((name) => !shared.includes(name)),
      ...now.columnNames.filter((name) => !shared.includes(name)),
    ],
  };
}

function rowKeys(before: Result, now: Result): string[] {
  const names = ({ columns }: Origin): string[] => [
    ...(columns.time ? [columns.time.name] : []),
    ...columns.dimensions.map(({ name }) => name),
  ];
  const other = names(now.origin);
  return names(before.origin).filter((name) => other.includes(name));
}

function keyOf(values: readonly Value[]): string {
  return JSON.stringify(
    values.map((value) => [typeof value, value ?? null]),
    plain,
  );
}

function isUnique(result: Result, keys: readonly string[]): boolean {
  return rowsByKey(result, keys).size === result.numRows;
}

function rowsByKey(result: Result, keys: readonly string[]) {
  const rows = result.rows();
  return new Map(
    rows.map((values, place) => {
      const key: Value[] = keys.length > 0 ? keys.map((name) => values[name]) : [place + 1];
      return [keyOf(key), { key, values }] as const;
    }),
  );
}

function isSame(one: Value, other: Value): boolean {
  if (typeof one === "number" && typeof other === "number") {
    return (
      Object.is(one, other) ||
      Math.abs(one - other) <= SAME_NUMBER * Math.max(Math.abs(one), Math.abs(other))
    );
  }
  if (one === null || one === undefined) return other === null || other === undefined;
  return JSON.stringify(one, plain) === JSON.stringify(other, plain);
}

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
