/**
 * What the library costs over the bare SQL: runDurations of a year's 10M measurements through
 * probelab, against the same SQL sent by curl (a new process and connection each time, as by hand).
 */
import { Database } from "../src/database/database.js";
import { measurementsOf } from "../src/measurements/measurements.js";
import { between } from "../src/time/time-range.js";
import { curl } from "./support/raw-http.js";
import { report } from "./support/report.js";
import { END, sampleDatabase } from "./support/sample-database.js";
import { sideBySide } from "./support/side-by-side.js";

const rows = Number(process.env["ROWS"] ?? 10_000_000);
const source = await sampleDatabase(rows);
await using database = await Database.open(source);
const options = {
  range: between("2026-01-01", END),
  every: "week",
  by: "software_version",
} as const;
const measurements = measurementsOf(database);
const { origin } = await measurements.runDurations(options);
const directory = source.kind === "embedded" ? source.directory : "";
const sql = `${origin.sql}\nFORMAT ArrowStream`;
const times = await sideBySide(
  {
    probelab: () => measurements.runDurations(options),
    curl: () => curl(directory, sql, origin.parameters),
  },
  15,
);
const { probelab = NaN, curl: bare = NaN } = times;
report(
  "query-overhead",
  [
    { way: "curl, the same SQL", ms: Math.round(bare) },
    { way: "probelab runDurations", ms: Math.round(probelab) },
  ],
  { overhead_ratio: probelab / bare },
);
