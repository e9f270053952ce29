import { expect, test } from "vitest";
import { between, explain, quantile } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const before = between("2026-04-06", "2026-04-13");
const after = between("2026-04-13", "2026-04-20");

test("explain of a median names the release whose runs are shorter; its parts add up to the median's change", async () => {
  // Runs of two measurements: app 1.0 takes 80 to 120 s; the second week half of its runs are of 1.1, 20 to 40 s.
  await own.writer.command(
    `CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
     WITH intDiv(number, 2) AS run, run >= 6000 AS late,
       late AND run % 2 = 1 AS short
     SELECT toDateTime('2026-04-06', 'UTC') + (run % 6000) * 90 + late * 604800
         + (number % 2) * if(short, 20 + run % 21, 80 + run % 41) AS measurement_start_time,
       toString(run) AS report_id, 'app' AS software_name, if(short, '1.1', '1.0') AS software_version,
       ['IT', 'DE', 'US'][1 + run % 3] AS probe_cc
     FROM numbers(24000)`,
  );
  await using lab = await own.open();
  const measure = quantile(0.5, "duration");
  const median = async (range: typeof before) =>
    (await lab.runs.ask({ range, every: "all", measures: { measure } })).column("measure")[0];
  const found = await explain(lab.runs, { measure, before, after });
  expect([found.before, found.after]).toEqual([await median(before), await median(after)]);
  expect(found.sentence).toMatch(
    /^app 1\.1 has shorter runs\..* Median run duration fell by .* from 100 s to \d+ s/,
  );
  expect(found.sentence).toContain("1.1");
  expect(found.causes[0]!.where).toMatchObject({ software_version: "1.1" });
  const parts = [...found.causes, found.rest].reduce((sum, { change }) => sum + change, 0);
  expect(parts).toBeCloseTo(found.after! - found.before!, 6);
});
