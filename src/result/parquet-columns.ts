import { z } from "zod";
import type { Value } from "./result.js";

/** The key of the file's metadata under which the record of its columns stands. */
export const COLUMNS_KEY = "probelab.columns";

/**
 * What a column's values are in JavaScript. `json`: objects, arrays, values of several kinds, or
 * text that is no Unicode, each as tagged JSON; `null`: no value at all.
 */
export type ColumnKind = "time" | "number" | "bigint" | "boolean" | "text" | "json" | "null";

/** Who wrote the file, in Parquet's own field; a tool that rewrites it puts its own name there. */
export const CREATED_BY = "probelab";

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

const RECORD = z.object({
  version: z.literal(1),
  rows: z.int().nonnegative(),
  columns: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(["time", "number", "bigint", "boolean", "text", "json", "null"]),
    }),
  ),
  bytes: z.int().nonnegative(),
  sha256: z.string(),
});

/** The record of a file's metadata. @throws SyntaxError or ZodError for another text. */
export function parseColumnsRecord(text: string): ColumnsRecord {
  return RECORD.parse(JSON.parse(text));
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** The kind that holds every value of a column as it is; null, undefined and invalid dates fit all. */
export function columnKind(values: readonly Value[]): ColumnKind {
  let kind: ColumnKind = "null";
  for (const value of values) {
    if (isMissing(value)) continue;
    const own = kindOf(value);
    if (own === "json" || (kind !== "null" && own !== kind)) return "json";
    kind = own;
  }
  return kind;
}

/** True for what Parquet's null stands for. */
export function isMissing(value: Value): value is null | undefined | Date {
  return (
    value === null ||
    value === undefined ||
    (value instanceof Date && Number.isNaN(value.getTime()))
  );
}

function kindOf(value: Value): ColumnKind {
  switch (typeof value) {
    case "number":
      return "number";
    case "bigint":
      return "bigint";
    case "boolean":
      return "boolean";
    case "string":
      return LONE_SURROGATE.test(value) ? "json" : "text";
    default:
      return value instanceof Date ? "time" : "json";
  }
}
