import type { Writer } from "../../../src/database/writer.js";

/** How a test's table writes its times and reports, and what its engine does with rows. */
export interface Kind {
  readonly time: string;
  /** An instant (`_at`, a DateTime64(6)) as the column writes it. */
  readonly write: string;
  readonly report: string;
  readonly engine: string;
}

export const KINDS: readonly Kind[] = [
  { time: "DateTime('UTC')", write: "_at", report: "String", engine: "MergeTree" },
  {
    time: "DateTime64(3, 'UTC')",
    write: "_at",
    report: "LowCardinality(Nullable(String))",
    engine: "MergeTree",
  },
  {
    time: "UInt64",
    write: "toUnixTimestamp64Micro(_at)",
    report: "FixedString(12)",
    engine: "MergeTree",
  },
  {
    time: "Nullable(String)",
    write: "toString(toUnixTimestamp(_at))",
    report: "Nullable(String)",
    engine: "ReplacingMergeTree",
  },
];

/**
 * Eight days from 2026-05-01 of dirty rows: runs of 1 to 60 measurements, some at one instant, some
 * over days; some change their country or version on the way; some measurements have no report, and
 * some stand twice.
 */
export async function makeRows(
  writer: Writer,
  { time, write, report, engine }: Kind,
): Promise<void> {
  await writer.command("DROP TABLE IF EXISTS fastpath");
  await writer.command(
    `CREATE TABLE fastpath (measurement_start_time ${time}, report_id ${report}, n UInt32,
  software_name LowCardinality(String), software_version Nullable(String), probe_cc String,
  probe_asn Nullable(UInt32), test_name Enum8('web' = 1, 'dns' = 2, '' = 3), input String)
ENGINE = ${engine} ORDER BY (measurement_start_time, n) SETTINGS allow_nullable_key = 1`,
    { settings: { allow_suspicious_low_cardinality_types: 1 } },
  );
  await writer.command(
    `INSERT INTO fastpath SELECT ${write}, _report, n, _name, _version, _cc, _asn, _test, concat('https://', toString(n % 7))
FROM (
  SELECT run, n, cityHash64(run, 1) AS h, cityHash64(n, 2) AS m, if(h % 10 = 0, m, h) AS d,
    [0, 1, 20, 600, 3000, 40000][1 + bitShiftRight(h, 8) % 6] AS pace,
    toDateTime64('2026-05-01 00:00:00', 6, 'UTC') + toIntervalMicrosecond((bitShiftRight(h, 16) % 700000) * 1000000
      + step * pace * 1000000 + if(bitShiftRight(h, 3) % 4 = 0, 0, m % 3000) * 1000) AS _at,
    if(m % 40 = 0, ${report.includes("Nullable") ? "NULL" : "''"}, concat('r', toString(run))) AS _report,
    ['probe-cli', 'probe-android', 'miniooni'][1 + bitShiftRight(d, 20) % 3] AS _name,
    [NULL, '3.9.0', '3.10.1', '3.10.0', ''][1 + bitShiftRight(d, 24) % 5] AS _version,
    ['IT', 'DE', 'US', ''][1 + bitShiftRight(d, 28) % 4] AS _cc,
    [NULL, 0, 30722, 3320, 12874][1 + bitShiftRight(d, 32) % 5] AS _asn,
    ['web', 'dns', ''][1 + bitShiftRight(d, 36) % 3] AS _test
  FROM (SELECT number AS run, arrayJoin(range(1 + cityHash64(number, 3) % if(number % 3 = 0, 1, 60))) AS step,
    rowNumberInAllBlocks() AS n FROM numbers(220))
)`,
    { settings: { max_threads: 1 } },
  );
  await writer.command("INSERT INTO fastpath SELECT * FROM fastpath WHERE n % 50 = 0");
}
