import { isUtf8 } from "node:buffer";
import { SocketAddress } from "node:net";
import { enumNames, parseType, tupleElement } from "./column-type.js";
import type { Value } from "../result/result.js";
import { DAY } from "../time/span.js";

/** Makes a value of a Result from one of Arrow; null stays null. */
type ReadValue = (value: Value) => Value;

const AS_IT_IS = /^(?:U?Int(?:8|16|32)|Float(?:32|64)|Decimal\d*|Bool|DateTime64|Nothing)$/;

/**
 * Makes a reader for values of a ClickHouse type; undefined if Arrow's own value is right.
 * Arrays, tuples and maps are frozen.
 *
 * @param type as the server names it; undefined where it isn't known.
 * @param integer makes a value of a whole number of 64 bits inside an array, tuple or map.
 */
export function valueReader(
  type: string | undefined,
  integer: (value: bigint) => number | bigint,
): ReadValue | undefined {
  const read = type === undefined ? anyReader(integer) : reader(type, integer);
  return read && ((value) => (value === null || value === undefined ? null : read(value)));
}

function reader(type: string, integer: (value: bigint) => number | bigint): ReadValue | undefined {
  const { name, parts } = parseType(type);
  const inner = (part = "Nothing"): ReadValue =>
    valueReader(part, integer) ?? ((value: Value) => value);
  if (AS_IT_IS.test(name)) return undefined;
  const scalar = SCALARS[name];
  if (scalar !== undefined) return scalar;
  switch (name) {
    case "Nullable":
    case "LowCardinality":
      return parts[0] === undefined ? undefined : reader(parts[0], integer);
    case "SimpleAggregateFunction":
      return parts[1] === undefined ? undefined : reader(parts[1], integer);
    case "Int64":
    case "UInt64":
      return (value) => (typeof value === "bigint" ? integer(value) : value);
    case "Enum8":
    case "Enum16": {
      const names = enumNames(parts);
      return ofNumber((number) => names.get(number) ?? number);
    }
    case "Array":
      return listReader(inner(parts[0]));
    case "Nested":
      return listReader(tupleReader(parts, inner));
    case "Tuple":
      return tupleReader(parts, inner);
    case "Map":
      return mapReader(inner(parts[0]), inner(parts[1]));
    default:
      return anyReader(integer);
  }
}

/** Types whose values are read by themselves. */
const SCALARS: Readonly<Record<string, ReadValue>> = {
  DateTime: ofNumber((seconds) => new Date(seconds * 1000)),
  Date: ofNumber((days) => new Date(days * DAY)),
  Date32: ofNumber((days) => new Date(days * DAY)),
  IPv4: ofNumber(ipv4Text),
  IPv6: ofBytes(ipv6Text),
  UUID: ofBytes(uuidText),
  String: ofBytes(textOfBytes),
  // Without the zero bytes that fill it up, as ClickHouse's toString writes it.
  FixedString: (value) => {
    const text = value instanceof Uint8Array ? textOfBytes(value) : value;
    return typeof text === "string" ? text.replace(/\0+$/, "") : text;
  },
  Int128: ofBytes((bytes) => wideInteger(bytes, true)),
  Int256: ofBytes((bytes) => wideInteger(bytes, true)),
  UInt128: ofBytes((bytes) => wideInteger(bytes, false)),
  UInt256: ofBytes((bytes) => wideInteger(bytes, false)),
};

function ofNumber(read: (value: number) => Value): ReadValue {
  return (value) =>
    typeof value === "number" || typeof value === "bigint" ? read(Number(value)) : value;
}

function ofBytes(read: (bytes: Uint8Array) => Value): ReadValue {
  return (value) => (value instanceof Uint8Array ? read(value) : value);
}

function listReader(read: ReadValue): ReadValue {
  return (value) =>
    Array.isArray(value) || ArrayBuffer.isView(value)
      ? Object.freeze(Array.from(value as ArrayLike<Value>, read))
      : value;
}

/** Elements with names make an object, those without an array, as in ClickHouse's JSON. */
function tupleReader(parts: readonly string[], inner: (type: string) => ReadValue): ReadValue {
  const elements = parts.map((part, at) => {
    const { name, type } = tupleElement(part);
    return { name, field: name ?? String(at + 1), read: inner(type) };
  });
  const named = elements.length > 0 && elements.every(({ name }) => name !== undefined);
  return (value) => {
    const fields = value as Readonly<Record<string, Value>>;
    const values = elements.map(({ field, read }): [string, Value] => [field, read(fields[field])]);
    return Object.freeze(named ? Object.fromEntries(values) : values.map(([, each]) => each));
  };
}

/** An object; of a key that occurs twice the first, which is what ClickHouse's map[key] gives. */
function mapReader(readKey: ReadValue, read: ReadValue): ReadValue {
  return (value) => {
    const entries = new Map<string, Value>();
    for (const [key, each] of value as readonly (readonly [Value, Value])[]) {
      const name = keyText(readKey(key));
      if (!entries.has(name)) entries.set(name, read(each));
    }
    return Object.freeze(Object.fromEntries(entries));
  };
}

function keyText(key: Value): string {
  if (key instanceof Date) return key.toISOString();
  return typeof key === "object" && key !== null ? JSON.stringify(key) : String(key);
}

/** For a type that isn't known: plain arrays and objects of what Arrow gives. */
function anyReader(integer: (value: bigint) => number | bigint): ReadValue {
  const read = (value: Value): Value => {
    if (typeof value === "bigint") return integer(value);
    if (typeof value !== "object" || value === null || value instanceof Date) return value;
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      return Object.freeze(Array.from(value as ArrayLike<Value>, read));
    }
    const entries = Object.entries(value) as [string, Value][];
    return Object.freeze(Object.fromEntries(entries.map(([name, each]) => [name, read(each)])));
  };
  return read;
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as text; a byte that is of no UTF-8 character as `\\xff`, so that other texts stay others. */
export function textOfBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return UTF8.decode(bytes);
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const size = [1, 2, 3, 4].find((length) => isUtf8(bytes.subarray(at, at + length)));
    text +=
      size === undefined
        ? `\\x${bytes[at]!.toString(16).padStart(2, "0")}`
        : UTF8.decode(bytes.subarray(at, at + size));
    at += size ?? 1;
  }
  return text;
}

/** A UUID's 16 bytes as text. */
function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** An IPv4 address of 32 bits as text. */
function ipv4Text(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/** An IPv6 address of 16 bytes as text, as ClickHouse writes it: both follow BIND's inet_ntop. */
function ipv6Text(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  const groups = Array.from({ length: 8 }, (_, at) => view.getUint16(2 * at).toString(16));
  return new SocketAddress({ address: groups.join(":"), family: "ipv6" }).address;
}

/** A whole number of 128 or 256 bits, the lowest byte first. */
function wideInteger(bytes: Uint8Array, signed: boolean): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let value = 0n;
  for (let at = bytes.length - 8; at >= 0; at -= 8) {
    value = (value << 64n) | view.getBigUint64(at, true);
  }
  return signed ? BigInt.asIntN(8 * bytes.length, value) : value;
}
