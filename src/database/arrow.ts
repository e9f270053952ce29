import type { ColumnTable } from "arquero";
import { isUtf8 } from "node:buffer";
import { decodeLz4 } from "./lz4.js";
import { cutAnswer, strangeAnswer } from "./server-error.js";
import type { Value } from "../result/result.js";
import { grouped, textOf } from "../base/text.js";

/**
 * Reads an Arrow IPC stream, plain or compressed by LZ4, into an Arquero table.
 *
 * Timestamps become Dates (UTC instants, milliseconds); integers beyond 2^53 make their columns
 * bigint instead of losing digits. Arrays and tuples are arrays, maps and tuples with names objects,
 * all frozen. A text's byte that is of no UTF-8 character is written `\\xff`.
 *
 * @throws AnswerError where the stream ends before its mark of the end.
 */
export async function arrowTable(bytes: Uint8Array): Promise<ColumnTable> {
  const [aq, { tableFromIPC, Type, setCompressionCodec, CompressionType }] = await Promise.all([
    import("arquero"),
    import("@uwdata/flechette"),
  ]);
  checkEnd(bytes);
  setCompressionCodec(CompressionType.LZ4_FRAME, { decode: decodeLz4, encode: (plain) => plain });
  const decoded = (useBigInt: boolean) =>
    tableFromIPC(bytes, { useDate: true, useBigInt, useMap: true });
  const arrow = decoded(false);
  let exact: typeof arrow | undefined;
  const made = new Set<number>([Type.List, Type.FixedSizeList, Type.Struct, Type.Map]);
  const entries = arrow.names.map((name, index) => {
    const column = arrow.getChildAt(index);
    const valuesOf = (table: typeof arrow): ArrayLike<Value> => {
      const child = table.getChildAt(index);
      keepTexts(child.data, Type.Utf8);
      return child.toArray() as ArrayLike<Value>;
    };
    const values = () => {
      try {
        return valuesOf(arrow);
      } catch {
        // An integer is beyond what a number holds.
        return valuesOf((exact ??= decoded(true)));
      }
    };
    const { typeId } = column.type;
    if (typeId === Type.Utf8) return [name, new LazyColumn(column.length, values)];
    if (!made.has(typeId)) return [name, values()];
    return [name, new LazyColumn(column.length, () => Array.from(values(), frozen))];
  });
  return aq.table(entries as [string, unknown[]][]);
}

/** Arrays, tuples and maps as frozen arrays and objects. */
function frozen(value: Value): Value {
  if (typeof value !== "object" || value === null || value instanceof Date) return value ?? null;
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return Object.freeze(Array.from(value as ArrayLike<Value>, frozen));
  }
  const isMap = value instanceof Map;
  const entries = (isMap ? [...value] : Object.entries(value)) as [Value, Value][];
  // The elements of a tuple without names are called 1, 2, ….
  const named = isMap || !entries.every(([name], at) => name === String(at + 1));
  return Object.freeze(
    named
      ? Object.fromEntries(entries.map(([name, each]) => [textOf(name), frozen(each)]))
      : entries.map(([, each]) => frozen(each)),
  );
}

/** The mark of a stream's end: a message of no length. */
const END = Buffer.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/** @throws AnswerError for a stream without its mark of the end: it may be cut where a message ends. */
function checkEnd(bytes: Uint8Array): void {
  if (bytes.length > 0 && !END.subarray(0, 4).equals(bytes.subarray(0, 4))) {
    throw strangeAnswer(bytes);
  }
  if (bytes.length > END.length && END.equals(bytes.subarray(-END.length))) return;
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

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as text; a byte that is of no UTF-8 character as `\\xff`, so that other texts stay others. */
function textOfBytes(bytes: Uint8Array): string {
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

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
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
