import { ProbelabError } from "../base/error.js";
import { isText } from "../database/time-column.js";
import type { Writer } from "../database/writer.js";
import { endsWithNewline, lineOfRow, type RowPlace } from "./file-lines.js";
import { READ_SETTINGS } from "./file-sql.js";
import { cutFile, damagedArchive, type InputFile } from "./input-file.js";
import { FAULT_MARK, typeInWords, type MatchedColumn, type RowsSql } from "./rows-sql.js";

/** What was being loaded when it failed. */
export interface Failed {
  readonly writer: Writer;
  readonly file: InputFile;
  /** The table that the file was to be loaded into. */
  readonly table: string;
  /** The file's columns, in its order. */
  readonly header?: readonly string[];
  readonly columns?: readonly MatchedColumn[];
  readonly rows?: RowsSql;
  readonly signal?: AbortSignal;
}

/**
 * Says what is wrong with a file, and where: file, line and column, from what the server said and,
 * where that is not enough, from the file itself.
 */
export async function explainFailure(error: unknown, failed: Failed): Promise<ProbelabError> {
  const { file, table, signal } = failed;
  const code = error instanceof ProbelabError ? error.code : undefined;
  if (signal?.aborted || code === "ABORTED") {
    return new ProbelabError(
      `Stopped loading ${file.name}: ${table} is unchanged. Load the file again to go on.`,
      { cause: error, code: "ABORTED" },
    );
  }
  if (code === undefined) return asProbelabError(error, file);
  const said = String((error as ProbelabError & { cause?: Error }).cause?.message ?? error);
  if (said.includes(FAULT_MARK)) return (await badValue(failed)) ?? asProbelabError(error, file);
  if (code === "NOT_ENOUGH_SPACE" || /No space left|errno: 28\b/.test(said)) {
    return new ProbelabError(
      `Can't load ${file.name}: the disk that holds ${failed.writer.source} is full; ${table} is unchanged. Free some space, or load into a directory on another disk with --into embedded:DIR.`,
      { cause: error, code },
    );
  }
  if (code === "ZLIB_INFLATE_FAILED" && /buffer error/.test(said)) {
    return cutFile(file.name, "the gzip archive ends before its content does");
  }
  if (code === "ZLIB_INFLATE_FAILED" || code === "ZSTD_DECODER_FAILED") {
    return damagedArchive(file.name, file.compression);
  }
  if (/expected '\]' at end of stream/.test(said))
    return cutFile(file.name, "its JSON array is not closed");
  const row = /\(at row (\d+)\)/.exec(said)?.[1];
  return row === undefined
    ? asProbelabError(error, file)
    : await badRow(failed, said, Number(row), error);
}

/** What is wrong with the first value that can't be read. */
async function badValue(failed: Failed): Promise<ProbelabError | null> {
  const { writer, rows, columns = [], table, signal } = failed;
  if (rows === undefined) return null;
  const [fault] = await writer.rows<{
    row: number;
    column: number;
    value: string | null;
    faults: number;
  }>(rows.firstFault, {
    parameters: rows.parameters,
    settings: READ_SETTINGS,
    ...(signal && { signal }),
  });
  const column = columns[Number(fault?.column) - 1];
  if (fault === undefined || column === undefined) return null;
  const { value } = fault;
  const shown = value === null ? "" : quote(value);
  const what =
    value === null
      ? "the value is missing"
      : isText(column.type)
        ? `${shown} is not valid UTF-8 text`
        : `${value.trim() === "" ? "the value is empty, not" : `${shown} is not`} ${typeInWords(column.type)}`;
  const row = Number(fault.row);
  const more = Number(fault.faults) - 1;
  const mend =
    more === 0
      ? "Mend that row, or take it out"
      : `Mend that row and ${more} more with such values, or take them out`;
  return new ProbelabError(
    `Can't load ${where(failed, await placeOf(failed, row), row)}, column ${column.name}: ${what}. ${mend}, and load the file again; ${table} is unchanged.`,
  );
}

/** What is wrong with a row that the server could not parse. */
async function badRow(
  failed: Failed,
  said: string,
  row: number,
  cause: unknown,
): Promise<ProbelabError> {
  const { writer, file, table, signal } = failed;
  const place = await placeOf(failed, row);
  const open = /end of stream|Cannot read all data|closing quote/i.test(said);
  const isLast = place?.last ?? open;
  if (isLast && (open || !(await endsWithNewline(writer, file, { ...(signal && { signal }) })))) {
    return cutFile(
      file.name,
      `it ends in the middle of ${place ? `line ${place.line}` : `row ${row}`}`,
    );
  }
  const column = faultyColumn(failed, said, row, place);
  const inColumn = column === undefined ? "" : `, column ${column}`;
  return new ProbelabError(
    `Can't load ${where(failed, place, row)}${inColumn}: ${rowFault(said)}. Mend that row, or take it out, and load the file again; ${table} is unchanged.`,
    { cause },
  );
}

/** Where the row stands; its number is enough where a second look at the file fails. */
function placeOf({ writer, file, signal }: Failed, row: number): Promise<RowPlace | null> {
  return lineOfRow(writer, file, row, { ...(signal && { signal }) }).catch(() => null);
}

/** The column in which the row fails, from what the server says or the row's own text. */
function faultyColumn(
  { file, header = [] }: Failed,
  said: string,
  row: number,
  place: RowPlace | null,
): string | undefined {
  if (file.format === "jsonl") {
    return (
      /while reading the value of key ([^)]+)\)/.exec(said)?.[1] ??
      /Duplicate field found while parsing \w+ format: (.*?): \(at row/.exec(said)?.[1]
    );
  }
  if (file.format === "tsv") {
    // The server tells the columns of the row before.
    const values = place?.text.split("\t").length ?? 0;
    return header[Math.min(values, header.length) - 1];
  }
  const told = said.split(`\nRow ${row}:`)[1] ?? "";
  return [...told.matchAll(/^Column \d+,\s+name: (.*?),\s+type:/gm)].at(-1)?.[1];
}

function rowFault(said: string): string {
  if (/expected '(,|\\t)' before: '(\\r)?\\n/.test(said)) {
    return "the row ends here, with fewer values than the header has columns";
  }
  if (/more columns than expected|expected '(\\r)?\\n' before: '\\t/.test(said)) {
    return "the row has more values than the header has columns, or text after a closing quote";
  }
  if (/Duplicate field/.test(said)) return "the row has this key twice";
  const first = said
    .replace(/: \((?:while reading|at row)[^]*$/, "")
    .replace(/^.*?Exception: /, "");
  return `the row can't be parsed (${first.replace(/\s+/g, " ").slice(0, 200)})`;
}

function where({ file }: Failed, place: RowPlace | null, row: number): string {
  return place === null ? `${file.name} row ${row}` : `${file.name} line ${place.line}`;
}

function quote(value: string): string {
  const text = value.length > 80 ? `${value.slice(0, 80)}…` : value;
  return `'${text.replace(/\n/g, "\\n")}'`;
}

function asProbelabError(error: unknown, file: InputFile): ProbelabError {
  if (error instanceof ProbelabError && error.code === undefined) return error;
  const said = error instanceof Error ? error.message : String(error);
  const code = error instanceof ProbelabError ? error.code : undefined;
  return new ProbelabError(`Can't load ${file.name}: ${said}`, {
    cause: error,
    ...(code !== undefined && { code }),
  });
}
