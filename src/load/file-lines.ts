import { open } from "node:fs/promises";
import { ProbelabError } from "../base/error.js";
import type { WriteOptions, Writer } from "../database/writer.js";
import { fileSql, IN_ORDER } from "./file-sql.js";
import type { InputFile } from "./input-file.js";

type Signal = Pick<WriteOptions, "signal">;

/** Asks about a file's lines, which the query calls LINES. */
function askLines<Row extends object>(
  writer: Writer,
  file: InputFile,
  query: string,
  { signal, ...more }: Signal & Readonly<Record<string, unknown>>,
  settings = {},
): Promise<Row[]> {
  const { sql, parameters } = fileSql(file, "lines");
  return writer.rows<Row>(query.replaceAll("LINES", sql), {
    ...(signal && { signal }),
    parameters: { ...parameters, ...more },
    settings: { ...IN_ORDER, ...settings },
  });
}

/** The lines in which a row of CSV begins: all quotes before them are closed. */
const CSV_ROWS = `(
    SELECT _row_number + 1 AS number, countSubstrings(line, '"') AS quotes,
      sum(quotes) OVER (ORDER BY _row_number ROWS UNBOUNDED PRECEDING) - quotes AS before
    FROM LINES AS lines
  ) WHERE before % 2 = 0`;

/** A line of JSON with more in it than white space and an array's brackets. */
const HOLDS_ROW = "match(line, '[^\\\\s\\\\[\\\\],\\\\x{FEFF}]')";

const FIND_ROW = {
  jsonl: `SELECT _row_number + 1 AS number FROM LINES WHERE ${HOLDS_ROW} LIMIT 1 OFFSET {skip:UInt64}`,
  csv: `SELECT number FROM ${CSV_ROWS} ORDER BY number LIMIT 1 OFFSET {skip:UInt64}`,
  tsv: "SELECT {skip:UInt64} + 1 AS number",
};

/** Where a row stands in its file. */
export interface RowPlace {
  /** The line, from 1, that the row begins in. */
  readonly line: number;
  /** Its text, shortened to its first and last 2,000 characters. */
  readonly text: string;
  /** Whether the file ends with it. */
  readonly last: boolean;
}

/**
 * Finds the line that a row begins in, reading the file's lines up to it.
 *
 * @param row from 1, the header not counted.
 * @returns null where rows can't be told by lines: Parquet, and JSON over several lines.
 */
export async function lineOfRow(
  writer: Writer,
  file: InputFile,
  row: number,
  signal: Signal,
): Promise<RowPlace | null> {
  if (file.format === "parquet") return null;
  const ask = <Row extends object>(query: string, more: Record<string, number> = {}) =>
    askLines<Row>(writer, file, query, { ...signal, ...more });
  if (file.format === "jsonl" && row > 1) {
    const [first] = await ask<{ whole: number }>(
      `SELECT isValidJSON(trim(BOTH '\\uFEFF[], \\t\\r' FROM line)) AS whole FROM LINES WHERE ${HOLDS_ROW} LIMIT 1`,
    );
    if (first?.whole !== 1) return null;
  }
  const skip = file.format === "jsonl" ? row - 1 : row;
  const [found] = await ask<{ number: number }>(FIND_ROW[file.format], { skip });
  if (found === undefined) return null;
  const line = Number(found.number);
  const [place] = await ask<{ text: string }>(
    `SELECT if(length(line) > 4000, concat(substring(line, 1, 2000), ' … ', substring(line, -2000)), line) AS text
     FROM LINES LIMIT 1 OFFSET {before:UInt64}`,
    { before: line - 1 },
  );
  if (place === undefined) return null;
  const after = await ask(
    `SELECT 1 AS more FROM LINES WHERE match(line, '\\\\S') AND _row_number >= {line:UInt64} LIMIT 1`,
    { line },
  );
  return { line, text: place.text, last: after.length === 0 };
}

/**
 * Refuses a CSV or TSV file whose end may be missing though the engine read it: one that ends
 * inside a quoted value, or inside its last line, where a cut value looks like a whole one.
 *
 * @param allowMissingNewline takes a file without a line break at its end as whole.
 */
export async function checkFileEnd(
  writer: Writer,
  file: InputFile,
  allowMissingNewline: boolean,
  signal: Signal,
): Promise<void> {
  if (file.format !== "csv" && file.format !== "tsv") return;
  if (file.format === "csv") {
    const [all] = await askLines<{ odd: number }>(
      writer,
      file,
      `SELECT sum(countSubstrings(line, '"')) % 2 AS odd FROM LINES`,
      signal,
    );
    if (all?.odd === 1) {
      const query = `SELECT max(number) AS line FROM ${CSV_ROWS}`;
      const [open] = await askLines<{ line: number }>(writer, file, query, signal);
      throw new ProbelabError(
        `Can't load ${file.name}: the file is cut, or a quote is missing: the quoted value that begins in line ${open?.line} is not closed. Get the whole file, or mend that line (a quote inside a value is written twice).`,
      );
    }
  }
  if (allowMissingNewline || (await endsWithNewline(writer, file, signal))) return;
  throw new ProbelabError(
    `Can't load ${file.name}: its last line has no line break, so the file may be cut in its last value. If it is whole, say so with --allow-missing-newline; else get the whole file.`,
  );
}

/** Whether the file's text, unpacked, ends with a line break. */
export async function endsWithNewline(
  writer: Writer,
  file: InputFile,
  signal: Signal,
): Promise<boolean> {
  if (file.compression === "none") {
    await using handle = await open(file.path, "r");
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, file.bytes - 1);
    return buffer.toString("latin1") === "\n";
  }
  try {
    // Unlike lines, rows of this format must end with their delimiter.
    const query = "SELECT max(length(line)) FROM LINES";
    await askLines(
      writer,
      file,
      query,
      { ...signal, format: "CustomSeparated" },
      {
        format_custom_escaping_rule: "Raw",
        format_custom_field_delimiter: "\t",
        input_format_custom_allow_variable_number_of_columns: 1,
        format_custom_row_after_delimiter: "\n",
      },
    );
    return true;
  } catch (error) {
    if (/end of stream/.test(String((error as Error).cause))) return false;
    throw error;
  }
}
