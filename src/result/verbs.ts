import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { formatRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { columnValues, newTable, pickRows, rowKeys, rowsByKey } from "./arquero-table.js";
import { rowsText, stillTrue, withStep, type Rows } from "./changed.js";
import { valueKey, type Value } from "./json.js";
import { isVersionColumn, zoneOf, type MeasureColumn, type Origin } from "./origin.js";
import { compareVersions } from "./version-order.js";

/** @throws RangeError for a name that is none of the columns, with the nearest one. */
export function checkColumns(names: readonly string[], wanted: readonly string[]): void {
  const name = wanted.find((each) => !names.includes(each));
  if (name === undefined) return;
  const near = nearName(String(name), names);
  const known = names.length === 0 ? "it has none" : `its columns are ${names.join(", ")}`;
  throw new RangeError(
    `Can't take the column ${JSON.stringify(name)} of a Result: ${near === undefined ? known : `did you mean ${near}? ${known[0]?.toUpperCase()}${known.slice(1)}`}.`,
  );
}

/** @throws ProbelabError for what is no function of a row, as plain JavaScript allows. */
export function checkFunction(value: unknown, verb: string, example: string): void {
  if (typeof value === "function") return;
  throw new ProbelabError(
    `Can't ${verb} by ${JSON.stringify(value) ?? String(value)}: pass a function of a row, ${example}.`,
  );
}

/** Row numbers in the order of the values, one list per key; equal rows stay as they are. */
export function sortedRows(
  keys: readonly { readonly name?: string; readonly values: readonly Value[] }[],
  count: number,
  descending: boolean,
): number[] {
  const rows = Array.from({ length: count }, (_, row) => row);
  return rows.sort((a, b) => {
    for (const { name = "", values } of keys) {
      const order = compareValues(values[a], values[b], isVersionColumn(name), descending);
      if (order !== 0) return order;
    }
    return 0;
  });
}

/** Numbers and times by size, text by its characters or as versions; no value last in either order. */
function compareValues(a: Value, b: Value, versions: boolean, descending: boolean): number {
  const missing = Number(isMissing(a)) - Number(isMissing(b));
  if (missing !== 0 || isMissing(a)) return missing;
  const sign = descending ? -1 : 1;
  if (versions && typeof a === "string" && typeof b === "string") {
    return sign * compareVersions(a, b);
  }
  const [left, right] = [comparable(a), comparable(b)];
  // Numbers before text, whatever stands first.
  if (typeof left !== typeof right && (typeof left === "string" || typeof right === "string")) {
    return sign * (typeof left === "string" ? 1 : -1);
  }
  return left < right ? -sign : left > right ? sign : 0;
}

function comparable(value: Value): string | number | bigint {
  if (typeof value === "string" || typeof value === "bigint") return value;
  if (typeof value === "object" && !(value instanceof Date)) return JSON.stringify(value);
  return Number(value);
}

function isMissing(value: Value): boolean {
  return (
    value === null ||
    value === undefined ||
    (value instanceof Date && isNaN(+value)) ||
    value !== value
  );
}

/** The rows of two answers beside each other, and what is true of them. */
export function joined(
  left: Rows,
  right: Rows,
  on: readonly string[],
  kind: "inner" | "left",
): Rows {
  const own = left.table.columnNames();
  const added = right.table.columnNames().filter((name) => !on.includes(name));
  const shared = added.filter((name) => own.includes(name));
  if (shared.length > 0) {
    const names = shared.map((name) => `${name}: "other_${name}"`).join(", ");
    throw new ProbelabError(
      `Can't join two answers that both have ${shared.join(", ")}: rename them first, other.rename({ ${names} }), or join on them too.`,
    );
  }
  const places = rowsByKey(rowKeys(right.table, on));
  // -1 stands for no row of the other.
  const pairs = rowKeys(left.table, on).flatMap((key, row) => {
    const found = places.get(key) ?? (kind === "left" ? [-1] : []);
    return found.map((other) => [row, other] as const);
  });
  const from = pairs.map(([row]) => row);
  const base = pickRows(left.table, from);
  const table = newTable(base, [
    ...own.map((name): [string, unknown] => [name, columnValues(base, name)]),
    ...added.map((name): [string, unknown] => {
      const values = columnValues(right.table, name);
      return [name, pairs.map(([, other]) => (other < 0 ? null : values[other]))];
    }),
  ]);
  const origin = stillTrue(left, table, from);
  const used = pairs.flatMap(([, other]) => (other < 0 ? [] : [other]));
  // Values that stand in several rows would be counted several times.
  const repeated = new Set(used).size < used.length;
  const measures = right.origin.columns.measures
    .filter(({ name }) => added.includes(name))
    .map(({ name, label, unit, additive }): MeasureColumn => ({
      ...{ name, label, unit },
      additive: additive && !repeated,
      missing: "gap",
    }));
  const { range, source, reductions, notes } = right.origin;
  const what = `${rowsText(right.table.numRows())}${range ? ` of ${formatRange(range)}` : ""}`;
  const done = `joined on ${on.join(", ")} with ${what} from ${source} (join${kind === "left" ? ", left" : ""}), ${rowsText(left.table.numRows())} before and ${table.numRows().toLocaleString("en-US")} after`;
  const { columns } = origin;
  const dimensions = right.origin.columns.dimensions.filter(({ name }) => added.includes(name));
  const kinds = { ...right.origin.columns.kinds, ...columns.kinds };
  return {
    table,
    origin: withStep(
      {
        ...origin,
        ...asked(origin, right.origin),
        columns: {
          ...columns,
          dimensions: [...columns.dimensions, ...dimensions],
          measures: [...columns.measures, ...measures],
          ...(Object.keys(kinds).length > 0 && { kinds }),
        },
        rowsRead: origin.rowsRead + right.origin.rowsRead,
        bytesRead: origin.bytesRead + right.origin.bytesRead,
        seconds: origin.seconds + right.origin.seconds,
        reductions: [...new Set([...origin.reductions, ...reductions])],
        notes: [...new Set([...origin.notes, ...notes])],
      },
      [done],
      table.numRows(),
    ),
  };
}

/** Both statements, the parameters of the second under names of their own where they differ. */
function asked(left: Origin, right: Origin): Partial<Origin> {
  if (right.sql === "" || right.sql === left.sql) return {};
  const { sql, parameters, source, server } = right;
  if (left.sql === "") return { sql, parameters, source, server };
  const second = Object.entries(parameters).map(([name, value]) => {
    const same = valueKey(left.parameters[name] as Value) === valueKey(value as Value);
    return [name in left.parameters && !same ? `${name} (of the second)` : name, value];
  });
  return {
    sql: `${left.sql}\n\n-- Joined with the answer to:\n${sql}`,
    parameters: { ...left.parameters, ...(Object.fromEntries(second) as object) },
  };
}

/** A column for each value of `names`, and what is true of the rows then. */
export function pivoted(
  { table, origin }: Rows,
  { rows, names, values }: { rows: readonly string[]; names: string; values: string },
): Rows {
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
    if (at in column) throw severalRows({ table, origin }, rows, names, row);
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
  { table, origin }: Rows,
  rows: readonly string[],
  names: string,
  row: number,
): ProbelabError {
  const of = [...rows, names];
  const others = table.columnNames().filter((name) => !of.includes(name));
  const where = of.map((name) => {
    const value = columnValues(table, name)[row];
    return `${name} ${valueText(value, zoneOf(origin))}`;
  });
  return new ProbelabError(
    `Can't pivot: several rows are of ${where.join(", ")}. Add the column that tells them apart to rows (${others.join(", ")}), or add them up first with Arquero, result.with(result.table.groupby(…).rollup(…)).`,
  );
}
