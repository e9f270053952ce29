import type { ColumnTable } from "arquero";
import type { Value } from "../result/result.js";
import { toTaggedJson } from "../result/tagged-json.js";
import { scalarType } from "./column-type.js";
import { exactNumbers } from "./exact-numbers.js";
import { LazyColumn } from "./lazy-column.js";
import { valueReader } from "./value-reader.js";

/**
 * Reads an uncompressed Arrow IPC stream into an Arquero table.
 *
 * Timestamps become Dates (UTC instants, milliseconds); integers beyond 2^53 make their columns
 * bigint instead of losing digits. Arrow alone has bare numbers and bytes for many of ClickHouse's
 * types: `types` (column name to ClickHouse type) tells what they are, also inside arrays, tuples
 * and maps. DateTime is a Date; enums, UUID, IPv4, IPv6 and Time text as ClickHouse's toString
 * writes it; FixedString text without the zero bytes at its end; integers of 128 and 256 bits
 * bigint; arrays and tuples arrays, maps and tuples with names objects. Rows of equal arrays or
 * objects share one, frozen: what groups rows by value finds them equal.
 */
export async function arrowTable(
  bytes: Uint8Array,
  types: ReadonlyMap<string, string> = new Map(),
): Promise<ColumnTable> {
  const [aq, { tableFromIPC, Type }] = await Promise.all([
    import("arquero"),
    import("@uwdata/flechette"),
  ]);
  const arrow = tableFromIPC(bytes, { useDate: true, useBigInt: true });
  const plain = new Set<number>([
    Type.Int,
    Type.Float,
    Type.Bool,
    Type.Decimal,
    Type.Time,
    Type.Null,
  ]);
  const dates = new Set<number>([Type.Date, Type.Timestamp]);
  const entries = arrow.names.map((name, index) => {
    const column = arrow.getChildAt(index);
    const type = types.get(String(name));
    const stored = column.type.typeId === Type.Dictionary ? column.type.dictionary : column.type;
    const { typeId } = stored;
    const values = () => exactNumbers(column.toArray() as ArrayLike<Value>);
    const lazy = (read: () => ArrayLike<Value>) => new LazyColumn(column.length, read);
    if (typeId === Type.Utf8 && !isFixedString(type)) {
      return [name, stored === column.type ? lazy(values) : values()];
    }
    if (dates.has(typeId)) return [name, values()];
    if (plain.has(typeId)) return [name, type === undefined ? values() : read(values(), type)];
    return [name, lazy(() => shared(read(values(), type)))];
  });
  return aq.table(entries as [string, unknown[]][]);
}

function isFixedString(type: string | undefined): boolean {
  return type !== undefined && scalarType(type).startsWith("FixedString(");
}

/** The values as their type says. */
function read(values: ArrayLike<Value>, type: string | undefined): ArrayLike<Value> {
  if (type !== undefined && /^U?Int64$/.test(scalarType(type))) return values;
  let beyond = false;
  const asNumber = (value: bigint): number | bigint => {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
    beyond = true;
    return value;
  };
  const reader = valueReader(type, asNumber);
  if (reader === undefined) return values;
  const numbers = Array.from(values, reader);
  const exact = beyond ? valueReader(type, (value) => value) : undefined;
  return exact ? Array.from(values, exact) : numbers;
}

/** The first of equal arrays or objects for all of them. */
function shared(values: ArrayLike<Value>): ArrayLike<Value> {
  const first = new Map<string, Value>();
  return Array.from(values, (value) => {
    if (typeof value !== "object" || value === null || value instanceof Date) return value;
    const key = toTaggedJson(value);
    const seen = first.get(key);
    if (seen === undefined) first.set(key, value);
    return seen ?? value;
  });
}
