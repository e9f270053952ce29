import { randomBytes } from "node:crypto";
import type { WriteOptions, Writer } from "../database/writer.js";
import { SAMPLE_COMMENT } from "./info.js";
import { runsTable } from "./runs.js";

/**
 * The `CREATE TABLE` of a measurement table, for the sample service and for loaded files alike:
 * the seven fields of the service's documentation, and the optional ones that real services have.
 *
 * Times are UTC. Flags (`anomaly`, `confirmed`, `msm_failure`) are the texts `t` and `f`; an empty
 * text means "none". Sorted by `measurement_start_time`; the monthly partitions let ClickHouse tell
 * the earliest and the latest measurement without a scan.
 *
 * @param name the table's name, an identifier of our own (not of a user).
 * @example
 * await writer.command(fastpathTable("fastpath"));
 */
export function fastpathTable(name: string): string {
  return `CREATE TABLE ${name} (
  measurement_uid String CODEC(ZSTD(1)),
  report_id String CODEC(ZSTD(1)),
  input LowCardinality(String),
  probe_cc LowCardinality(String),
  probe_asn UInt32 CODEC(ZSTD(1)),
  test_name LowCardinality(String),
  test_start_time DateTime('UTC') CODEC(ZSTD(1)),
  measurement_start_time DateTime('UTC') CODEC(Delta, ZSTD(1)),
  platform LowCardinality(String),
  anomaly LowCardinality(String),
  confirmed LowCardinality(String),
  msm_failure LowCardinality(String),
  domain LowCardinality(String),
  software_name LowCardinality(String),
  software_version LowCardinality(String),
  test_version LowCardinality(String),
  engine_name LowCardinality(String),
  engine_version LowCardinality(String),
  architecture LowCardinality(String),
  test_runtime Float32 CODEC(ZSTD(1)),
  test_helper_address LowCardinality(String),
  test_helper_type LowCardinality(String)
) ENGINE = MergeTree
PARTITION BY toYYYYMM(measurement_start_time)
PRIMARY KEY (measurement_start_time, report_id)
ORDER BY (measurement_start_time, report_id, input)`;
}

/** The `CREATE TABLE` of a log table; `__REALTIME_TIMESTAMP` counts microseconds since 1970, UTC. */
export function logsTable(name: string): string {
  return `CREATE TABLE ${name} (
  __REALTIME_TIMESTAMP Int64 CODEC(Delta, ZSTD(1)),
  SYSLOG_IDENTIFIER LowCardinality(String),
  PRIORITY UInt8,
  host LowCardinality(String),
  message String CODEC(ZSTD(1))
) ENGINE = MergeTree
PARTITION BY toYYYYMM(toDateTime(intDiv(__REALTIME_TIMESTAMP, 1000000), 'UTC'))
ORDER BY __REALTIME_TIMESTAMP`;
}

/** The `CREATE TABLE` of the test helpers; an instance is live while `draining_at` is null. */
export function testHelperInstancesTable(name: string): string {
  return `CREATE TABLE ${name} (
  rdn LowCardinality(String),
  dns_zone LowCardinality(String),
  name String,
  region LowCardinality(String),
  draining_at Nullable(DateTime('UTC'))
) ENGINE = MergeTree ORDER BY name`;
}

/** The `CREATE TABLE` of the one row that says which sample this is; it is there once all is made. */
function sampleInfoTable(name: string): string {
  return `CREATE TABLE ${name} (
  rows UInt64,
  seed UInt64,
  start DateTime('UTC'),
  end DateTime('UTC'),
  made_at DateTime('UTC'),
  generator UInt32
) ENGINE = MergeTree ORDER BY tuple()`;
}

/** The `CREATE TABLE` of the faults that were planted: a factor of 1 says "unchanged". */
function sampleTruthTable(name: string): string {
  return `CREATE TABLE ${name} (
  name String,
  description String,
  software_name String,
  software_version String,
  released_at DateTime('UTC'),
  changes String,
  factor_measurements_per_run Float64,
  factor_run_duration Float64,
  factor_seconds_per_measurement Float64
) ENGINE = MergeTree ORDER BY name`;
}

const TABLES = {
  fastpath: fastpathTable,
  logs: logsTable,
  test_helper_instances: testHelperInstancesTable,
  sample_truth: sampleTruthTable,
  sample_info: sampleInfoTable,
};

// the order in which they are put in place
const TABLE_NAMES = Object.keys(TABLES) as (keyof typeof TABLES)[];

/** Names of the tables that a sample is made in, aside from those that are in use. */
export type Aside = Readonly<Record<keyof typeof TABLES | "runs", string>>;

/** Names of one fill alone, so that two fills at a time don't mix. */
export function nameAside(): Aside {
  const mark = `${MAKING}${randomBytes(4).toString("hex")}`;
  const names = ["runs", ...TABLE_NAMES].map((name) => [name, `${name}${mark}`]);
  return Object.fromEntries(names) as Aside;
}

/** Makes the tables aside, empty. */
export async function makeAside(
  writer: Writer,
  aside: Aside,
  options: WriteOptions,
): Promise<void> {
  await dropAbandoned(writer, options);
  await writer.command(`${runsTable(aside.runs)} COMMENT '${SAMPLE_COMMENT}'`, options);
  for (const table of TABLE_NAMES) {
    await writer.command(`${TABLES[table](aside[table])} COMMENT '${SAMPLE_COMMENT}'`, options);
  }
}

/**
 * Puts the tables in place, each by one atomic exchange. The row of the old `sample_info` goes first
 * and the new one comes last: whoever finds a row there finds all of its sample.
 */
export async function putInPlace(writer: Writer, aside: Aside): Promise<void> {
  await writer.command("TRUNCATE TABLE IF EXISTS sample_info SYNC");
  for (const table of TABLE_NAMES) {
    // an exchange needs both; an empty table is what a reader would have found anyway
    const empty = TABLES[table](table).replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS");
    await writer.command(`${empty} COMMENT '${SAMPLE_COMMENT}'`);
    await writer.command(`EXCHANGE TABLES ${table} AND ${aside[table]}`);
  }
}

/** Drops what is left aside: the runs, and the tables that were replaced or not finished. */
export async function dropAside(writer: Writer, aside: Aside): Promise<void> {
  for (const table of Object.values(aside)) {
    await writer.command(`DROP TABLE IF EXISTS ${table} SYNC`);
  }
}

const MAKING = "_making_";

/** Drops what fills that were killed have left; a fill that is under way has younger parts. */
async function dropAbandoned(writer: Writer, options: WriteOptions): Promise<void> {
  const abandoned = await writer.rows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = {database:String}
       AND position(name, '${MAKING}') > 0 AND metadata_modification_time < now() - INTERVAL 2 HOUR`,
    { ...options, parameters: { database: writer.database } },
  );
  for (const { name } of abandoned) await writer.command(`DROP TABLE IF EXISTS ${name} SYNC`);
}
