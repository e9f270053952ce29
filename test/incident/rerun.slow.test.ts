import { readFileSync } from "node:fs";
import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import { between, chart, connect, count, explain, postmortem, table } from "../../src/index.js";
import { fillSample } from "../../src/sample/fill.js";
import { runSqlFile } from "../support/clickhouse-client.js";
import { probelab } from "../support/command.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

const range = between("2026-04-01", "2026-05-01");

let directory: TemporaryDirectory;
let folder = "";
let source = "";

beforeAll(async () => {
  directory = await temporaryDirectory();
  source = `embedded:${directory.path}`;
  const writer = await openWriter(directory.source);
  await fillSample(writer, { rows: 20_000, end: new Date("2026-05-01T00:00:00Z") });
  await writer[Symbol.asyncDispose]();
  await using lab = await connect({ measurements: source });
  const counts = await lab.measurements.counts({ range, every: "week", by: "software_name" });
  const free = await lab.query(
    "SELECT software_name, count() AS n FROM fastpath WHERE {range} AND test_name IN {tests:Array(String)} AND probe_cc != {odd:String} GROUP BY software_name",
    {
      range,
      params: { tests: ["web_connectivity", "it's", "tab\t\\"], odd: "line\nbreak '\\' {x}" },
    },
  );
  // Nothing names these rows: several countries have the same numbers. Arrays hold fractions.
  const sizes = await lab.query(
    "SELECT count() % 7 AS size, [sum(0.1)] AS tenths, max(measurement_start_time) AS newest FROM fastpath WHERE {range} GROUP BY probe_cc",
    { range },
  );
  const days = await lab.query(
    "SELECT countIf(message LIKE '%203.0.113.7%') AS n FROM logs WHERE {range:__REALTIME_TIMESTAMP}",
    { range },
  );
  // A secret is left out of the rows, and of the value that one query compares with.
  const links = await lab.query(
    "SELECT probe_cc, concat('https://a.example/?tok', 'en=', probe_cc) AS input FROM fastpath WHERE {range} GROUP BY probe_cc",
    { range },
  );
  const secret = await lab.query(
    "SELECT count() AS n FROM fastpath WHERE {range} AND {given:String} = concat('PGPASSW', 'ORD=hunter22')",
    { range, params: { given: "PGPASSWORD=hunter22" } },
  );
  const cause = await explain(lab.measurements, {
    measure: count(),
    before: between("2026-04-01", "2026-04-15"),
    after: between("2026-04-15", "2026-04-29"),
  });
  folder = await postmortem({ title: "T", severity: 4, detectedAt: "2026-04-20" })
    .add(chart.area(counts), { name: "counts" })
    .add(table(free), { name: "free" })
    .add(table(sizes), { name: "sizes" })
    .add(table(await lab.logs.search({ range, limit: 5 })), { name: "lines" })
    .add(table(days), { name: "masked" })
    .add(table(links), { name: "links" })
    .add(table(secret), { name: "secret" })
    .add(table(cause.result), { name: "cause" })
    .save(join(directory.path, "report"));
}, 240_000);

afterAll(() => directory[Symbol.asyncDispose]());

const verify = (...given: string[]) =>
  probelab(["postmortem", "verify", ...given], {
    env: { PROBELAB_MEASUREMENTS: source, PROBELAB_LOGS: source },
  });

test("verify needs no database; --rerun --yes shows the SQL and finds every value as it was", async () => {
  const [alone, { code, out, err }] = await Promise.all([
    verify(folder),
    verify(folder, "--rerun", "--yes"),
  ]);
  expect(alone).toMatchObject({ code: 0, err: "" });
  expect(alone.out).toMatch(/\nThe postmortem is as it was saved\.\n$/);
  expect([code, err], out).toEqual([0, ""]);
  expect(out).toMatch(
    /\nfree:\n +SELECT software_name, count\(\) AS n[^]*\nwith .*"odd":"line\\nbreak/,
  );
  for (const name of ["counts", "free", "sizes", "lines", "links"]) {
    expect(out).toMatch(new RegExp(`^ok +${name}: [\\d,]+ rows, every value as it was$`, "m"));
  }
  expect(out).toMatch(/^not asked masked: its query is masked, or no single/m);
  expect(out).toMatch(/^not asked secret: its query is masked, or no single/m);
  expect(out).not.toMatch(/hunter22/);
  expect(out).toMatch(/\nThe database gives the same values for \d figures\./);
});

test("--rerun without --yes shows the SQL of a folder and runs none", async () => {
  const { out } = await verify(folder, "--rerun");
  expect(out).toMatch(/\nfree:\n +SELECT software_name/);
  expect(out).toMatch(/not asked counts: its SQL runs only with --yes: read it above first/);
  expect(out).not.toMatch(/every value as it was/);
});

test("queries/*.sql run as they stand in ClickHouse's own command, and give the same rows", async () => {
  const sql = (name: string): string =>
    readFileSync(join(folder, "queries", `${name}.sql`), "utf8");
  await using lab = await connect({ measurements: source });
  const all = await lab.measurements.counts({ range, every: "all" });
  // The server has the directory for itself as long as it runs.
  const data = join(directory.path, "copy-of-data");
  await cp(join(directory.path, "data"), join(data, "data"), { recursive: true });
  await rm(join(data, "data", "status"), { force: true });
  const counts = runSqlFile(sql("counts"), directory.path, data);
  const total = counts.reduce((sum, row) => sum + Number(row["_rows"]), 0);
  expect(total).toBe(all.column("measurements")[0]);
  expect(runSqlFile(sql("free"), directory.path, data).length).toBeGreaterThan(1);
  expect(runSqlFile(sql("lines"), directory.path, data).length).toBe(6);
  expect(sql("secret")).toMatch(/secrets left out[^]*throwIf/);
});

test("names the rows that changed: a late measurement, as the row was and is; a changed answer is refused", async () => {
  const writer = await openWriter(directory.source);
  await writer.command(
    "INSERT INTO fastpath SELECT * FROM fastpath WHERE software_name = 'probe-cli' AND measurement_start_time >= '2026-04-14' LIMIT 1",
  );
  await writer[Symbol.asyncDispose]();
  const damaged = join(directory.path, "damaged");
  await cp(folder, damaged, { recursive: true });
  await writeFile(join(damaged, "queries", "free.json"), "x");
  const { code, out } = await verify(damaged, "--rerun", "--yes");
  expect(code).toBe(1);
  expect(out).toMatch(/^CHANGED +queries\/free\.json$/m);
  expect(out).toMatch(/^FAILED +free: queries\/free\.json is not what was saved$/m);
  const [, before, now] =
    /^CHANGED +counts: of \d+ rows some are gone or new\n +was _t 2026-04-\d\d, software_name probe-cli, _rows (\d+)\n +now .* probe-cli, _rows (\d+)$/m.exec(
      out,
    ) ?? [];
  expect(Number(now)).toBe(Number(before) + 1);
  expect(out).toMatch(
    /The database gives other values for \d of \d figures\.\n1 figure could not be asked\./,
  );
});
