import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnTypes } from "../../src/lab/column-types.js";
import { JupyterClient, jupyterEnvironment, printed, python, skipped } from "../jupyter/jupyter.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  name: string;
  version: string;
};
const NPM = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
/** Nobody's project: none of this machine's settings. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([key]) => !/^(PROBELAB_|npm_|NODE_ENV|VITEST)/.test(key)),
);

let folder: TemporaryDirectory;
let tarball: string;
let project: string;

/** Runs a command in the project. @returns what it printed on both streams */
function run(command: string, ...args: string[]) {
  const options = { cwd: project, env: environment, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  return { status, printed: `${stdout}${stderr}` };
}

// What a user has: the packed package in an empty project, from npm's cache where it holds the rest.
beforeAll(async () => {
  folder = await temporaryDirectory();
  execFileSync("npm", ["pack", "--pack-destination", folder.path, "--loglevel=error"], {
    cwd: root,
  });
  tarball = join(folder.path, `${name}-${version}.tgz`);
  project = join(folder.path, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), `{ "type": "module", "private": true }`);
  const installed = run("npm", "install", tarball, ...NPM);
  expect(installed.status, installed.printed).toBe(0);
});
afterAll(() => folder[Symbol.asyncDispose]());

test("publint and attw find nothing wrong with what is packed", async () => {
  const packed = readFileSync(tarball);
  const files = await publint({ pack: { tarball: new Uint8Array(packed).buffer } });
  const told = files.messages.map((message) => formatMessage(message, files.pkg));
  expect(told).toEqual([]);
  const types = await checkPackage(createPackageFromTarballData(packed));
  if (!types.types) throw new Error("The package has no types");
  // It is an ES module, which Node's require() loads too, as the next test tells.
  const problems = types.problems.filter(({ kind }) => kind !== "CJSResolvesToESM");
  expect(problems).toEqual([]);
});

test("what the README and the docs link to is in the package", () => {
  const own = join(project, "node_modules", name);
  const missing: string[] = [];
  const seen = new Set<string>();
  const follow = (page: string): void => {
    if (seen.has(page)) return;
    seen.add(page);
    const text = readFileSync(join(own, page), "utf8").replace(/```.*?```/gs, "");
    for (const [, link = ""] of text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const path = normalize(join(dirname(page), link));
      if (!existsSync(join(own, path))) missing.push(`${page}: ${link}`);
      else if (path.endsWith(".md")) follow(path);
    }
  };
  follow("README.md");
  expect(missing).toEqual([]);
  expect(seen.size).toBeGreaterThan(20);
});

// Only its text is compiled; nothing is asked.
const CELL = `
import { bins, chart, connect, count, last, quantile, share, table, testLists, versionPart, type ColumnTable } from "probelab";
import * as aq from "arquero";
const lab = await connect();
const range = last("3 months", { now: lab.now });
const counts = await lab.measurements.counts({ range, every: "week", by: "software_version" });
chart.area(counts, { title: "Measurements" });
const own = await lab.measurements.ask({
  range, every: "day", by: ["probe_cc", versionPart("software_version", 2), bins("test_runtime", [1, 10])],
  where: { test_runtime: { lt: 60 } },
  measures: { measurements: count(), blocked: share({ probe_cc: "IT" }) },
});
const blocked: number | null | undefined = own.rows()[0]?.blocked;
const version: string | null | undefined = own.rows()[0]?.software_version_2;
const half = own.filter((row) => row.measurements > 3);
const rows: ColumnTable = half.table.orderby("t").slice(0, 10);
table(half.with(rows.groupby("probe_cc").count()));
const runs = await lab.runs.ask({ range, by: bins("duration", [60]), measures: { q: quantile(0.5, "duration") } });
const errors = await lab.logs.rates({ range, where: { SYSLOG_IDENTIFIER: "api" } });
export const seen = [blocked, version, runs.column("q"), errors.column("per_minute")];

// What is exported can be named in the project's own declarations.
export const { query, measurements, testHelpers, logs } = lab;
export const answers = [
  own.table,
  half.with((rows) => rows.join_left(runs.table, "t")),
  await lab.measurements.values({ range, y: "test_runtime", by: "probe_cc" }),
  await lab.runs.summary({ range }),
  await lab.measurements.runDurations({ range, quantiles: [0.025] }),
  await lab.measurements.firstSeen({ range }),
  await lab.testHelpers.list(),
  (await lab.testHelpers.rotation()).instances,
  await lab.testHelpers.failureRate({ range }),
  await lab.logs.search({ range }),
  await lab.logs.bursts({ range }),
  await lab.logs.checkIn({ range }),
  await lab.logs.submissions({ range }),
  testLists.churns([]),
  await testLists.fetch({ baseUrl: "https://api.example.org", country: "IT" }),
] as const;

// Tables of the project's own Arquero are of the same type.
const given = aq.from([{ t: new Date(), n: 1 }]);
chart.line(given.derive({ twice: (d: { n: number }) => d.n * 2 }));
export const joined: aq.ColumnTable = given.join(runs.table.orderby(aq.desc("q")), "t");

// @ts-expect-error
await lab.measurements.counts({ range, by: "probe_c" });
// @ts-expect-error
await lab.measurements.counts({ range, by: [versionPart("software_versio", 2)] });
// @ts-expect-error
await lab.measurements.counts({ range, by: { runtime: bins("test_runtim", 10) } });
// @ts-expect-error
await lab.runs.summary({ range, by: ["software_name", "software_version"] });
// @ts-expect-error
await lab.runs.ask({ range, by: bins("duratio", [60]), measures: { n: count() } });
// @ts-expect-error
await lab.measurements.ask({ range, measures: { n: share({ probe_c: "IT" }) } });
// @ts-expect-error
await lab.measurements.values({ range, y: "test_runtim" });
// @ts-expect-error
await lab.testHelpers.failureRate({ range, failed: { anomal: "t" } });
// @ts-expect-error
await lab.logs.search({ range, where: { SYSLOG_IDENTIFIE: "api" } });
// @ts-expect-error
await lab.logs.rates({ range, by: versionPart("SYSLOG_IDENTIFIE", 1) });
// @ts-expect-error
half.column("probe_c");
`;

