import type { KeyValue, SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter, type ColumnSource } from "hyparquet-writer";
import { ProbelabError } from "../base/error.js";
import { toTaggedJson, type Value } from "./json.js";

/**
 * What a column's values are in JavaScript. `json`: objects, arrays, values of several kinds, or
 * text that is no Unicode, each as tagged JSON; `null`: no value at all.
 */
type ColumnKind = "time" | "number" | "bigint" | "boolean" | "text" | "json" | "null";

/** Rows of a group: a chart's rows are one group, a million rows are ten. */
const GROUP_ROWS = 100_000;

/**
 * Rows as a Parquet file (Snappy). Same rows, same bytes.
 *
 * Times are TIMESTAMP in milliseconds, UTC; numbers INT64 where all are whole and safe, else
 * DOUBLE; bigints INT64, UINT64, or text beyond; booleans BOOLEAN; text STRING. Objects, arrays,
 * columns of several kinds and text with lone surrogates are STRING of JSON (`toTaggedJson`).
 * undefined and invalid dates become null, as do the cells that a short row has not.
 *
 * @param names the columns, of any characters. In the file itself a name that occurs twice gets a
 * number, an empty one is `column`, and what is no Unicode is replaced.
 * @param metadata texts for the file's key-value metadata.
 * @throws ProbelabError for a value that contains itself.
 * @example
 * const bytes = parquet(["t", "runs"], [[new Date(0), 12]], { note: "written by hand" });
 */
export function parquet(
  names: readonly string[],
  rows: readonly (readonly Value[])[],
  metadata: Readonly<Record<string, string>> = {},
): Buffer {
  const stored = new Set<string>();
  const schema: SchemaElement[] = [{ name: "root", num_children: names.length }];
  const columnData: ColumnSource[] = [];
  names.forEach((name, index) => {
    const values = rows.map((row) => row[index]);
    const kind = columnKind(values);
    const { type, convert = (value) => value, plain = false } = storage(kind, values, name);
    const column = fileName(name, stored);
    schema.push({ name: column, repetition_type: "OPTIONAL", ...type });
    columnData.push({
      name: column,
      data: values.map((value) => (isMissing(value) ? null : convert(value))),
      ...(plain && { encoding: "PLAIN" }),
    });
  });
  const kvMetadata: KeyValue[] = Object.entries(metadata).map(([key, value]) => ({ key, value }));
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema, createdBy: "probelab", kvMetadata });
  void file.write({ columnData, rowGroupSize: GROUP_ROWS });
  void file.finish();
  return Buffer.from(writer.getBuffer());
}

/** A column's type in Parquet. */
interface Storage {
  readonly type: Omit<SchemaElement, "name">;
  readonly convert?: (value: Value) => unknown;
  /** True where the writer's dictionary would lose something. */
  readonly plain?: boolean;
}

const TEXT = {
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  logical_type: { type: "STRING" },
} as const;

function storage(kind: ColumnKind, values: readonly Value[], name: string): Storage {
  switch (kind) {
    case "time":
      return {
        type: {
          type: "INT64",
          converted_type: "TIMESTAMP_MILLIS",
          logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
        },
      };
    case "boolean":
      return { type: { type: "BOOLEAN" } };
    case "number": {
      const numbers = values.filter((value) => typeof value === "number");
      // The writer's dictionary takes 0 and -0 for one value.
      if (numbers.some((value) => Object.is(value, -0))) {
        return { type: { type: "DOUBLE" }, plain: true };
      }
      return numbers.every(Number.isSafeInteger)
        ? { type: { type: "INT64" }, convert: (value) => BigInt(value as number) }
        : { type: { type: "DOUBLE" } };
    }
    case "bigint": {
      const fits = (low: bigint, high: bigint): boolean =>
        values.every((value) => typeof value !== "bigint" || (value >= low && value <= high));
      if (fits(-(2n ** 63n), 2n ** 63n - 1n)) return { type: { type: "INT64" } };
      // The writer spells the logical type INTEGER so that Thrift readers refuse the file.
      return fits(0n, 2n ** 64n - 1n)
        ? { type: { type: "INT64", converted_type: "UINT_64" } }
        : { type: TEXT, convert: String };
    }
    case "json":
      return { type: TEXT, convert: (value) => jsonOf(value, name) };
    default:
      return { type: TEXT };
  }
}

/** The kind that holds every value of a column as it is; null, undefined and invalid dates fit all. */
function columnKind(values: readonly Value[]): ColumnKind {
  const kinds = new Set(values.filter((value) => !isMissing(value)).map(kindOf));
  const [first = "null"] = kinds;
  return kinds.size > 1 ? "json" : first;
}

function kindOf(value: Value): ColumnKind {
  if (value instanceof Date) return "time";
  const type = typeof value;
  if (type === "string") return /\p{Surrogate}/u.test(value as string) ? "json" : "text";
  return type === "number" || type === "bigint" || type === "boolean" ? type : "json";
}

/** True for what Parquet's null stands for. */
function isMissing(value: Value): boolean {
  return (
    value === null ||
    value === undefined ||
    (value instanceof Date && Number.isNaN(value.getTime()))
  );
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
