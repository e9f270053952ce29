import { existsSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { lockFile } from "../../base/system-call.js";
import { writeWhole } from "../../files/write-whole.js";
import { LENGTHS } from "../../time/span.js";
import { folderOf, isFailing, pauseFile, readHistory, type History, type Run } from "./history.js";
import type { Scheduled } from "./notebooks.js";
import { jitter, plan, type Plan } from "./plan.js";

/** What the scheduler last saw, in a file of its folder: for those who look at it from outside. */
export interface Seen {
  readonly version: 1;
  /** The folder that it looks for notebooks in. */
  readonly folder: string;
  /** True where it stays and waits, false where a timer starts it (`--once`). */
  readonly stays: boolean;
  /** ISO 8601, UTC. */
  readonly looked: string;
  readonly notebooks: readonly Scheduled[];
  /** What is wrong with the scheduler itself, such as a full disk. */
  readonly troubles: readonly string[];
}

/** A scheduled notebook as the page and `status` tell it. */
export interface View extends Scheduled {
  /** Its folder below the schedule's. */
  readonly place: string;
  readonly state: "fails" | "late" | "paused" | "runs" | "fine" | "new";
  readonly runs: readonly Run[];
  readonly damaged: readonly string[];
  readonly last: Run | undefined;
  readonly lastGood: Run | undefined;
  readonly plan: Plan;
}

/** The schedule at a moment. */
export interface Overview {
  readonly at: Date;
  readonly folder: string;
  readonly views: readonly View[];
  readonly troubles: readonly string[];
  /** 0 all fine, 1 something is to be looked at, 2 a notebook fails or nothing runs. */
  readonly code: 0 | 1 | 2;
}

/** A notebook that is so long over its time, and what may run before it, is late. */
const LATE = 15 * LENGTHS.minute;
const ORDER = ["fails", "late", "new", "paused", "runs", "fine"];

export const lockPath = (out: string): string => join(out, "lock");

export async function writeSeen(out: string, seen: Seen): Promise<void> {
  await writeWhole(join(out, "schedule.json"), `${JSON.stringify(seen, null, 1)}\n`);
}

/** @throws ProbelabError where there is no schedule, or what is there is none. */
export async function readSeen(out: string): Promise<Seen> {
  try {
    const seen = JSON.parse(await readFile(join(out, "schedule.json"), "utf8")) as Seen;
    if (seen.version === 1 && Array.isArray(seen.notebooks)) return seen;
    throw new Error("it is no schedule's");
  } catch (cause) {
    throw new ProbelabError(
      `Can't tell the schedule in ${out}: ${(cause as Error).message}. Name the folder that probelab schedule writes to with --out, and start it there once.`,
      { cause },
    );
  }
}

/** The schedule as its files tell it, whether or not a scheduler runs. */
export async function readOverview(out: string, at = new Date()): Promise<Overview> {
  const seen = await readSeen(out);
  const histories = new Map<string, History>();
  for (const { name } of seen.notebooks) {
    histories.set(name, await readHistory(folderOf(out, name)));
  }
  const gone =
    seen.stays && !(await isLocked(lockPath(out)))
      ? ["The scheduler doesn't run: nothing of this is kept up. Start it again."]
      : [];
  return overview(out, { ...seen, troubles: [...gone, ...seen.troubles] }, histories, at);
}

/** The schedule at a moment, failures first. */
export function overview(
  out: string,
  { folder, notebooks, troubles }: Seen,
  histories: ReadonlyMap<string, History>,
  at: Date,
): Overview {
  const views = notebooks.map((one) => viewOf(out, one, histories.get(one.name), at));
  views.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const failing = views.some(({ state }) => state === "fails" || state === "late");
  const odd = views.some(({ damaged, state }) => damaged.length > 0 || state === "new");
  const stopped = troubles.some((one) => one.startsWith("The scheduler doesn't run"));
  const code = failing || stopped ? 2 : odd || troubles.length > 0 || views.length === 0 ? 1 : 0;
  return { at, folder, views, troubles, code };
}

function viewOf(out: string, one: Scheduled, history: History | undefined, at: Date): View {
  const { damaged = [] } = history ?? {};
  const now = at.getTime();
  // What a clock wrote that was ahead is no last run.
  const runs = (history?.runs ?? []).filter(({ started }) => Date.parse(started) <= now + LATE);
  const folder = folderOf(out, one.name);
  const { schedule, name } = one;
  const delay = schedule === undefined ? 0 : jitter(name, schedule);
  const owed = schedule === undefined ? { periods: 0 } : plan(now, schedule, runs, delay);
  const paused = existsSync(pauseFile(folder));
  const isRunning = runs[0]?.state === "running";
  const over = owed.period === undefined ? 0 : now - (owed.at ?? now);
  const state =
    one.problem !== undefined || (isFailing(runs) && !paused)
      ? "fails"
      : paused
        ? "paused"
        : isRunning
          ? "runs"
          : runs.length === 0
            ? "new"
            : over > LATE + (schedule?.timeout ?? 0)
              ? "late"
              : "fine";
  const ended = runs.filter((run) => run.state !== "running");
  return {
    ...one,
    ...{ place: folder.slice(out.length).replace(/^[/\\]/, ""), state, runs, damaged },
    last: ended[0],
    lastGood: ended.find((run) => run.state === "ok"),
    plan: owed,
  };
}

async function isLocked(path: string): Promise<boolean> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return false;
  try {
    return !lockFile(file.fd);
  } finally {
    await file.close();
  }
}
