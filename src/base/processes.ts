import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
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

/** Holds the ids of runs in the environment of every process that they start: a run may start another. */
export const RUN_VARIABLE = "PROBELAB_RUN";

/** The processes of a run. */
export interface RunProcesses {
  readonly id: string;
  /** The process that the run began with. */
  readonly first?: number;
  /** A process that is left alone. */
  readonly except?: number;
  /** Sessions that were seen to be the run's; grows. */
  readonly sessions?: Set<number>;
}

/**
 * The processes that a run started: those with its id in their environment, and all of their sessions
 * (groups where the system has no /proc). A process that left both has escaped; systemd's unit ends it.
 * An embedded database, which serves others too, is started with neither.
 */
export async function processesOf(run: RunProcesses): Promise<number[]> {
  const all = await processes().catch(() => []);
  const sessionOf = ({ session, group }: Process) => session || group;
  const sessions = run.sessions ?? new Set();
  const marked = await Promise.all(all.map(({ pid }) => isMarked(pid, run.id)));
  for (const [at, each] of all.entries()) {
    const isChild =
      run.first !== undefined && (each.pid === run.first || each.parent === run.first);
    if (marked[at] || isChild) sessions.add(sessionOf(each));
  }
  return all
    .filter((each) => sessions.has(sessionOf(each)) && each.pid !== run.except)
    .map(({ pid }) => pid);
}

async function isMarked(pid: number, id: string): Promise<boolean> {
  if (process.platform !== "linux" || id === "") return false;
  // Of other users' processes it can't be read.
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  const runs = new RegExp(`(?:^|\\0)${RUN_VARIABLE}=([^\\0]*)`).exec(environment)?.[1];
  return runs?.split(" ").includes(id) ?? false;
}

/** The environment of what a run starts, within the run that this process belongs to. */
export function runEnvironment(id: string): NodeJS.ProcessEnv {
  return { [RUN_VARIABLE]: [process.env[RUN_VARIABLE], id].filter(Boolean).join(" ") };
}

const MOST_ROUNDS = 40;

/** Kills what a run started until nothing of it is left: what forks meanwhile is found in the next round. */
export async function endProcesses(run: RunProcesses): Promise<void> {
  const sessions = run.sessions ?? new Set<number>();
  let emptyRounds = 0;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const pids = await processesOf({ ...run, sessions });
    // While a process is replaced by exec(2), its environment reads as empty.
    emptyRounds = pids.length === 0 ? emptyRounds + 1 : 0;
    if (emptyRounds === 2) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
    await sleep(25);
  }
}
