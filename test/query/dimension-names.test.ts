import { afterAll, beforeAll, expect, it } from "vitest";
import { between, connect, count, share, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab;
beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (start_time DateTime('UTC'), measurement_uid String, report_id String,
      probe_cc String, software_name String, software_version String, t String, measurements String,
      constructor String, \`from\` String)
    ENGINE = MergeTree ORDER BY start_time`,
  );
  await own.writer.command(
    `INSERT INTO fastpath SELECT toDateTime('2026-01-01', 'UTC') + number * 60, toString(number),
      'r', 'IT', 'cli', '1.0', 'x', 'y', 'z', 'w' FROM numbers(120)`,
  );
  await own.writer.command(
    `CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, SYSLOG_IDENTIFIER String, PRIORITY String, message String)
    ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP`,
  );
  const columns = { time: "start_time" };
  lab = await connect({
    measurements: own.url,
    logs: own.url,
    tables: { measurements: { table: "fastpath", ...columns } },
  });
});
afterAll(() => lab?.close());

const range = between("2026-01-01", "2026-01-02");

it("a dimension can't take the name of time, of a measure, or one that JavaScript reserves", async () => {
  for (const [name, reason] of [
    ["t", "that is the column of time"],
    ["__proto__", "JavaScript gives that name another meaning"],
    ["constructor", "JavaScript gives that name another meaning"],
    ["prototype", "JavaScript gives that name another meaning"],
  ] as const) {
    const by = Object.fromEntries([[name, "probe_cc"]]) as Record<string, "probe_cc">;
    const logs = Object.fromEntries([[name, "SYSLOG_IDENTIFIER"]]) as Record<string, string>;
    const { measurements, runs } = lab;
    const questions = {
      ask: measurements.ask({ range, by, measures: { n: count() } }),
      all: measurements.ask({ range, every: "all", by, measures: { n: count() } }),
      explore: measurements.explore({ range, by }),
      histogram: runs.histogram({ range, column: "duration", by }),
      summary: runs.summary({ range, by }),
      rates: lab.logs.rates({ range, by: logs }),
    };
    const answers = await Promise.all(
      Object.entries(questions).map(async ([question, answer]) => {
        const said = await answer.then(String, (error: Error) => error.message);
        return [question, said] as const;
      }),
    );
    for (const [question, said] of answers) {
      expect(said, `${question} by ${name}`).toContain(
        `Can't name a dimension "${name}": ${reason}. Give it another name, such as by: { `,
      );
    }
  }
});

it("a dimension named like a column of the answer is refused, and has its answer under another name", async () => {
  const { measurements, runs } = lab;
  await expect(measurements.counts({ range, by: "measurements" as never })).rejects.toThrow(
    `Can't name a dimension "measurements": another column of the answer has that name. Give it another name, such as by: { measurements_2: "measurements" }.`,
  );
  await expect(runs.summary({ range, by: { runs: "probe_cc" } })).rejects.toThrow(
    `Can't name a dimension "runs"`,
  );
  await expect(
    measurements.ask({ range, by: { n: "probe_cc" }, measures: { n: count() } }),
  ).rejects.toThrow(`Can't name a dimension "n"`);
  await expect(
    measurements.ask({
      range,
      by: { n_low: "probe_cc" },
      measures: { n_low: share({ probe_cc: "IT" }) },
    }),
  ).rejects.toThrow(`Can't name a dimension "n_low"`);
  await expect(runs.histogram({ range, column: "duration", by: "from" as never })).rejects.toThrow(
    `Can't name a dimension "from"`,
  );
  const by = { t_2: "t", measurements_2: "measurements", constructor_2: "constructor" } as never;
  const named = await measurements.counts({ range, every: "all", by });
  expect(named.rows()).toEqual([
    { t_2: "x", measurements_2: "y", constructor_2: "z", measurements: 120 },
  ]);
});

it("values along time are not asked of or by a column that takes the place of time", async () => {
  const asked = lab.measurements.values({ range, y: "t" as never });
  await expect(asked).rejects.toThrow(/Can't read values of a column t along time/);
});