test("a strict project that checks libraries too compiles, an unknown column is an error, and import and require() take it", () => {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    module: "nodenext",
    target: "es2023",
    lib: ["es2023"],
    declaration: true,
    emitDeclarationOnly: true,
    outDir: "declared",
  };
  const files = ["cell.ts", "probelab-columns.d.ts"];
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  writeFileSync(join(project, "cell.ts"), CELL);
  writeFileSync(
    join(project, "probelab-columns.d.ts"),
    columnTypes(
      new Map([
        [
          "measurements",
          new Map([
            ["measurement_start_time", "DateTime('UTC')"],
            ["probe_cc", "LowCardinality(String)"],
            ["software_version", "String"],
            ["test_runtime", "Float64"],
          ]),
        ],
        ["logs", new Map([["SYSLOG_IDENTIFIER", "String"]])],
      ]),
    ),
  );
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  expect(run(process.execPath, tsc)).toEqual({ status: 0, printed: "" });
  const say = `console.log(last("1 day", { now: "2026-05-02" }).start.toISOString())`;
  const day = "2026-05-01T00:00:00.000Z\n";
  const imported = `const { last } = await import("probelab"); ${say}`;
  expect(run(process.execPath, "--input-type=module", "-e", imported).printed).toBe(day);
  const required = `const { last } = require("probelab"); ${say}`;
  expect(run(process.execPath, "--input-type=commonjs", "-e", required).printed).toContain(day);
});

test("npx probelab start runs a notebook of the package on a sample", () => {
  const started = run("npx", "probelab", "start", "measurement-drop", "--rows", "50000");
  expect(started.status, started.printed).toBe(0);
  expect(started.printed).toMatch(/filling it with the sample service/);
  expect(existsSync(join(project, "out", "measurement-drop.html"))).toBe(true);
  expect(run("npx", "probelab", "start", "measurement-dro").printed).toMatch(
    /Did you mean measurement-drop\?/,
  );
});

describe.skipIf(python === undefined)(`in Jupyter${skipped}`, () => {
  const own = jupyterEnvironment();
  afterAll(() => rmSync(own["JUPYTER_DATA_DIR"]!, { recursive: true, force: true }));

  test("a cell of the installed kernel imports it and saves a chart", async () => {
    const options = { cwd: project, env: own, encoding: "utf8" } as const;
    const installed = spawnSync("npx", ["probelab", "kernel", "install"], options);
    expect(installed.status, installed.stderr).toBe(0);
    const client = new JupyterClient(own);
    try {
      await client.call("start", { kernel: "probelab", cwd: project });
      const cell = await client.execute(
        `import { chart } from "probelab";
         await chart.bar([{ country: "IT", reports: 12 }]).save("saved.png");`,
      );
      expect(printed(cell, "stderr")).toBe("");
      expect(existsSync(join(project, "saved.png"))).toBe(true);
    } finally {
      await client.call("shutdown");
      client.close();
    }
  });
});

test("without the engine it imports, draws and saves, and connect() says what is missing", () => {
  for (const engine of ["chdb", "@chdb", "ffi-rs", "@yuuang"]) {
    rmSync(join(project, "node_modules", engine), { recursive: true, force: true });
  }
  rmSync(join(project, ".probelab"), {
    recursive: true,
    force: true,
    maxRetries: 40,
    retryDelay: 100,
  });
  const code = `
    import { chart, connect } from "probelab";
    const drawn = chart.bar([{ country: "IT", reports: 12 }]);
    for (const format of ["svg", "png", "html", "csv"]) await drawn.save("alone." + format);
    await connect().catch((error) => console.log(error.message));`;
  const { status, printed } = run(process.execPath, "--input-type=module", "-e", code);
  expect(status, printed).toBe(0);
  expect(printed).toMatch(/packages chdb and ffi-rs are not installed .* connect to a server/);
});
