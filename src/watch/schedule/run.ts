import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { redact } from "../../base/redact.js";
import type { NotebookProcess } from "../../kernel/notebook-process.js";
import { runNotebook, type RunOutcome } from "../../kernel/run-notebook.js";
import { newId, writeRun, type Run } from "./history.js";
import { durationText } from "../../time/span.js";
import { sizeText, type Schedule } from "./schedule.js";

const LOOK_MS = 250;
/** Time that a run has, once it is ended, to end by itself. */
const GRACE_MS = 8_000;

/** A run to start. */
export interface RunPlan {
  readonly name: string;
  readonly path: string;
  readonly schedule: Schedule;
  readonly period: Date;
  /** The folder of the notebook's runs. */
  readonly folder: string;
  /** `PROBELAB_LINKS` of a run, by the path of its page in `folder`. */
  readonly links: (page: string) => string;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/**
 * Runs a notebook in a process group of its own, with limits of time and memory for the group, and ends
 * what it leaves. `run.json` says that it runs, then how it ended.
 *
 * @throws ProbelabError where its folder can't be written.
 */
export async function runOnce(plan: RunPlan): Promise<Run> {
  const started = new Date();
  const id = newId(started, randomBytes(4).toString("hex"));
  const page = `${basename(plan.path, ".ipynb")}.html`;
  const nothing = { seconds: null, peakMemory: null, rowsRead: null, error: null, page: null };
  const { name: notebook, period } = plan;
  const begun: Run = { id, notebook, period, started, state: "running", ...nothing };
  await writeRun(plan.folder, begun);
  const { answer, ended, peakMemory } = await runLimited(plan, id, plan.links(`${id}/${page}`));
  const run: Run = {
    ...begun,
    state: ended === "by itself" ? answer.status : ended,
    error: ended === "by itself" ? redact(answer.message ?? "") || null : WHY[ended](plan.schedule),
    peakMemory,
    seconds: Math.round((Date.now() - started.getTime()) / 100) / 10,
    rowsRead: answer.rowsRead,
    page: existsSync(join(plan.folder, id, page)) ? page : null,
  };
  await writeRun(plan.folder, run);
  return run;
}

type Answer = Pick<RunOutcome, "status" | "message" | "rowsRead">;
type Ended = "by itself" | "timeout" | "memory" | "interrupted";

/** Why a run was ended. */
const WHY: Record<Exclude<Ended, "by itself">, (schedule: Schedule) => string> = {
  timeout: ({ timeout }) => `It took more than ${durationText(timeout)} and was ended.`,
  memory: ({ memory }) => `It held more than ${sizeText(memory)} and was ended.`,
  interrupted: () => "It was ended with the scheduler.",
};

/** Runs the notebook until it ends or is over a limit; what it had shown by then is written. */
async function runLimited(
  { path, schedule, folder, signal }: RunPlan,
  id: string,
  links: string,
): Promise<{ answer: Answer; ended: Ended; peakMemory: number }> {
  const stop = new AbortController();
  let child: NotebookProcess | undefined;
  let ended: Ended = "by itself";
  let lastMoment: NodeJS.Timeout | undefined;
  const end = (why: Ended) => {
    if (ended !== "by itself") return;
    ended = why;
    stop.abort();
    // Memory is needed at once.
    if (why === "memory") child?.kill();
    else lastMoment = setTimeout(() => child?.kill(), GRACE_MS);
  };
  const interrupt = () => end("interrupted");
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  const timeout = setTimeout(end, schedule.timeout, "timeout");
  let peakMemory = 0;
  const look = async () => {
    const memory = await groupMemory(child?.pid);
    peakMemory = Math.max(peakMemory, memory);
    if (memory > schedule.memory) end("memory");
  };
  let isDone = false;
  const outcome = runNotebook(path, {
    out: join(folder, id),
    environment: { AUTORUN: "1", PROBELAB_LINKS: links },
    signal: stop.signal,
    onProcess: (started) => void (child = started),
    onProgress: () => void look(),
  })
    .then(({ status, rowsRead, message }): Answer => ({ status, rowsRead, message }))
    .catch((error: Error): Answer => ({ status: "error", rowsRead: 0, message: error.message }))
    .finally(() => (isDone = true));
  while (!isDone) {
    await look();
    await Promise.race([outcome, sleep(LOOK_MS)]);
  }
  for (const timer of [timeout, lastMoment]) clearTimeout(timer);
  signal.removeEventListener("abort", interrupt);
  return { answer: await outcome, ended, peakMemory };
}

/** Resident memory of a process group, in bytes; what its processes share counts for each. 0 on Windows. */
async function groupMemory(group: number | undefined): Promise<number> {
  if (group === undefined || process.platform === "win32") return 0;
  if (process.platform !== "linux") {
    const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pgid=,rss="]);
    const held = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
    return held.reduce((sum, [of, kB = 0]) => sum + (of === group ? 1024 * kB : 0), 0);
  }
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const held = pids.map(async (pid) => {
    // Empty for one that has ended meanwhile.
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    const stat = await read("stat");
    // The name, in parentheses, may hold anything. Fields as in proc(5), from the third on.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(fields[2]) !== group) return 0;
    return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(await read("status"))?.[1] ?? 0);
  });
  return (await Promise.all(held)).reduce((sum, each) => sum + each, 0);
}
