import { join } from "node:path";
import { ProbelabError } from "../base/error.js";
import { quoteIdentifier } from "../database/time-column.js";
import type { WriteOptions, Writer } from "../database/writer.js";
import { grouped } from "../base/text.js";
import { withLock } from "../files/with-lock.js";
import { SAMPLE_COMMENT } from "../sample/info.js";
import { fastpathTable, logsTable, testHelperInstancesTable } from "../sample/tables.js";
import { openInputFile, refusal, type InputFile } from "./input-file.js";
import { readColumn, type MatchedColumn } from "./read-values.js";

/** The tables that files can be loaded into, each with the columns that a file must bring. */
export const LOADABLE_TABLES = {
  fastpath: {
    create: fastpathTable,
    required: [
      "measurement_start_time",
      "software_name",
      "software_version",
      "test_name",
      "report_id",
      "probe_cc",
      "probe_asn",
    ],
    time: "toDateTime64(measurement_start_time, 3, 'UTC')",
  },
  logs: {
    create: logsTable,
    required: ["message", "SYSLOG_IDENTIFIER", "__REALTIME_TIMESTAMP"],
    time: "toDateTime64(fromUnixTimestamp64Micro(__REALTIME_TIMESTAMP, 'UTC'), 3, 'UTC')",
  },
  test_helper_instances: {
    create: testHelperInstancesTable,
    required: ["rdn", "dns_zone", "name", "region", "draining_at"],
    time: undefined,
  },
} as const;

export type LoadableTable = keyof typeof LOADABLE_TABLES;

export interface LoadOptions {
  /** `jsonl`, `csv`, `tsv` or `parquet`, with `.gz` if packed; default: from the name. */
  readonly format?: string;
  /** Loads rows that are in the table already a second time (default: such a file is refused). */
  readonly again?: boolean;
  /** Lets the first whole file replace the sample service (default false). */
  readonly replaceSample?: boolean;
  /** Takes CSV and TSV without a line break at the end as whole (default false). */
  readonly allowMissingNewline?: boolean;
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

/** Rows are read into a table aside, which then takes the target's place in one atomic step. */
const STAGED = "loading_rows";
const NEXT = "loading_next";
/** Marks the INSERT (`log_comment`), so that the next load can stop one whose process was killed. */
const LOADING = "loading_statement";
const NO_ROWS = "there are no rows in it. Check how it was made";
const BAD_VALUE = "probelab: a value can't be read";

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
  await using file = await openInputFile(path, options.format, options.allowMissingNewline);
  return await withLock(
    join(writer.directory, "loading.lock"),
    () => load(writer, table, file, options),
    2_000,
    `Can't load into ${writer.source} now: another process is loading into it. Load again when it is done.`,
  );
}

async function load(
  writer: Writer,
  table: LoadableTable,
  file: InputFile,
  { signal, again = false, replaceSample = false }: LoadOptions,
): Promise<LoadedFile> {
  const stop = signal === undefined ? {} : { signal };
  try {
    await dropLeftovers(writer);
    const target = await findTarget(writer, table, replaceSample);
    await writer.command(
      target === "rows"
        ? `CREATE TABLE ${STAGED} AS ${table}`
        : LOADABLE_TABLES[table].create(STAGED),
    );
    const { defaulted, ignored } = await readInto(writer, table, file, stop);
    const { rows, ...span } = await measure(writer, table, stop);
    if (rows === 0) throw refusal(file.name, NO_ROWS);
    if (target === "rows" && !again) await refuseTwice(writer, table, file, rows, stop);
    await file.checkUnchanged();
    signal?.throwIfAborted();
    await commit(writer, table, target);
    return { rows, ...span, defaulted, ignored };
  } catch (cause) {
    if (!signal?.aborted) throw cause;
    throw new ProbelabError(`Stopped loading ${file.name}: nothing of it was kept.`, {
      cause,
      code: "ABORTED",
    });
  } finally {
    // If the server is gone or its disk is full, the next load drops what is left.
    await dropLeftovers(writer).catch(() => undefined);
  }
}

