import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  installedKernels,
  installKernel,
  uninstallKernel,
} from "../../src/notebook/kernel/kernelspec.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "probelab-kernelspec-"));
});
afterEach(() => rm(folder, { recursive: true }));

interface Spec {
  argv: string[];
  display_name: string;
  language: string;
  env: Record<string, string>;
}

async function specIn(kernel: string): Promise<Spec> {
  return JSON.parse(await readFile(join(kernel, "kernel.json"), "utf8")) as Spec;
}

test("installKernel({ prefix }) writes kernel.json and the logos below the prefix", async () => {
  const kernel = await installKernel({ kind: "prefix", prefix: folder }, {});
  expect(kernel).toBe(join(folder, "share", "jupyter", "kernels", "probelab"));
  expect((await readdir(kernel)).sort()).toEqual([
    "kernel.json",
    "logo-32x32.png",
    "logo-64x64.png",
    "logo-svg.svg",
  ]);
  const spec = await specIn(kernel);
  expect(spec.argv[0]).toBe(process.execPath);
  expect(spec.argv.at(-1)).toBe("{connection_file}");
  expect(spec.env).toEqual({ MALLOC_ARENA_MAX: "1" });
  expect((await readFile(join(kernel, "logo-64x64.png"))).subarray(1, 4).toString()).toBe("PNG");
});

test("installKernel({ user }) follows Jupyter's own variables, list and uninstall find it", async () => {
  const environment = { JUPYTER_DATA_DIR: folder };
  const kernel = await installKernel({ kind: "user" }, environment);
  expect(kernel).toBe(join(folder, "kernels", "probelab"));
  expect(installedKernels(environment).map((one) => one.folder)).toContain(kernel);
  expect(await uninstallKernel(environment)).toContain(kernel);
  expect(installedKernels(environment).map((one) => one.folder)).not.toContain(kernel);
});

test("installKernel({ sys-prefix }) needs an active environment", async () => {
  const kernel = await installKernel({ kind: "sys-prefix" }, { VIRTUAL_ENV: folder });
  expect(dirname(kernel)).toBe(join(folder, "share", "jupyter", "kernels"));
  await expect(installKernel({ kind: "sys-prefix" }, {})).rejects.toThrow(
    "Can't find the Python environment to install into: activate it",
  );
});

test("installKernel() says what to do where it may not write", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  await expect(installKernel({ kind: "prefix", prefix: file }, {})).rejects.toThrow(
    /^Can't write the kernel to .*: .*Use --user, or --prefix/,
  );
});

test("the installed kernel starts the probelab of the notebook's folder", async () => {
  const local = join(folder, "node_modules", "probelab");
  const main = join(local, "dist", "notebook", "kernel", "kernel-main.js");
  await mkdir(dirname(main), { recursive: true });
  await writeFile(join(local, "package.json"), `{ "name": "probelab", "type": "module" }`);
  await writeFile(main, "export const startKernel = (file) => console.log('local', file);");
  const kernel = await installKernel({ kind: "prefix", prefix: folder }, {});
  const { argv } = await specIn(kernel);
  const [program = "", ...rest] = argv;
  const notebooks = join(folder, "notebooks");
  await mkdir(notebooks);
  const started = spawnSync(program, [...rest.slice(0, -1), "connection.json"], {
    cwd: notebooks,
    encoding: "utf8",
  });
  expect(started.stdout).toBe("local connection.json\n");
});

test("without a local probelab the kernel starts its own, and says so when it gets no file", () => {
  const launch = fileURLToPath(
    new URL("../../dist/notebook/kernel/kernel-launch.js", import.meta.url),
  );
  const started = spawnSync(process.execPath, [launch], { cwd: folder, encoding: "utf8" });
  expect(started.status).toBe(2);
  expect(started.stderr).toContain("Jupyter gives it a connection file");
});
