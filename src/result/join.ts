import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { formatRange } from "../time/time-range.js";
import { newTable, pickRows } from "./arquero-table.js";
import { rowsText, withStep } from "./changed.js";
import type { MeasureColumn, Origin } from "./origin.js";
import type { Result, Value } from "./result.js";
import { columnValues, rowKeys, stillTrue } from "./still-true.js";
import { valueKey } from "./value-key.js";

/** The rows of two answers beside each other, and what is true of them. */
export function joined(
  left: Result<object>,
  right: Result<object>,
  on: readonly string[],
  kind: "inner" | "left",
): { table: ColumnTable; origin: Origin } {
  const shared = right.columnNames.filter(
    (name) => !on.includes(name) && left.columnNames.includes(name),
  );
  if (shared.length > 0) {
    const names = shared.map((name) => `${name}: "other_${name}"`).join(", ");
    throw new ProbelabError(
      `Can't join two answers that both have ${shared.join(", ")}: rename them first, other.rename({ ${names} }), or join on them too.`,
    );
  }
  const places = new Map<string, number[]>();
  rowKeys(right.table, on).forEach((key, row) => {
    const same = places.get(key);
    if (same) same.push(row);
    else places.set(key, [row]);
  });
  // -1 stands for no row of the other.
  const pairs = rowKeys(left.table, on).flatMap((key, row) => {
    const found = places.get(key) ?? (kind === "left" ? [-1] : []);
    return found.map((other) => [row, other] as const);
  });
  const from = pairs.map(([row]) => row);
  const added = right.columnNames.filter((name) => !on.includes(name));
  const base = pickRows(left.table, from);
  const table = newTable(base, [
    ...left.columnNames.map((name): [string, unknown] => [name, columnValues(base, name)]),
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
  const what = `${rowsText(right.numRows)}${range ? ` of ${formatRange(range)}` : ""}`;
  const done = `joined on ${on.join(", ")} with ${what} from ${source} (join${kind === "left" ? ", left" : ""}), ${rowsText(left.numRows)} before and ${table.numRows().toLocaleString("en-US")} after`;
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
