import {
  parquetMetadata,
  parquetScan,
  parquetSchema,
  type AsyncBuffer,
  type FileMetaData,
} from "hyparquet";
import { createHash } from "node:crypto";
import { ProbelabError } from "../base/error.js";
import {
  COLUMNS_KEY,
  CREATED_BY,
  parseColumnsRecord,
  type ColumnKind,
  type ColumnsRecord,
} from "./parquet-columns.js";
import type { Value } from "./result.js";
import { fromTaggedJson } from "./tagged-json.js";

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
  return guarded(async () => {
    const { [COLUMNS_KEY]: recordText, ...metadata } = texts;
    const stored = parquetSchema(file).children.map(({ element }) => element.name);
    const record = ownRecord(file, recordText);
    check(record === undefined || isIntact(bytes, record));
    const scan = await parquetScan({
      file: asyncBuffer(bytes),
      metadata: file,
      parsers: { stringFromBytes },
    });
    const rows: Value[][] = [];
    for (const { rowStart, rowEnd } of scan.ranges) {
      const columns: ArrayLike<Value>[] = [];
      for (const [index, column] of stored.entries()) {
        const values = await scan.readColumn({ column, rowStart, rowEnd });
        check(values.length === rowEnd - rowStart);
        columns.push(restoreAll(values, record?.columns[index]?.kind));
      }
      for (let row = 0; row < rowEnd - rowStart; row++) {
        rows.push(columns.map((values) => values[row] ?? null));
      }
    }
    while (stored.length === 0 && rows.length < (record?.rows ?? 0)) rows.push([]);
    check(rows.length === (record?.rows ?? Number(file.num_rows)));
    return { names: record?.columns.map(({ name }) => name) ?? stored, rows, metadata };
  });
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

async function guarded<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
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

/** The record of a file that probelab wrote; another tool's rewriting may have kept it untrue. */
function ownRecord(file: FileMetaData, text: string | undefined): ColumnsRecord | undefined {
  if (file.created_by !== CREATED_BY) return undefined;
  check(text !== undefined);
  const record = parseColumnsRecord(text ?? "");
  check(record.columns.length === parquetSchema(file).children.length);
  return record;
}

function isIntact(bytes: Uint8Array, record: ColumnsRecord): boolean {
  const data = bytes.subarray(0, record.bytes);
  return createHash("sha256").update(data).digest("hex") === record.sha256;
}

function check(holds: boolean): void {
  if (!holds) throw new Error("its rows aren't those that were written");
}

/** A column's values as its kind says; as they are where the file says none. */
function restoreAll(values: ArrayLike<Value>, kind: ColumnKind | undefined): ArrayLike<Value> {
  return kind === undefined ? values : Array.from(values, (value) => restore(value, kind));
}

function restore(value: Value, kind: ColumnKind): Value {
  if (value === null || value === undefined) return null;
  const type = typeof value;
  if (kind === "number" && (type === "bigint" || type === "number")) return Number(value);
  if (kind === "bigint" && type === "bigint") return value;
  if (kind === "bigint" && type === "string") return BigInt(value as string);
  if (kind === "boolean" && type === "boolean") return value;
  if (kind === "text" && type === "string") return value;
  if (kind === "json" && type === "string") return fromTaggedJson(value as string);
  if (kind === "time" && value instanceof Date) return value;
  throw new Error(`a ${type} in a column of kind ${kind}`);
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
