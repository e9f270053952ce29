import {
  parquetMetadata,
  parquetReadColumn,
  parquetSchema,
  type AsyncBuffer,
  type FileMetaData,
} from "hyparquet";
import { ProbelabError } from "../error.js";
import {
  COLUMNS_KEY,
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
    const record = recordText === undefined ? undefined : parseColumnsRecord(recordText);
    const count = record && stored.length === 0 ? record.rows : Number(file.num_rows);
    check(record === undefined || agrees(record, stored.length, count));
    const rows = Array.from({ length: count }, (): Value[] => []);
    for (const [index, name] of stored.entries()) {
      const values = await parquetReadColumn({
        file: asyncBuffer(bytes),
        metadata: file,
        columns: [name],
        parsers: { stringFromBytes },
      });
      check(values.length === count);
      const kind = record?.columns[index]?.kind;
      for (const [row, cells] of rows.entries()) {
        const value = values[row] as Value;
        cells.push(kind === undefined ? (value ?? null) : restore(value, kind));
      }
    }
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

function agrees(record: ColumnsRecord, columns: number, rows: number): boolean {
  return record.columns.length === columns && record.rows === rows;
}

function check(holds: boolean): void {
  if (!holds) throw new Error("its columns, rows and metadata contradict each other");
}

/** A value as its column's kind says. */
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
