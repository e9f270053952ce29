/** How much of the table one week reads: rows read of all, as the server counts them. */
import { Database } from "../src/database/database.js";
import { measurementsOf } from "../src/measurements/measurements.js";
import { between } from "../src/time/time-range.js";
import { report } from "./support/report.js";
import { sampleDatabase } from "./support/sample-database.js";

// A year's rows: the sample has 26 weeks, so one week of it may read twice the share of the goal.
const rows = Number(process.env["ROWS"] ?? 10_000_000);
const weeks = 26;
await using database = await Database.open(await sampleDatabase(rows));
const measurements = measurementsOf(database);
const range = between("2026-05-04", "2026-05-11");
const counts = await measurements.counts({ range, every: "day" });
const durations = await measurements.runDurations({ range, every: "day", margin: "24 hours" });
const ofYear = (read: number) => read / ((rows / weeks) * 52);
report(
  "bounded-scan",
  [counts, durations].map(({ origin }, index) => ({
    question: index === 0 ? "counts, one week" : "run durations, one week and a day on each side",
    "rows read": origin.rowsRead,
    "share of 26 weeks": `${((100 * origin.rowsRead) / rows).toFixed(2)} %`,
    "share of a year": `${(100 * ofYear(origin.rowsRead)).toFixed(2)} %`,
  })),
  { rows_read_share: ofYear(durations.origin.rowsRead) },
);
