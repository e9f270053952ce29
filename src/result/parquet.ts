import { parquetWriteBuffer, type BasicType, type ColumnSource } from "hyparquet-writer";
import { ProbelabError } from "../base/error.js";
import { toTaggedJson, type Value } from "./json.js";

/** Rows of a group: a chart's rows are one group, a million rows are ten. */
const GROUP_ROWS = 100_000;

/**
 * Rows as a Parquet file (Snappy). Same rows, same bytes.
 *
 * Times are TIMESTAMP in milliseconds, UTC; numbers INT64 where all are whole and safe, else
 * DOUBLE; bigints INT64, or text beyond; booleans BOOLEAN; text STRING. Objects, arrays, columns of
 * several kinds and text with lone surrogates are STRING of JSON (`toTaggedJson`). undefined and
 * invalid dates become null, as do the cells that a short row has not.
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
  const taken = new Set<string>();
  const columnData = names.map((name, index): ColumnSource => {
    const values = rows.map((row) => (isMissing(row[index]) ? null : row[index]));
    const { type, convert = (value) => value } = storage(values, name);
    const data = values.map((value) => (value === null ? null : convert(value)));
    // The writer's dictionary takes 0 and -0 for one value.
    return { name: fileName(name, taken), data, type, ...(type === "DOUBLE" && PLAIN) };
  });
  const kvMetadata = Object.entries(metadata).map(([key, value]) => ({ key, value }));
  return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: GROUP_ROWS, kvMetadata }));
}

const PLAIN = { encoding: "PLAIN" } as const;

/** The type of a column in Parquet; a column without a value is text. */
function storage(values: readonly Value[], name: string): Storage {
  const known = values.filter((value) => value !== null);
  const all = (fits: (value: Value) => boolean) => known.length > 0 && known.every(fits);
  if (all((value) => value instanceof Date)) return { type: "TIMESTAMP" };
  if (all((value) => typeof value === "boolean")) return { type: "BOOLEAN" };
  if (all((value) => Number.isSafeInteger(value) && !Object.is(value, -0))) {
    return { type: "INT64", convert: (value) => BigInt(value as number) };
  }
  if (all((value) => typeof value === "number")) return { type: "DOUBLE" };
  if (all((value) => typeof value === "bigint")) {
    const fits = all((value) => BigInt.asIntN(64, value as bigint) === value);
    return fits ? { type: "INT64" } : { type: "STRING", convert: String };
  }
  const isUnicode = (value: Value) => typeof value === "string" && !/\p{Surrogate}/u.test(value);
  if (known.every(isUnicode)) return { type: "STRING" };
  return { type: "STRING", convert: (value) => jsonOf(value, name) };
}

interface Storage {
  readonly type: BasicType;
  readonly convert?: (value: Value) => unknown;
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
