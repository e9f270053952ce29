import { ProbelabError } from "../base/error.js";
import { quoteIdentifier } from "../database/time-column.js";
import type { WriteOptions, Writer } from "../database/writer.js";
import { explainFailure, type Failed } from "./explain-failure.js";
import { fileColumns, matchColumns, type ColumnMatch, type TableColumn } from "./file-columns.js";
import { checkFileEnd } from "./file-lines.js";
import { READ_SETTINGS } from "./file-sql.js";
import { openInputFile, type InputFile } from "./input-file.js";
import { countRows, LOADABLE_TABLES, type LoadableTable } from "./loadable-table.js";
import { rowsSql } from "./rows-sql.js";
import { findTarget, LOADING, STAGED, takeTurn } from "./staging.js";

/** How far the reading of a file has come. */
export interface LoadProgress {
  readonly file: string;
  /** Bytes read of the file as it lies on the disk. */
  readonly bytes: number;
  readonly totalBytes: number;
  readonly rows: number;
}

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
  const { signal, again = false, replaceSample = false } = options;
  await using file = await openInputFile(path, options.format);
  const cancel = signal === undefined ? {} : { signal };
  const load: Load = { writer, table, file, options, cancel, failed: {} };
  try {
    await using turn = await takeTurn(writer);
    const target = await findTarget(writer, table, replaceSample);
    await turn.create(target);
    const { defaulted, ignored } = await readInto(load);
    const summary = await summarize(load);
    if (summary.rows === 0) throw noRows(path);
    if (target.holds === "rows" && !again) await refuseTwice(load, summary.rows);
    await file.checkUnchanged();
    signal?.throwIfAborted();
    await turn.commit(target);
    return { file: path, ...summary, defaulted, ignored };
  } catch (error) {
    throw await explainFailure(error, { writer, file, table, ...cancel, ...load.failed });
  }
}

interface Load {
  readonly writer: Writer;
  readonly table: LoadableTable;
  readonly file: InputFile;
  readonly options: LoadOptions;
  readonly cancel: Pick<WriteOptions, "signal">;
  /** What was being read, to explain a failure by. */
  failed: Pick<Failed, "header" | "columns" | "rows">;
}

/** Reads the file into the table aside, and checks that it was read to its true end. */
async function readInto(load: Load): Promise<ColumnMatch> {
  const { writer, table, file, options, cancel } = load;
  const found = await fileColumns(writer, file, options.signal);
  if (found.length === 0) throw noRows(file.name);
  const columns = await writer.rows<TableColumn>(
    `SELECT name, type, default_kind FROM system.columns
     WHERE database = {database:String} AND table = {table:String} ORDER BY position`,
    { parameters: { database: writer.database, table: STAGED } },
  );
  const { required } = LOADABLE_TABLES[table];
  const match = matchColumns(file, found, { name: table, columns, required });
  const rows = rowsSql(file, match.matched);
  load.failed = { header: found.map(({ name }) => name), columns: match.matched, rows };
  const watch = options.onProgress && watchLoad(writer, file, options.onProgress);
  try {
    await writer.command(rows.insert, {
      parameters: { ...rows.parameters, into: STAGED },
      settings: { ...READ_SETTINGS, ...INSERT_SETTINGS, log_comment: LOADING },
      ...cancel,
    });
  } finally {
    watch?.[Symbol.dispose]();
  }
  load.failed = {};
  await checkFileEnd(writer, file, options.allowMissingNewline ?? false, cancel);
  return match;
}

const INSERT_SETTINGS = {
  insert_null_as_default: 1,
  min_insert_block_size_rows: 1_048_576,
  min_insert_block_size_bytes: 64 * 2 ** 20,
  // A file may reach over many months, each a partition.
  max_partitions_per_insert_block: 0,
};

