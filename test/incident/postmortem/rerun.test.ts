import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chart } from "../../../src/chart/chart.js";
import { table } from "../../../src/chart/table.js";
import { openWriter } from "../../../src/database/open-writer.js";
import { postmortem } from "../../../src/incident/postmortem/postmortem.js";
import { answersText, sameAnswers } from "../../../src/incident/postmortem/verify/answers-text.js";
import { rerunPostmortem } from "../../../src/incident/postmortem/verify/rerun.js";
import { connect } from "../../../src/lab/connect.js";
import { fillSample } from "../../../src/sample/fill.js";
import { between } from "../../../src/time/time-range.js";
import { runSqlFile } from "../../support/clickhouse-client.js";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.js";

const COMMAND = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const range = between("2026-04-01", "2026-05-01");

let directory: TemporaryDirectory;
let folder = "";
let source = "";

async function write(statement: string): Promise<void> {
  const writer = await openWriter(directory.source);
  await writer.command(statement);
  await writer[Symbol.asyncDispose]();
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  source = `embedded:${directory.path}`;
  const writer = await openWriter(directory.source);
  await fillSample(writer, { rows: 60_000, end: new Date("2026-05-01T00:00:00Z") });
  await writer[Symbol.asyncDispose]();
  await using lab = await connect({ measurements: source });
  const counts = await lab.measurements.counts({ range, every: "week", by: "software_name" });
  const free = await lab.query(
    "SELECT software_name, count() AS n FROM fastpath WHERE {range} AND test_name IN {tests:Array(String)} AND probe_cc != {odd:String} GROUP BY software_name ORDER BY software_name",
    {
      range,
      params: { tests: ["web_connectivity", "it's", "tab\t\\"], odd: "line\nbreak '\\' {x}" },
    },
  );
  const lines = await lab.logs.search({ range, limit: 5 });
  const report = postmortem({ title: "T", severity: 4, detectedAt: "2026-04-20" })
    .add(chart.area(counts), { name: "counts" })
    .add(table(free), { name: "free" })
    .add(table(lines), { name: "lines" })
    .add(table(counts.with(counts.table.slice(0, 3))), { name: "cut" });
  folder = await report.save(join(directory.path, "report"));
}, 240_000);

afterAll(() => directory[Symbol.asyncDispose]());

async function rerun() {
  await using lab = await connect({ measurements: source });
  return rerunPostmortem(folder, lab, () => true);
}

async function command(...given: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, PROBELAB_MEASUREMENTS: source, PROBELAB_LOGS: source };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [COMMAND, ...given], {
      env,
    });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

