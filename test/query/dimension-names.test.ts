import { afterAll, beforeAll, expect, it } from "vitest";
import { between, connect, count, share, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab;
beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (start_time DateTime('UTC'), report_id String, probe_cc String,
      software_name String, software_version String, t String, measurements String, constructor String, \`from\` String)
    ENGINE = MergeTree ORDER BY start_time`,
  );
  await own.writer.command(
    "INSERT INTO fastpath SELECT toDateTime('2026-01-01', 'UTC') + number * 60, 'r', 'IT', 'cli', '1.0', 'x', 'y', 'z', 'w' FROM numbers(120)",
  );
  await own.writer.command(
    "CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, SYSLOG_IDENTIFIER String, PRIORITY String, message String) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP",
  );
  const tables = { measurements: { table: "fastpath", time: "start_time" } };
  lab = await connect({ measurements: own.url, logs: own.url, tables });
});
afterAll(() => lab?.close());

const range = between("2026-01-01", "2026-01-02");

it.each([
  ["t", "that is the column of time"],
  ["__proto__", "JavaScript gives that name another meaning"],
  ["constructor", "JavaScript gives that name another meaning"],
  ["prototype", "JavaScript gives that name another meaning"],
])("no question groups by a dimension named %j", async (name, reason) => {
  const by = Object.fromEntries([[name, "probe_cc"]]) as Record<string, "probe_cc">;
  const logs = Object.fromEntries([[name, "SYSLOG_IDENTIFIER"]]) as Record<string, string>;
  const answers = await Promise.allSettled([
    lab.measurements.ask({ range, every: "all", by, measures: { n: count() } }),
    lab.measurements.explore({ range, by }),
    lab.runs.histogram({ range, column: "duration", by }),
    lab.runs.summary({ range, by }),
    lab.logs.rates({ range, by: logs }),
  ]);
  for (const answer of answers) {
    expect(answer.status === "rejected" && String(answer.reason)).toContain(
      `Can't name a dimension "${name}": ${reason}. Give it another name, such as by: { `,
    );
  }
});

it("a dimension named like a column of the answer is refused, and has its answer under another name", async () => {
  const { measurements, runs } = lab;
  const refused = await Promise.allSettled([
    measurements.counts({ range, by: "measurements" as never }),
    runs.summary({ range, by: { runs: "probe_cc" } }),
    measurements.ask({ range, by: { n: "probe_cc" }, measures: { n: share({ probe_cc: "IT" }) } }),
    runs.histogram({ range, column: "duration", by: "from" as never }),
    measurements.values({ range, y: "t" as never }),
  ]);
  expect(refused.map((answer) => answer.status === "rejected" && String(answer.reason))).toEqual([
    expect.stringContaining(
      `Can't name a dimension "measurements": another column of the answer has that name. Give it another name, such as by: { measurements_2: "measurements" }.`,
    ),
    expect.stringContaining(`Can't name a dimension "runs"`),
    expect.stringContaining(`Can't name a dimension "n"`),
    expect.stringContaining(`Can't name a dimension "from"`),
    expect.stringContaining("Can't read values of a column t along time"),
  ]);
  const by = { t_2: "t", measurements_2: "measurements", constructor_2: "constructor" } as never;
  const named = await measurements.counts({ range, every: "all", by });
  expect(named.rows()).toEqual([
    { t_2: "x", measurements_2: "y", constructor_2: "z", measurements: 120 },
  ]);
});
