import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { redact } from "../../base/redact.js";
import type { NotebookProcess } from "../../kernel/notebook-process.js";
import { runNotebook, type RunOutcome } from "../../kernel/run-notebook.js";
import { newId, writeRun, type Run } from "./history.js";
import { durationText } from "../../time/span.js";
import { periodAt, type Schedule } from "./schedule.js";

/** Time that a run has, once it is ended, to end by itself. */
const ENDING_MS = 8_000;

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
 * Runs a notebook in a process group of its own, with a limit of time, and ends
 * what it leaves. `run.json` says that it runs, then how it ended.
 *
 * @throws ProbelabError where its folder can't be written.
 */
export async function runOnce(plan: RunPlan): Promise<Run> {
  const started = new Date();
  const id = newId(started, randomBytes(4).toString("hex"));
  const page = `${basename(plan.path, ".ipynb")}.html`;
  const nothing = { seconds: null, rowsRead: null, error: null, page: null };
  const { name: notebook, period } = plan;
  const begun: Run = { id, notebook, period, started, state: "running", ...nothing };
  await writeRun(plan.folder, begun);
  const { answer, ended } = await runLimited(plan, id, plan.links(`${id}/${page}`));
  const run: Run = {
    ...begun,
    state: ended === "by itself" ? answer.status : ended,
    error: ended === "by itself" ? redact(answer.message ?? "") || null : WHY[ended](plan.schedule),
    seconds: Math.round((Date.now() - started.getTime()) / 100) / 10,
    rowsRead: answer.rowsRead,
    page: existsSync(join(plan.folder, id, page)) ? page : null,
  };
  await writeRun(plan.folder, run);
  return run;
}

type RunAnswer = Pick<RunOutcome, "status" | "message" | "rowsRead">;
type Ended = "by itself" | "timeout" | "interrupted";

/** Why a run was ended. */
const WHY: Record<Exclude<Ended, "by itself">, (schedule: Schedule) => string> = {
  timeout: ({ timeout }) => `It took more than ${durationText(timeout)} and was ended.`,
  interrupted: () => "It was ended with the scheduler.",
};

/** Runs the notebook until it ends or takes too long; what it had shown by then is written. */
async function runLimited(
  { path, schedule, period, folder, signal }: RunPlan,
  id: string,
  links: string,
): Promise<{ answer: RunAnswer; ended: Ended }> {
  const stop = new AbortController();
  let child: NotebookProcess | undefined;
  let ended: Ended = "by itself";
  let lastMoment: NodeJS.Timeout | undefined;
  const end = (why: Ended) => {
    if (ended !== "by itself") return;
    ended = why;
    stop.abort();
    lastMoment = setTimeout(() => child?.kill(), ENDING_MS);
  };
  const interrupt = () => end("interrupted");
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  const timeout = setTimeout(end, schedule.timeout, "timeout");
  const next = periodAt(period, schedule).end;
  const answer = await runNotebook(path, {
    out: join(folder, id),
    environment: { AUTORUN: "1", PROBELAB_LINKS: links, PROBELAB_NEXT_RUN: next.toISOString() },
    signal: stop.signal,
    onProcess: (started) => void (child = started),
  })
    .then(({ status, rowsRead, message }): RunAnswer => ({ status, rowsRead, message }))
    .catch((error: Error): RunAnswer => ({ status: "error", rowsRead: 0, message: error.message }));
  for (const timer of [timeout, lastMoment]) clearTimeout(timer);
  signal.removeEventListener("abort", interrupt);
  return { answer, ended };
}
