import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { processes, type Process } from "../../base/processes.js";

/** Holds the run's id in the environment of every process that a run starts. */
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
  return environment.includes(`${RUN_VARIABLE}=${id}`);
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
