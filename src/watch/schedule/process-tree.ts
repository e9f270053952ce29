import { readFile } from "node:fs/promises";
import { processes, residentMemory, type Process } from "../../base/processes.js";
import { systemCall } from "../../base/system-call.js";

/** In the environment of all that a run starts. */
export const RUN_VARIABLE = "PROBELAB_RUN";
/** prctl(2): PR_SET_CHILD_SUBREAPER. */
const SUBREAPER = 36;

/**
 * From now on this process is the parent of what its descendants leave behind, on Linux: a process
 * that forked twice, or began a session, stays in its tree.
 */
export function adoptOrphans(): void {
  if (process.platform === "linux") systemCall("prctl", [SUBREAPER, 1, 0, 0, 0]);
}

/**
 * The processes of a run, whatever they did to get away: descendants of its first process, members
 * of their groups and sessions, and those that carry its mark.
 *
 * The embedded database is none of them: it serves others too, and ends with its last user.
 */
export class ProcessTree {
  readonly #root: number;
  readonly #mark: string;
  /** Members that were seen last, and when each began: a pid may be another process's by now. */
  #known: ReadonlyMap<number, string> | undefined;

  constructor(root: number, id: string) {
    this.#root = root;
    this.#mark = `${RUN_VARIABLE}=${id}`;
  }

  /** Their resident memory together in bytes; what they share counts for each of them. */
  async memory(): Promise<number> {
    return residentMemory((await this.#members(false)).map(({ pid }) => pid));
  }

  /** Ends them all, also those that are started meanwhile. @param root false leaves the first one */
  async kill(root: boolean): Promise<void> {
    for (let round = 0; round < 100; round += 1) {
      const all = (await this.#members(true)).filter(({ pid }) => root || pid !== this.#root);
      // The first process goes last: until then it takes in what others leave behind.
      const rest = all.filter(({ pid }) => pid !== this.#root);
      const targets = rest.length > 0 ? rest : all;
      if (targets.length === 0) return;
      for (const { pid } of targets) end(pid);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** @param marked looks at the mark, too, which is more work: needed where the first process is gone */
  async #members(marked: boolean): Promise<Process[]> {
    const all = await processes();
    const members = new Map<number, Process>();
    const [groups, sessions] = [new Set<number>(), new Set<number>()];
    const belongs = async ({ pid, began, parent, group, session }: Process) =>
      (this.#known === undefined ? pid === this.#root : this.#known.get(pid) === began) ||
      members.has(parent) ||
      groups.has(group) ||
      sessions.has(session) ||
      (marked && (await carries(pid, this.#mark)));
    for (let before = -1; before !== members.size;) {
      before = members.size;
      for (const one of all) {
        const { pid, group, session } = one;
        if (members.has(pid) || !(await belongs(one)) || (await isDatabase(pid))) continue;
        members.set(pid, one);
        if (group === pid) groups.add(pid);
        if (session === pid) sessions.add(pid);
      }
    }
    this.#known = new Map([...members.values()].map(({ pid, began }) => [pid, began]));
    return [...members.values()];
  }
}

async function carries(pid: number, mark: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  return environment.split("\0").includes(mark);
}

async function isDatabase(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return command.split("\0").some((part) => part.endsWith("/database/embedded/server-process.js"));
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
