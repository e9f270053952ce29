import { ProbelabError } from "../base/error.js";
import type { Writer } from "../database/writer.js";
import { lineOfRow } from "./file-lines.js";
import { fileSql, IN_ORDER, READ_SETTINGS } from "./file-sql.js";
import type { InputFile } from "./input-file.js";
import type { MatchedColumn } from "./rows-sql.js";

/** A column of a file; text formats have no type of their own. */
interface FileColumn {
  readonly name: string;
  /** ClickHouse's type of a Parquet column. */
  readonly type?: string;
}

/** More keys than this make a file of maps, not of rows; the rest is not told apart. */
const MOST_KEYS = 1000;

/**
 * The columns of a file: a header's names, all keys of all JSON objects, Parquet's schema.
 *
 * @throws ProbelabError for a header that names a column twice.
 */
export async function fileColumns(
  writer: Writer,
  file: InputFile,
  signal?: AbortSignal,
): Promise<FileColumn[]> {
  const ask = <Row extends object>(
    sql: string,
    as: "rows" | "lines" | "objects",
    settings = READ_SETTINGS,
  ) => {
    const source = fileSql(file, as);
    return writer.rows<Row>(sql.replace("FILE", source.sql), {
      parameters: source.parameters,
      settings,
      ...(signal && { signal }),
    });
  };
  if (file.format === "parquet") return ask<FileColumn>("DESCRIBE TABLE FILE", "rows");
  if (file.format === "jsonl") {
    const keys = (text: string) =>
      `SELECT groupUniqArrayArray(${MOST_KEYS})(JSONExtractKeys(${text}) AS found) AS keys,
         countIf(empty(found) AND match(${text}, '\\\\S')) AS others FROM FILE`;
    type Found = { keys: string[]; others: number };
    // Lines are read four times as fast as objects, which may stand in an array or over many lines.
    let [found] = await ask<Found>(keys("line"), "lines", READ_SETTINGS);
    if (found && Number(found.others) > 0) [found] = await ask<Found>(keys("json"), "objects");
    // Where no row can be read, none is inserted, which would tell its line.
    if (found?.keys.length === 0 && Number(found.others) > 0) {
      const place = await lineOfRow(writer, file, 1, { ...(signal && { signal }) });
      throw new ProbelabError(
        `Can't load ${file.name}${place === null ? "" : ` line ${place.line}`}: this is not a JSON object with values, nor is any other row of the file. Mend the file, or get it again.`,
      );
    }
    return (found?.keys ?? []).sort().map((name) => ({ name }));
  }
  const [first] = await ask<{ line: string }>("SELECT line FROM FILE LIMIT 1", "lines", IN_ORDER);
  const names = headerNames(first?.line ?? "", file.format === "csv" ? "," : "\t");
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new ProbelabError(
      `Can't load ${file.name}: its header names the column ${twice} twice. Rename or remove one of the two.`,
    );
  }
  return names.map((name) => ({ name }));
}

/** The names in a header line; CSV's may stand in quotes. */
export function headerNames(line: string, separator: "," | "\t"): string[] {
  const text = line.replace(/^\uFEFF/, "").replace(/\r$/, "");
  if (text === "") return [];
  if (separator === "\t") return text.split("\t");
  // A comma before each name makes every match begin alike, also those of empty names.
  const names = `,${text}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...names].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "");
}

/** A column of the table that is loaded. */
export interface TableColumn {
  readonly name: string;
  /** ClickHouse's type. */
  readonly type: string;
  /** `DEFAULT`, or `MATERIALIZED`, `ALIAS` … for one that can't be written. */
  readonly default_kind: string;
}

/** How a file's columns meet a table's. */
export interface ColumnMatch {
  readonly matched: readonly MatchedColumn[];
  /** The table's columns that the file lacks, and that take their default. */
  readonly defaulted: readonly string[];
  /** The file's columns that the table lacks, and that are left out. */
  readonly ignored: readonly string[];
}

/**
 * Matches a file's columns with a table's by name.
 *
 * @throws ProbelabError that names the required columns which the file lacks.
 */
export function matchColumns(
  file: { readonly name: string },
  columns: readonly FileColumn[],
  table: {
    readonly name: string;
    readonly columns: readonly TableColumn[];
    readonly required: readonly string[];
  },
): ColumnMatch {
  const brought = new Map(columns.map((column) => [column.name, column]));
  const writable = table.columns.filter(
    ({ default_kind }) => default_kind === "" || default_kind === "DEFAULT",
  );
  const missing = table.required.filter((name) => !brought.has(name));
  if (missing.length > 0) throw missingColumns(file.name, table.name, missing, columns);
  const matched = writable.flatMap(({ name, type }) => {
    const column = brought.get(name);
    if (column === undefined) return [];
    const required = table.required.includes(name) && !/Nullable\(/.test(type);
    return [{ name, type, required, ...(column.type !== undefined && { fileType: column.type }) }];
  });
  const used = new Set(matched.map(({ name }) => name));
  return {
    matched,
    defaulted: writable.map(({ name }) => name).filter((name) => !brought.has(name)),
    ignored: columns.map(({ name }) => name).filter((name) => !used.has(name)),
  };
}

function missingColumns(
  file: string,
  table: string,
  missing: readonly string[],
  columns: readonly FileColumn[],
): ProbelabError {
  const names = columns.map(({ name }) => name);
  const [only = ""] = names;
  const separator = names.length === 1 && /[;\t|]/.exec(only)?.[0];
  const shown = names.slice(0, 30).join(", ") + (names.length > 30 ? ", …" : "");
  const advice = separator
    ? `Its header is separated by ${separator === "\t" ? "tabs: say --format tsv" : `"${separator}": write it with commas`}.`
    : "Rename the file's columns to the table's, names are case-sensitive.";
  return new ProbelabError(
    `Can't load ${file} into ${table}: it lacks the column${missing.length > 1 ? "s" : ""} ${missing.join(", ")}; it has ${shown || "none"}. ${advice}`,
  );
}
