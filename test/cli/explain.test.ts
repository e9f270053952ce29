import { beforeAll, expect, test } from "vitest";
import { openIncident, readIncident } from "../../src/incident/living.js";
import { probelab } from "../support/command.js";
import { newDatabase, ownDatabase } from "../support/own-database.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const database = ownDatabase();

/** Two weeks up to now; of the last day two thirds of Italy's rows are gone. */
beforeAll(async () => {
  await database.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String, test_name String)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await database.writer.command(
    `INSERT INTO fastpath SELECT now() - number * 20, toString(number), ['IT', 'FR', 'US', '\u202Eodd'][1 + cityHash64(1, number) % 4] AS cc,
       ['web_connectivity', 'dnscheck'][1 + cityHash64(2, number) % 2]
     FROM numbers(60480) WHERE NOT (cc = 'IT' AND number < 4320 AND cityHash64(3, number) % 3 > 0)`,
  );
});

const explain = (...args: string[]) =>
  probelab(["explain", ...args], { env: { PROBELAB_MEASUREMENTS: database.url } });

test("probelab explain prints what is behind it and the table, and ends with 8", async () => {
  const { code, out, err } = await explain("--last", "24h");
  expect(err).toBe("");
  expect(code).toBe(8);
  expect(out).toMatch(/\ndimension +value +before +now +change +95 % interval\n/);
  expect(out).toMatch(/\nprobe_cc +IT +[\d,]+ +[\d,]+ +−[\d,]+ +−6\d % +−[\d,]+ to −[\d,]+\n/);
  const [sentence = ""] = out.split("\n\n");
  expect(sentence.replace(/\s+/g, " ")).toMatch(
    /^probe_cc IT fell by 6\d % \([\d,]+ measurements\)\. From [\d,]+ to [\d,]+ measurements/,
  );
  expect(out.replace(/\s+/g, " ")).toMatch(/Measurements fell by [\d,]+/);
  expect(out).toContain("<U+202E>odd");
  expect(out).not.toContain("\u202e");
});

test("probelab explain --json gives both findings, and 0 where nothing changed", async () => {
  const [italy, france] = await Promise.all([
    explain("--json", "--by", "probe_cc, test_name"),
    explain("--json", "--where", "probe_cc=FR", "--where", "probe_cc=US"),
  ]);
  expect(italy.code).toBe(8);
  expect(JSON.parse(italy.out)).toMatchObject({
    found: true,
    explain: { found: true, causes: [{ where: { probe_cc: "IT" } }] },
  });
  expect(france.code).toBe(0);
  expect(JSON.parse(france.out)).toMatchObject({ found: false, explain: { causes: [] } });
});

test("probelab explain gives no all-clear above a row whose interval leaves out what is usual", async () => {
  // A third of one of five countries, of some 170 rows each: more than usual, and too few to name.
  await using thin = await newDatabase();
  await thin.writer.command(
    `CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
     SELECT now() - number * 700 AS measurement_start_time, toString(number) AS report_id,
       ['IT', 'FR', 'US', 'DE', 'BR'][1 + number % 5] AS probe_cc, 'web_connectivity' AS test_name
     FROM numbers(1728) WHERE NOT (probe_cc = 'IT' AND number < 864 AND cityHash64(3, number) % 3 = 0)`,
  );
  await using home = await temporaryDirectory();
  const folder = await openIncident({ title: "Fewer", severity: 2 }, home.path, "Jo");
  const { code, out } = await probelab(["explain", "--last", "7d", "--incident", folder], {
    env: { PROBELAB_MEASUREMENTS: thin.url },
  });
  expect(code).toBe(9);
  // The headline's numbers are of all rows; the doubt stands below it.
  expect(out).toMatch(/^Nothing stands out for certain\.\nMeasurements fell by /);
  const [found] = (await readIncident(folder)).draft.findings;
  expect(found?.text).toMatch(/^Nothing stands out for certain\. Measurements /);
  expect(out).not.toMatch(/No part of it moved/);
  expect(out.replace(/\s+/g, " ")).toMatch(/The interval of probe_cc IT leaves out what is usual/);
});

test("probelab explain ends with 9 where rows are too few, and with 8 where all are gone", async () => {
  await using thin = await newDatabase();
  await thin.writer.command(
    `CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
     SELECT now() - number * 20000 AS measurement_start_time, toString(number) AS report_id,
       ['IT', 'FR'][1 + number % 2] AS probe_cc, 'web_connectivity' AS test_name
     FROM numbers(61)`,
  );
  // Of the later week hardly a row is left: the present of a table is its last row.
  await using gone = await newDatabase();
  await gone.writer.command(
    `CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
     SELECT now() - 86400 * 7 - number * 160 AS measurement_start_time, toString(number) AS report_id,
       ['IT', 'FR'][1 + number % 2] AS probe_cc, 'web_connectivity' AS test_name
     FROM numbers(3645)`,
  );
  const asked = (database: { readonly url: string }, ...args: string[]) =>
    probelab(["explain", "--last", "7d", ...args], {
      env: { PROBELAB_MEASUREMENTS: database.url },
    });
  const [few, none, all] = await Promise.all([
    asked(thin),
    asked(thin, "--where", "probe_cc=XX"),
    asked(gone),
  ]);
  expect(few.code).toBe(9);
  expect(few.out).toMatch(/^I can't tell whether a part of it moved: too few rows\./);
  expect(few.out.replace(/\s+/g, " ")).toMatch(
    /not even the loss of half of them would be certain/,
  );
  expect(none.code).toBe(9);
  expect(none.out).toMatch(
    /^I can't tell what changed\.\nNo measurement of .* has probe_cc XX; the range holds /,
  );
  expect(all.code).toBe(8);
  expect(all.out).toMatch(/^All measurements are gone: 3,6\d\d before, none now\./);
});

test("probelab explain refuses what it can't ask, with 1", async () => {
  const [column, rows] = await Promise.all([
    explain("--by", "probe_c"),
    explain("--of", "measurement"),
  ]);
  expect(column).toMatchObject({ code: 1, out: "" });
  expect(column.err).toMatch(/Can't find a column "probe_c" in fastpath: did you mean probe_cc\?/);
  expect(rows.code).toBe(1);
  expect(rows.err).toMatch(/Allowed choices are measurements, runs, logs/);
});
