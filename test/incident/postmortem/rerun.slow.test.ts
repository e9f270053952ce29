import { execFile, spawnSync } from "node:child_process";
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
import { answersText, sameAnswers } from "../../../src/incident/postmortem/verify/texts.js";
import { rerunPostmortem } from "../../../src/incident/postmortem/verify/rerun.js";
import { connect } from "../../../src/lab/connect.js";
import { fillSample } from "../../../src/sample/fill.js";
import { between } from "../../../src/time/time-range.js";
import { runSqlFile } from "../../support/clickhouse-client.js";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.js";

const COMMAND = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
/** A name that renames the terminal's window, goes on in a line of its own, and reads backwards. */
const ODD = "notes \u202edm.\x1b]0;mine\x07\nok all is well\x9b2J.md";
const range = between("2026-04-01", "2026-05-01");

let directory: TemporaryDirectory;
let folder = "";
/** A report of free SQL alone. */
let own = "";
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
  await fillSample(writer, { rows: 20_000, end: new Date("2026-05-01T00:00:00Z") });
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
  const any = postmortem({ title: "Any order", severity: 4, detectedAt: "2026-04-20" });
  const questions = {
    countries: "SELECT probe_cc, count() AS n FROM fastpath WHERE {range} GROUP BY probe_cc",
    // Nothing names these rows: several countries have the same numbers.
    sizes:
      "SELECT count() % 7 AS size, sum(0.1) AS tenths FROM fastpath WHERE {range} GROUP BY probe_cc",
    arrays:
      "SELECT software_name, [toUInt8(count() % 5), 2] AS bytes, arraySort(groupUniqArray(test_name)) AS tests, [sum(0.1)] AS sums FROM fastpath WHERE {range} GROUP BY software_name",
  };
  for (const [name, sql] of Object.entries(questions))
    any.add(table(await lab.query(sql, { range })), { name });
  own = await any.save(join(directory.path, "any-order"));
}, 240_000);

afterAll(() => directory[Symbol.asyncDispose]());

async function rerun() {
  await using lab = await connect({ measurements: source });
  return rerunPostmortem(folder, lab, () => true);
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function ended(program: string, ...given: string[]): Promise<Ended> {
  const env = { ...process.env, PROBELAB_MEASUREMENTS: source, PROBELAB_LOGS: source };
  try {
    const { stdout, stderr } = await promisify(execFile)(program, given, { env });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

const verify = (...given: string[]) =>
  ended(process.execPath, COMMAND, "postmortem", "verify", ...given);

/** Types an answer at each prompt of a terminal, and prints what stands there at the end. */
const TERMINAL = `
import os, pty, sys
answers, command = sys.argv[1].split(","), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
said = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        part = b""
    if not part:
        break
    said += part
    while answers and said.count(b"[y/N]") > len(sys.argv[1].split(",")) - len(answers):
        os.write(terminal, answers.pop(0).encode() + b"\\r")
sys.stdout.buffer.write(said.replace(b"\\r\\n", b"\\n"))
sys.exit(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))
`;

const verifyAtTerminal = (answers: readonly string[], ...given: string[]) =>
  ended(
    "python3",
    ...["-c", TERMINAL, answers.join(",")],
    ...[process.execPath, COMMAND, "postmortem", "verify", ...given],
  );
const hasTerminal = spawnSync("python3", ["-c", "import pty"]).status === 0;

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
    for (let time = 0; time < 5; time++) {
      const refused = await rerunPostmortem(own, lab, ({ sql }) => !sql.includes("{range}"));
      expect(refused.length).toBeGreaterThan(0);
      for (const { differences, reason } of refused) {
        expect(differences).toBeUndefined();
        expect(reason).toMatch(/its SQL was not allowed to run; say yes at the terminal/);
      }
      const answers = await rerunPostmortem(own, lab, () => true);
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
  test("needs no database; --rerun --yes shows its SQL, and tells which numbers changed", async () => {
    // Of tables alone: a chart that is drawn again takes seconds.
    const [{ code, out }, again] = await Promise.all([
      verify(own),
      verify(folder, "--rerun", "--yes"),
    ]);
    expect(out).toMatch(/The postmortem is as it was saved\.\n$/);
    expect(code).toBe(0);
    expect(again.out).toMatch(/ok +1 chart drawn again from data\/: the same pictures/);
    expect(again.out).toMatch(/\nThe postmortem is as it was saved\.\n/);
    expect(again.out).toMatch(/\nfree was asked by SQL of its own:\n +SELECT software_name, count/);
    expect(again.out).toMatch(/\nwith .*"odd":"line\\nbreak/);
    expect(again.out).toMatch(/free: asked again/);
    expect(again.out).toMatch(/probe-cli: measurements/);
    expect(again.out).toMatch(/The database gives other numbers for [12] of 3 figures\./);
    expect(again.code).toBe(1);
  });

  test.skipIf(!hasTerminal)(
    "--rerun shows each SQL and asks before it runs; without a terminal it runs none",
    async () => {
      const [asked, none] = await Promise.all([
        verifyAtTerminal(["y", "n", ""], own, "--rerun"),
        verify(own, "--rerun"),
      ]);
      const prompt = "Run it on your database\\? \\[y/N\\] ";
      expect(asked.out).toMatch(
        new RegExp(
          `countries was asked by SQL of its own:\\n +SELECT probe_cc,[^]*${prompt}[^]*\\nsizes was asked by[^]*count\\(\\) % 7[^]*${prompt}[^]*\\narrays was asked[^]*${prompt}[^]*\\nAsked again of `,
        ),
      );
      expect(asked.out).toMatch(/countries: asked again/);
      const refused =
        /not asked +(sizes|arrays|countries): its SQL was not allowed to run; say yes/g;
      expect([...asked.out.matchAll(refused)].map(([, name]) => name)).toEqual(["sizes", "arrays"]);
      expect(asked.out).toMatch(/2 figures were not asked again\./);
      expect(none.out).toMatch(/\nsizes was asked by SQL of its own:\n/);
      expect(none.out).not.toMatch(/Run it on your database/);
      expect([...none.out.matchAll(refused)]).toHaveLength(3);
      expect(none.out).toMatch(/\n3 figures were not asked again\.\n$/);
    },
  );

  test("exits with 1 for a file that was added or changed, and for a folder without a postmortem", async () => {
    const copyOf = async (name: string, made: string): Promise<string> => {
      const copy = join(directory.path, name);
      await cp(own, copy, { recursive: true });
      await cp(join(copy, "postmortem.md"), join(copy, made));
      return copy;
    };
    const [added, changed, none] = await Promise.all([
      copyOf("copy-with-more", join("data", ODD)).then((copy) => verify(copy)),
      copyOf("copy", "postmortem.html").then((copy) => verify(copy)),
      verify(directory.path),
    ]);
    expect(added.out).toMatch(
      /\nadded +data\/notes <U\+202E>dm\. .*\.md \(not part of the postmortem\)\n/,
    );
    expect(added.out).not.toMatch(/[^\n\x20-\u{1fff}…→]/u);
    expect(added.out).toMatch(/\nThe postmortem is as it was saved, but for 1 added file\.\n$/);
    expect(added.code).toBe(1);
    expect(changed.out).toMatch(/CHANGED +postmortem\.html/);
    expect(changed.code).toBe(1);
    expect(none.err).toMatch(/Can't verify .*: it has no manifest\.json/);
    expect(none.code).toBe(1);
  });
});
