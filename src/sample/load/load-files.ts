import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { counted, grouped } from "../../base/text.js";
import { quoteIdentifier } from "../../database/time-column.js";
import type { WriteOptions, Writer } from "../../database/writer.js";
import { inAside, type Aside } from "../aside.js";
import { listTables, SCHEMAS } from "../tables.js";
import { readColumn, type MatchedColumn } from "./read-values.js";

/** The tables that files can be loaded into: the columns that a file must bring, and the time of a row. */
export const LOADABLE_TABLES = {
  fastpath: {
    required: [
      ...["measurement_start_time", "software_name", "software_version", "test_name"],
      ...["report_id", "probe_cc", "probe_asn"],
    ],
    time: "toDateTime64(measurement_start_time, 3, 'UTC')",
  },
  logs: {
    required: ["message", "SYSLOG_IDENTIFIER", "__REALTIME_TIMESTAMP"],
    time: "toDateTime64(fromUnixTimestamp64Micro(__REALTIME_TIMESTAMP, 'UTC'), 3, 'UTC')",
  },
  test_helper_instances: {
    required: ["rdn", "dns_zone", "name", "region", "draining_at"],
    time: undefined,
  },
} as const;

export type LoadableTable = keyof typeof LOADABLE_TABLES;

export interface LoadOptions {
  /** `jsonl`, `csv`, `tsv` or `parquet`, with `.gz` if packed. @default from the name */
  readonly format?: string;
  /** True loads rows that are in the table already a second time; else such a file is refused. @default false */
  readonly again?: boolean;
  readonly signal?: AbortSignal;
}

export interface LoadedFile {
  readonly rows: number;
  /** First and last instant of the rows, `YYYY-MM-DD hh:mm:ss` in UTC; absent without a time column. */
  readonly span?: readonly [first: string, last: string];
  /** The table's columns that the file lacks: they took their default. */
  readonly defaulted: readonly string[];
  /** The file's columns that the table lacks: they were left out. */
  readonly ignored: readonly string[];
}

const FORMATS = {
  ...{ jsonl: "JSONEachRow", ndjson: "JSONEachRow", json: "JSONEachRow" },
  ...{ csv: "CSVWithNames", tsv: "TSVWithNames", parquet: "Parquet" },
} as const;

/** A file as the engine's file() reads it. */
interface InputFile {
  /** As the user named it, for messages. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** The engine's name of the format. */
  readonly format: (typeof FORMATS)[keyof typeof FORMATS];
  readonly compression: "none" | "gzip";
}

/** A load under way: the file goes into the table `rows` aside, then takes its place in `table`. */
interface Load {
  readonly writer: Writer;
  readonly table: LoadableTable;
  readonly file: InputFile;
  readonly aside: Aside;
  readonly rows: string;
  readonly stop: Pick<WriteOptions, "signal">;
}

/**
 * Loads a file into a table of the embedded database: all of its rows or none, whatever happens.
 * Columns are matched by name.
 *
 * @param table made if it is missing.
 * @throws ProbelabError that says what is wrong with the file; code `ABORTED` after the signal.
 * @example
 * await using writer = await openWriter(source);
 * const { rows } = await loadFile(writer, "fastpath", "week.jsonl.gz");
 */
export async function loadFile(
  writer: Writer,
  table: LoadableTable,
  path: string,
  options: LoadOptions = {},
): Promise<LoadedFile> {
  const { signal, again = false } = options;
  const file = await openFile(path, options.format);
  const work = async (aside: Aside) => {
    const rows = aside.table("rows");
    const load = { writer, table, file, aside, rows, stop: signal ? { signal } : {} };
    const isThere = await hasTable(writer, table);
    await writer.command(`CREATE TABLE ${rows} ${isThere ? `AS ${table}` : SCHEMAS[table]}`);
    const columns = await readRows(load);
    const found = await measure(load, again || !isThere);
    signal?.throwIfAborted();
    await commit(load, isThere);
    return { ...found, ...columns };
  };
  try {
    return await inAside(writer, work, 2_000);
  } catch (cause) {
    if (!signal?.aborted) throw cause;
    const message = `Stopped loading ${file.name}: nothing of it was kept.`;
    throw new ProbelabError(message, { cause, code: "ABORTED" });
  }
}

/** The error for a file that can't be loaded. */
function refusal(name: string, why: string, cause?: unknown): ProbelabError {
  return new ProbelabError(`Can't load ${name}: ${why}.`, { cause });
}

