import { afterAll, beforeAll, expect, it } from "vitest";
import { between, connect, count } from "../../../src/index.js";
import { restrictedServer, type RestrictedServer } from "../../support/restricted-server.js";

/** Readers whose questions the engine cuts in other pieces. */
const CUTS = {
  whole: { settings: { readonly: 2, max_threads: 1 } },
  pieces: { settings: { readonly: 2, max_threads: 7, max_block_size: 13 } },
  // Aggregates side by side, and merges them in another order.
  buckets: {
    settings: { readonly: 2, max_threads: 3, group_by_two_level_threshold: 1, max_block_size: 50 },
  },
};

let server: RestrictedServer;
beforeAll(async () => {
  server = await restrictedServer(CUTS, {
    // For few rows the engine compiles an expression longer than it runs it.
    compile_expressions: 0,
    compile_aggregate_expressions: 0,
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const RUNS = 90;
const START = Date.UTC(2026, 4, 1) / 1000;
/** Of each run two to four rows at its first instant, each of another version and country, and one later. */
const ROWS = Array.from({ length: RUNS }, (_, run) =>
  Array.from({ length: 3 + (run % 3) }, (_, n) => ({
    seconds: START + run * 600 + (n === 0 ? 60 : 0),
    run,
    version: n === 0 ? "later" : `${run}.${n}`,
    cc: n === 2 ? null : ["IT", "", "DE", "GE"][n],
  })),
).flat();

/** A repeatable disorder. */
const mixed = [...ROWS].sort(
  (a, b) => ((a.run * 7 + a.seconds) % 31) - ((b.run * 7 + b.seconds) % 31),
);

it.each([
  ["DateTime('UTC')", (seconds: number) => String(seconds)],
  ["DateTime64(6, 'UTC')", (seconds: number) => `${seconds}.000000`],
  ["String", (seconds: number) => `'${seconds}'`],
])(
  "a run whose first instant rows of several groups share belongs to one of them, however it is read: %s",
  async (type, written) => {
    const answers: unknown[] = [];
    const orders = [
      { rows: ROWS, parts: 1, users: ["whole", "pieces"] },
      { rows: mixed, parts: 9, users: ["pieces", "buckets"] },
    ];
    for (const [order, { rows, parts, users }] of orders.entries()) {
      const table = `fastpath_${order}`;
      const run = (query: string) => server.admin.command({ query });
      await run(
        `CREATE OR REPLACE TABLE ${table} (measurement_start_time ${type}, report_id String, software_version String,
          probe_cc Nullable(String)) ENGINE = MergeTree ORDER BY measurement_start_time SETTINGS index_granularity = 16`,
      );
      await run(`SYSTEM STOP MERGES ${table}`);
      const size = Math.ceil(rows.length / parts);
      for (let part = 0; part < parts; part++) {
        const values = rows
          .slice(part * size, (part + 1) * size)
          .map(({ seconds, run, version, cc }) => {
            return `(${written(seconds)}, 'r${run}', '${version}', ${cc === null ? "NULL" : `'${cc}'`})`;
          });
        await run(`INSERT INTO ${table} VALUES ${values.join(", ")}`);
      }
      for (const user of users) {
        await using lab = await connect({
          measurements: server.as(user),
          tables: { measurements: { table } },
        });
        const asked = {
          range: between("2026-05-01", "2026-05-03"),
          every: "all",
          top: Infinity,
        } as const;
        const [versions, countries, both] = await Promise.all([
          lab.runs.counts({ ...asked, by: "software_version" }),
          lab.runs.counts({ ...asked, by: "probe_cc" }),
          lab.runs.ask({
            ...asked,
            by: ["software_version", "probe_cc"],
            measures: { runs: count() },
          }),
        ]);
        answers.push([
          versions.rows().map((row) => [row.software_version, row.runs]),
          countries.rows().map((row) => [row.probe_cc, row.runs]),
          both.rows().map((row) => [row.software_version, row.runs]),
        ]);
      }
    }
    const [first] = answers as [[[string, number][], [string | null, number][], unknown]];
    const [versions, countries] = first;
    // Each run is one of the versions that it began with, and one only.
    expect(
      versions.map(([version]) => Number(version.split(".")[0])).sort((a, b) => a - b),
    ).toEqual([...Array(RUNS).keys()]);
    expect(new Set(versions.map(([, runs]) => runs))).toEqual(new Set([1]));
    expect(versions.map(([version]) => version)).not.toContain("later");
    expect(countries.reduce((all, [, runs]) => all + runs, 0)).toBe(RUNS);
    for (const answer of answers) expect(answer).toEqual(first);
  },
);
