import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Writer } from "../../../src/database/writer.js";
import type { Measurement } from "./measurement.js";

/** One JSON object a line; whole numbers and fractions as JSON numbers. */
export function jsonl(rows: readonly Measurement[]): string {
  const numeric = new Set(["probe_asn", "test_runtime"]);
  return rows
    .map((row) => {
      const entries = Object.entries(row).map(([key, value]) => [
        key,
        numeric.has(key) && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value,
      ]);
      return `${JSON.stringify(Object.fromEntries(entries))}\n`;
    })
    .join("");
}

/** RFC 4180, quotes only where they are needed. */
export function csv(rows: readonly Measurement[], lineBreak = "\n"): string {
  const quote = (value: string) =>
    /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  return table(rows, ",", quote, lineBreak);
}

/** Tabs, with backslash escapes. */
export function tsv(rows: readonly Measurement[], lineBreak = "\n"): string {
  const names: Record<string, string> = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\" };
  const escape = (value: string) => value.replace(/[\t\n\r\\]/g, (letter) => names[letter] ?? "");
  return table(rows, "\t", escape, lineBreak);
}

function table(
  rows: readonly Measurement[],
  separator: string,
  write: (value: string) => string,
  lineBreak: string,
): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ""))];
  return lines.map((line) => line.map(write).join(separator) + lineBreak).join("");
}

/** Writes a file into a folder; gives its path. */
export async function put(folder: string, name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** A gzipped copy of a file's text. */
export function gzipped(content: string): Buffer {
  return gzipSync(content);
}

/** Lets the engine write a Parquet file from one of JSON, which Node can't. */
export async function parquetOf(writer: Writer, from: string, to: string): Promise<string> {
  await writer.command(
    `INSERT INTO FUNCTION file({to:String}, 'Parquet') SELECT * FROM file({from:String}, 'JSONEachRow')
     SETTINGS engine_file_truncate_on_insert = 1, max_threads = 1, schema_inference_use_cache_for_file = 0`,
    { parameters: { from, to } },
  );
  return to;
}