/** Finds a file and its format. @throws ProbelabError for one that is missing, cut or of no known format. */
async function openFile(name: string, format?: string): Promise<InputFile> {
  const given = format === undefined ? basename(name) : `.${format}`;
  const [, extension = "", packed] = /\.(\w+?)(\.gz)?$/.exec(given.toLowerCase()) ?? [];
  try {
    // Opened without waiting: a pipe that nobody writes to would hold it.
    await using file = await open(name, constants.O_RDONLY | constants.O_NONBLOCK);
    const status = await file.stat();
    if (!status.isFile())
      throw refusal(name, "it is no regular file. Name files, such as DIR/*.jsonl");
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, status.size - 1));
    // The engine takes a CSV row that is cut in its last value for a whole one.
    if (/^[ct]sv$/.test(extension) && packed === undefined && buffer[0] !== 10) {
      throw refusal(
        name,
        "it ends without a line break, so it may be cut in its last row. Get the whole file, or where it is whole add the line break: echo >> FILE",
      );
    }
  } catch (cause) {
    if (cause instanceof ProbelabError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw refusal(name, `it can't be read (${code}). Check the path and its rights`, cause);
  }
  if (!Object.hasOwn(FORMATS, extension)) {
    throw refusal(
      name,
      `${JSON.stringify(format ?? basename(name))} names no known format. Say --format jsonl, csv, tsv or parquet, with .gz if the file is packed`,
    );
  }
  const path = await realpath(name);
  // The engine's file() takes these for patterns and knows no quotes.
  if (/[*?{}[\]\\]|::/.test(path)) {
    throw refusal(name, `its path ${path} holds one of * ? { } [ ] \\ ::. Rename it`);
  }
  const kind = FORMATS[extension as keyof typeof FORMATS];
  return { name, path, format: kind, compression: packed ? "gzip" : "none" };
}

/**
 * True where the table is there.
 *
 * @throws ProbelabError if the database holds the sample service.
 */
async function hasTable(writer: Writer, table: LoadableTable): Promise<boolean> {
  const tables = await listTables(writer);
  if (tables.some(({ isSample, rows }) => isSample && rows > 0)) {
    throw new ProbelabError(
      `Can't load into ${writer.source}: it holds the sample service, and made rows must not mix with real ones. Load into another directory with --into embedded:DIR, or remove ${writer.directory} first.`,
    );
  }
  // What is left of one that was killed while it was put in place.
  for (const { name, isSample } of tables) {
    if (isSample) await writer.command(`DROP TABLE IF EXISTS ${name} SYNC`);
  }
  return tables.some(({ name, isSample }) => name === table && !isSample);
}

/**
 * Puts the rows in place by a rename or an exchange of names, one system call in the Atomic engine:
 * readers find the table as it was or with all rows, also where the process is killed. Parts are shared by hard
 * links, so nothing is copied.
 */
async function commit({ writer, table, aside, rows }: Load, isThere: boolean): Promise<void> {
  if (!isThere) return writer.command(`RENAME TABLE ${rows} TO ${table}`);
  const next = aside.table("next");
  await writer.command(`CREATE TABLE ${next} CLONE AS ${table}`);
  await writer.command(`ALTER TABLE ${next} ATTACH PARTITION ALL FROM ${rows}`);
  await writer.command(`EXCHANGE TABLES ${next} AND ${table}`);
}

const SOURCE = "file({file:String}, {format:String}, {structure:String}, {compression:String})";

