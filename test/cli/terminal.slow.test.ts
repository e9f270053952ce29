import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "probelab-terminal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { ...process.env, PROBELAB_MEASUREMENTS: "http://127.0.0.1:9/none" };
const shell = (command: string) =>
  promisify(execFile)(
    "bash",
    ["-c", command.replace("probelab", `"${process.execPath}" "${main}"`)],
    {
      cwd: folder,
      env,
    },
  );

test.each([
  "probelab --help",
  "probelab start --help",
  "probelab doctor 2>&1",
  "probelab origin $(yes no-such-file.svg | head -2000) 2>&1",
])("a reader that has enough, such as head, ends %s without a crash", async (command) => {
  const { stdout, stderr } = await shell(`${command} | head -n 1`);
  expect(stdout.split("\n")).toHaveLength(2);
  expect(stderr).toBe("");
});

test.each(["probelab doctor", `probelab schedule nowhere --out ${"o".repeat(60)}`])(
  "%s prints lines of at most 100 columns in a terminal",
  async (command) => {
    const typed = command.replace("probelab", `${process.execPath} ${main}`);
    const { stdout } = await shell(`script -qec '${typed}' /dev/null || true`);
    expect(stdout.length).toBeGreaterThan(100);
    const long = stdout.split(/\r?\n/).filter((line) => line.length > 100);
    // A path has no place to break.
    expect(long.filter((line) => line.trim().includes(" "))).toEqual([]);
  },
);