async function readInto(
  writer: Writer,
  table: LoadableTable,
  file: InputFile,
  stop: Pick<WriteOptions, "signal">,
): Promise<Pick<LoadedFile, "defaulted" | "ignored">> {
  const source = "file({file:String}, {format:String}, {structure:String}, {compression:String})";
  const parameters = {
    file: file.path,
    format: file.format,
    compression: file.compression,
    structure: "auto",
  };
  const columns = await writer.rows<{ name: string; type: string }>(
    `SELECT name, type FROM system.columns WHERE database = {database:String}
       AND table = {table:String} AND default_kind IN ('', 'DEFAULT') ORDER BY position`,
    { parameters: { database: writer.database, table: STAGED } },
  );
  const own = await writer
    .rows<{ name: string; type: string }>(`DESCRIBE TABLE ${source}`, {
      settings: {
        ...READ_SETTINGS,
        // A header says all; of JSON the keys of many rows are looked at.
        input_format_max_rows_to_read_for_schema_inference:
          file.format === "JSONEachRow" ? 25_000 : 1,
      },
      parameters,
      ...stop,
    })
    .catch((error: unknown) => {
      if (file.format === "Parquet") throw engineRefusal(error, file, table);
      // The INSERT fails as well, and its error has the row.
      return columns;
    });
  const brought = new Map(own.map(({ name, type }) => [name, type]));
  const { required } = LOADABLE_TABLES[table];
  const missing = required.filter((name) => !brought.has(name));
  if (missing.length > 0) {
    const found = own.map(({ name }) => name).slice(0, 30);
    throw new ProbelabError(
      `Can't load ${file.name} into ${table}: it lacks the columns ${missing.join(", ")}; it has ${found.join(", ") || "none"}. Rename the file's columns to the table's; names are case-sensitive, CSV is separated by commas, TSV by tabs.`,
    );
  }
  const matched = columns.flatMap(({ name, type }): MatchedColumn[] => {
    const fileType = file.format === "Parquet" ? brought.get(name) : "String";
    if (fileType === undefined || !brought.has(name)) return [];
    const mustHave = required.some((column) => column === name) && !/Nullable\(/.test(type);
    return [{ name, type, fileType, required: mustHave }];
  });
  if (file.format !== "Parquet") {
    parameters.structure = matched
      .map(({ name }) => `${quoteIdentifier(name)} Nullable(String)`)
      .join(", ");
  }
  const reads = matched.map(readColumn);
  const names = matched.map(({ name }) => quoteIdentifier(name)).join(", ");
  try {
    await writer.command(
      `INSERT INTO ${STAGED} (${names}) SELECT ${reads.map((_, at) => `value_${at}`).join(", ")} FROM (
         SELECT ${reads.map(({ value }, at) => `${value} AS value_${at}`).join(", ")},
           ${reads.map(({ bad }) => `(${bad})`).join(" OR ")} AS bad
         FROM ${source} AS source
       ) WHERE throwIf(bad, '${BAD_VALUE.replace("'", "\\'")}') = 0`,
      {
        parameters,
        settings: { ...READ_SETTINGS, ...INSERT_SETTINGS, log_comment: LOADING },
        ...stop,
      },
    );
  } catch (error) {
    if (!engineMessage(error).includes(BAD_VALUE)) throw engineRefusal(error, file, table);
    const which = reads.map(({ bad }, at) => `${bad}, ${at + 1}`).join(", ");
    const raw = matched.map(({ name }) => `toString(source.${quoteIdentifier(name)})`).join(", ");
    const [first] = await writer.rows<{ row: number; at: number; value: string | null }>(
      `SELECT _row_number + 1 AS row, multiIf(${which}, 0) AS at, [${raw}][at] AS value
       FROM ${source} AS source WHERE at > 0 ORDER BY row LIMIT 1`,
      { settings: READ_SETTINGS, parameters, ...stop },
    );
    const { name, type } = matched[Number(first?.at) - 1]!;
    const value = first?.value ?? "";
    throw refusal(
      file.name,
      `row ${first?.row}, column ${name}: ${value.trim() === "" ? "the value is missing" : `${JSON.stringify(value.slice(0, 80))} is no ${type}`}. Correct or remove the row; ${table} is unchanged`,
    );
  }
  const used = new Set(matched.map(({ name }) => name));
  return {
    defaulted: columns.map(({ name }) => name).filter((name) => !used.has(name)),
    ignored: own.map(({ name }) => name).filter((name) => !used.has(name)),
  };
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
function engineRefusal(error: unknown, file: InputFile, table: string): unknown {
  if (!(error instanceof ProbelabError) || error.code === "ABORTED") return error;
  const said = engineMessage(error);
  if (/No space left|errno: 28\b|NOT_ENOUGH_SPACE/.test(`${said} ${error.code}`)) {
    return refusal(file.name, `the disk is full; ${table} is unchanged. Free some space`, error);
  }
  const row = /\(at row (\d+)\)/.exec(said)?.[1];
  if (row === undefined && !/pars|structure|expected|duplicat|Parquet|UTF/i.test(said))
    return error;
  const words = said
    .replace(/\s+/g, " ")
    .replace(/\(at row.*|While executing.*/, "")
    .slice(0, 240)
    .replace(/[:. ]+$/, "");
  return refusal(
    file.name,
    `${row === undefined ? "" : `row ${row}: `}${words}. Correct the file, or get it again; ${table} is unchanged`,
    error,
  );
}

async function measure(
  writer: Writer,
  table: LoadableTable,
  stop: Pick<WriteOptions, "signal">,
): Promise<Pick<LoadedFile, "rows" | "span">> {
  const { time } = LOADABLE_TABLES[table];
  const edge = (which: string) =>
    time ? `formatDateTime(${which}(${time}), '%Y-%m-%d %H:%i:%S', 'UTC')` : "''";
  const [row] = await writer.rows<{ rows: number; first: string; last: string }>(
    `SELECT count() AS rows, ${edge("min")} AS first, ${edge("max")} AS last FROM ${STAGED}`,
    stop,
  );
  const { rows = 0, first = "", last = "" } = row ?? {};
  return { rows: Number(rows), ...(time && { span: [first, last] as const }) };
}

/** Refuses a file if rows of it are in the table already, equal in every column. */
async function refuseTwice(
  writer: Writer,
  table: LoadableTable,
  file: InputFile,
  rows: number,
  stop: Pick<WriteOptions, "signal">,
): Promise<void> {
  const { time } = LOADABLE_TABLES[table];
  const bounds = time
    ? `${time} BETWEEN (SELECT min(${time}) FROM ${STAGED}) AND (SELECT max(${time}) FROM ${STAGED})`
    : "1";
  const [found] = await writer.rows<{ rows: number }>(
    `SELECT count() AS rows FROM ${STAGED}
     WHERE cityHash64(*) IN (SELECT cityHash64(*) FROM ${table} WHERE ${bounds})`,
    stop,
  );
  const there = Number(found?.rows ?? 0);
  if (there === 0) return;
  throw refusal(
    file.name,
    `${grouped(there)} of its ${grouped(rows)} rows are in ${table} already, and would count twice. Load it all the same with --again`,
  );
}

type Target = "missing" | "sample" | "rows";

/** @throws ProbelabError if the database holds the sample service, unless it is to be replaced. */
async function findTarget(
  writer: Writer,
  name: LoadableTable,
  replaceSample: boolean,
): Promise<Target> {
  const tables = await listTables(writer);
  const isSample = (table: Table) => table.comment === SAMPLE_COMMENT;
  const loaded = tables.some(
    (table) => Object.hasOwn(LOADABLE_TABLES, table.name) && !isSample(table) && table.rows > 0,
  );
  // A load was killed between replacing the sample and dropping the rest of it.
  if (loaded) await dropSample(writer);
  else if (!replaceSample && tables.some((table) => isSample(table) && table.rows > 0)) {
    throw new ProbelabError(
      `Can't load into ${writer.source}: it holds the sample service, and made rows must not mix with real ones. Load into another directory with --into embedded:DIR, or let the file replace the sample with --replace-sample.`,
    );
  }
  const own = tables.find((table) => table.name === name);
  if (own === undefined || (loaded && isSample(own))) return "missing";
  return isSample(own) ? "sample" : "rows";
}

/**
 * Puts the staged rows in place by a rename or an exchange of names, one system call in the Atomic
 * engine: readers and whoever is killed find the table as it was or with all rows. Parts are shared
 * by hard links, so nothing is copied.
 */
async function commit(writer: Writer, name: LoadableTable, target: Target): Promise<void> {
  if (target === "missing") {
    await writer.command(`RENAME TABLE ${STAGED} TO ${name}`);
  } else if (target === "sample") {
    await writer.command(`EXCHANGE TABLES ${STAGED} AND ${name}`);
    await dropSample(writer);
  } else {
    await writer.command(`CREATE TABLE ${NEXT} CLONE AS ${name}`);
    await writer.command(`ALTER TABLE ${NEXT} ATTACH PARTITION ALL FROM ${STAGED}`);
    await writer.command(`EXCHANGE TABLES ${NEXT} AND ${name}`);
  }
}

async function dropLeftovers(writer: Writer): Promise<void> {
  await writer.command(`KILL QUERY WHERE Settings['log_comment'] = '${LOADING}' SYNC`);
  for (const { name } of await listTables(writer)) {
    if (name === STAGED || name === NEXT) await drop(writer, name);
  }
}

/** Drops the sample's tables; the one that says that it is there goes first. */
async function dropSample(writer: Writer): Promise<void> {
  const made = (await listTables(writer))
    .filter(({ name, comment }) => comment === SAMPLE_COMMENT && !name.includes("_making_"))
    .sort((a, b) => Number(b.name === "sample_info") - Number(a.name === "sample_info"));
  for (const { name } of made) await drop(writer, name);
}

async function drop(writer: Writer, table: string): Promise<void> {
  await writer.command(`DROP TABLE IF EXISTS ${quoteIdentifier(table)} SYNC`);
}

interface Table {
  readonly name: string;
  readonly comment: string;
  readonly rows: number;
}

async function listTables(writer: Writer): Promise<Table[]> {
  const tables = await writer.rows<Table>(
    `SELECT name, comment, ifNull(total_rows, 0) AS rows FROM system.tables
     WHERE database = {database:String}`,
    { parameters: { database: writer.database } },
  );
  return tables.map((table) => ({ ...table, rows: Number(table.rows) }));
}
