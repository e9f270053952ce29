import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

test("a strict project compiles against it, and import and require() take it", () => {
  const compilerOptions = { strict: true, skipLibCheck: false, module: "nodenext", noEmit: true };
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["cell.ts"] }),
  );
  writeFileSync(
    join(project, "cell.ts"),
    `import { chart, connect, last } from "probelab";
     const lab = await connect();
     const counts = await lab.measurements.counts({ range: last("1 week"), by: "probe_cc" });
     export const first: number | undefined = counts.rows()[0]?.measurements;
     await chart.line(counts).save("counts.svg");`,
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

test("npx probelab example NAME writes a notebook into the project, and --run runs it on a sample", () => {
  const listed = run("npx", "probelab", "example");
  expect(listed.printed).toMatch(/^measurement-drop +\S+/m);
  const written = run(
    "npx",
    "probelab",
    "example",
    "measurement-drop",
    "--run",
    "--rows",
    "300000",
  );
  expect(written.status, written.printed).toBe(0);
  expect(written.printed).toMatch(/filling it with the sample service/);
  expect(existsSync(join(project, "measurement-drop.ipynb"))).toBe(true);
  expect(existsSync(join(project, "out", "measurement-drop.html"))).toBe(true);
});

describe.skipIf(python === undefined)(`in Jupyter${skipped}`, () => {
  const own = jupyterEnvironment();
  afterAll(() => rmSync(own["JUPYTER_DATA_DIR"]!, { recursive: true, force: true }));

  test.each(["probelab", "tslab"])(
    "a cell of the kernel %s imports it and saves a chart",
    async (kernel) => {
      if (kernel === "tslab") {
        const spec = join(own["JUPYTER_DATA_DIR"]!, "kernels", "tslab");
        mkdirSync(spec, { recursive: true });
        const tslab = join(root, "node_modules", "tslab", "bin", "tslab");
        const argv = [process.execPath, tslab, "kernel", "--config-path={connection_file}"];
        writeFileSync(
          join(spec, "kernel.json"),
          JSON.stringify({ argv, display_name: kernel, language: "typescript" }),
        );
      } else {
        const installed = spawnSync("npx", ["probelab", "kernel", "install"], {
          cwd: project,
          env: own,
          encoding: "utf8",
        });
        expect(installed.status, installed.stderr).toBe(0);
      }
      const client = new JupyterClient(own);
      try {
        await client.call("start", { kernel, cwd: project });
        const cell = await client.execute(
          `import { chart } from "probelab";
         const drawn = chart.bar([{ country: "IT", reports: 12 }]);
         await drawn.save("${kernel}.png");
         console.log(typeof drawn.spec);`,
        );
        expect(printed(cell, "stderr")).toBe("");
        expect(printed(cell)).toBe("object\n");
        expect(existsSync(join(project, `${kernel}.png`))).toBe(true);
      } finally {
        await client.call("shutdown");
        client.close();
      }
    },
  );
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
    for (const format of ["svg", "png", "pdf", "html", "csv"]) await drawn.save("alone." + format);
    await connect().catch((error) => console.log(error.message));`;
  const { status, printed } = run(process.execPath, "--input-type=module", "-e", code);
  expect(status, printed).toBe(0);
  expect(printed).toMatch(/packages chdb and ffi-rs are not installed .* connect to a server/);
});
