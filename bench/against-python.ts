/**
 * The same question on the same rows from question to picture, beside what a user would pick instead:
 * pandas with Altair (the engine counts, or pandas does) and with matplotlib. As a script, as a notebook
 * that is run headless (cold: `probelab run`, `jupyter nbconvert --execute`), and in a kernel that runs
 * (warm). ROWS and ROUNDS choose sizes and repetitions, PYTHON the interpreters, by default those of a
 * clone's environment (against-python/requirements.txt says how it is made) and of the system.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Database } from "../src/database/database.js";
import { EMBEDDED_DATABASE, readRecord } from "../src/database/embedded/directory.js";
import { processEnvironment } from "../src/kernel/kernelspec.js";
import * as cells from "./against-python/cells.js";
import { costOf, memoryOf, type Cost } from "./against-python/processes.js";
import { KernelClient } from "./support/kernel-client.js";
import { report } from "./support/report.js";
import { sampleDatabase } from "./support/sample-database.js";

const sizes = (process.env["ROWS"] ?? "5000000,20000000").split(",").map(Number);
const rounds = Number(process.env["ROUNDS"] ?? 5);
const pythons = (
  process.env["PYTHON"] ?? `${resolve(".venv", "lab", "bin", "python")},/usr/bin/python3`
).split(",");

/** A way from the question to the pictures. */
interface Way {
  readonly name: string;
  readonly cells: cells.Cells;
  /** An interpreter that has what the cells import; undefined for probelab. */
  readonly python?: string;
  /** Whether it makes the pictures; one that leaves them to a browser counts in no ratio. */
  readonly draws: boolean;
}

const ways: readonly [Way, ...Way[]] = [
  { name: "probelab", cells: cells.probelab, draws: true },
  ...withPython("pandas + Altair, SQL counts", cells.altairSql, "altair"),
  ...withPython("pandas + Altair, raw rows", cells.altairRaw, "altair"),
  ...withPython("pandas + matplotlib, SQL counts", cells.matplotlibSql, "matplotlib"),
];

const UNCHANGED = "probelab, unchanged since it ran";
const MODES = ["script", "cold notebook", "warm kernel"] as const;
type Mode = (typeof MODES)[number];

const rows: Record<string, string | number>[] = [];
const metrics: Record<string, number> = {};
for (const size of sizes) await atSize(size);
report("against-python", rows, metrics);

