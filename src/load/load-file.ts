import type { WriteOptions, Writer } from "../database/writer.js";
import { ProbelabError } from "../base/error.js";
import { countAlreadyThere } from "./already-there.js";
import { explainFailure } from "./explain-failure.js";
import { fileColumns } from "./file-columns.js";
import { checkFileEnd } from "./file-end.js";
import { READ_SETTINGS } from "./file-sql.js";
import { openInputFile, type InputFile } from "./input-file.js";
import { LOADABLE_TABLES, type LoadableTable } from "./loadable-table.js";
import { matchColumns, type ColumnMatch, type TableColumn } from "./match-columns.js";
import { rowsSql } from "./rows-sql.js";
import { counted } from "./load-summary.js";
import { openStaging, stagingComment, type Staging } from "./staging.js";
import { commit, createLike, findTarget } from "./target.js";
import { watchLoad, type LoadProgress } from "./watch-load.js";

/** How files are loaded. */
export interface LoadOptions {
  /** `jsonl`, `csv`, `tsv` or `parquet`, with `.gz` or `.zst` where packed; default: from the name. */
  readonly format?: string;
  /** Loads rows that are in the table already a second time (default: such a file is refused). */
  readonly again?: boolean;
  /** Lets the first file that is whole take the place of the sample service (default false). */
  readonly replaceSample?: boolean;
  /** Takes CSV and TSV without a line break at the end as whole (default false). */
  readonly allowMissingNewline?: boolean;
  /** Told twice a second while a file is read. */
  readonly onProgress?: (progress: LoadProgress) => void;
  readonly signal?: AbortSignal;
}

/** A file that was loaded. */
export interface LoadedFile {
  readonly file: string;
  readonly rows: number;
  /** The first and the last instant of the rows; null for a table without a time of its own. */
  readonly span: { readonly first: Date; readonly last: Date } | null;
  /** Runs (report ids) in the file; null for a table without runs. */
  readonly runs: number | null;
  /** The table's columns that the file lacks: they took their default. */
  readonly defaulted: readonly string[];
  /** The file's columns that the table lacks: they were left out. */
  readonly ignored: readonly string[];
  /** Present for a zstd archive without checksums, in which damage can't be noticed. */
  readonly unchecked?: true;
}

/**
 * Loads one file into a table of the embedded database: all of its rows or, whatever happens, none.
 *
 * The rows are read into a table aside, checked, and put in place in one atomic step. A load that
 * was killed leaves its table aside behind, which the next load drops.
 *
 * @throws ProbelabError that says what is wrong with the file, in which line and column.
 */
export async function loadFile(
  writer: Writer,
  table: LoadableTable,
  path: string,
  options: LoadOptions = {},
): Promise<LoadedFile> {
  await using file = await openInputFile(path, options.format);
  const load: Load = { writer, table, file, options, cancel: pick(options.signal) };
  try {
    const find = () => findTarget(writer, table, options.replaceSample ?? false);
    const seen = await find();
    await using staging = await openStaging(writer, createLike(seen));
    // Another load may have ended between the look and the turn.
    const target = await find();
    if (target.holds !== seen.holds) {
      throw new ProbelabError(
        `Can't load ${path}: another program changed ${table} just now. Load it again.`,
      );
    }
    const { defaulted, ignored } = await readInto(load, staging);
    const summary = await summarize(load, staging.table);
    if (summary.rows === 0) throw noRows(path);
    if (target.holds === "rows" && !options.again) {
      await refuseTwice(load, { table: staging.table, rows: summary.rows });
    }
    await file.checkUnchanged();
    options.signal?.throwIfAborted();
    await commit(writer, target, staging);
    return {
      file: path,
      ...summary,
      defaulted,
      ignored,
      ...(file.unchecked && { unchecked: true }),
    };
  } catch (error) {
    throw await explainFailure(error, { writer, file, table, ...load.cancel });
  }
}

interface Load {
  readonly writer: Writer;
  readonly table: LoadableTable;
  readonly file: InputFile;
  readonly options: LoadOptions;
  readonly cancel: Pick<WriteOptions, "signal">;
}

function pick(signal: AbortSignal | undefined): Pick<WriteOptions, "signal"> {
  return signal === undefined ? {} : { signal };
}

/** Reads the file into the table aside, and checks that it was read to its true end. */
async function readInto(load: Load, staging: Staging): Promise<ColumnMatch> {
  const { writer, table, file, options, cancel } = load;
  const found = await fileColumns(writer, file, options.signal);
  if (found.length === 0) throw noRows(file.name);
  const columns = await writer.rows<TableColumn>(
    `SELECT name, type, default_kind FROM system.columns
     WHERE database = {database:String} AND table = {table:String} ORDER BY position`,
    { parameters: { database: writer.database, table: staging.table } },
  );
  const { required } = LOADABLE_TABLES[table];
  const match = matchColumns(file, found, { name: table, columns, required });
  const rows = rowsSql(file, match.matched);
  const comment = stagingComment(staging);
  const watch = options.onProgress && watchLoad(writer, file, comment, options.onProgress);
  try {
    await writer.command(rows.insert, {
      parameters: { ...rows.parameters, into: staging.table },
      settings: { ...READ_SETTINGS, ...INSERT_SETTINGS, log_comment: comment },
      ...cancel,
    });
  } catch (error) {
    const header = found.map(({ name }) => name);
    const failed = { writer, file, table, header, columns: match.matched, rows, ...cancel };
    throw await explainFailure(error, failed);
  } finally {
    watch?.[Symbol.dispose]();
  }
  const allowMissingNewline = options.allowMissingNewline ?? false;
  await checkFileEnd(writer, file, { ...cancel, allowMissingNewline });
  return match;
}

const INSERT_SETTINGS = {
  insert_null_as_default: 1,
  min_insert_block_size_rows: 1_048_576,
  min_insert_block_size_bytes: 64 * 2 ** 20,
  // A file may reach over many months, each a partition.
  max_partitions_per_insert_block: 0,
};

async function summarize(
  { writer, table, cancel }: Load,
  staging: string,
): Promise<Pick<LoadedFile, "rows" | "span" | "runs">> {
  const { time, run } = LOADABLE_TABLES[table];
  const edge = (which: string) =>
    time ? `toUnixTimestamp64Milli(${which}(toDateTime64(${time.sql}, 3, 'UTC')))` : "0";
  const [row] = await writer.rows<Record<"rows" | "first" | "last" | "runs", number | string>>(
    `SELECT count() AS rows, ${edge("min")} AS first, ${edge("max")} AS last,
       ${run ? `uniqExact(${run})` : "0"} AS runs FROM {staging:Identifier}`,
    { ...cancel, parameters: { staging } },
  );
  return {
    rows: Number(row?.rows ?? 0),
    span: time ? { first: new Date(Number(row?.first)), last: new Date(Number(row?.last)) } : null,
    runs: run ? Number(row?.runs) : null,
  };
}

async function refuseTwice(
  { writer, table, file, cancel }: Load,
  staged: { readonly table: string; readonly rows: number },
): Promise<void> {
  const there = await countAlreadyThere(writer, table, staged, cancel);
  if (there === 0) return;
  const some = there < staged.rows ? `${there} of ` : "";
  const rows = counted(staged.rows, LOADABLE_TABLES[table].nouns);
  throw new ProbelabError(
    `Can't load ${file.name}: ${some}its ${rows} ${there === 1 ? "is" : "are"} in ${table} already, and would count twice. Load it all the same with --again.`,
  );
}

function noRows(file: string): ProbelabError {
  return new ProbelabError(`Can't load ${file}: there are no rows in it. Check how it was made.`);
}
