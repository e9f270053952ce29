/** How much of a year's table one week reads: rows read of all, as the server counts them. */
import { join } from "node:path";
import { Database } from "../src/database/database.js";
import { openWriter } from "../src/database/writer.js";
import type { DatabaseAddress } from "../src/database/address.js";
import { measurementsOf } from "../src/sources/measurements/measurements.js";
import { fillSample } from "../src/sample/fill.js";
import { between } from "../src/time/time-range.js";
import { report } from "./support/report.js";
import { END } from "./support/sample-database.js";

const rows = Number(process.env["ROWS"] ?? 10_000_000);

/** The sample's 26 weeks and the same 26 weeks earlier: a year. */
async function yearDatabase(): Promise<DatabaseAddress> {
  const directory = join(process.cwd(), ".bench", "data", `year-${rows}`);
  const source: DatabaseAddress = { kind: "embedded", directory, label: "embedded:year" };
  await using writer = await openWriter(source);
  const [known] = await writer.rows<{ n: number }>(
    "SELECT total_rows AS n FROM system.tables WHERE database = currentDatabase() AND name = 'fastpath'",
  );
  if (Number(known?.n) === rows) return source;
  await fillSample(writer, { rows: rows / 2, end: END });
  await writer.command(
    `INSERT INTO fastpath SELECT * REPLACE (measurement_start_time - INTERVAL 26 WEEK AS measurement_start_time,
       concat('earlier', report_id) AS report_id) FROM fastpath`,
  );
  return source;
}

await using database = await Database.open(await yearDatabase());
const measurements = measurementsOf(database);
const range = between("2026-05-04", "2026-05-11");
const counts = await measurements.counts({ range, every: "day" });
const durations = await measurements.runDurations({ range, every: "day" });
report(
  "bounded-scan",
  [counts, durations].map(({ origin }, index) => ({
    question: index === 0 ? "counts, one week" : "run durations, one week and a day on each side",
    "rows of the year": rows,
    "rows read": origin.rowsRead,
    share: `${((100 * origin.rowsRead) / rows).toFixed(2)} %`,
  })),
  {
    rows_read_share: durations.origin.rowsRead / rows,
    counts_share: counts.origin.rowsRead / rows,
  },
);
