import {
  parquetMetadata,
  parquetScan,
  parquetSchema,
  type AsyncBuffer,
  type FileMetaData,
} from "hyparquet";
import { createHash } from "node:crypto";
import { ProbelabError } from "../base/error.js";
import { fromTaggedJson, type Value } from "./json.js";

/** The key of the file's metadata under which the record of its columns stands. */
export const COLUMNS_KEY = "probelab.columns";

/** Who wrote the file, in Parquet's own field; a tool that rewrites it puts its own name there. */
export const CREATED_BY = "probelab";

/**
 * What a column's values are in JavaScript. `json`: objects, arrays, values of several kinds, or
 * text that is no Unicode, each as tagged JSON; `null`: no value at all.
 */
export type ColumnKind = "time" | "number" | "bigint" | "boolean" | "text" | "json" | "null";

/** What Parquet's own types don't say about a file that probelab wrote. */
export interface ColumnsRecord {
  readonly version: 1;
  /** Number of rows: Parquet can't say it of a file without columns. */
  readonly rows: number;
  /** The columns as named and typed in JavaScript, in the file's order. */
  readonly columns: readonly { readonly name: string; readonly kind: ColumnKind }[];
  /** The data pages stand in the file's first so many bytes, with this SHA-256 (hex). */
  readonly bytes: number;
  readonly sha256: string;
}

/** What a Parquet file holds. */
export interface ParquetContent {
  readonly names: string[];
  readonly rows: Value[][];
  /** The file's key-value metadata, without `probelab.columns`. */
  readonly metadata: Record<string, string>;
}

const MAGIC = "PAR1";

/**
 * The rows of a Parquet file: of one that `parquet` wrote the same names and values again; of
 * another its columns as Parquet types them (times as Date, 64-bit integers as bigint).
 *
 * @param bytes the whole file, without compression or compressed with Snappy.
 * @throws ProbelabError for bytes that are no Parquet file, are cut short or damaged.
 * @example
 * const { names, rows } = await readParquet(await readFile("data/counts.parquet"));
 */
export async function readParquet(bytes: Uint8Array): Promise<ParquetContent> {
  const { file, texts } = footer(bytes);
  try {
    const { [COLUMNS_KEY]: recordText = "", ...metadata } = texts;
    const stored = parquetSchema(file).children.map(({ element }) => element.name);
    const record =
      file.created_by === CREATED_BY ? intactRecord(bytes, recordText, stored.length) : undefined;
    const scan = await parquetScan({
      file: asyncBuffer(bytes),
      metadata: file,
      parsers: { stringFromBytes },
    });
    const rows: Value[][] = [];
    for (const { rowStart, rowEnd } of scan.ranges) {
      const columns: ArrayLike<Value>[] = [];
      for (const [index, column] of stored.entries()) {
        const values: ArrayLike<Value> = await scan.readColumn({ column, rowStart, rowEnd });
        check(values.length === rowEnd - rowStart);
        const kind = record?.columns[index]?.kind;
        columns.push(kind ? Array.from(values, (value) => restored(value, kind)) : values);
      }
      for (let row = 0; row < rowEnd - rowStart; row++) {
        rows.push(columns.map((values) => values[row] ?? null));
      }
    }
    while (stored.length === 0 && rows.length < (record?.rows ?? 0)) rows.push([]);
    check(rows.length === (record?.rows ?? Number(file.num_rows)));
    return { names: record?.columns.map(({ name }) => name) ?? stored, rows, metadata };
  } catch (error) {
    throw damaged(error);
  }
}

/** The key-value metadata of a Parquet file, whose rows aren't read. @throws ProbelabError as `readParquet`. */
export function readParquetMetadata(bytes: Uint8Array): Record<string, string> {
  return footer(bytes).texts;
}

function footer(bytes: Uint8Array): { file: FileMetaData; texts: Record<string, string> } {
  const head = Buffer.from(bytes.subarray(0, 4)).toString("latin1");
  if (head !== MAGIC) {
    throw new ProbelabError(
      "Can't read this as Parquet: it doesn't begin with PAR1; give a .parquet file.",
    );
  }
  const tail = Buffer.from(bytes.subarray(-4)).toString("latin1");
  if (bytes.length < 12 || tail !== MAGIC) {
    throw new ProbelabError(
      "Can't read this Parquet file: it is cut short (its end, PAR1, is missing); write or copy it again.",
    );
  }
  try {
    const file = parquetMetadata(bytes);
    const entries = (file.key_value_metadata ?? []).map(({ key, value }) => [key, value ?? ""]);
    return { file, texts: Object.fromEntries(entries) as Record<string, string> };
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(cause: unknown): ProbelabError {
  const reason = cause instanceof Error ? (cause.message.split("\n")[0] ?? "").slice(0, 120) : "";
  return new ProbelabError(
    `Can't read this Parquet file: it is damaged, or packed in a way that isn't supported (${reason}); write or copy it again.`,
    { cause },
  );
}

/** The record of a file that probelab wrote, once its data is what was written. */
function intactRecord(bytes: Uint8Array, text: string, columns: number): ColumnsRecord {
  const record = JSON.parse(text) as ColumnsRecord;
  check(
    record.columns.length === columns &&
      record.columns.every(({ name, kind }) => typeof name === "string" && kind in RESTORE),
  );
  const hash = createHash("sha256").update(bytes.subarray(0, record.bytes));
  check(hash.digest("hex") === record.sha256);
  return record;
}

function check(holds: boolean): void {
  if (!holds) throw new Error("its rows aren't those that were written");
}

/** By kind, which stored types it takes, and the value of a stored one. */
const RESTORE: Readonly<Record<ColumnKind, readonly [string[], (stored: Value) => Value]>> = {
  time: [["object"], (stored) => stored],
  number: [["bigint", "number"], Number],
  bigint: [["bigint", "string"], (stored) => BigInt(stored as string | bigint)],
  boolean: [["boolean"], (stored) => stored],
  text: [["string"], (stored) => stored],
  json: [["string"], (stored) => fromTaggedJson(stored as string)],
  null: [[], (stored) => stored],
};

function restored(stored: Value, kind: ColumnKind): Value {
  if (stored === null || stored === undefined) return null;
  const [types, restore] = RESTORE[kind];
  if (types.includes(typeof stored)) return restore(stored);
  throw new Error(`a ${typeof stored} in a column of kind ${kind}`);
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** The library's own decoder takes a byte order mark at a text's beginning away. */
function stringFromBytes(bytes: Uint8Array | undefined): string | undefined {
  return bytes && UTF8.decode(bytes);
}

function asyncBuffer(bytes: Uint8Array): AsyncBuffer {
  return {
    byteLength: bytes.byteLength,
    slice: (start, end = bytes.byteLength) => new Uint8Array(bytes.subarray(start, end)).buffer,
  };
}
