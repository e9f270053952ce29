/**
 * What questions cost the server over what the data itself costs: processor time of `counts` and
 * `runDurations` against a scan that only reads their columns, of counting each measurement once
 * against counting the different ids exactly; what they take under a limit of memory (`LIMIT`, bytes); and the memory that
 * a billion rows would take, from the cost of a row. SKIP, a regular expression, leaves out questions
 * under the limit.
 */
import { Database } from "../src/database/database.js";
import { parseAddress } from "../src/database/address.js";
import { measurementsOf, runsOf } from "../src/sources/measurements/measurements.js";
import type { Result } from "../src/result/result.js";
import { between } from "../src/time/time-range.js";
import { costs, LoggedServer, type Cost } from "./support/logged-server.js";
import { report } from "./support/report.js";
import { END } from "./support/sample-database.js";

const rows = Number(process.env["ROWS"] ?? 10_000_000);
const rounds = Number(process.env["ROUNDS"] ?? 7);
await using server = await LoggedServer.start(rows);
const limit = Number(process.env["LIMIT"] ?? 100_000_000);
const source = parseAddress(server.url, { root: "/", name: "the bench" });
await using database = await Database.open(source);
await using limited = await Database.open(source, { maxMemory: limit });
const measurements = measurementsOf(database);
const range = between("2026-01-01", END);
const half = between("2026-04-01", END);
const question = { range, every: "week", by: "software_version" } as const;

/** A scan of the range that reads the columns and does nothing with them but what `what` computes. */
function reads(columns: readonly string[], what = "count()"): () => Promise<unknown> {
  const sql = `SELECT ${what} FROM fastpath WHERE measurement_start_time >= {start:DateTime('UTC')}
  AND measurement_start_time < {end:DateTime('UTC')} AND NOT ignore(measurement_start_time, ${columns.join(", ")})`;
  const parameters = { start: +range.start / 1000, end: +range.end / 1000 };
  return () => database.ask({ sql, parameters, action: "scan" });
}

// Learned once, so that no question pays for it.
await measurements.counts(question);
const cost = await costs(
  server,
  {
    "reads time and version": reads(["software_version"]),
    counts: () => measurements.counts(question),
    "counts by day": () => measurements.counts({ ...question, every: "day" }),
    "counts with a list": () => {
      const where = { probe_cc: ["IT", "US", "BR"] };
      return measurements.counts({ ...question, where });
    },
    "reads time, version and uid": reads(["software_version", "measurement_uid"]),
    // The least of any exact answer: each different uid, by 128 bits of its hash.
    "different uids": reads(
      ["software_version", "measurement_uid"],
      "uniqExact(sipHash128(measurement_uid))",
    ),
    "counts, each once": () => measurements.counts({ ...question, dedupe: true }),
    "counts with a value of a list that nothing has": () => {
      const where = { probe_cc: ["IT", "US", "ZZ"] };
      return measurements.counts({ ...question, where });
    },
    duplicates: () => measurements.duplicates({ range }),
    "reads time, version and report": reads(["software_version", "report_id"]),
    runDurations: () => measurements.runDurations(question),
    "runDurations of half": () => measurements.runDurations({ ...question, range: half }),
    summary: () => runsOf(database).summary({ range }),
  },
  rounds,
);
const small = measurementsOf(limited);
const runs = runsOf(limited);
const notes: Record<string, string> = {};
const underLimit = (name: string, ask: () => Promise<Result<object>>) => [
  `${name}, limited`,
  async () => {
    const asked = (await ask()).origin.notes.find((note) => note.startsWith("Asked in"));
    notes[`${name}, limited`] = asked?.split(",")[0] ?? "at once";
  },
];
const skip = new RegExp(process.env["SKIP"] ?? "^$");
const fitted = await costs(
  server,
  Object.fromEntries(
    [
      underLimit("counts", () => small.counts(question)),
      underLimit("runDurations", () => small.runDurations(question)),
      underLimit("summary", () => runs.summary({ range })),
      underLimit("histogram of runs", () => runs.histogram({ range, column: "duration" })),
      underLimit("explore runs", () =>
        runs.explore({ range, by: ["software_version", "probe_cc", "test_name"] }),
      ),
    ].filter(([name]) => !skip.test(String(name))),
  ) as Record<string, () => Promise<void>>,
  1,
);
const { runDurations, "runDurations of half": part } = cost;
const bytes = (all: Cost, half: Cost) =>
  (all.memory - half.memory) / (all.rowsRead - half.rowsRead);
const bytesPerRow = bytes(runDurations, part);
const billion = 1_000_000_000;
// The shortest window is an hour, read with a day on each side.
const least = (bytesPerRow * 49 * 3_600_000 * billion) / (+range.end - +range.start);
report(
  "scale",
  Object.entries({ ...cost, ...fitted }).map(([name, { cpu, memory, rowsRead, queries }]) => ({
    question: name,
    "CPU ms": Math.round(cpu),
    "memory MB": Math.round(memory / 1e6),
    "rows read": rowsRead,
    queries,
    asked: notes[name] ?? "",
  })),
  {
    counts_floor_ratio: cost.counts.cpu / cost["reads time and version"].cpu,
    list_filter_ratio: cost["counts with a list"].cpu / cost.counts.cpu,
    runs_floor_ratio: runDurations.cpu / cost["reads time, version and report"].cpu,
    dedupe_floor_ratio: cost["counts, each once"].cpu / cost["different uids"].cpu,
    runs_bytes_per_row: bytesPerRow,
    // Bytes a row are GB a billion rows.
    runs_billion_gb_as_a_whole: bytesPerRow,
    window_memory_share: least / billion,
    limited_memory_share: Math.max(...Object.values(fitted).map(({ memory }) => memory)) / limit,
  },
);
