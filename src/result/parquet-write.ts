import type { KeyValue, SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter, type ColumnSource } from "hyparquet-writer";
import { createHash } from "node:crypto";
import { ProbelabError } from "../base/error.js";
import {
  COLUMNS_KEY,
  columnKind,
  CREATED_BY,
  isMissing,
  type ColumnKind,
  type ColumnsRecord,
} from "./parquet-columns.js";
import type { Value } from "./result.js";
import { toTaggedJson } from "./tagged-json.js";

/** Rows of a group: a chart's rows are one group, a million rows are ten. */
const GROUP_ROWS = 100_000;

/** A column as Parquet stores it. */
interface StoredColumn {
  readonly element: SchemaElement;
  readonly data: unknown[];
  /** Where the writer's choice would lose something. */
  readonly encoding?: "PLAIN";
}

/**
 * Rows as a Parquet file (Snappy), from which `readParquet` makes the same values again. Same rows,
 * same bytes.
 *
 * Times are TIMESTAMP in milliseconds, UTC; numbers INT64 where all are whole and safe, else
 * DOUBLE; bigints INT64, UINT64, or text beyond; booleans BOOLEAN; text STRING. Objects, arrays,
 * columns of several kinds and text with lone surrogates are STRING of JSON (`toTaggedJson`).
 * undefined and invalid dates become null, as do the cells that a short row has not.
 *
 * @param names the columns, of any characters. In the file itself a name that occurs twice gets a
 * number, an empty one is `column`, and what is no Unicode is replaced; `readParquet` gives them back as they were.
 * @param metadata texts for the file's key-value metadata; `probelab.columns` is added.
 * @throws ProbelabError for a value that contains itself.
 * @example
 * const bytes = parquet(["t", "runs"], [[new Date(0), 12]], { note: "written by hand" });
 * (await readParquet(bytes)).rows; // [[1970-01-01T00:00:00.000Z, 12]]
 */
export function parquet(
  names: readonly string[],
  rows: readonly (readonly Value[])[],
  metadata: Readonly<Record<string, string>> = {},
): Buffer {
  const stored = new Set<string>();
  const schema: SchemaElement[] = [{ name: "root", num_children: names.length }];
  const columnData: ColumnSource[] = [];
  const columns = names.map((name, index) => {
    const values = rows.map((row) => row[index]);
    const kind = columnKind(values);
    const column = store(fileName(name, stored), values, kind, name);
    schema.push(column.element);
    columnData.push({
      name: column.element.name,
      data: column.data,
      ...(column.encoding && { encoding: column.encoding }),
    });
    return { name, kind };
  });
  const kvMetadata: KeyValue[] = Object.entries(metadata).map(([key, value]) => ({ key, value }));
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema, createdBy: CREATED_BY, kvMetadata });
  void file.write({ columnData, rowGroupSize: GROUP_ROWS });
  const record: ColumnsRecord = {
    version: 1,
    rows: rows.length,
    columns,
    bytes: writer.offset,
    sha256: createHash("sha256").update(writer.getBytes()).digest("hex"),
  };
  kvMetadata.push({ key: COLUMNS_KEY, value: JSON.stringify(record) });
  void file.finish();
  return Buffer.from(writer.getBuffer());
}

function store(
  column: string,
  values: readonly Value[],
  kind: ColumnKind,
  name: string,
): StoredColumn {
  switch (kind) {
    case "time":
      return {
        element: {
          ...optional(column, "INT64"),
          converted_type: "TIMESTAMP_MILLIS",
          logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
        },
        data: present(values, (value) => value),
      };
    case "boolean":
      return { element: optional(column, "BOOLEAN"), data: present(values, (value) => value) };
    case "number":
      return storeNumbers(column, values as readonly (number | null | undefined)[]);
    case "bigint":
      return storeBigints(column, values as readonly (bigint | null | undefined)[]);
    case "json":
      return { element: text(column), data: present(values, (value) => jsonOf(value, name)) };
    default:
      return { element: text(column), data: present(values, (value) => value) };
  }
}

function storeNumbers(
  column: string,
  values: readonly (number | null | undefined)[],
): StoredColumn {
  const has = (test: (value: number) => boolean): boolean =>
    values.some((value) => typeof value === "number" && test(value));
  const negativeZero = has((value) => Object.is(value, -0));
  if (!negativeZero && !has((value) => !Number.isSafeInteger(value))) {
    return {
      element: optional(column, "INT64"),
      data: present(values, (value) => BigInt(value as number)),
    };
  }
  return {
    element: optional(column, "DOUBLE"),
    data: present(values, (value) => value),
    // the writer's dictionary takes 0 and -0 for one value
    ...(negativeZero && { encoding: "PLAIN" }),
  };
}

function storeBigints(
  column: string,
  values: readonly (bigint | null | undefined)[],
): StoredColumn {
  const fits = (low: bigint, high: bigint): boolean =>
    values.every((value) => typeof value !== "bigint" || (value >= low && value <= high));
  const data = present(values, (value) => value);
  if (fits(-(2n ** 63n), 2n ** 63n - 1n)) return { element: optional(column, "INT64"), data };
  if (!fits(0n, 2n ** 64n - 1n)) {
    return {
      element: text(column),
      data: present(values, (value) => (value as bigint).toString()),
    };
  }
  return {
    // The writer spells the logical type INTEGER so that Thrift readers refuse the file.
    element: { ...optional(column, "INT64"), converted_type: "UINT_64" },
    data,
  };
}

function optional(
  name: string,
  type: "INT64" | "DOUBLE" | "BOOLEAN" | "BYTE_ARRAY",
): SchemaElement {
  return { name, type, repetition_type: "OPTIONAL" };
}

function text(name: string): SchemaElement {
  return {
    ...optional(name, "BYTE_ARRAY"),
    converted_type: "UTF8",
    logical_type: { type: "STRING" },
  };
}

function present(values: readonly Value[], convert: (value: Value) => unknown): unknown[] {
  return values.map((value) => (isMissing(value) ? null : convert(value)));
}

function jsonOf(value: Value, name: string): string {
  try {
    return toTaggedJson(value);
  } catch (error) {
    throw new ProbelabError(
      `Can't write the column ${JSON.stringify(name)} as Parquet: one of its objects can't be written as JSON (it contains itself, or is nested too deeply); leave the column out, or turn it into text.`,
      { cause: error },
    );
  }
}

/** A name that Parquet can hold and that no other column of the file has. */
function fileName(name: string, taken: Set<string>): string {
  const base = name.replace(/\p{Surrogate}/gu, "\uFFFD").replace(/^\uFEFF+/, "") || "column";
  let free = base;
  for (let number = 2; taken.has(free); number++) free = `${base} (${number})`;
  taken.add(free);
  return free;
}
