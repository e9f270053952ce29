import { beforeAll, describe, expect, it } from "vitest";
import { between, compare, explain, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";
import { writeLogs } from "../sources/logs/log-rows.js";

const own = ownDatabase();
let lab: Lab;
beforeAll(async () => {
  await own.writer.command(
    "CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String) ENGINE = MergeTree ORDER BY measurement_start_time",
  );
  await writeLogs(own.writer, []);
  lab = await own.open();
});

const ranges = {
  before: between("2026-05-01", "2026-05-02"),
  after: between("2026-05-02", "2026-05-03"),
};
const range = ranges.after;
const questions: Record<string, [ask: (options: never) => Promise<unknown>, needed: object]> = {
  explain: [(options) => explain(lab.measurements, options), ranges],
  compare: [(options) => compare(lab.measurements, options), { now: range }],
  anomalies: [(options) => lab.anomalies(options), { range }],
  release: [(options) => lab.release("3.2", options), { range }],
  snapshot: [(options) => lab.snapshot(options), { range }],
  counts: [(options) => lab.measurements.counts(options), { range }],
  "check-ins": [(options) => lab.logs.checkIn(options), { range }],
};

describe.each(Object.entries(questions))("%s", (name, [ask, needed]) => {
  it("needs options", async () => {
    await expect(ask(undefined as never)).rejects.toThrow(/^Can't .*: pass /);
  });

  it.skipIf(name === "check-ins")("takes no filter that holds nothing for all rows", async () => {
    for (const where of [null, 5, [], "IT"]) {
      const options = { ...needed, where } as never;
      await expect(ask(options)).rejects.toThrow(/^Can't filter by .*: pass columns/);
    }
  });
});
