import fc from "fast-check";
import type { Writer } from "../../../src/database/writer.js";

/** A log line; its time in microseconds since 1970. */
export interface LogRow {
  readonly micros: number;
  readonly identifier: string;
  readonly priority: number;
  readonly host: string;
  readonly message: string;
}

/** How a table writes __REALTIME_TIMESTAMP: its type, and how coarse it is in microseconds. */
export const LOG_TIME_TYPES = [
  { type: "Int64", step: 1 },
  { type: "UInt64", step: 1 },
  { type: "DateTime64(6, 'UTC')", step: 1 },
  { type: "DateTime64(3, 'Asia/Tokyo')", step: 1000 },
  { type: "DateTime('UTC')", step: 1_000_000 },
  { type: "String", step: 1 },
] as const;

export type LogTimeType = (typeof LOG_TIME_TYPES)[number];

/** SQL of an instant in a column of the type, from SQL of its microseconds. */
export function timeSql(type: LogTimeType["type"], micros: string): string {
  if (type === "Int64" || type === "UInt64") return `to${type}(${micros})`;
  if (type === "String") return `toString(${micros})`;
  return `CAST(fromUnixTimestamp64Micro(toInt64(${micros})), '${type.replaceAll("'", "\\'")}')`;
}

/** Midnight UTC before the lines begin. */
export const EPOCH = Date.UTC(2026, 3, 30);
export const MINUTE = 60_000;

export const logRow = (time: LogTimeType): fc.Arbitrary<LogRow> =>
  fc.record({
    micros: fc
      .record({
        minute: fc.integer({ min: -5, max: 60 }),
        off: fc.oneof(fc.constantFrom(0, -1, 1), fc.integer({ min: 0, max: 59_999_999 })),
      })
      .map(({ minute, off }) => {
        const micros = (EPOCH + minute * MINUTE) * 1000 + off;
        return Math.floor(micros / time.step) * time.step;
      }),
    identifier: fc.constantFrom("nginx", "probe-api", "test-helper"),
    priority: fc.constantFrom(0, 3, 4, 6),
    host: fc.constantFrom("api1", "control"),
    message: fc.constantFrom("timed out", "Timed out", "answered in 80 ms", "it's \\ 100 % ?", "ü"),
  });

/** Makes the table `logs` of exactly these rows; `seedOnly` leaves the columns beyond the seed out. */
export async function writeLogs(
  writer: Writer,
  rows: readonly LogRow[],
  type: LogTimeType["type"] = "Int64",
  seedOnly = false,
): Promise<void> {
  await writer.command(
    `CREATE OR REPLACE TABLE logs (__REALTIME_TIMESTAMP ${type}, SYSLOG_IDENTIFIER LowCardinality(String),
      ${seedOnly ? "" : "PRIORITY UInt8, host LowCardinality(String),"} message String)
      ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP`,
  );
  await insertLogs(writer, rows, type, seedOnly);
}

export async function insertLogs(
  writer: Writer,
  rows: readonly LogRow[],
  type: LogTimeType["type"] = "Int64",
  seedOnly = false,
): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(
    ({ micros, identifier, priority, host, message }) =>
      `(${timeSql(type, String(micros))}, ${text(identifier)}, ${seedOnly ? "" : `${priority}, ${text(host)}, `}${text(message)})`,
  );
  await writer.command(`INSERT INTO logs VALUES ${values.join(", ")}`);
}

function text(value: string): string {
  return `'${value.replace(/\\/g, "\\\\").replace(/'/g, "\\'")}'`;
}
