import { parquetMetadata, parquetReadObjects, parquetSchema } from "hyparquet";
import { fromTaggedJson, type Value } from "../../src/result/json.js";

/** What a Parquet file of probelab's holds, as any reader of the format sees it: whole numbers as numbers where they are safe, JSON read. */
export async function readParquet(bytes: Uint8Array) {
  const buffer = new Uint8Array(bytes).buffer;
  const metadata = parquetMetadata(buffer);
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  const rows = (await parquetReadObjects({ file: buffer, metadata })) as Record<string, Value>[];
  const texts = (metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value ?? ""]);
  return {
    names,
    rows: rows.map((row) => names.map((name) => plain(row[name]))),
    metadata: Object.fromEntries(texts) as Record<string, string>,
  };
}

function plain(value: Value): Value {
  if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) return Number(value);
  if (typeof value === "string" && /^[[{]/.test(value)) return fromTaggedJson(value);
  return value ?? null;
}
