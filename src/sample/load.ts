import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename } from "node:path";
import { ProbelabError } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import { isText, plainType, quoteIdentifier } from "../database/time-column.js";
import type { WriteOptions, Writer } from "../database/writer.js";
import { inAside, type Aside } from "./aside.js";
import { listTables, SCHEMAS } from "./tables.js";

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

/** The engine's name of a format, by the ending of a file's name. */
const FORMATS: Readonly<Record<string, string>> = {
  jsonl: "JSONEachRow",
  ndjson: "JSONEachRow",
  json: "JSONEachRow",
  csv: "CSVWithNames",
  tsv: "TSVWithNames",
  parquet: "Parquet",
};

/** Flags of measurements, which the table holds as t and f. */
const FLAGS = ["anomaly", "confirmed", "msm_failure"];

/** Of the times that the engine reads, those that can mean nothing else: 0000-00-00 and 01/02/2026 it reads, too. */
const TIMES =
  "^([12][0-9]{3}-[0-9]{2}-[0-9]{2}([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?|[0-9]{9,10}([.][0-9]+)?|[0-9]{13})$";

/** Values as they stand, as text: nothing guessed, nothing remembered. */
const SETTINGS: NonNullable<WriteOptions["settings"]> = {
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
  date_time_overflow_behavior: "throw",
  insert_null_as_default: 1,
  max_memory_usage: 4 * 2 ** 30,
  min_insert_block_size_rows: 1_048_576,
  min_insert_block_size_bytes: 64 * 2 ** 20,
  // A file may span many months, each a partition.
  max_partitions_per_insert_block: 0,
};

const SOURCE = "file({file:String}, {format:String}, {structure:String})";

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
  readonly rows: string;
  /** The file, as the user named it. */
  readonly name: string;
  /** As the engine's file() takes it. */
  readonly file: Readonly<Record<"file" | "format", string>>;
  /** Of its INSERT. */
  readonly mark: Aside["settings"];
  readonly stop: Pick<WriteOptions, "signal">;
}

type Column = Readonly<Record<"name" | "type", string>>;

/**
 * Loads a file into a table of the embedded database: all of its rows or none, whatever happens, and
 * none that are there already. Columns are matched by name.
 *
 * @param table made if it is missing.
 * @param name a file of JSON (an object a row), CSV or TSV with a header, or Parquet, as its name ends; `.gz` if packed.
 * @throws ProbelabError that says what is wrong with the file; code `ABORTED` after the signal.
 * @example
 * await using writer = await openWriter(source);
 * const { rows } = await loadFile(writer, "fastpath", "week.jsonl.gz");
 */
