import { ProbelabError } from "../../base/error.js";
import { folderOf, readHistory, type Run } from "./history.js";
import { findScheduled, periodAt, type Schedule } from "./schedule.js";

/** States of a notebook, the worst first. */
export const NOTEBOOK_STATES = ["fails", "late", "never ran", "running", "fine"] as const;

/** The status of a scheduled notebook. */
export interface NotebookStatus {
  readonly name: string;
  /** `late`: the first period without a run began 15 minutes ago or earlier. */
  readonly state: (typeof NOTEBOOK_STATES)[number];
  /** Why it fails. */
  readonly error: string | null;
  /** Undefined where it can't be read. */
  readonly schedule: Schedule | undefined;
  /** The newest first. */
  readonly runs: readonly Run[];
  /** When it is due next. */
  readonly next: Date | undefined;
}

const LATE_MS = 15 * 60_000;
const GRACE_MS = 60_000;

/** The status of all scheduled notebooks of a folder, the worst first. */
export async function readStatus(
  folder: string,
  out: string,
  now: Date,
): Promise<NotebookStatus[]> {
  const notebooks = await findScheduled(folder, out);
  const all = await Promise.all(
    notebooks.map(async ({ name, schedule }): Promise<NotebookStatus> => {
      const runs = await readHistory(folderOf(out, name));
      if (schedule instanceof ProbelabError) {
        const error = schedule.message;
        return { name, state: "fails", error, schedule: undefined, runs, next: undefined };
      }
      return { name, schedule, ...judged(runs, schedule, now) };
    }),
  );
  const rank = ({ state }: NotebookStatus) => NOTEBOOK_STATES.indexOf(state);
  return all.sort((a, b) => rank(a) - rank(b));
}

/** The key of the alert of a notebook that fails. */
export function alertKey(name: string): string {
  return `notebook ${name}`.slice(0, 200);
}

function judged(history: readonly Run[], schedule: Schedule, now: Date) {
  const runs = history.map((run): Run => {
    const isRunning = +now - +run.started < schedule.timeout + GRACE_MS;
    if (run.state !== "running" || isRunning) return run;
    return { ...run, state: "interrupted", error: "The scheduler ended before the run did." };
  });
  const { start, end } = periodAt(now, schedule);
  const [newest] = runs;
  // A timer that died long ago is late at every moment, not only late in the current period.
  const missed = newest === undefined ? start : periodAt(newest.period, schedule).end;
  const last = runs.find(({ state }) => state !== "running");
  const isDue = newest === undefined || newest.period < start;
  const rest = { runs, next: isDue ? start : end, error: null };
  if (last !== undefined && last.state !== "ok") {
    return { ...rest, state: "fails", error: last.error ?? last.state } as const;
  }
  if (newest === undefined) return { ...rest, state: "never ran" } as const;
  if (newest.state === "running") return { ...rest, state: "running" } as const;
  return { ...rest, state: isDue && +now - +missed > LATE_MS ? "late" : "fine" } as const;
}

/** `1 fails, 3 fine` */
export function countedStates(all: readonly NotebookStatus[]): string {
  const counts = NOTEBOOK_STATES.map((state) => [
    all.filter((each) => each.state === state).length,
    state,
  ]);
  return counts.flatMap(([count, state]) => (count ? [`${count} ${state}`] : [])).join(", ");
}
