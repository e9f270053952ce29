/** What a question on the last hour of a log table reads, searched for what is there and what is not. */
import { join } from "node:path";
import { openWriter } from "../src/database/writer.js";
import type { DatabaseAddress } from "../src/database/address.js";
import { connect } from "../src/lab/connect.js";
import { last } from "../src/time/time-range.js";
import { report } from "./support/report.js";

const rows = Number(process.env["ROWS"] ?? 50_000_000);
const END = new Date("2026-05-01T00:00:00Z");
/** 26 weeks, evenly: an hour holds 0.02 % of the lines. */
const SPAN_MICROS = 26 * 7 * 86_400 * 1_000_000;

const directory = join(process.cwd(), ".bench", "data", `logs-${rows}`);
const source: DatabaseAddress = { kind: "embedded", directory, label: "embedded:logs" };
await using writer = await openWriter(source);
const [known] = await writer.rows<{ n: number }>(
  "SELECT total_rows AS n FROM system.tables WHERE database = currentDatabase() AND name = 'logs'",
);
if (Number(known?.n) !== rows) {
  await writer.command(
    `CREATE OR REPLACE TABLE logs (__REALTIME_TIMESTAMP Int64 CODEC(Delta, ZSTD(1)), SYSLOG_IDENTIFIER LowCardinality(String),
       PRIORITY UInt8, host LowCardinality(String), message String CODEC(ZSTD(1))) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP`,
  );
  await writer.command(
    `INSERT INTO logs SELECT ${END.getTime() * 1000} - ${SPAN_MICROS} + intDiv(number, 1000) * ${(SPAN_MICROS / rows) * 1000} + number % 1000,
       ['nginx', 'probe-api', 'test-helper', 'fastpath', 'sshd'][cityHash64(number) % 5 + 1], 6, 'api1',
       concat('answered 203.0.113.', toString(number % 255), ' in ', toString(cityHash64(number, 1) % 900), ' ms') FROM numbers_mt(${rows})`,
    { settings: { max_insert_threads: 2, min_insert_block_size_rows: 1_048_576 } },
  );
}
await using lab = await connect({ measurements: `embedded:${directory}` });
const range = last("1 hour", { now: END });
const questions = {
  "search, newest 100": () => lab.logs.search({ range }),
  "search, a text that no line holds": () => lab.logs.search({ range, contains: "absent" }),
  "rates by program, each minute": () =>
    lab.logs.rates({ range, every: "minute", by: "identifier" }),
  patterns: () => lab.logs.rates({ range, every: "all", by: ["identifier", "pattern"] }),
  bursts: () => lab.logs.bursts({ range }),
};
const table = [];
let most = 0;
for (const [question, ask] of Object.entries(questions)) {
  const { origin } = await ask();
  most = Math.max(most, origin.rowsRead / rows);
  table.push({
    question,
    "rows read": origin.rowsRead,
    share: `${((100 * origin.rowsRead) / rows).toFixed(3)} %`,
    ms: Math.round(origin.seconds * 1000),
  });
}
report("logs-search", table, { rows, largest_share: most });