/** Reads the file's rows, each value strictly or not at all. */
async function readRows(load: Load): Promise<Pick<LoadedFile, "defaulted" | "ignored">> {
  const { writer, table, file, rows, stop } = load;
  const { path, format, compression } = file;
  type Column = { readonly name: string; readonly type: string };
  const columns = await writer.rows<Column>(
    `SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {rows:String}
       AND default_kind IN ('', 'DEFAULT') ORDER BY position`,
    { parameters: { database: writer.database, rows } },
  );
  const parameters = { file: path, format, compression, structure: "auto" };
  // A header says all; of JSON the keys of many rows are looked at.
  const looked = format === "JSONEachRow" ? 25_000 : 1;
  const own = await writer
    .rows<Column>(`DESCRIBE TABLE ${SOURCE}`, {
      settings: {
        ...READ_SETTINGS,
        input_format_max_rows_to_read_for_schema_inference: looked,
      },
      parameters,
      ...stop,
    })
    .catch((error: unknown) => {
      throw engineRefusal(error, load);
    });
  const brought = new Set(own.map(({ name }) => name));
  const { required } = LOADABLE_TABLES[table];
  const missing = required.filter((name) => !brought.has(name));
  if (missing.length > 0) {
    const found = own.map(({ name }) => name).slice(0, 30);
    throw new ProbelabError(
      `Can't load ${file.name} into ${table}: it lacks the columns ${missing.join(", ")}; it has ${found.join(", ") || "none"}. Rename the file's columns to the table's; names are case-sensitive, CSV is separated by commas, TSV by tabs.`,
    );
  }
  const matched = columns.flatMap(({ name, type }): MatchedColumn[] => {
    if (!brought.has(name)) return [];
    const isRequired = required.some((column) => column === name) && !/Nullable\(/.test(type);
    return [{ name, type, required: isRequired }];
  });
  const quoted = matched.map(({ name }) => quoteIdentifier(name));
  const asTexts = quoted.map((name) => `${name} Nullable(String)`).join(", ");
  const reads = matched.map((column) => ({ ...column, ...readColumn(column) }));
  const checks = reads.map(({ name, type, bad }) => {
    const fault = `<column ${name}: a value is missing, or is no ${type}>`;
    return `throwIf(${bad}, '${fault.replace(/[\\']/g, "\\$&")}') = 0`;
  });
  const insert = `INSERT INTO ${rows} (${quoted.join(", ")})
    SELECT ${reads.map(({ value }) => value).join(", ")} FROM ${SOURCE} AS source WHERE ${checks.join(" AND ")}`;
  try {
    await writer.command(insert, {
      parameters: { ...parameters, structure: format === "Parquet" ? "auto" : asTexts },
      settings: { ...READ_SETTINGS, ...INSERT_SETTINGS, ...load.aside.settings },
      ...stop,
    });
  } catch (error) {
    throw engineRefusal(error, load);
  }
  const others = (all: readonly Column[]) =>
    all.map(({ name }) => name).filter((name) => !matched.some((each) => each.name === name));
  return { defaulted: others(columns), ignored: others(own) };
}

/** Values as they stand: nothing guessed, nothing remembered. */
const READ_SETTINGS: NonNullable<WriteOptions["settings"]> = {
  // Mapped into memory, a file that is cut meanwhile would end the server.
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
  max_memory_usage: 4 * 2 ** 30,
};

const INSERT_SETTINGS = {
  insert_null_as_default: 1,
  min_insert_block_size_rows: 1_048_576,
  min_insert_block_size_bytes: 64 * 2 ** 20,
  // A file may span many months, each a partition.
  max_partitions_per_insert_block: 0,
};

/** Codes of errors that are of the file, not of the server or its disk. */
const OF_FILE =
  /^(CANNOT_(PARSE|READ|EXTRACT)|INCORRECT|FUNCTION_THROW|ZLIB|PARQUET|DUPLICATE|UNEXPECTED|TYPE_MIS|STD_|UNKNOWN_EXC|EMPTY)/;

/** The engine's own words on a file, with our remedy. */
function engineRefusal(error: unknown, { file, table }: Load): unknown {
  const { code = "", cause } = error as ProbelabError;
  if (!OF_FILE.test(code)) return error;
  const said = String((cause as Error).message).replace(/\s+/g, " ");
  const words =
    /<(column [^>]*)>/.exec(said)?.[1] ?? said.replace(/While executing.*/, "").slice(0, 400);
  return refusal(
    file.name,
    `${words.replace(/[:. ]+$/, "")}. Correct the file, or get it again; ${table} is unchanged`,
    error,
  );
}

/**
 * Counts the rows that were read, and their span.
 *
 * @throws ProbelabError where there are none, and unless `again` where some are in the table already,
 *   equal in every column.
 */
async function measure(load: Load, again: boolean): Promise<Pick<LoadedFile, "rows" | "span">> {
  const { writer, table, file, rows, stop } = load;
  const { time } = LOADABLE_TABLES[table];
  const edge = (which: string) =>
    time ? `formatDateTime(${which}(${time}), '%Y-%m-%d %H:%i:%S', 'UTC')` : "''";
  const bounds = time
    ? `${time} BETWEEN (SELECT min(${time}) FROM ${rows}) AND (SELECT max(${time}) FROM ${rows})`
    : "1";
  const twice = again
    ? "0"
    : `countIf(cityHash64(*) IN (SELECT cityHash64(*) FROM ${table} WHERE ${bounds}))`;
  const [row] = await writer.rows<{ all: number; first: string; last: string; twice: number }>(
    `SELECT count() AS all, ${edge("min")} AS first, ${edge("max")} AS last, ${twice} AS twice FROM ${rows}`,
    stop,
  );
  const [all, there] = [Number(row?.all), Number(row?.twice)];
  if (all === 0) throw refusal(file.name, "there are no rows in it. Check how it was made");
  if (there > 0) {
    throw refusal(
      file.name,
      `${grouped(there)} of its ${counted(all, "row")} are in ${table} already, and would count twice. Load it all the same with --again`,
    );
  }
  return { rows: all, ...(time && { span: [row!.first, row!.last] as const }) };
}
