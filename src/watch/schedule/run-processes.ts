import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { processes, type Process } from "../../base/processes.js";

/** Holds the run's id in the environment of every process that a run starts. */
export const RUN_VARIABLE = "PROBELAB_RUN";

/** The processes of a run. */
export interface RunProcesses {
  readonly id: string;
  /** The process that the run began with, in a session of its own. */
  readonly first?: number;
  /** A process that is left alone. */
  readonly except?: number;
}

/**
 * The processes that a run started: those of its session (its group where the system has no /proc),
 * and all with its id in their environment. A process that left both has escaped; systemd's unit ends
 * it. An embedded database, which serves others too, is started with neither.
 */
export async function processesOf({ id, first, except }: RunProcesses): Promise<number[]> {
  const found = (await processes().catch(() => [])).map(async (each: Process) => {
    const isInside = (each.session || each.group) === first || (await isMarked(each.pid, id));
    return isInside && each.pid !== except ? [each.pid] : [];
  });
  return (await Promise.all(found)).flat();
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
  let emptyRounds = 0;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const pids = await processesOf(run);
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
