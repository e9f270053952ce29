import type { ColumnTable } from "arquero";
import { isUtf8 } from "node:buffer";
import { textOfBytes, valueReader } from "./value-reader.js";
import { plainType } from "./column-type.js";
import { decodeLz4 } from "./lz4.js";
import { cutAnswer, strangeAnswer } from "./server-error.js";
import type { Value } from "../result/result.js";
import { grouped } from "../base/text.js";

/**
 * Reads an Arrow IPC stream, plain or compressed by LZ4, into an Arquero table.
 *
 * Timestamps become Dates (UTC instants, milliseconds); integers beyond 2^53 make their columns
 * bigint instead of losing digits. Arrow alone has bare numbers and bytes for many of ClickHouse's
 * types: `types` (column name to ClickHouse type) gives them, also inside arrays, tuples
 * and maps. DateTime is a Date; enums, UUID, IPv4 and IPv6 text as ClickHouse's toString writes it;
 * FixedString text without the zero bytes at its end; integers of 128 and 256 bits
 * bigint; arrays and tuples arrays, maps and tuples with names objects, all frozen.
 *
 * @throws AnswerError where the stream ends before its mark of the end.
 */
export async function arrowTable(
  bytes: Uint8Array,
  types: ReadonlyMap<string, string> = new Map(),
): Promise<ColumnTable> {
  const [aq, { tableFromIPC, Type, setCompressionCodec, CompressionType }] = await Promise.all([
    import("arquero"),
    import("@uwdata/flechette"),
  ]);
  checkEnd(bytes);
  setCompressionCodec(CompressionType.LZ4_FRAME, { decode: decodeLz4, encode: (plain) => plain });
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
    keepTexts(column.data, Type.Utf8);
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
    return [name, lazy(() => read(values(), type))];
  });
  return aq.table(entries as [string, unknown[]][]);
}

function isFixedString(type: string | undefined): boolean {
  return type !== undefined && plainType(type).startsWith("FixedString(");
}

/** The values as their type says. */
function read(values: ArrayLike<Value>, type: string | undefined): ArrayLike<Value> {
  if (type !== undefined && /^U?Int64$/.test(plainType(type))) return values;
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

/**
 * Follows the stream's messages to the mark of its end: it may be cut where a message ends, and
 * data may look like the mark.
 * Source: https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format
 */
function checkEnd(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  let messages = 0;
  try {
    if (bytes.length > 0 && view.getInt32(0, true) !== -1) {
      throw strangeAnswer(bytes);
    }
    for (;;) {
      if (view.getInt32(at, true) !== -1) break;
      const size = view.getInt32(at + 4, true);
      if (size === 0) {
        if (messages === 0) break;
        if (at + 8 === bytes.length) return;
        throw cutAnswer(`${grouped(bytes.length - at - 8)} bytes after its end`);
      }
      // A flatbuffer: a table, whose layout says where its fourth field, the body's length, is.
      const table = at + 8 + view.getInt32(at + 8, true);
      const layout = table - view.getInt32(table, true);
      const field = view.getUint16(layout, true) > 10 ? view.getUint16(layout + 10, true) : 0;
      at += 8 + size + (field === 0 ? 0 : Number(view.getBigInt64(table + field, true)));
      messages++;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw cutAnswer(`${grouped(bytes.length)} bytes without the mark of its end`);
}

const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

/** The part of flechette's batches that is used here. */
interface TextBatch {
  readonly type: { readonly typeId: number };
  readonly offsets?: ArrayLike<number | bigint>;
  readonly values?: ArrayLike<unknown>;
  readonly children?: readonly TextBatch[];
  readonly dictionary?: { readonly data: readonly TextBatch[]; toArray(): ArrayLike<unknown> };
  cache?: ArrayLike<unknown>;
  value(index: number): unknown;
}

/**
 * Texts keep a byte order mark at their beginning, and those that are no UTF-8 what tells them
 * apart: flechette's decoder drops the one and makes U+FFFD of the other.
 */
function keepTexts(batches: readonly TextBatch[], utf8: number): void {
  for (const batch of batches) {
    const { type, offsets, values, children = [], dictionary } = batch;
    const isText = type.typeId === utf8 && offsets !== undefined && values instanceof Uint8Array;
    if (isText && (!isUtf8(values) || asBuffer(values).includes(BYTE_ORDER_MARK))) {
      batch.value = (index) =>
        textOfBytes(values.subarray(Number(offsets[index]), Number(offsets[index + 1])));
    }
    keepTexts(children, utf8);
    if (dictionary === undefined) continue;
    keepTexts(dictionary.data, utf8);
    batch.cache = dictionary.toArray();
  }
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Integers of 64 bits as numbers where all are within 2^53, else the bigints; other values as they are. */
function exactNumbers(values: ArrayLike<Value>): ArrayLike<Value> {
  const typed = values instanceof BigInt64Array || values instanceof BigUint64Array;
  if (ArrayBuffer.isView(values) && !typed) return values;
  const numbers = typed ? new Float64Array(values.length) : new Array<Value>(values.length);
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (typeof value === "bigint") {
      numbers[at] = Number(value);
      if (!Number.isSafeInteger(numbers[at])) return values;
    } else if (value === null || value === undefined) {
      numbers[at] = value;
    } else {
      return values;
    }
  }
  return numbers;
}

/**
 * A column of an Arquero table that is decoded when the first of its values is read: a million
 * texts take longer to decode than to send, and a chart reads few of an answer's columns.
 */
class LazyColumn {
  readonly length: number;
  readonly #decode: () => ArrayLike<Value>;
  #values: ArrayLike<Value> | undefined;

  constructor(length: number, decode: () => ArrayLike<Value>) {
    this.length = length;
    this.#decode = decode;
  }

  /** The value of a row. */
  at(row: number): Value {
    return (this.#values ??= this.#decode())[row];
  }

  *[Symbol.iterator](): Iterator<Value> {
    for (let row = 0; row < this.length; row++) yield this.at(row);
  }
}
