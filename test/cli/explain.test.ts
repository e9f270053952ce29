import { beforeAll, expect, test } from "vitest";
import { probelab } from "../support/command.js";
import { ownDatabase } from "../support/own-database.js";

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
  expect(out).toMatch(/\ndimension +value +before +now +change +95 % interval +part\n/);
  expect(out).toMatch(
    /\nprobe_cc +IT +[\d,]+ +[\d,]+ +−[\d,]+ +−6\d % +−[\d,]+ to −[\d,]+ +\d+ %\n/,
  );
  const [sentence = ""] = out.split("\n\n");
  expect(sentence.replace(/\s+/g, " ")).toMatch(/^Measurements fell by .*\. probe_cc IT fell by /);
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
