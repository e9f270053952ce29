import { basename } from "node:path";
import { ProbelabError } from "../base/error.js";

/** How rows are written in a file. */
export type FileFormat = "jsonl" | "csv" | "tsv" | "parquet";

/** How a file is packed. */
export type Compression = "none" | "gzip" | "zstd";

const FORMATS: Readonly<Record<string, FileFormat>> = {
  jsonl: "jsonl",
  ndjson: "jsonl",
  json: "jsonl",
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  parquet: "parquet",
};

const COMPRESSIONS: Readonly<Record<string, Compression>> = {
  gz: "gzip",
  gzip: "gzip",
  zst: "zstd",
  zstd: "zstd",
};

/**
 * The format and compression that a file's name tells: `week.csv.gz` is gzipped CSV.
 *
 * @param override a format (`jsonl`, `csv`, `tsv`, `parquet`), with `.gz` or `.zst` where it is
 *   packed; wins over the name. Without such an ending the name still tells the compression.
 * @throws ProbelabError when neither tells a format that can be read.
 * @example
 * fileFormat("week.csv.gz"); // { format: "csv", compression: "gzip" }
 */
export function fileFormat(
  path: string,
  override?: string,
): { format: FileFormat; compression: Compression } {
  const named = split(basename(path));
  if (override === undefined) {
    if (named.format !== undefined)
      return { format: named.format, compression: named.packed ?? "none" };
    throw new ProbelabError(
      `Can't tell the format of ${path} from its name: end it in .jsonl, .csv, .tsv or .parquet (packed: .gz or .zst), or name the format with --format.`,
    );
  }
  const wanted = split(`.${override.toLowerCase()}`);
  if (wanted.format === undefined) {
    throw new ProbelabError(
      `Can't read the format ${JSON.stringify(override)}: write jsonl, csv, tsv or parquet, with .gz or .zst where the file is packed, such as csv.gz.`,
    );
  }
  return { format: wanted.format, compression: wanted.packed ?? named.packed ?? "none" };
}

function split(name: string): { format: FileFormat | undefined; packed: Compression | undefined } {
  const endings = name.toLowerCase().split(".").slice(1);
  const packed = COMPRESSIONS[endings.at(-1) ?? ""];
  return { format: FORMATS[endings.at(packed === undefined ? -1 : -2) ?? ""], packed };
}
