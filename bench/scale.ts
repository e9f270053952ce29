/**
 * What questions cost the server over what the data itself costs: processor time of `counts` and
 * `runDurations` against a scan that only reads their columns, of counting each measurement once
 * against counting rows, and the memory that a billion rows would take, from the cost of a row.
 */
import { Database } from "../src/database/database.js";
import { parseSource } from "../src/database/source.js";
import { measurementsOf } from "../src/measurements/measurements.js";
import { between } from "../src/time/time-range.js";
import { costs, LoggedServer } from "./support/logged-server.js";
import { report } from "./support/report.js";
import { END } from "./support/sample-database.js";

const rows = Number(process.env["ROWS"] ?? 10_000_000);
const rounds = Number(process.env["ROUNDS"] ?? 7);
await using server = await LoggedServer.start(rows);
await using database = await Database.open(
  parseSource(server.url, { root: "/", name: "the bench" }),
);
const measurements = measurementsOf(database);
const range = between("2026-01-01", END);
const half = between("2026-04-01", END);
const question = { range, every: "week", by: "software_version" } as const;

/** A scan of the range that reads the columns and does nothing with them. */
function reads(...columns: readonly string[]): () => Promise<unknown> {
  const sql = `SELECT count() FROM fastpath WHERE measurement_start_time >= {start:DateTime('UTC')}
  AND measurement_start_time < {end:DateTime('UTC')} AND NOT ignore(measurement_start_time, ${columns.join(", ")})`;
  const parameters = { start: +range.start / 1000, end: +range.end / 1000 };
  return () => database.ask({ sql, parameters, action: "scan" });
}

// Learned once, so that no question pays for it.
await measurements.counts(question);
const cost = await costs(
  server,
  {
    "reads time and version": reads("software_version"),
    counts: () => measurements.counts(question),
    "counts by day": () => measurements.counts({ ...question, every: "day" }),
    "counts with a list": () => {
      const where = { probe_cc: ["IT", "US", "BR"] };
      return measurements.counts({ ...question, where });
    },
    "counts, each once": () => measurements.counts({ ...question, distinct: true }),
    duplicates: () => measurements.duplicates({ range }),
    "reads time, version and report": reads("software_version", "report_id"),
    runDurations: () => measurements.runDurations(question),
    "runDurations of half": () => measurements.runDurations({ ...question, range: half }),
    summary: () => measurements.summary({ range }),
  },
  rounds,
);
const { runDurations, "runDurations of half": part } = cost;
const bytesPerRow = (runDurations.memory - part.memory) / (runDurations.rowsRead - part.rowsRead);
report(
  "scale",
  Object.entries(cost).map(([name, { cpu, memory, rowsRead, queries }]) => ({
    question: name,
    "CPU ms": Math.round(cpu),
    "memory MB": Math.round(memory / 1e6),
    "rows read": rowsRead,
    queries,
  })),
  {
    counts_floor_ratio: cost.counts.cpu / cost["reads time and version"].cpu,
    list_filter_ratio: cost["counts with a list"].cpu / cost.counts.cpu,
    runs_floor_ratio: runDurations.cpu / cost["reads time, version and report"].cpu,
    distinct_ratio: cost["counts, each once"].cpu / cost.counts.cpu,
    runs_bytes_per_row: bytesPerRow,
    // Bytes a row are GB a billion rows.
    runs_billion_gb_as_a_whole: bytesPerRow,
  },
);
