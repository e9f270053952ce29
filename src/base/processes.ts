import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** A process of the system. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 if unknown. */
  readonly session: number;
  /** Tells it from a later one of the same pid. */
  readonly began: string;
}

/** All processes but dead ones that nobody asked about; none on Windows. */
export async function processes(): Promise<Process[]> {
  if (process.platform === "win32") return [];
  if (process.platform !== "linux") return fromPs();
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const read = names.map(async (name): Promise<Process[]> => {
    try {
      const stat = await readFile(`/proc/${name}/stat`, "utf8");
      // The name, in parentheses, may hold anything. Fields as in proc(5), from the third on.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "Z" || fields[0] === "X") return [];
      const [parent = 0, group = 0, session = 0] = fields.slice(1, 4).map(Number);
      return [{ pid: Number(name), parent, group, session, began: fields[19] ?? "" }];
    } catch {
      return []; // It has ended meanwhile.
    }
  });
  return (await Promise.all(read)).flat();
}

/** Resident memory of processes together, in bytes; what they share counts for each of them. */
export async function residentMemory(pids: readonly number[]): Promise<number> {
  if (pids.length === 0) return 0;
  if (process.platform !== "linux") {
    const { stdout } = await ps("-o", "rss=", "-p", pids.join(",")).catch(() => ({ stdout: "" }));
    return 1024 * stdout.split("\n").reduce((sum, line) => sum + Number(line), 0);
  }
  const held = pids.map(async (pid) => {
    // Empty for one that has ended meanwhile.
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  });
  return (await Promise.all(held)).reduce((sum, each) => sum + each, 0);
}

const ps = (...given: string[]) => promisify(execFile)("ps", given);

async function fromPs(): Promise<Process[]> {
  const { stdout } = await ps("-A", "-o", "pid=,ppid=,pgid=,lstart=");
  return stdout.split("\n").flatMap((line) => {
    const [pid, parent, group, ...began] = line.trim().split(/\s+/);
    if (!pid) return [];
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) };
    return [{ ...numbers, session: 0, began: began.join(" ") }];
  });
}
