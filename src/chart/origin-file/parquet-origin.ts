import { readParquetMetadata } from "../../result/parquet-read.js";
import { damagedFile, foundOrigin, type FoundOrigin } from "./found-origin.js";

/** The origin in a Parquet file's metadata `probelab.origin`, whoever wrote the file last. */
export function parquetOrigins(bytes: Buffer): FoundOrigin[] {
  const { "probelab.origin": text, "probelab.title": title } = metadata(bytes);
  const origin = text === undefined ? undefined : foundOrigin(text, title);
  return origin === undefined ? [] : [origin];
}

function metadata(bytes: Buffer): Record<string, string> {
  try {
    return readParquetMetadata(bytes);
  } catch (error) {
    throw damagedFile("Parquet", "its footer can't be read", error);
  }
}
