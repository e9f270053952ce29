/**
 * How near run durations are to the least that the server must do: reading the three columns. The
 * SQL of runDurations over 10M measurements, against max() over the columns that it reads.
 */
import { Database } from "../src/database/database.js";
import { measurementsOf } from "../src/measurements/measurements.js";
import { between } from "../src/time/time-range.js";
import { report } from "./support/report.js";
import { END, sampleDatabase } from "./support/sample-database.js";
import { sideBySide } from "./support/side-by-side.js";

const rows = Number(process.env["ROWS"] ?? 10_000_000);
await using database = await Database.open(await sampleDatabase(rows));
const { origin } = await measurementsOf(database).runDurations({
  range: between("2026-01-01", END),
  every: "week",
  by: "software_version",
});
const floor = `SELECT max(measurement_start_time), max(report_id), max(software_version) FROM fastpath
WHERE measurement_start_time >= {range_start:DateTime('UTC')} AND measurement_start_time < {range_end:DateTime('UTC')}`;
const { parameters } = origin;
const bounds = { range_start: parameters["range_start"], range_end: parameters["range_end"] };
const times = await sideBySide(
  {
    floor: () => database.ask({ sql: floor, parameters: bounds, action: "scan" }),
    durations: () => database.ask({ sql: origin.sql, parameters, action: "measure" }),
  },
  15,
);
const { floor: least = NaN, durations = NaN } = times;
report(
  "run-durations-floor",
  [
    { question: "max() over the columns read", ms: Math.round(least) },
    { question: "run durations by week and version", ms: Math.round(durations) },
  ],
  { floor_ratio: durations / least },
);
