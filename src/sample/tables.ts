import type { Writer } from "../database/writer.js";

/**
 * The columns and the order of the tables, after `CREATE TABLE name`, in the order in which a sample's
 * are put in place. Those of the service are for loaded files, too: the fields of its documentation,
 * and the optional ones that real services have.
 *
 * Times are UTC. Flags (`anomaly`, `confirmed`, `msm_failure`) are the texts `t` and `f`; an empty text
 * means "none". The monthly partitions let ClickHouse find the earliest and the latest row without a
 * scan. `__REALTIME_TIMESTAMP` counts microseconds since 1970. A test helper is live while
 * `draining_at` is null. `sample_truth` holds the faults that were planted, a factor of 1 for
 * "unchanged"; `sample_info` has its one row once all of the sample is made.
 */
export const SCHEMAS = {
  fastpath: `(
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
ORDER BY (measurement_start_time, report_id, input)`,
  logs: `(
  __REALTIME_TIMESTAMP Int64 CODEC(Delta, ZSTD(1)),
  SYSLOG_IDENTIFIER LowCardinality(String),
  PRIORITY UInt8,
  host LowCardinality(String),
  message String CODEC(ZSTD(1))
) ENGINE = MergeTree
PARTITION BY toYYYYMM(toDateTime(intDiv(__REALTIME_TIMESTAMP, 1000000), 'UTC'))
ORDER BY __REALTIME_TIMESTAMP`,
  test_helper_instances: `(
  rdn LowCardinality(String),
  dns_zone LowCardinality(String),
  name String,
  region LowCardinality(String),
  draining_at Nullable(DateTime('UTC'))
) ENGINE = MergeTree ORDER BY name`,
  sample_truth: `(
  name String,
  description String,
  software_name String,
  software_version String,
  released_at DateTime('UTC'),
  changes String,
  factor_measurements_per_run Float64,
  factor_run_duration Float64,
  factor_seconds_per_measurement Float64
) ENGINE = MergeTree ORDER BY name`,
  sample_info: `(
  rows UInt64,
  seed UInt64,
  start DateTime('UTC'),
  end DateTime('UTC'),
  made_at DateTime('UTC'),
  generator UInt32
) ENGINE = MergeTree ORDER BY tuple()`,
} as const;

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

/** Which sample a database holds. */
export interface SampleInfo {
  /** Measurements. */
  readonly rows: number;
  readonly seed: number;
  /** The first instant that the sample covers. */
  readonly start: Date;
  /** The first instant after it. */
  readonly end: Date;
  /** Version of the generator that made it; another one than GENERATOR makes other rows. */
  readonly generator: number;
}

/** Version of the generator: raised with every change of the rows that it makes. */
export const GENERATOR = 4;

/** The comment on a table that the sample service made; loaded tables have none. */
export const SAMPLE_COMMENT = "probelab sample";

/** The complete sample that the database holds, or null where there is none. */
export async function sampleInfo(writer: Writer): Promise<SampleInfo | null> {
  const tables = await listTables(writer);
  if (!tables.some(({ name }) => name === "sample_info")) return null;
  const [row] = await writer.rows<Record<keyof SampleInfo, number | string>>(
    `SELECT rows, seed, toUnixTimestamp(start) AS start, toUnixTimestamp(end) AS end, generator FROM sample_info`,
  );
  if (row === undefined) return null;
  const time = (seconds: number | string) => new Date(Number(seconds) * 1000);
  return {
    rows: Number(row.rows),
    seed: Number(row.seed),
    start: time(row.start),
    end: time(row.end),
    generator: Number(row.generator),
  };
}

/** A table of the writer's database. */
export interface HeldTable {
  readonly name: string;
  readonly rows: number;
  /** True if the sample service made it. */
  readonly isSample: boolean;
  /** On disk, compressed. */
  readonly bytes: number;
}

export async function listTables(writer: Writer): Promise<HeldTable[]> {
  const tables = await writer.rows<Record<"name" | "comment" | "rows" | "bytes", string>>(
    `SELECT name, comment, ifNull(total_rows, 1) AS rows, ifNull(total_bytes, 0) AS bytes
     FROM system.tables WHERE database = {database:String} ORDER BY name`,
    { parameters: { database: writer.database } },
  );
  return tables.map(({ name, comment, rows, bytes }) => ({
    name,
    rows: Number(rows),
    isSample: comment === SAMPLE_COMMENT,
    bytes: Number(bytes),
  }));
}

/** True for a table of the service that holds rows which the sample service did not make. */
export function isLoaded({ name, rows, isSample }: HeldTable): boolean {
  return Object.hasOwn(LOADABLE_TABLES, name) && !isSample && rows > 0;
}
