import { expect, test } from "vitest";
import { between, explain } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const database = ownDatabase();
const RANGES = {
  before: between("2026-05-04", "2026-05-11"),
  after: between("2026-05-11", "2026-05-18"),
};

/** Two weeks with a run of ten measurements every five minutes; `id` of the later week, and what is lost. */
async function explained(id: string, lost = "0") {
  await database.writer.command(
    `CREATE OR REPLACE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
     SELECT toDateTime('2026-05-04 00:00:00', 'UTC') + run * 300 + number % 10 * 5 AS measurement_start_time,
       intDiv(number, 10) AS run, ['probe-cli', 'probe-desktop'][1 + cityHash64(run, 1) % 2] AS software_name, '3.20.0' AS software_version,
       ['IT', 'DE', 'US', 'BR'][1 + cityHash64(run, 2) % 4] AS probe_cc, 'web_connectivity' AS test_name,
       run >= 2016 AS later, if(later, ${id}, toString(run)) AS report_id
     FROM numbers(2 * 20160) WHERE NOT (later AND ${lost})`,
  );
  await using lab = await database.open();
  return explain(lab.measurements, RANGES);
}

const LOST_US = "probe_cc = 'US' AND cityHash64(run, 3) % 10 < 8";

test("rows that lost their report_id are no lost runs, and hide no real loss", async () => {
  const half =
    "if(software_name = 'probe-desktop' AND cityHash64(run, 4) % 2 = 0, '', toString(run))";
  const calm = await explained(half);
  expect(calm.found, calm.sentence).toBe(false);
  expect(calm.sentence).toMatch(/\d+ % of the measurements .*have no report_id \(0 % before\)/);
  const real = await explained(half, LOST_US);
  expect(real.sentence).toMatch(/^probe_cc US fell by [78]\d %/);
  expect(real.causes.map(({ text }) => text).join()).not.toMatch(/probe-desktop/);
});

test("an id of its own for each measurement makes runs incomparable, not a loss a rise", async () => {
  const real = await explained("toString(number)", LOST_US);
  expect(real.sentence).toMatch(/^probe_cc US fell by [78]\d %/);
  expect(real.sentence).toMatch(
    /Each measurement has a report_id of its own now, so that runs can't/,
  );
});