export async function loadFile(
  writer: Writer,
  table: LoadableTable,
  name: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<LoadedFile> {
  const file = await openFile(name);
  const work = async ({ table: named, settings: mark }: Aside) => {
    const [rows, next] = [named("rows"), named("next")];
    const load: Load = { writer, table, rows, name, file, mark, stop: signal ? { signal } : {} };
    await refuseSample(writer);
    await writer.command(`CREATE TABLE IF NOT EXISTS ${table} ${SCHEMAS[table]}`);
    await writer.command(`CREATE TABLE ${rows} AS ${table}`);
    const columns = await readRows(load).catch((error: unknown) => {
      throw engineRefusal(error, load);
    });
    const found = await checkRows(load);
    signal?.throwIfAborted();
    // An exchange of names is one system call: readers find the table as it was or with all rows, also
    // where the process is killed. Parts are shared by hard links, so nothing is copied.
    await writer.command(`CREATE TABLE ${next} CLONE AS ${table}`);
    await writer.command(`ALTER TABLE ${next} ATTACH PARTITION ALL FROM ${rows}`);
    await writer.command(`EXCHANGE TABLES ${next} AND ${table}`);
    return { ...found, ...columns };
  };
  try {
    return await inAside(writer, work, 2_000);
  } catch (cause) {
    if (!signal?.aborted) throw cause;
    const message = `Stopped loading ${name}: nothing of it was kept.`;
    throw new ProbelabError(message, { cause, code: "ABORTED" });
  }
}

function refusal(name: string, why: string, cause?: unknown): ProbelabError {
  return new ProbelabError(`Can't load ${name}: ${why}.`, { cause });
}

/** The file and its format, as the engine's file() takes them. */
async function openFile(name: string): Promise<Record<"file" | "format", string>> {
  const [, ending = "", packed] = /\.([^.]*?)(\.gz)?$/.exec(basename(name).toLowerCase()) ?? [];
  const format = FORMATS[ending];
  if (format === undefined) {
    throw refusal(
      name,
      "its name doesn't end in .jsonl, .csv, .tsv or .parquet, with .gz if it is packed. Rename it so",
    );
  }
  // Opened without waiting: a pipe that nobody writes to would hold it.
  const { O_RDONLY, O_NONBLOCK } = constants;
  await using file = await open(name, O_RDONLY | O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      throw refusal(name, `it can't be read (${cause.code}). Check the path and its rights`, cause);
    },
  );
  const status = await file.stat();
  if (!status.isFile()) {
    throw refusal(name, "it is no regular file. Name files, such as DIR/*.jsonl");
  }
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, status.size - 1));
  // The engine takes a row that is cut in its last value for a whole one.
  if (/^[CT]SV/.test(format) && packed === undefined && buffer[0] !== 10) {
    throw refusal(
      name,
      "it ends without a line break, so it may be cut in its last row. Get the whole file, or where it is whole add the line break: echo >> FILE",
    );
  }
  const path = await realpath(name);
  // The engine takes these for patterns and knows no quotes.
  if (/[*?{}[\]\\]|::/.test(path)) {
    throw refusal(name, `its path ${path} holds one of * ? { } [ ] \\ ::. Rename it`);
  }
  return { file: path, format };
}

/** @throws ProbelabError if the database holds the sample service. */
async function refuseSample(writer: Writer): Promise<void> {
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
}

/** Reads the file's rows, each value strictly or not at all. */
async function readRows({ writer, table, rows, name, file, mark, stop }: Load) {
  const read = (structure: string, settings: WriteOptions["settings"]): WriteOptions => ({
    parameters: { ...file, structure },
    settings: { ...SETTINGS, ...settings },
    ...stop,
  });
  const columns = await writer.rows<Column>(
    `SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {rows:String}
       AND default_kind IN ('', 'DEFAULT') ORDER BY position`,
    { parameters: { database: writer.database, rows } },
  );
  const described = await writer.rows<Column>(
    `DESCRIBE TABLE ${SOURCE}`,
    // A header says all; of JSON the keys of many rows are looked at.
    read("auto", {
      input_format_max_rows_to_read_for_schema_inference: /JSON/.test(file.format) ? 25_000 : 1,
    }),
  );
  const own = described.map((column) => column.name);
  const required: readonly string[] = LOADABLE_TABLES[table].required;
  const missing = required.filter((column) => !own.includes(column));
  if (missing.length > 0) {
    const remedy =
      /JSON/.test(file.format) && own.includes("results")
        ? "It is a page of an API: write its rows a line each with jq -c '.results[]'"
        : "Name the columns as the table does, in its case; CSV is separated by commas, TSV by tabs";
    throw refusal(
      name,
      `it lacks the columns ${missing.join(", ")} of ${table}; it has ${own.slice(0, 30).join(", ")}. ${remedy}`,
    );
  }
  const matched = columns.filter((column) => own.includes(column.name));
  const quoted = matched.map((column) => quoteIdentifier(column.name));
  const reads = matched.map((column) => readColumn(column, required.includes(column.name)));
  await writer.command(
    `INSERT INTO ${rows} (${quoted.join(", ")}) SELECT ${reads.map(({ value }) => value).join(", ")}
     FROM ${SOURCE} AS source WHERE ${reads.map(({ check }) => check).join(" AND ")}`,
    read(quoted.map((column) => `${column} Nullable(String)`).join(", "), mark),
  );
  const others = (all: readonly string[]) =>
    all.filter((one) => !matched.some((column) => column.name === one));
  return { defaulted: others(columns.map((column) => column.name)), ignored: others(own) };
}

