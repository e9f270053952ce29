import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Memory that a group of processes holds together, in bytes; undefined when it is gone or can't be asked.
 * What its processes share counts for each of them.
 *
 * @param group the process that the group began with; what left it for a session of its own, as the
 * embedded database does, is no part of it
 */
export async function residentMemory(group: number): Promise<number | undefined> {
  try {
    if (process.platform === "win32") return undefined;
    const kilobytes = process.platform === "linux" ? await fromProc(group) : await fromPs(group);
    return kilobytes * 1024 || undefined;
  } catch {
    return undefined;
  }
}

async function fromProc(group: number): Promise<number> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const held = processes.map(async (pid) => {
    try {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8");
      // The name, in parentheses, may hold anything; state, parent and group follow it.
      const [, , own] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(own) !== group) return 0;
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    } catch {
      return 0; // It has ended meanwhile.
    }
  });
  return (await Promise.all(held)).reduce((sum, each) => sum + each, 0);
}

async function fromPs(group: number): Promise<number> {
  const { stdout } = await run("ps", ["-A", "-o", "pgid=,rss="]);
  return stdout
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .reduce((sum, [own, held = 0]) => (own === group ? sum + held : sum), 0);
}
