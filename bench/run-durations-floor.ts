/**
 * How near run durations and counts are to the least that the server must do: reading their columns
 * and doing nothing with them (`ignore()`). Wall time of the questions' own SQL over 10M measurements;
 * the bench `scale` tells processor time.
 */
import { Database } from "../src/database/database.js";
import { measurementsOf } from "../src/sources/measurements/measurements.js";
import { between } from "../src/time/time-range.js";
import { report } from "./support/report.js";
import { END, sampleDatabase } from "./support/sample-database.js";
import { sideBySide } from "./support/side-by-side.js";

const rows = Number(process.env["ROWS"] ?? 10_000_000);
await using database = await Database.open(await sampleDatabase(rows));
const measurements = measurementsOf(database);
const question = {
  range: between("2026-01-01", END),
  every: "week",
  by: "software_version",
} as const;
const durations = (await measurements.runDurations(question)).origin;
const counts = (await measurements.counts(question)).origin;
const bounds = {
  start: +question.range.start / 1000,
  end: +question.range.end / 1000,
};
const reads = (columns: string) => () =>
  database.ask({
    sql: `SELECT count() FROM fastpath WHERE measurement_start_time >= {start:DateTime('UTC')}
AND measurement_start_time < {end:DateTime('UTC')} AND NOT ignore(measurement_start_time, ${columns})`,
    parameters: bounds,
    action: "scan",
  });
const times = await sideBySide(
  {
    three: reads("software_version, report_id"),
    durations: () => database.ask({ ...durations, action: "measure" }),
    two: reads("software_version"),
    counts: () => database.ask({ ...counts, action: "count" }),
  },
  15,
);
const { three = NaN, durations: ofRuns = NaN, two = NaN, counts: ofRows = NaN } = times;
report(
  "run-durations-floor",
  [
    { question: "reads time, version and report", ms: Math.round(three) },
    { question: "run durations by week and version", ms: Math.round(ofRuns) },
    { question: "reads time and version", ms: Math.round(two) },
    { question: "counts by week and version", ms: Math.round(ofRows) },
  ],
  { floor_ratio: ofRuns / three, counts_floor_ratio: ofRows / two },
);
