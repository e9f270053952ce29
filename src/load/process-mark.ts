import { readFileSync } from "node:fs";

/** A mark of this process that no later process of the same number bears: `PID_START`. */
export function processMark(): string {
  return `${process.pid}_${startOf(process.pid) ?? 0}`;
}

/** Whether the process that made the mark still runs. */
export function isRunning(mark: string): boolean {
  const [pid = 0, start = 0] = mark.split("_").map(Number);
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user runs, too.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = startOf(pid);
  return now === undefined || start === 0 || now === start;
}

/** When a process began, in ticks since boot, where the system tells (Linux). */
function startOf(pid: number): number | undefined {
  try {
    // The second field, the program's name, may hold spaces; the 22nd is the start.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(fields[19]);
  } catch {
    return undefined;
  }
}
