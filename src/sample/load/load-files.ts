import { ProbelabError } from "../../base/error.js";
import { counted, grouped } from "../../base/text.js";
import { quoteIdentifier } from "../../database/time-column.js";
import type { WriteOptions, Writer } from "../../database/writer.js";
import { inAside, type Aside } from "../aside.js";
import { listTables, SCHEMAS } from "../tables.js";
import { openInputFile, refusal, type InputFile } from "./input-file.js";
import { nounOf, readColumn, type MatchedColumn } from "./read-values.js";

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
  const file = await openInputFile(path, options.format);
  const work = async (aside: Aside) => {
    const rows = aside.table("rows");
    const load = { writer, table, file, aside, rows, stop: signal ? { signal } : {} };
    const isThere = await hasTable(writer, table);
    await writer.command(`CREATE TABLE ${rows} ${isThere ? `AS ${table}` : SCHEMAS[table]}`);
    const columns = await readRows(load);
    const found = await measure(load);
    if (isThere && !again) await refuseTwice(load, found.rows);
    await file.checkUnchanged();
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
const BAD_VALUE = "probelab: a value can't be read";

/** Reads the file's rows, each value strictly or not at all. */
async function readRows(load: Load): Promise<Pick<LoadedFile, "defaulted" | "ignored">> {
  const { writer, table, file, rows, stop } = load;
  const { path, format, compression } = file;
  const columns = await writer.rows<{ name: string; type: string }>(
    `SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {rows:String}
       AND default_kind IN ('', 'DEFAULT') ORDER BY position`,
    { parameters: { database: writer.database, rows } },
  );
  const own = await describeFile(load, columns);
  const brought = new Map(own.map(({ name, type }) => [name, type]));
  const { required } = LOADABLE_TABLES[table];
  const missing = required.filter((name) => !brought.has(name));
  if (missing.length > 0) {
    const found = own.map(({ name }) => name).slice(0, 30);
    throw new ProbelabError(
      `Can't load ${file.name} into ${table}: it lacks the columns ${missing.join(", ")}; it has ${found.join(", ") || "none"}. Rename the file's columns to the table's; names are case-sensitive, CSV is separated by commas, TSV by tabs.`,
    );
  }
  const isParquet = format === "Parquet";
  const matched = columns.flatMap(({ name, type }): MatchedColumn[] => {
    const fileType = brought.get(name);
    if (fileType === undefined) return [];
    const isRequired = required.some((column) => column === name) && !/Nullable\(/.test(type);
    return [{ name, type, fileType: isParquet ? fileType : "String", required: isRequired }];
  });
  const quoted = matched.map(({ name }) => quoteIdentifier(name));
  const asTexts = quoted.map((name) => `${name} Nullable(String)`).join(", ");
  const structure = isParquet ? "auto" : asTexts;
  const parameters = { file: path, format, compression, structure };
  const reads = matched.map(readColumn);
  const insert = `INSERT INTO ${rows} (${quoted.join(", ")})
    SELECT ${reads.map((_, at) => `value_${at}`).join(", ")} FROM (
      SELECT ${reads.map(({ value }, at) => `${value} AS value_${at}`).join(", ")},
        ${reads.map(({ bad }) => `(${bad})`).join(" OR ")} AS bad
      FROM ${SOURCE} AS source
    ) WHERE throwIf(bad, '${BAD_VALUE.replace("'", "\\'")}') = 0`;
  const settings = { ...READ_SETTINGS, ...INSERT_SETTINGS, ...load.aside.settings };
  try {
    await writer.command(insert, { parameters, settings, ...stop });
  } catch (error) {
    if (!engineMessage(error).includes(BAD_VALUE)) throw engineRefusal(error, load);
    const which = reads.map(({ bad }, at) => `${bad}, ${at + 1}`).join(", ");
    const texts = quoted.map((name) => `toString(source.${name})`).join(", ");
    const [first] = await writer.rows<{ row: number; at: number; value: string | null }>(
      `SELECT _row_number + 1 AS row, multiIf(${which}, 0) AS at, [${texts}][at] AS value
       FROM ${SOURCE} AS source WHERE at > 0 ORDER BY row LIMIT 1`,
      { settings: READ_SETTINGS, parameters, ...stop },
    );
    const { name, type } = matched[Number(first?.at) - 1]!;
    const value = first?.value?.trim() ?? "";
    const why =
      value === ""
        ? "the value is missing"
        : `${JSON.stringify(value.slice(0, 80))} is no ${nounOf(name, type)}`;
    throw refusal(
      file.name,
      `row ${first?.row}, column ${name}: ${why}. Correct or remove the row; ${table} is unchanged`,
    );
  }
  const others = (all: typeof columns) =>
    all.map(({ name }) => name).filter((name) => !matched.some((each) => each.name === name));
  return { defaulted: others(columns), ignored: others(own) };
}

/** The file's own columns; those of the table where the text can't be read: the INSERT's error has the row. */
async function describeFile<Columns>(load: Load, columns: Columns): Promise<Columns> {
  const { writer, file, stop } = load;
  const { path, format, compression } = file;
  try {
    return (await writer.rows(`DESCRIBE TABLE ${SOURCE}`, {
      settings: {
        ...READ_SETTINGS,
        // A header says all; of JSON the keys of many rows are looked at.
        input_format_max_rows_to_read_for_schema_inference: format === "JSONEachRow" ? 25_000 : 1,
      },
      parameters: { file: path, format, compression, structure: "auto" },
      ...stop,
    })) as Columns;
  } catch (error) {
    if (format === "Parquet") throw engineRefusal(error, load);
    return columns;
  }
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

const engineMessage = (error: unknown) =>
  String((error as { cause?: { message?: string } }).cause?.message ?? error);

/** The engine's own words on a file, with the row that it stopped at. */
function engineRefusal(error: unknown, { file, table }: Load): unknown {
  if (!(error instanceof ProbelabError) || error.code === "ABORTED") return error;
  const said = engineMessage(error);
  if (/No space left|errno: 28\b|NOT_ENOUGH_SPACE/.test(`${said} ${error.code}`)) {
    return refusal(file.name, `the disk is full; ${table} is unchanged. Free some space`, error);
  }
  const row = /\(at row (\d+)\)/.exec(said)?.[1];
  if (row === undefined && !/pars|structure|expected|duplicat|Parquet|UTF/i.test(said))
    return error;
  const words = said.replace(/\s+/g, " ").replace(/\(at row.*|While executing.*/, "");
  const short = words.slice(0, 240).replace(/[:. ]+$/, "");
  const where = row === undefined ? "" : `row ${row}: `;
  const remedy = `Correct the file, or get it again; ${table} is unchanged`;
  return refusal(file.name, `${where}${short}. ${remedy}`, error);
}

/** @throws ProbelabError where there are none. */
async function measure(load: Load): Promise<Pick<LoadedFile, "rows" | "span">> {
  const { time } = LOADABLE_TABLES[load.table];
  const edge = (which: string) =>
    time ? `formatDateTime(${which}(${time}), '%Y-%m-%d %H:%i:%S', 'UTC')` : "''";
  const [row] = await load.writer.rows<{ rows: number; first: string; last: string }>(
    `SELECT count() AS rows, ${edge("min")} AS first, ${edge("max")} AS last FROM ${load.rows}`,
    load.stop,
  );
  const { rows = 0, first = "", last = "" } = row ?? {};
  if (Number(rows) > 0)
    return { rows: Number(rows), ...(time && { span: [first, last] as const }) };
  throw refusal(load.file.name, "there are no rows in it. Check how it was made");
}

/** Refuses a file if rows of it are in the table already, equal in every column. */
async function refuseTwice({ writer, table, file, rows, stop }: Load, all: number): Promise<void> {
  const { time } = LOADABLE_TABLES[table];
  const bounds = time
    ? `${time} BETWEEN (SELECT min(${time}) FROM ${rows}) AND (SELECT max(${time}) FROM ${rows})`
    : "1";
  const [found] = await writer.rows<{ rows: number }>(
    `SELECT count() AS rows FROM ${rows}
     WHERE cityHash64(*) IN (SELECT cityHash64(*) FROM ${table} WHERE ${bounds})`,
    stop,
  );
  const there = Number(found?.rows ?? 0);
  if (there === 0) return;
  throw refusal(
    file.name,
    `${grouped(there)} of its ${counted(all, "row")} are in ${table} already, and would count twice. Load it all the same with --again`,
  );
}
