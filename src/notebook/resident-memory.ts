import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Memory that a process holds, in bytes; undefined when it is gone or can't be asked. */
export async function residentMemory(pid: number): Promise<number | undefined> {
  try {
    if (process.platform === "linux") {
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) * 1024 || undefined;
    }
    if (process.platform === "win32") return undefined;
    const { stdout } = await run("ps", ["-o", "rss=", "-p", String(pid)]);
    return Number(stdout) * 1024 || undefined;
  } catch {
    return undefined;
  }
}
