import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillSample } from "../../src/sample/fill.js";
import { openWriter } from "../../src/database/open-writer.js";
import { alarm } from "../../src/change/alarm.js";
import { changePoints } from "../../src/change/change-points.js";
import { compare } from "../../src/change/compare.js";
import { explain } from "../../src/change/explain.js";
import { forecast } from "../../src/change/forecast.js";
import { askAgain, derivedQuestion } from "../../src/lab/ask-again.js";
import { connect, type Lab } from "../../src/lab/connect.js";
import { count, quantile } from "../../src/query/measure.js";
import { prefix } from "../../src/query/prefix.js";
import type { Question } from "../../src/result/question.js";
import type { Result } from "../../src/result/result.js";
import { between, last } from "../../src/time/time-range.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

let directory: TemporaryDirectory;
let lab: Lab;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const writer = await openWriter(directory.source);
  await fillSample(writer, { rows: 60_000, end: new Date("2026-05-01T00:00:00Z") });
  await writer[Symbol.asyncDispose]();
  lab = await connect({ measurements: `embedded:${directory.path}` });
}, 240_000);

afterAll(async () => {
  await lab.close();
  await directory[Symbol.asyncDispose]();
});

const range = between("2026-04-01", "2026-05-01", { timeZone: "Europe/Rome" });
const ASKS: Record<string, (lab: Lab) => Promise<Result>> = {
  "measurements.counts": ({ measurements }) =>
    measurements.counts({
      range,
      by: ["software_version"],
      top: 3,
      where: { software_version: prefix("3") },
    }),
  "measurements.runs": ({ measurements }) => measurements.runs({ range, every: "week" }),
  "measurements.runDurations": ({ measurements }) =>
    measurements.runDurations({ range, every: "week", by: "software_version", quantiles: [0.5] }),
  "measurements.summary": ({ measurements }) => measurements.summary({ range }),
  "measurements.duplicates": ({ measurements }) => measurements.duplicates({ range }),
  "logs.rates": ({ logs }) => logs.rates({ range, every: "day", by: "identifier", top: Infinity }),
  "logs.search": ({ logs }) => logs.search({ range, contains: "o", limit: 5 }),
  "logs.patterns": ({ logs }) => logs.patterns({ range }),
  "testHelpers.list": ({ testHelpers }) => testHelpers.list(),
  "testHelpers.instances": ({ testHelpers }) => testHelpers.instances({ closestHours: 12 }),
  "testHelpers.rotations": ({ testHelpers }) => testHelpers.rotations(),
  query: (each) =>
    each.query(
      "SELECT probe_cc, count() AS n FROM fastpath WHERE {range} AND test_name IN {tests:Array(String)} GROUP BY probe_cc ORDER BY n DESC, probe_cc",
      { range, params: { tests: ["web_connectivity"] } },
    ),
  "measurements.values": ({ measurements }) =>
    measurements.values({ range: last("2 days", { now: new Date("2026-05-01") }), y: "probe_asn" }),
};

const week = last("1 week", { now: range.end });
const hours = (each: Lab) =>
  each.measurements.counts({ range, every: "hour", by: "software_name", top: 2 });
const own = (each: Lab) =>
  each.query(
    "SELECT toStartOfHour(measurement_start_time) AS t, count() AS n FROM fastpath WHERE {range} GROUP BY t ORDER BY t",
    { range, columns: { t: "hour", n: count() } },
  );
const FINDINGS: Record<string, (lab: Lab) => Promise<Result>> = {
  explain: async ({ runs }) =>
    (
      await explain(runs, {
        measure: quantile(0.5, "duration"),
        before: between("2026-04-01", "2026-04-15"),
        after: between("2026-04-15", "2026-04-29"),
      })
    ).result,
  compare: async ({ logs }) => (await compare(logs, { now: week, dimensions: ["host"] })).result,
  changePoints: async (each) => (await changePoints(hours(each))).result,
  forecast: async (each) => (await forecast(own(each), { ahead: "1 day" })).result,
  alarm: async (each) => (await alarm(hours(each), { falseAlarms: 4 })).result,
  "alarm.buckets": async (each) => (await alarm(own(each))).buckets,
  funnel: async (each) => (await each.funnel({ range: week })).result,
};

describe("askAgain(lab, question)", () => {
  it.each(Object.keys(FINDINGS))("gives the same table of %s", async (name) => {
    const first = await FINDINGS[name]!(lab);
    const asked = JSON.parse(JSON.stringify(first.origin.question)) as Question;
    expect(asked.ask).toBe(name);
    const second = await askAgain(lab, asked);
    expect(second.rows()).toEqual(first.rows());
    expect(second.origin.question).toEqual(asked);
  });

  it("isn't offered for what is told of rows that were changed", async () => {
    const some = (await hours(lab)).filter(({ software_name }) => software_name !== null);
    expect((await changePoints(some)).result.origin.question).toBeUndefined();
  });

  it("tells the SQL that a forecast stands on", async () => {
    const { question } = (await FINDINGS["forecast"]!(lab)).origin;
    expect(derivedQuestion(question!)?.ask).toBe("query");
    expect(derivedQuestion({ ask: "query", arguments: [] })).toBeUndefined();
  });

  it.each(Object.keys(ASKS))(
    "gives the same rows for %s, from the question in JSON",
    async (name) => {
      const first = await ASKS[name]?.(lab);
      const asked = JSON.parse(JSON.stringify(first?.origin.question)) as Question;
      expect(asked.ask).toBe(name);
      const second = await askAgain(lab, asked);
      expect(second.rows().length).toBeGreaterThan(0);
      expect(second.rows()).toEqual(first?.rows());
      expect(second.origin.question).toEqual(asked);
    },
  );

  it("asks again what older versions called values", async () => {
    const first = await lab.values({ range: last("2 days", { now: lab.now }), y: "probe_asn" });
    const { question } = first.origin;
    expect(question?.ask).toBe("measurements.values");
    const again = await askAgain(lab, { ...(question as Question), ask: "values" });
    expect(again.rows()).toEqual(first.rows());
  });

  it("asks the parts of a rotation again for the range that they were asked for", async () => {
    const rotation = await lab.testHelpers.rotation();
    for (const part of ["instances", "rotations"] as const) {
      const { question } = rotation[part].origin;
      expect(question?.ask).toBe(`testHelpers.${part}`);
      expect((await lab.testHelpers[part]()).origin.question).toEqual(question);
      const again = await askAgain(lab, question as Question);
      expect(again.rows()).toEqual(rotation[part].rows());
      expect(again.origin.range).toEqual(rotation[part].origin.range);
    }
  });

  it("is not offered for rows that were changed after the answer", async () => {
    const counts = await lab.measurements.counts({ range, every: "week" });
    expect(counts.with(counts.table).origin.question).toBeDefined();
    expect(counts.with(counts.table.slice(0, 2)).origin.question).toBeUndefined();
  });

  it.each(["close", "measurements", "measurements.constructor", "logs.follow", "x.y", ""])(
    "refuses %j, which is no question of the lab",
    async (ask) => {
      await expect(askAgain(lab, { ask, arguments: [] })).rejects.toThrow(/has no such question/);
      expect((await lab.testHelpers.list()).numRows).toBeGreaterThan(0);
    },
  );
});