/**
 * SQL that reads a column from the file's text (`source`) strictly: the engine's own parsing wraps
 * integers and clamps times beyond a type's range silently. Times without a zone are UTC. What is null,
 * missing or (but for text) empty takes the column's default; `check` throws where a file must bring it.
 */
function readColumn({ name, type }: Column, isRequired: boolean) {
  const text = `source.${quoteIdentifier(name)}`;
  const plain = plainType(type);
  const trimmed = `nullIf(trimBoth(${text}), '')`;
  const cast = (how: string, given: string) =>
    `${how}(${given}, 'Nullable(${plain.replace(/[\\']/g, "\\$&")})')`;
  let [given, value, isGood] = [trimmed, "", ""];
  if (FLAGS.includes(name)) {
    const [yes, no] = ["'t', 'true', '1'", "'f', 'false', '0'"];
    value = `transform(lower(${trimmed}), [${yes}, ${no}], ['t', 't', 't', 'f', 'f', 'f'], NULL)`;
  } else if (isText(type)) {
    [given, value, isGood] = [text, text, `isValidUTF8(${text})`];
  } else if (plain.startsWith("Date")) {
    value = cast("CAST", `parseDateTime64BestEffortOrNull(${trimmed}, 6, 'UTC')`);
    isGood = `match(${trimmed}, '${TIMES}') AND isNotNull(${value})`;
  } else {
    // JSON may write 1.0, and published measurements AS3269.
    const number = `replaceRegexpOne(${trimmed}, '^(?:AS)?(-?[0-9]+)(?:[.]0)?$', '\\\\1')`;
    value = cast("accurateCastOrNull", number);
    if (plain.startsWith("Float")) isGood = `isFinite(${value})`;
  }
  const isBad = `NOT ifNull(${isGood || `isNotNull(${value})`}, 0)`;
  const isNeeded = isRequired && !/Nullable\(/.test(type);
  const bad = isNeeded ? isBad : `isNotNull(${given}) AND ${isBad}`;
  const fault = `<column ${name}: a value is missing, or is no ${type}>`.replace(/[\\']/g, "\\$&");
  return { value, check: `throwIf(${bad}, '${fault}') = 0` };
}

/** The engine's own words on a file, with our remedy. */
function engineRefusal(error: unknown, { name, table }: Load): unknown {
  const { cause, code } = error as { cause?: { type?: string; message: string }; code?: string };
  if (cause?.type === undefined || code === "MEMORY_LIMIT_EXCEEDED") return error;
  const whole = cause.message.replace(/\s+/g, " ");
  const said = /<(column .*?)>/.exec(whole)?.[1] ?? whole.replace(/While executing.*/i, "");
  const remedy = `Correct the file, or get it again; ${table} is unchanged`;
  return refusal(name, `${said.slice(0, 400).replace(/[:. ]+$/, "")}. ${remedy}`, error);
}

/** @throws ProbelabError where there are no rows, or some are in the table already, equal in every column. */
async function checkRows({ writer, table, rows, name }: Load) {
  const { time } = LOADABLE_TABLES[table];
  const edge = (which: string) =>
    time ? `formatDateTime(${which}(${time}), '%Y-%m-%d %H:%i:%S', 'UTC')` : "''";
  const span = `(SELECT min(${time}) FROM ${rows}) AND (SELECT max(${time}) FROM ${rows})`;
  const known = `SELECT cityHash64(*) FROM ${table}${time ? ` WHERE ${time} BETWEEN ${span}` : ""}`;
  const [found] = await writer.rows<
    Record<"all" | "there", number> & Record<"first" | "last", string>
  >(
    `SELECT count() AS all, ${edge("min")} AS first, ${edge("max")} AS last,
       countIf(cityHash64(*) IN (${known})) AS there
     FROM ${rows}`,
  );
  const { first, last } = found!;
  const [all, there] = [Number(found!.all), Number(found!.there)];
  if (all === 0) throw refusal(name, "there are no rows in it. Check how it was made");
  if (there > 0) {
    throw refusal(
      name,
      `${grouped(there)} of its ${counted(all, "row")} are in ${table} already, and would count twice. Leave them out of the file`,
    );
  }
  return { rows: all, ...(time && { span: [first, last] as const }) };
}