describe("rerunPostmortem(folder, lab)", () => {
  test("finds every number as it was, and says what it can't ask", async () => {
    const answers = await rerun();
    expect(answers.map(({ figure }) => figure)).toEqual(["counts", "free", "lines", "cut"]);
    expect(sameAnswers(answers)).toBe(true);
    expect(answers[3]?.reason).toMatch(/rows were changed after the answer/);
    expect(answersText(answers)).toMatch(
      /The database gives the same numbers for 3 figures\. 1 figure was not asked again\./,
    );
  });

  test("the queries run as they stand in ClickHouse's own command, and give the same rows", async () => {
    const path = (name: string): string => readFileSync(join(folder, "queries", name), "utf8");
    await using lab = await connect({ measurements: source });
    const all = await lab.measurements.counts({ range, every: "all" });
    // The server has the directory for itself as long as it runs.
    const data = join(directory.path, "copy-of-data");
    await cp(join(directory.path, "data"), join(data, "data"), { recursive: true });
    await rm(join(data, "data", "status"), { force: true });
    const counts = runSqlFile(path("counts.sql"), directory.path, data);
    const total = counts.reduce((sum, row) => sum + Number(row["_rows"]), 0);
    expect(total).toBe(all.column("measurements")[0]);
    expect(runSqlFile(path("free.sql"), directory.path, data).length).toBeGreaterThan(1);
    expect(runSqlFile(path("lines.sql"), directory.path, data).length).toBe(6);
  });

  test("finds no change in rows that the server gives in any order, nor in arrays", async () => {
    await using lab = await connect({ measurements: source });
    const report = postmortem({ title: "Any order", severity: 4, detectedAt: "2026-04-20" });
    const questions = {
      countries: "SELECT probe_cc, count() AS n FROM fastpath WHERE {range} GROUP BY probe_cc",
      // Nothing names these rows: several countries have the same numbers.
      sizes:
        "SELECT count() % 7 AS size, sum(0.1) AS tenths FROM fastpath WHERE {range} GROUP BY probe_cc",
      arrays:
        "SELECT software_name, [toUInt8(count() % 5), 2] AS bytes, arraySort(groupUniqArray(test_name)) AS tests, [sum(0.1)] AS sums FROM fastpath WHERE {range} GROUP BY software_name",
    };
    for (const [name, sql] of Object.entries(questions))
      report.add(table(await lab.query(sql, { range })), { name });
    const any = await report.save(join(directory.path, "any-order"));
    for (let time = 0; time < 5; time++) {
      const refused = await rerunPostmortem(any, lab, ({ sql }) => !sql.includes("{range}"));
      expect(refused.length).toBeGreaterThan(0);
      for (const { differences, reason } of refused) {
        expect(differences).toBeUndefined();
        expect(reason).toMatch(/its SQL was not allowed to run; say yes at the terminal/);
      }
      const answers = await rerunPostmortem(any, lab, () => true);
      expect(answersText(answers)).toMatch(
        /\nThe database gives the same numbers for 3 figures\.\n$/,
      );
      expect(answers.map(({ differences }) => differences?.keys)).toEqual([
        ["probe_cc"],
        [],
        ["software_name", "tests"],
      ]);
    }
  });

  test("names the numbers that changed: a late measurement, in its row", async () => {
    await write(
      "INSERT INTO fastpath SELECT * FROM fastpath WHERE software_name = 'probe-cli' AND measurement_start_time >= '2026-04-14' LIMIT 1",
    );
    const answers = await rerun();
    expect(sameAnswers(answers)).toBe(false);
    const [counts] = answers;
    expect(counts?.differences?.gone).toEqual([]);
    expect(counts?.differences?.changed).toHaveLength(1);
    const [change] = counts?.differences?.changed ?? [];
    expect(change).toMatchObject({ column: "measurements" });
    expect(Number(change?.now)).toBe(Number(change?.before) + 1);
    expect(answersText(answers)).toMatch(
      /CHANGED +counts: asked again, 1 difference in \d+ rows\n +2026-04-\d\d, probe-cli: measurements \d+ → \d+/,
    );
  });
});

describe("probelab postmortem verify", () => {
  test("needs no database, and exits with 0 for an intact folder", async () => {
    const { code, out } = await command("postmortem", "verify", folder);
    expect(out).toMatch(/ok +1 chart drawn again from data\/: the same pictures/);
    expect(out).toMatch(/The postmortem is as it was saved\.\n$/);
    expect(code).toBe(0);
  });

  test("--rerun --yes tells which numbers changed, and exits with 1", async () => {
    const { code, out } = await command("postmortem", "verify", folder, "--rerun", "--yes");
    expect(out).toMatch(/probe-cli: measurements/);
    expect(out).toMatch(/The database gives other numbers for [12] of 3 figures\./);
    expect(code).toBe(1);
  });

  test("exits with 1 for a file that was added", async () => {
    const copy = join(directory.path, "copy-with-more");
    await cp(folder, copy, { recursive: true });
    await cp(join(copy, "postmortem.md"), join(copy, "data", "notes.md"));
    const { code, out } = await command("postmortem", "verify", copy);
    expect(out).toMatch(/\nadded +data\/notes\.md \(not part of the postmortem\)\n/);
    expect(out).toMatch(/\nThe postmortem is as it was saved, but for 1 added file\.\n$/);
    expect(code).toBe(1);
  });

  test("exits with 1 for a file that was changed, and for a folder without a postmortem", async () => {
    const copy = join(directory.path, "copy");
    await cp(folder, copy, { recursive: true });
    await cp(join(copy, "postmortem.md"), join(copy, "postmortem.html"));
    const changed = await command("postmortem", "verify", copy);
    expect(changed.out).toMatch(/CHANGED +postmortem\.html/);
    expect(changed.code).toBe(1);
    const none = await command("postmortem", "verify", directory.path);
    expect(none.err).toMatch(/Can't verify .*: it has no manifest\.json/);
    expect(none.code).toBe(1);
  });
});
