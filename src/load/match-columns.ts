import { ProbelabError } from "../base/error.js";
import type { FileColumn } from "./file-columns.js";

/** A column of the table that is loaded. */
export interface TableColumn {
  readonly name: string;
  /** ClickHouse's type. */
  readonly type: string;
  /** `DEFAULT`, or `MATERIALIZED`, `ALIAS` … for one that can't be written. */
  readonly default_kind: string;
}

/** A column that the file and the table both have. */
export interface MatchedColumn {
  readonly name: string;
  readonly type: string;
  /** Type in the file, of Parquet. */
  readonly fileType?: string;
  readonly required: boolean;
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
