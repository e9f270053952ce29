import childProcess, { ChildProcess, type StdioOptions } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StreamName } from "./outputs.js";

interface Options {
  stdio?: StdioOptions | undefined;
}

/**
 * Shows what child processes print to this process's streams (`stdio: "inherit"`) as output of the cell that
 * started them, without known secrets; it would otherwise go to the log of Jupyter as it is.
 */
export function captureChildren(): void {
  const prototype = ChildProcess.prototype as { spawn?: (options: Options) => unknown };
  const { spawn } = prototype;
  if (spawn) {
    prototype.spawn = function (this: ChildProcess, options) {
      const inherited = inheritedBy(options.stdio);
      const given = replaced(options.stdio, inherited, () => "pipe");
      const result = spawn.call(this, { ...options, stdio: given });
      for (const [at, name] of inherited) {
        this.stdio[at]?.on("data", (chunk: Buffer) => process[name].write(chunk));
      }
      return result;
    };
  }
  for (const name of ["spawnSync", "execSync", "execFileSync"] as const) {
    const original = childProcess[name] as (...given: unknown[]) => unknown;
    const captured = (...given: unknown[]): unknown => {
      const at = given.findLastIndex((each) => typeof each === "object" && !Array.isArray(each));
      const options = (given[at] ?? {}) as Options;
      const inherited = inheritedBy(options.stdio);
      return inherited.size === 0
        ? original(...given)
        : intoFiles(inherited, (fileOf) =>
            original(
              ...given.with(at, { ...options, stdio: replaced(options.stdio, inherited, fileOf) }),
            ),
          );
    };
    Object.assign(childProcess, { [name]: captured });
  }
  syncBuiltinESMExports();
}

/** Which of a child's streams are ours, by their numbers. */
function inheritedBy(stdio: StdioOptions = "pipe"): Map<number, StreamName> {
  const found = new Map<number, StreamName>();
  for (const at of [1, 2]) {
    const each: unknown = typeof stdio === "string" ? stdio : stdio[at];
    const own = each === "inherit" ? at : each;
    if (own === 1 || own === process.stdout) found.set(at, "stdout");
    if (own === 2 || own === process.stderr) found.set(at, "stderr");
  }
  return found;
}

function replaced(
  stdio: StdioOptions | undefined,
  inherited: ReadonlyMap<number, StreamName>,
  by: (name: StreamName) => "pipe" | number,
): StdioOptions | undefined {
  if (stdio === undefined || inherited.size === 0) return stdio;
  const all = typeof stdio === "string" ? [stdio, stdio, stdio] : [...stdio];
  for (const [at, name] of inherited) all[at] = by(name);
  return all;
}

/** Runs what blocks this process with a file in place of each stream, and then prints what is in it. */
function intoFiles<T>(
  inherited: ReadonlyMap<number, StreamName>,
  run: (fileOf: (name: StreamName) => number) => T,
): T {
  const files = new Map<StreamName, { path: string; file: number }>();
  for (const name of inherited.values()) {
    const path = join(tmpdir(), `probelab-${process.pid}-${performance.now()}-${name}`);
    if (!files.has(name)) files.set(name, { path, file: openSync(path, "ax", 0o600) });
  }
  try {
    return run((name) => files.get(name)!.file);
  } finally {
    for (const [name, { path, file }] of files) {
      closeSync(file);
      process[name].write(readFileSync(path));
      rmSync(path);
    }
  }
}