async function atSize(size: number): Promise<void> {
  const source = await sampleDatabase(size);
  if (source.kind !== "embedded") throw new Error("the sample is embedded");
  // Both ask the server that this process keeps: its start is in nobody's time.
  await using database = await Database.open(source);
  await database.ask({ sql: "SELECT 1 AS one", parameters: {}, action: "ask" });
  const server = readRecord(source.directory);
  if (server === null) throw new Error(`no server in ${source.directory}`);
  const env = {
    ...process.env,
    PROBELAB_MEASUREMENTS: `embedded:${source.directory}`,
    CLICKHOUSE: `http://127.0.0.1:${server.port}/?database=${EMBEDDED_DATABASE}`,
    TOKEN: server.token,
  };
  const folder = mkdtempSync(join(tmpdir(), "against-python-"));
  const costs = new Map<string, Cost[]>();
  const note = (mode: Mode, { name }: Way, cost: Cost) => {
    const key = `${mode}\n${name}`;
    costs.set(key, [...(costs.get(key) ?? []), cost]);
  };
  try {
    for (const way of ways) writeFiles(folder, way);
    for (let round = 0; round < rounds; round++) {
      for (const way of ways) {
        const cwd = folderOf(folder, way);
        note("script", way, await costOf(...scriptOf(way), { cwd, env }));
        // An edited notebook: TypeScript judges it anew. A comment would not make it do so.
        writeNotebook(cwd, way, round);
        note("cold notebook", way, await costOf(...notebookOf(way), { cwd, env }));
        if (way.python !== undefined) continue;
        const again = { ...way, name: UNCHANGED };
        note("cold notebook", again, await costOf(...notebookOf(way), { cwd, env }));
      }
    }
    for (const way of ways) {
      const cwd = folderOf(folder, way);
      for (const cost of await warm(way, env, cwd, true)) note("warm kernel", way, cost);
      if (way.python !== undefined) continue;
      const again = { ...way, name: UNCHANGED };
      for (const cost of await warm(way, env, cwd, false)) note("warm kernel", again, cost);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  summarise(size, costs);
}

/** Medians of each mode and way, and how many times probelab's they are. */
function summarise(size: number, costs: ReadonlyMap<string, readonly Cost[]>): void {
  const millions = `${size / 1e6}M`;
  for (const mode of MODES) {
    const of = ({ name }: Way, what: keyof Cost) =>
      median((costs.get(`${mode}\n${name}`) ?? []).map((cost) => cost[what]));
    const [own] = ways;
    const again = { ...own, name: UNCHANGED };
    for (const way of mode === "script" ? ways : [own, again, ...ways.slice(1)]) {
      const ratio = (what: keyof Cost) => of(way, what) / of(own, what);
      rows.push({
        rows: millions,
        as: mode,
        way: way.name,
        s: of(way, "seconds").toFixed(2),
        "s of CPU": of(way, "cpu").toFixed(2),
        MB: Math.round(of(way, "memory")),
        ...(way !== own && {
          times: ratio("seconds").toFixed(1),
          "times the CPU": ratio("cpu").toFixed(1),
          "times the memory": ratio("memory").toFixed(1),
        }),
      });
    }
    const drawn = ways.slice(1).filter(({ draws }) => draws);
    const least = (what: keyof Cost) =>
      Math.min(...drawn.map((way) => of(way, what) / of(own, what)));
    if (drawn.length === 0) continue;
    const name = mode === "script" ? "script" : mode === "warm kernel" ? "warm" : "cold_run";
    metrics[`${name}_ratio_${millions}`] = least("seconds");
    metrics[`${name}_cpu_ratio_${millions}`] = least("cpu");
    if (mode === "cold notebook") metrics[`memory_ratio_${millions}`] = least("memory");
    if (mode === "warm kernel") metrics[`warm_memory_ratio_${millions}`] = least("memory");
  }
}

/** The cells again and again, edited or not, in a kernel that has run them. */
async function warm(
  way: Way,
  env: NodeJS.ProcessEnv,
  cwd: string,
  isEdited: boolean,
): Promise<Cost[]> {
  await using kernel = new KernelClient();
  const { python } = way;
  if (python === undefined) {
    const launch = resolve("dist", "kernel", "kernel-launch.js");
    await kernel.start((file) => [launch, file], { ...env, ...processEnvironment }, { cwd });
  } else {
    const start = (file: string) => ["-m", "ipykernel_launcher", "-f", file];
    await kernel.start(start, env, { cwd, program: python });
  }
  const [setup, ...questions] = way.cells;
  for (const cell of [setup, ...questions, ...questions]) await kernel.run(cell);
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round++) {
    const [begun, cpu] = [performance.now(), kernel.cpu()];
    for (const cell of questions)
      await kernel.run(isEdited ? `${cell}\n${edit(way, round)}` : cell);
    const seconds = (performance.now() - begun) / 1000;
    costs.push({ seconds, cpu: kernel.cpu() - cpu, memory: await memoryOf(kernel.pid) });
  }
  return costs;
}

function folderOf(folder: string, { name }: Way): string {
  return join(folder, name.replace(/\W+/g, "-"));
}

function writeFiles(folder: string, way: Way): void {
  const own = folderOf(folder, way);
  mkdirSync(own);
  const script = way.cells
    .join("\n")
    .replace('"probelab"', JSON.stringify(resolve("dist", "index.js")));
  writeFileSync(join(own, way.python === undefined ? "question.mjs" : "question.py"), script);
}

/** What an edit leaves in a cell: code, for TypeScript to judge. */
function edit({ python }: Way, round: number): string {
  return `${python === undefined ? "let " : ""}edited = ${round}`;
}

function writeNotebook(folder: string, way: Way, round: number): void {
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata:
      way.python === undefined ? {} : { kernelspec: { name: "python3", display_name: "Python 3" } },
    cells: [...way.cells, edit(way, round)].map((source, index) => ({
      cell_type: "code",
      id: `cell-${index}`,
      metadata: {},
      execution_count: null,
      outputs: [],
      source,
    })),
  };
  writeFileSync(join(folder, "question.ipynb"), JSON.stringify(notebook));
}

function scriptOf({ python }: Way): [string, string[]] {
  return python === undefined ? [process.execPath, ["question.mjs"]] : [python, ["question.py"]];
}

function notebookOf({ python }: Way): [string, string[]] {
  const main = resolve("dist", "cli", "main.js");
  if (python === undefined) return [process.execPath, [main, "run", "question.ipynb"]];
  const execute = ["nbconvert", "--to", "notebook", "--execute", "--output-dir", "out"];
  return [python, ["-m", ...execute, "question.ipynb"]];
}

/** A way for the first interpreter that has its packages; none, and a line that says so, where none has. */
function withPython(name: string, own: cells.Cells, library: string): Way[] {
  const code = `import pandas, ${library}, nbconvert, ipykernel`;
  const python = pythons.find(
    (path) => existsSync(path) && spawnSync(path, ["-c", code]).status === 0,
  );
  if (python === undefined) {
    console.error(
      `${name}: left out, no Python here has pandas, ${library}, nbconvert and ipykernel.`,
    );
    return [];
  }
  const has = (module: string) => spawnSync(python, ["-c", `import ${module}`]).status === 0;
  if (!has("pyarrow")) console.error(`${name}: ${python} has no pyarrow; rows come as CSV.`);
  const draws = library !== "altair" || has("vl_convert");
  return [{ name: draws ? name : `${name}, no PNGs (no vl-convert)`, cells: own, python, draws }];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
