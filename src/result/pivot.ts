import type { ColumnTable } from "arquero";
import { compareVersions } from "./version-order.js";
import { ProbelabError } from "../base/error.js";
import { formatInstant } from "../time/time-zone.js";
import { newTable, pickRows } from "./arquero-table.js";
import { withStep } from "./changed.js";
import { isVersionColumn, zoneOf, type MeasureColumn, type Origin } from "./origin.js";
import type { Result, Value } from "./result.js";
import { columnValues, rowKeys, stillTrue } from "./still-true.js";
import { valueKey } from "./value-key.js";

/** What `Result.pivot` is told. */
export interface PivotOptions<Rows, Names, Values> {
  /** The columns that stay: a row for each of their values. */
  readonly rows: Rows | readonly Rows[];
  /** The column whose values become columns. */
  readonly names: Names;
  /** The column whose values fill them. */
  readonly values: Values;
}

/** A column for each value of `names`, and what is true of the rows then. */
export function pivoted(
  result: Result<object>,
  { rows, names, values }: { rows: readonly string[]; names: string; values: string },
): { table: ColumnTable; origin: Origin } {
  const { table, origin } = result;
  const { measures, dimensions, time } = origin.columns;
  const zone = zoneOf(origin);
  const measure = measures.find(({ name }) => name === values);
  const heads = columnValues(table, names);
  const cells = columnValues(table, values);
  const order = inOrder(heads, names, dimensions.find(({ name }) => name === names)?.order);
  const titles = titlesOf(order, zone, rows);
  const places = new Map(order.map((value, index) => [valueKey(value), index]));
  const groups = new Map<string, number>();
  const firsts: number[] = [];
  const filled: (Value[] | undefined)[] = titles.map(() => []);
  rowKeys(table, rows).forEach((key, row) => {
    const at = groups.get(key) ?? groups.size;
    if (at === groups.size) {
      groups.set(key, at);
      firsts.push(row);
    }
    const column = filled[places.get(valueKey(heads[row])) ?? -1];
    if (column === undefined) return;
    if (at in column) throw severalRows(result, rows, names, row);
    column[at] = cells[row];
  });
  // No row means nothing happened, where the measure says so.
  const none = measure?.missing === "zero" ? 0 : null;
  const base = pickRows(table, firsts);
  const made = newTable(base, [
    ...rows.map((name): [string, unknown] => [name, columnValues(base, name)]),
    ...titles.map((title, index): [string, unknown] => [
      title,
      firsts.map((_, at) => filled[index]?.[at] ?? none),
    ]),
  ]);
  const left = stillTrue(
    { table, origin: { ...origin, columns: { ...origin.columns, measures: [] } } },
    made,
    firsts,
  );
  const kept = (name: string): boolean => rows.includes(name);
  const { range } = origin;
  return {
    table: made,
    origin: withStep(
      {
        ...left,
        ...(range && { range }),
        columns: {
          ...(time && kept(time.name) && { time }),
          dimensions: dimensions.filter(({ name }) => kept(name)),
          measures: measure
            ? titles.map((title): MeasureColumn => ({
                name: title,
                label: `${measure.label}, ${title}`,
                unit: measure.unit,
                additive: measure.additive,
                missing: measure.missing,
              }))
            : [],
        },
        notes: origin.notes,
      },
      [`a column of ${values} for each ${names} (pivot)`],
      made.numRows(),
    ),
  };
}

/** The values, each once: as the dimension lists them, times and versions in theirs, others as they come. */
function inOrder(
  values: readonly Value[],
  name: string,
  known: readonly (string | null)[] | undefined,
): Value[] {
  const distinct = [...new Map(values.map((value) => [valueKey(value), value ?? null])).values()];
  if (known) {
    const rank = new Map<Value, number>(known.map((value, index) => [value, index]));
    return distinct.sort((a, b) => (rank.get(a) ?? Infinity) - (rank.get(b) ?? Infinity));
  }
  if (distinct.every((value) => value instanceof Date)) {
    return distinct.sort((a, b) => Number(a) - Number(b));
  }
  const texts = distinct.filter((value) => typeof value === "string" || value === null);
  return isVersionColumn(name) && texts.length === distinct.length
    ? texts.sort(compareVersions)
    : distinct;
}

/** Names as a person writes the values, each once: times in the zone, `2026-05-04`. */
function titlesOf(values: readonly Value[], zone: string, taken: readonly string[]): string[] {
  const used = new Set(taken);
  return values.map((value) => {
    const text = valueText(value, zone);
    let title = text;
    for (let count = 2; used.has(title) || title === "__proto__"; count++) {
      title = `${text} (${count})`;
    }
    used.add(title);
    return title;
  });
}

function valueText(value: Value, zone: string): string {
  if (value === null || value === undefined) return "(none)";
  if (value instanceof Date) return formatInstant(value, zone);
  return (typeof value === "object" ? JSON.stringify(value) : String(value)) || "(empty)";
}

function severalRows(
  result: Result<object>,
  rows: readonly string[],
  names: string,
  row: number,
): ProbelabError {
  const of = [...rows, names];
  const others = result.columnNames.filter((name) => !of.includes(name));
  const where = of.map((name) => {
    const value = columnValues(result.table, name)[row];
    return `${name} ${valueText(value, zoneOf(result.origin))}`;
  });
  return new ProbelabError(
    `Can't pivot: several rows are of ${where.join(", ")}. Add the column that tells them apart to rows (${others.join(", ")}), or add them up first with Arquero, result.with(result.table.groupby(…).rollup(…)).`,
  );
}
