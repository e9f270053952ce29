import type { WriteOptions, Writer } from "../database/writer.js";
import { fileSql, IN_ORDER } from "./file-sql.js";
import type { InputFile } from "./input-file.js";

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
  options: Pick<WriteOptions, "signal">,
): Promise<RowPlace | null> {
  if (file.format === "parquet") return null;
  const { sql, parameters } = fileSql(file, "lines");
  const ask = <Row extends object>(query: string, more: Record<string, number> = {}) =>
    writer.rows<Row>(query.replaceAll("LINES", sql), {
      ...options,
      parameters: { ...parameters, ...more },
      settings: IN_ORDER,
    });
  const skip = file.format === "jsonl" ? row - 1 : row;
  const [found] = await ask<{ found: number }>(
    {
      jsonl: `SELECT _row_number + 1 AS found FROM LINES WHERE ${HOLDS_ROW} LIMIT 1 OFFSET {skip:UInt64}`,
      // A row of CSV begins where all quotes before are closed.
      csv: `SELECT found FROM (
        SELECT _row_number + 1 AS found, countSubstrings(line, '"') AS quotes,
          sum(quotes) OVER (ORDER BY _row_number ROWS UNBOUNDED PRECEDING) - quotes AS before
        FROM LINES AS lines
      ) WHERE before % 2 = 0 ORDER BY found LIMIT 1 OFFSET {skip:UInt64}`,
      tsv: "SELECT {skip:UInt64} + 1 AS found",
    }[file.format],
    { skip },
  );
  if (found === undefined) return null;
  const line = Number(found.found);
  const [place] = await ask<{ text: string }>(
    `SELECT if(length(line) > 4000, concat(substring(line, 1, 2000), ' … ', substring(line, -2000)), line) AS text
     FROM LINES LIMIT 1 OFFSET {before:UInt64}`,
    { before: line - 1 },
  );
  if (place === undefined) return null;
  if (file.format === "jsonl" && row > 1 && !(await firstLineIsRow(ask))) return null;
  const after = await ask(
    `SELECT 1 AS more FROM LINES WHERE match(line, '\\\\S') AND _row_number >= {line:UInt64} LIMIT 1`,
    { line },
  );
  return { line, text: place.text, last: after.length === 0 };
}

/** A line of JSON with more in it than white space and an array's brackets. */
const HOLDS_ROW = "match(line, '[^\\\\s\\\\[\\\\],\\\\x{FEFF}]')";

async function firstLineIsRow(
  ask: (query: string) => Promise<{ whole: number }[]>,
): Promise<boolean> {
  const [first] = await ask(
    `SELECT isValidJSON(trim(BOTH '\\uFEFF[], \\t\\r' FROM line)) AS whole FROM LINES WHERE ${HOLDS_ROW} LIMIT 1`,
  );
  return first?.whole === 1;
}
