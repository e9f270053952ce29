import { open } from "node:fs/promises";
import type { WriteOptions, Writer } from "../database/writer.js";
import { fileSql, IN_ORDER } from "./file-sql.js";
import type { InputFile } from "./input-file.js";
import { ProbelabError } from "../base/error.js";

/**
 * Refuses a CSV or TSV file whose end may be missing though the engine read it: one that ends
 * inside a quoted value, or inside its last line, where a cut value looks like a whole one.
 *
 * @param allowMissingNewline takes a file without a line break at its end as whole.
 */
export async function checkFileEnd(
  writer: Writer,
  file: InputFile,
  options: Pick<WriteOptions, "signal"> & { allowMissingNewline: boolean },
): Promise<void> {
  if (file.format !== "csv" && file.format !== "tsv") return;
  const { allowMissingNewline, ...rest } = options;
  if (file.format === "csv") {
    const line = await openQuote(writer, file, rest);
    if (line !== null) {
      throw new ProbelabError(
        `Can't load ${file.name}: the file is cut, or a quote is missing: the quoted value that begins in line ${line} is not closed. Get the whole file, or mend that line (a quote inside a value is written twice).`,
      );
    }
  }
  if (allowMissingNewline || (await endsWithNewline(writer, file, rest))) return;
  throw new ProbelabError(
    `Can't load ${file.name}: its last line has no line break, so the file may be cut in its last value. If it is whole, say so with --allow-missing-newline; else get the whole file.`,
  );
}

/** Whether the file's text, unpacked, ends with a line break. */
export async function endsWithNewline(
  writer: Writer,
  file: InputFile,
  options: Pick<WriteOptions, "signal">,
): Promise<boolean> {
  if (file.compression === "none") {
    const handle = await open(file.path, "r");
    try {
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, file.bytes - 1);
      return buffer.toString("latin1") === "\n";
    } finally {
      await handle.close();
    }
  }
  const { sql, parameters } = fileSql(file, "lines");
  try {
    // Unlike lines, rows of this format must end with their delimiter.
    await writer.rows(`SELECT max(length(line)) FROM ${sql}`, {
      ...options,
      parameters: { ...parameters, format: "CustomSeparated" },
      settings: {
        ...IN_ORDER,
        format_custom_escaping_rule: "Raw",
        format_custom_field_delimiter: "\t",
        input_format_custom_allow_variable_number_of_columns: 1,
        format_custom_row_after_delimiter: "\n",
      },
    });
    return true;
  } catch (error) {
    if (/end of stream/.test(String((error as Error).cause))) return false;
    throw error;
  }
}

/** The line of the quote that is never closed, or null. */
async function openQuote(
  writer: Writer,
  file: InputFile,
  options: Pick<WriteOptions, "signal">,
): Promise<number | null> {
  const { sql, parameters } = fileSql(file, "lines");
  const ask = <Row extends object>(query: string) =>
    writer.rows<Row>(query, { ...options, parameters, settings: IN_ORDER });
  const [count] = await ask<{ odd: number }>(
    `SELECT sum(countSubstrings(line, '"')) % 2 AS odd FROM ${sql}`,
  );
  if (count?.odd !== 1) return null;
  // All quotes before the line are closed, none after it.
  const [open] = await ask<{ line: number }>(
    `SELECT max(number) AS line FROM (
      SELECT _row_number + 1 AS number, countSubstrings(line, '"') AS quotes,
        sum(quotes) OVER (ORDER BY _row_number ROWS UNBOUNDED PRECEDING) - quotes AS before
      FROM ${sql} AS lines
    ) WHERE before % 2 = 0`,
  );
  return Number(open?.line);
}
