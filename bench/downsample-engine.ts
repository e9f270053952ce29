/**
 * M4 in ClickHouse against a scan that computes min, max and count of the same columns by bucket, in
 * turn on the same server. ROWS (default 100,000,000) rows are made once and kept in .bench/data.
 */
import { join } from "node:path";
import { openWriter } from "../src/database/writer.js";
import { m4Sql } from "../src/query/m4-sql.js";
import { print, raw } from "../src/query/sql.js";
import { between } from "../src/time/time-range.js";
import { report } from "./support/report.js";
import { sideBySide } from "./support/side-by-side.js";

const rows = Number(process.env["ROWS"] ?? 100_000_000);
const rounds = Number(process.env["ROUNDS"] ?? 7);
const WIDTH = 1_000;
const START = Date.UTC(2026, 0, 1);
const directory = join(process.cwd(), ".bench", "data", `points-${rows}`);
await using writer = await openWriter({ kind: "embedded", directory, label: `embedded:${rows}` });
await fill();

const end = START + (rows - 1) * 100;
const range = between(new Date(START), new Date(end));
const whole = { source: { from: () => raw("points"), instant: "t" }, range, width: WIDTH };
const float = print(m4Sql({ ...whole, y: raw("y"), gaps: true }));
const count = print(m4Sql({ ...whole, y: raw("n"), gaps: false }));
const grouped = print(m4Sql({ ...whole, y: raw("y"), gaps: true, series: raw("s"), width: 100 }));
// A key of fixed size: by the text of the series itself, the scan takes longer than it must.
const bySeries = "any(s), cityHash64(s) AS series,";
const scan = (y: string, select = ""): string => `SELECT ${select}
  toUInt16(floor((toUnixTimestamp64Milli(t) - {m4_start:Int64} / 1000) * {m4_scale:Float64})) AS k,
  min(t), max(t), min(${y}), max(${y}), count() FROM points
  GROUP BY ${select && "series, "}k ORDER BY ${select && "series, "}k`;
const settings = { use_query_condition_cache: 0, max_threads: 2 };
const ask = (sql: string, { parameters } = float): Promise<object[]> =>
  writer.rows(sql, { parameters, settings });

const before = process.memoryUsage().rss;
const out = (await ask(float.sql)).length;
const times = await sideBySide(
  {
    scan: () => ask(scan("y")),
    m4: () => ask(float.sql),
    countScan: () => ask(scan("n")),
    m4Count: () => ask(count.sql, count),
    groupedScan: () => ask(scan("y", bySeries), grouped),
    m4Grouped: () => ask(grouped.sql, grouped),
  },
  rounds,
);
const ratio = (a: string, b: string): number => (times[a] ?? NaN) / (times[b] ?? NaN);
const line = (question: string, name: string, base: string): Record<string, string | number> => ({
  question,
  ms: Math.round(times[name] ?? NaN),
  ratio: Number(ratio(name, base).toFixed(2)),
});
report(
  "downsample-engine",
  [
    line("min, max, count of t and y by 1,000 buckets", "scan", "scan"),
    line(`M4 of y (Float64, gaps kept): ${out} rows`, "m4", "scan"),
    line("min, max, count of t and n by 1,000 buckets", "countScan", "countScan"),
    line("M4 of n (UInt32, no gaps)", "m4Count", "countScan"),
    line("min, max, count by 10 series × 100 buckets", "groupedScan", "groupedScan"),
    line("M4 by 10 series × 100 columns", "m4Grouped", "groupedScan"),
  ],
  {
    rows,
    m4_scan_ratio: ratio("m4", "scan"),
    m4_count_scan_ratio: ratio("m4Count", "countScan"),
    m4_series_scan_ratio: ratio("m4Grouped", "groupedScan"),
    m4_ms: times["m4"] ?? NaN,
    notebook_mb_grown: (process.memoryUsage().rss - before) / 2 ** 20,
  },
);

/** A point each 100 ms: a slow wave, noise, ten series, one in 10,000 missing. */
async function fill(): Promise<void> {
  await writer.command(
    "CREATE TABLE IF NOT EXISTS points (t DateTime64(3, 'UTC'), s LowCardinality(String), y Float64, n UInt32) ENGINE = MergeTree ORDER BY t",
  );
  const [found] = await writer.rows<{ rows: number }>("SELECT count() AS rows FROM points");
  if (Number(found?.rows) === rows) return;
  console.error(`making ${rows.toLocaleString("en-US")} rows …`);
  await writer.command("TRUNCATE TABLE points");
  await writer.command(
    `INSERT INTO points SELECT fromUnixTimestamp64Milli({start:Int64} + toInt64(number) * 100, 'UTC'),
      concat('series ', toString(cityHash64(number, 1) % 10)),
      if(cityHash64(number, 2) % 10000 = 0, nan, 10 * sin(number / 1e6) + cityHash64(number) % 1000 / 500),
      cityHash64(number, 3) % 100000
    FROM numbers_mt({rows:UInt64})
    SETTINGS max_insert_threads = 2, min_insert_block_size_rows = 1048576, min_insert_block_size_bytes = 0`,
    { parameters: { start: START, rows } },
  );
}