async function summarize({
  writer,
  table,
  cancel,
}: Load): Promise<Pick<LoadedFile, "rows" | "span" | "runs">> {
  const { time, run } = LOADABLE_TABLES[table];
  const edge = (which: string) =>
    time ? `toUnixTimestamp64Milli(${which}(toDateTime64(${time.sql}, 3, 'UTC')))` : "0";
  const [row] = await writer.rows<Record<"rows" | "first" | "last" | "runs", number | string>>(
    `SELECT count() AS rows, ${edge("min")} AS first, ${edge("max")} AS last,
       ${run ? `uniqExact(${run})` : "0"} AS runs FROM ${STAGED}`,
    cancel,
  );
  return {
    rows: Number(row?.rows ?? 0),
    span: time ? { first: new Date(Number(row?.first)), last: new Date(Number(row?.last)) } : null,
    runs: run ? Number(row?.runs) : null,
  };
}

/** Rows that are compared at most; of more, a share is drawn by their hash. */
const COMPARED_ROWS = 2_000_000;

/**
 * Refuses a file whose rows are in the table already, equal in every column.
 *
 * Asked of the rows themselves, not of a list of loaded files: it holds however the rows came
 * there, for a file packed anew or in another format, and for one that overlaps another. Of more
 * than 2,000,000 rows a share is compared, and the count is an estimate; a file loaded a second
 * time is always found.
 */
async function refuseTwice({ writer, table, file, cancel }: Load, rows: number): Promise<void> {
  const columns = await writer.rows<{ name: string }>(
    `SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String}
       AND default_kind IN ('', 'DEFAULT') ORDER BY position`,
    { parameters: { database: writer.database, table } },
  );
  const hash = `cityHash64(tuple(${columns.map(({ name }) => quoteIdentifier(name)).join(", ")}))`;
  const share = Math.ceil(rows / COMPARED_ROWS);
  const drawn = share === 1 ? "1" : `${hash} % ${share} = 0`;
  const { time } = LOADABLE_TABLES[table];
  const bounds =
    time === undefined
      ? "1"
      : `${time.column} >= (SELECT min(${time.column}) FROM ${STAGED}) AND ${time.column} <= (SELECT max(${time.column}) FROM ${STAGED})`;
  const [found] = await writer.rows<{ rows: number | string }>(
    `SELECT uniqExact(${hash}) AS rows FROM ${table}
     WHERE ${bounds} AND ${drawn} AND ${hash} IN (SELECT ${hash} FROM ${STAGED} WHERE ${drawn})`,
    cancel,
  );
  const there = Math.min(Number(found?.rows ?? 0) * share, rows);
  if (there === 0) return;
  throw new ProbelabError(
    `Can't load ${file.name}: ${there < rows ? `${there} of ` : ""}its ${countRows(table, rows)} ${there === 1 ? "is" : "are"} in ${table} already, and would count twice. Load it all the same with --again.`,
  );
}

function noRows(file: string): ProbelabError {
  return new ProbelabError(`Can't load ${file}: there are no rows in it. Check how it was made.`);
}

const EVERY_MS = 500;

/** Tells how far the load's statement has come, twice a second, until disposed. */
function watchLoad(
  writer: Writer,
  file: { readonly name: string; readonly bytes: number },
  tell: (progress: LoadProgress) => void,
): Disposable {
  let done = false;
  const ask = async (): Promise<void> => {
    const [seen] = await writer.rows<{ rows: number | string; bytes: number | string }>(
      `SELECT read_rows AS rows, read_bytes AS bytes FROM system.processes
       WHERE Settings['log_comment'] = '${LOADING}'`,
    );
    if (seen === undefined || done) return;
    const bytes = Math.min(Number(seen.bytes), file.bytes);
    tell({ file: file.name, bytes, totalBytes: file.bytes, rows: Number(seen.rows) });
  };
  let timer: NodeJS.Timeout;
  const askLater = (): void => {
    // The load itself will say what is wrong with the server.
    timer = setTimeout(
      () =>
        void ask()
          .catch(() => undefined)
          .finally(again),
      EVERY_MS,
    );
  };
  const again = (): void => {
    if (!done) askLater();
  };
  askLater();
  return {
    [Symbol.dispose]() {
      done = true;
      clearTimeout(timer);
    },
  };
}
