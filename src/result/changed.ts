import type { ColumnTable } from "arquero";
import { columnValues, rowKeys } from "./arquero-table.js";
import type { Origin } from "./origin.js";
import { counted, grouped } from "../base/text.js";

/** The beginning of the note on rows that were changed. */
export const CHANGED = "Changed after the query";

/** Rows and their origin. */
export interface Rows {
  readonly table: ColumnTable;
  readonly origin: Origin;
}

/**
 * The origin of rows that were made of others: the range, the SQL and the meaning of columns whose
 * values are still those of the answer. A note says what was done: `Changed after the query: column
 * region added, 924 rows became 28.`
 *
 * A measure means what it did only where its value stands beside the same time and dimensions as in
 * the answer. Where rows were left out, a missing row is a gap: it may have been one of those.
 */
export function changedOrigin({ table: before, origin }: Rows, table: ColumnTable): Origin {
  const { time, dimensions, measures, kinds } = origin.columns;
  const names = table.columnNames();
  const meant = [...(time ? [time.name] : []), ...dimensions.map(({ name }) => name)];
  const kept = new Set(names.filter((name) => holdsValuesOf(before, table, [name])));
  const grouped = meant.every((name) => kept.has(name));
  const same = new Set(
    grouped
      ? measures
          .map(({ name }) => name)
          .filter((name) => holdsValuesOf(before, table, [...meant, name]))
      : [],
  );
  const groups = new Set(
    rowKeys(
      table,
      meant.filter((name) => kept.has(name)),
    ),
  ).size;
  const repeated = groups < table.numRows();
  const left = groups < before.numRows();
  return {
    ...origin,
    columns: {
      ...(time && kept.has(time.name) && { time }),
      dimensions: dimensions
        .filter(({ name }) => kept.has(name))
        .map(({ other, ...dimension }) => {
          const values = new Set(columnValues(table, dimension.name).map((value) => value ?? null));
          return {
            ...dimension,
            order: dimension.order.filter((value) => values.has(value)),
            ...(other !== undefined && values.has(other) && { other }),
          };
        }),
      measures: measures
        .filter(({ name }) => same.has(name))
        .map(({ interval, quotient, ...measure }) => ({
          ...measure,
          additive: measure.additive && !repeated,
          missing: left ? "gap" : measure.missing,
          ...(interval?.every((name) => same.has(name)) && { interval }),
          ...(quotient?.every((name) => same.has(name)) && { quotient }),
        })),
      ...(kinds && {
        kinds: Object.fromEntries(Object.entries(kinds).filter(([name]) => kept.has(name))),
      }),
    },
    notes: withNote(origin.notes, whatChanged(before, table, kept), table.numRows() === 0),
  };
}

/** True if each row has the same values in these columns as some row before. */
function holdsValuesOf(before: ColumnTable, table: ColumnTable, names: readonly string[]): boolean {
  if (!names.every((name) => before.columnNames().includes(name))) return false;
  if (!names.every((name) => table.columnNames().includes(name))) return false;
  const known = new Set(rowKeys(before, names));
  return rowKeys(table, names).every((key) => known.has(key));
}

/** `column region added`, `28 of 924 rows kept`. */
function whatChanged(before: ColumnTable, table: ColumnTable, kept: ReadonlySet<string>): string[] {
  const [then, now] = [before.columnNames(), table.columnNames()];
  const columns = (list: readonly string[], done: string): string[] =>
    list.length === 0
      ? []
      : [`${list.length === 1 ? "column" : "columns"} ${list.join(", ")} ${done}`];
  const shared = now.filter((name) => then.includes(name));
  const [rows, left] = [before.numRows(), table.numRows()];
  const isPart = shared.length > 0 && holdsValuesOf(before, table, shared);
  return [
    ...columns(
      now.filter((name) => !then.includes(name)),
      "added",
    ),
    ...columns(
      shared.filter((name) => !kept.has(name)),
      "computed anew",
    ),
    ...columns(
      then.filter((name) => !now.includes(name)),
      "left out",
    ),
    ...(rows === left
      ? []
      : isPart && left < rows
        ? [`${grouped(left)} of ${counted(rows, "row")} kept`]
        : [`${counted(rows, "row")} became ${grouped(left)}`]),
  ];
}

/** The notes with one on all changes; it comes first where no row is left. */
function withNote(notes: readonly string[], done: readonly string[], empty: boolean): string[] {
  const before = notes.find((note) => note.startsWith(CHANGED));
  const others = notes.filter((note) => note !== before);
  const parts = [...(before === undefined ? [] : [before.slice(CHANGED.length + 2, -1)]), ...done];
  if (parts.length === 0) return others;
  const note = `${CHANGED}: ${parts.join(", ")}.`;
  return empty ? [note, ...others] : [...others, note];
}
