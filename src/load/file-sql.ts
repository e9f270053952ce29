import type { WriteOptions } from "../database/writer.js";
import type { InputFile } from "./input-file.js";

const FORMAT_NAMES = {
  jsonl: "JSONEachRow",
  csv: "CSVWithNames",
  tsv: "TSVWithNames",
  parquet: "Parquet",
} as const;

/**
 * SQL that reads a file where it lies: the embedded server is a child on the same machine, so it
 * streams the file itself, in parallel, seeks in Parquet, and counts rows by `_row_number`.
 *
 * @param as the file's own format, or its lines (`line`), or its JSON objects (`json`).
 * @param structure `name Type, …` of the columns to read; where it is missing, the file's own.
 */
export function fileSql(
  file: InputFile,
  as: "rows" | "lines" | "objects",
  structure?: string,
): { sql: string; parameters: Record<string, string> } {
  const columns = { rows: structure, lines: "line String", objects: "json String" }[as] ?? "auto";
  const format = {
    rows: FORMAT_NAMES[file.format],
    lines: "LineAsString",
    objects: "JSONAsString",
  };
  return {
    sql: "file({file:String}, {format:String}, {structure:String}, {compression:String})",
    parameters: {
      file: file.path,
      format: format[as],
      structure: columns,
      compression: file.compression,
    },
  };
}

/** How files are read: values as they stand, nothing guessed, nothing remembered. */
export const READ_SETTINGS: NonNullable<WriteOptions["settings"]> = {
  // Mapped into memory, a file would count as the server's, and end it where it is cut meanwhile.
  storage_file_read_method: "pread",
  schema_inference_use_cache_for_file: 0,
  use_cache_for_count_from_files: 0,
  input_format_skip_unknown_fields: 1,
  input_format_json_read_numbers_as_strings: 1,
  input_format_json_read_bools_as_strings: 1,
  input_format_json_read_objects_as_strings: 1,
  input_format_json_read_arrays_as_strings: 1,
  input_format_csv_empty_as_default: 0,
  input_format_csv_trim_whitespaces: 0,
  input_format_csv_skip_trailing_empty_lines: 1,
  input_format_tsv_skip_trailing_empty_lines: 1,
  input_format_tsv_crlf_end_of_line: 1,
  format_csv_allow_single_quotes: 0,
  // Only a packed Parquet file must be held in memory; it is refused rather than the machine filled.
  max_memory_usage: 4 * 2 ** 30,
};

/** For questions about lines by their number, and LIMIT that ends a read early. */
export const IN_ORDER: NonNullable<WriteOptions["settings"]> = {
  ...READ_SETTINGS,
  max_threads: 1,
  input_format_parallel_parsing: 0,
};
