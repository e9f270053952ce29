import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { fillSample } from "../../src/sample/fill.js";
import { newDatabase } from "../support/own-database.js";
import { runDoc } from "./run-doc.js";

const PYTHON = process.env["PROBELAB_TEST_LAB_PYTHON"] ?? "python3";
afterEach(() => void vi.unstubAllEnvs());
const there = spawnSync(PYTHON, ["-c", "import pandas, altair"]).status === 0;

/** What each task leaves, and the columns that tell its numbers: keys first, the rest are numbers. */
const TASKS = {
  counts: ["t", "software_version|version", "measurements"],
  durations: ["t", "software_name", "runs", "q10", "q50", "q90"],
  countries: ["t", "probe_cc", "measurements"],
  anomalies: ["probe_cc", "share", "share_low", "share_high"],
  hours: ["weekday", "hour|hour_of_day", "measurements"],
  networks: ["probe_asn", "measurements"],
  weekly: ["t", "probe_cc", "measurements", "change"],
  joined: ["t", "probe_cc", "measurements", "hours"],
} as const;

type Row = Record<string, string | number | null>;

/** The rows of a task in one form, however a side writes them; rows without anything counted are left out. */
function numbers(rows: readonly Row[], columns: readonly string[]) {
  const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
  const cell = (row: Row, column: string) => {
    const value = column.split("|").map((name) => row[name]).find((each) => each !== undefined);
    if (column === "t") return new Date(String(value).slice(0, 10)).toISOString();
    if (column === "weekday" && typeof value === "number") return days[value - 1];
    if (column.startsWith("hour")) return Number(value);
    if (column === "probe_asn") return String(value);
    return value;
  };
  return rows
    .filter((row) => row["measurements"] !== 0 && row["runs"] !== 0)
    .map((row) => columns.map((column) => cell(row, column)))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** A row whose numbers may differ in what floating point rounds. */
function close(row: readonly unknown[]): unknown[] {
  return row.map((value) => (typeof value === "number" ? (expect.closeTo(value, 5) as unknown) : value));
}

it(
  `docs/python.md: every example runs; pandas and probelab give the same numbers${there ? "" : " (not compared: no pandas)"}, and only the task that it names is longer here`,
  async () => {
    await using database = await newDatabase();
    await fillSample(database.writer, { rows: 200_000 });
    vi.stubEnv("PROBELAB_MEASUREMENTS", database.url);
    const names = Object.keys(TASKS).join(", ");
    await using doc = await runDoc("docs/python.md", {
      last: `import { writeFileSync } from "node:fs";
const results = { ${names} };
writeFileSync("here.json", JSON.stringify({ now: lab.now, ...Object.fromEntries(Object.entries(results).map(([name, result]) => [name, result.rows()])) }));`,
    });
    const here = JSON.parse(readFileSync(join(doc.folder, "here.json"), "utf8")) as Record<string, Row[]> & { now: string };
    const python = [...doc.text.matchAll(/```py\n(.*?)```/gs)].map(([, code = ""]) => code);
    expect(python).toHaveLength(doc.examples.length);
    const longer = doc.examples.flatMap(({ code }, at) => (code.length > python[at]!.length ? [at] : []));
    expect(longer).toEqual([9]);
    if (!there) return;
    const server = new URL(database.url);
    const login = { user: server.username, password: server.password, database: server.pathname.slice(1) };
    const unquoted = { output_format_json_quote_64bit_integers: "0" };
    // Rows have whole seconds, so the next whole second ends the same rows as the range here.
    const end = new Date(Math.ceil(Date.parse(here.now) / 1000) * 1000).toISOString().slice(0, 19).replace("T", " ");
    const dump = `json.dump({${Object.keys(TASKS).map((name) => `"${name}": json.loads(${name}.to_json(orient="records"))`).join(", ")}}, open("there.json", "w"))`;
    const { stderr, status } = spawnSync(PYTHON, ["-c", [...python, dump].join("\n")], {
      cwd: doc.folder,
      encoding: "utf8",
      env: { ...process.env, CLICKHOUSE: `${server.origin}/?${new URLSearchParams({ ...login, ...unquoted }).toString()}`, END: end },
    });
    expect(status, stderr).toBe(0);
    const told = JSON.parse(readFileSync(join(doc.folder, "there.json"), "utf8")) as Record<string, Row[]>;
    for (const [name, columns] of Object.entries(TASKS)) {
      const [ours, theirs] = [here, told].map((each) => numbers(each[name]!, columns));
      expect(ours!.length, name).toBeGreaterThan(1);
      expect(ours, name).toEqual(theirs!.map(close));
    }
  },
  300_000,
);
