import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "probelab-kernelspec-"));
});
afterEach(() => rm(folder, { recursive: true }));

function kernel(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const env = { PATH: process.env["PATH"], HOME: folder, JUPYTER_PATH: "", ...environment };
  return spawnSync(process.execPath, [main, "kernel", ...args], { encoding: "utf8", env });
}

test("kernel install writes kernel.json for the user or into a prefix, or says what to do", async () => {
  const data = { JUPYTER_DATA_DIR: join(folder, "data") };
  const user = join(folder, "data", "kernels", "probelab");
  expect(kernel(["install"], data).stdout).toContain(`The kernel is in ${user}.`);
  expect((await readdir(user)).sort()).toEqual(["kernel.json", "logo-svg.svg"]);
  const spec = JSON.parse(await readFile(join(user, "kernel.json"), "utf8")) as object;
  expect(spec).toMatchObject({ language: "typescript", env: { MALLOC_ARENA_MAX: "1" } });
  const shared = join(folder, "share", "jupyter", "kernels", "probelab");
  expect(kernel(["install", "--prefix", folder]).stdout).toContain(shared);
  const file = join(folder, "file");
  await writeFile(file, "");
  const refused = kernel(["install", "--prefix", file]);
  expect(refused.stderr).toMatch(/Can't write the kernel to .* with --prefix/);
});

test("the installed kernel starts the probelab of the notebook's folder, else its own", async () => {
  const local = join(folder, "node_modules", "probelab");
  const startsLocal = join(local, "dist", "kernel", "kernel-main.js");
  await mkdir(dirname(startsLocal), { recursive: true });
  await writeFile(join(local, "package.json"), `{ "name": "probelab", "type": "module" }`);
  await writeFile(startsLocal, "export const startKernel = (file) => console.log('local', file);");
  kernel(["install", "--prefix", folder]);
  const spec = join(folder, "share", "jupyter", "kernels", "probelab", "kernel.json");
  const { argv } = JSON.parse(await readFile(spec, "utf8")) as { argv: string[] };
  const [program = "", ...args] = argv.slice(0, -1);
  expect(argv.at(-1)).toBe("{connection_file}");
  const started = spawnSync(program, [...args, "c.json"], { cwd: folder, encoding: "utf8" });
  expect(started.stdout).toBe("local c.json\n");
  const without = spawnSync(program, args, { cwd: tmpdir(), encoding: "utf8" });
  expect(without.status).toBe(2);
  expect(without.stderr).toContain("Jupyter gives it a connection file");
});
