import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { columnTypes } from "../../src/lab/column-types.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
let project: TemporaryDirectory;

// A user's project: probelab as it is packed, and the packages that come with it, no other.
beforeAll(async () => {
  project = await temporaryDirectory();
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly dev?: true }>>;
  };
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const nested = path.lastIndexOf("node_modules/") !== 0;
    if (dev || nested || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(project.path, path)), { recursive: true });
    symlinkSync(join(root, path), join(project.path, path), "junction");
  }
  const own = join(project.path, "node_modules", "probelab");
  mkdirSync(own);
  cpSync(join(root, "package.json"), join(own, "package.json"));
  symlinkSync(join(root, "dist"), join(own, "dist"), "junction");
  writeFileSync(join(project.path, "package.json"), `{ "type": "module" }`);
  writeFileSync(
    join(project.path, "probelab-columns.d.ts"),
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
});
afterAll(() => project[Symbol.asyncDispose]());

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
  await testLists.churns([]),
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

test("a strict project that checks libraries too compiles clean, and an unknown column is an error", () => {
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
    // The packages are links here; their files belong to the project all the same.
    preserveSymlinks: true,
  };
  const files = ["cell.ts", "probelab-columns.d.ts"];
  writeFileSync(join(project.path, "cell.ts"), CELL);
  writeFileSync(join(project.path, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiled = spawnSync(process.execPath, [tsc], { cwd: project.path, encoding: "utf8" });
  expect(compiled.stdout).toBe("");
  expect(compiled.status).toBe(0);
});
