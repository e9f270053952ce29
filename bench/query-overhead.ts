/**
 * What the library costs over the bare SQL: questions on a year's measurements through probelab,
 * against the same SQL sent over HTTP by a connection that stays open. Its answer is only received
 * there, not read.
 */
import { Database } from "../src/database/database.js";
import { measurementsOf, runsOf } from "../src/sources/measurements/measurements.js";
import { freeQueries } from "../src/query/free-query.js";
import type { Result } from "../src/result/result.js";
import { between } from "../src/time/time-range.js";
import { rawHttp } from "./support/raw-http.js";
import { report } from "./support/report.js";
import { END, sampleDatabase } from "./support/sample-database.js";
import { sideBySide } from "./support/side-by-side.js";

const rows = Number(process.env["ROWS"] ?? 10_000_000);
const source = await sampleDatabase(rows);
await using database = await Database.open(source);
const measurements = measurementsOf(database);
const query = freeQueries(database);
const range = between("2026-01-01", END);
const question = { range, every: "week", by: "software_version" } as const;
const questions: Readonly<Record<string, () => Promise<Result>>> = {
  runDurations: () => measurements.runDurations(question),
  counts: () => measurements.counts(question),
  summary: () => runsOf(database).summary({ range }),
  "counts of a list": () =>
    measurements.counts({ ...question, where: { probe_cc: ["IT", "US", "BR"] } }),
  "lab.query of an hour": () =>
    query("SELECT count() AS n FROM fastpath WHERE {range}", {
      range: between("2026-05-04 10:00:00", "2026-05-04 11:00:00"),
    }),
};
const ratios: Record<string, number> = {};
const table: { question: string; "bare ms": string; "probelab ms": string }[] = [];
const send = rawHttp(source.kind === "embedded" ? source.directory : "");
for (const [name, ask] of Object.entries(questions)) {
  const { origin } = await ask();
  const sql = `${origin.sql}\nFORMAT ArrowStream`;
  const times = await sideBySide({ probelab: ask, bare: () => send(sql, origin.parameters) }, 15);
  const { probelab = NaN, bare = NaN } = times;
  table.push({ question: name, "bare ms": bare.toFixed(1), "probelab ms": probelab.toFixed(1) });
  ratios[`${name.replaceAll(/[ .]/g, "_")}_overhead_ratio`] = probelab / bare;
}
report("query-overhead", table, ratios);
