import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { residentMemory } from "../../base/processes.js";
import { ownPackage } from "../../notebook/own-package.js";
import { newId, writeRun, type Run } from "./history.js";
import type { RunAnswer, RunRequest } from "./run-main.js";
import { endProcesses, processesOf, RUN_VARIABLE } from "../../base/processes.js";
import { sizeText, spanText, type Schedule } from "./schedule.js";

const LOOK_MS = 250;
/** Time that a run has, once it is ended, to write what the notebook had shown. */
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
 * Runs a notebook in a session of its own, with limits of time and memory for all that it starts, and
 * ends what it leaves. `run.json` says that it runs, then how it ended.
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
    ...outcomeOf(ended, answer, plan.schedule),
    peakMemory,
    seconds: Math.round((Date.now() - started.getTime()) / 100) / 10,
    rowsRead: answer?.rowsRead ?? null,
    page: existsSync(join(plan.folder, id, page)) ? page : null,
  };
  await writeRun(plan.folder, run);
  return run;
}

type Ended = "by itself" | "timeout" | "memory" | "interrupted";

function outcomeOf(
  ended: Ended,
  answer: RunAnswer | undefined,
  { timeout, memory }: Schedule,
): Pick<Run, "state" | "error"> {
  switch (ended) {
    case "timeout":
      return { state: ended, error: `It took more than ${spanText(timeout)} and was ended.` };
    case "memory":
      return { state: ended, error: `It held more than ${sizeText(memory)} and was ended.` };
    case "interrupted":
      return { state: ended, error: "It was ended with the scheduler." };
    case "by itself":
      return answer === undefined
        ? {
            state: "died",
            error: "Its process died. Look in the system's log, as for lack of memory.",
          }
        : { state: answer.status, error: answer.message };
  }
}

async function runLimited({ path, schedule, folder, signal }: RunPlan, id: string, links: string) {
  const child = fork(join(ownPackage().root, "dist", "watch", "schedule", "run-main.js"), {
    env: { ...process.env, AUTORUN: "1", PROBELAB_LINKS: links, [RUN_VARIABLE]: id },
    // A session of its own; what it prints is in the notebook.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: [],
  });
  let answer: RunAnswer | undefined;
  child.once("message", (message: RunAnswer) => (answer = message));
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    child.once("error", () => resolve()).once("exit", () => resolve());
  }).then(() => void (isGone = true));
  child.send({ path, out: join(folder, id) } satisfies RunRequest, () => undefined);

  const run = { id, first: child.pid ?? 0, sessions: new Set<number>() };
  const deadline = performance.now() + schedule.timeout;
  let ended: Ended = "by itself";
  let lastMoment = Infinity;
  let peakMemory = 0;
  while (!isGone) {
    const memory = await residentMemory(await processesOf(run));
    peakMemory = Math.max(peakMemory, memory);
    const isOver = memory > schedule.memory;
    const now = performance.now();
    if (ended !== "by itself") {
      if (now > lastMoment || (ended === "memory" && isOver)) await endProcesses(run);
    } else if (signal.aborted || isOver || now > deadline) {
      ended = signal.aborted ? "interrupted" : isOver ? "memory" : "timeout";
      lastMoment = now + GRACE_MS;
      // Memory is needed at once; the first process then writes what the notebook had shown.
      if (isOver) await endProcesses({ ...run, except: run.first });
      child.kill("SIGTERM");
    }
    await Promise.race([gone, sleep(LOOK_MS)]);
  }
  await endProcesses(run);
  return { answer, ended, peakMemory };
}
