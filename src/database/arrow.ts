import type { ColumnTable } from "arquero";
import type { Value } from "../result/result.js";
import { LazyColumn } from "./lazy-column.js";
import { plainType } from "./time-column.js";

/**
 * Reads an uncompressed Arrow IPC stream into an Arquero table.
 *
 * Timestamps become Dates (UTC instants, milliseconds); integers beyond 2^53 make their columns
 * bigint instead of losing digits. ClickHouse sends DateTime, Enum and IPv4 as bare numbers in
 * Arrow: `types` (column name to ClickHouse type) turns them back into Dates and text.
 */
export async function arrowTable(
  bytes: Uint8Array,
  types: ReadonlyMap<string, string> = new Map(),
): Promise<ColumnTable> {
  const [aq, { tableFromIPC, Type }] = await Promise.all([
    import("arquero"),
    import("@uwdata/flechette"),
  ]);
  const read = (useBigInt: boolean) => {
    const arrow = tableFromIPC(bytes, { useDate: true, useBigInt });
    return arrow.names.map((name, index): [string, ArrayLike<Value> | LazyColumn] => {
      const column = arrow.getChildAt(index);
      const lazy = column.type.typeId === Type.Utf8;
      const values = () => column.toArray() as ArrayLike<Value>;
      return [String(name), lazy ? new LazyColumn(column.length, values) : values()];
    });
  };
  let columns: [string, ArrayLike<Value> | LazyColumn][];
  try {
    columns = read(false);
  } catch (error) {
    if (!(error instanceof Error) || !/exceeds integer number representation/.test(error.message)) {
      throw error;
    }
    columns = read(true).map(([name, values]) => [
      name,
      values instanceof LazyColumn ? values : exactNumbers(values),
    ]);
  }
  const entries = columns.map(([name, values]) => {
    const type = types.get(name);
    return [
      name,
      type === undefined || values instanceof LazyColumn ? values : convert(values, type),
    ];
  });
  return aq.table(entries as [string, unknown[]][]);
}

/** Numbers where each value is exact as one, else the bigints as they are. */
function exactNumbers(values: ArrayLike<Value>): ArrayLike<Value> {
  const all = Array.from(values);
  const exact = all.every((value) => typeof value !== "bigint" || BigInt(Number(value)) === value);
  return exact && all.some((value) => typeof value === "bigint")
    ? all.map((value) => (typeof value === "bigint" ? Number(value) : value))
    : values;
}

function convert(values: ArrayLike<Value>, type: string): ArrayLike<Value> {
  const plain = plainType(type);
  if (plain === "DateTime" || plain.startsWith("DateTime(")) {
    return each(values, (seconds) => new Date(seconds * 1000));
  }
  if (plain.startsWith("Enum")) {
    const names = enumNames(plain);
    return each(values, (number) => names.get(number) ?? number);
  }
  if (plain === "IPv4") {
    return each(values, (n) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].join("."));
  }
  return values;
}

function each(values: ArrayLike<Value>, map: (value: number) => Value): Value[] {
  return Array.from(values, (value) =>
    typeof value === "number" || typeof value === "bigint" ? map(Number(value)) : value,
  );
}

/** Enum8('web' = 1, 'it\'s' = 2) */
function enumNames(type: string): Map<number, string> {
  const names = new Map<number, string>();
  for (const [, name = "", number] of type.matchAll(/'((?:[^'\\]|\\.)*)' = (-?\d+)/g)) {
    names.set(Number(number), name.replace(/\\(.)/g, "$1"));
  }
  return names;
}
