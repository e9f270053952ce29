import { hostname } from "node:os";
import { join, relative, sep } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { cleanText } from "../../base/text.js";
import type { Config } from "../../database/config.js";
import { withLock } from "../../base/files/with-lock.js";
import { alert } from "../alert/alert.js";
import { configuredChannels, post, type AlertMessage } from "../alert/channels.js";
import { folderOf, readHistory, removeOld, writeRun, type Run } from "./history.js";
import { runOnce } from "./run.js";
import { findScheduled, periodAt, type ScheduledNotebook } from "./schedule.js";
import { PAGE, alertKey, readStatus, timeText, writePage, type NotebookStatus } from "./status.js";

/** The notebooks to run, and the folder of their runs. */
export interface OnceOptions {
  readonly folder: string;
  readonly out: string;
  /** Most notebooks at the same time. */
  readonly parallel: number;
  /** Runs that are kept of each notebook, beside its last good one. */
  readonly keep: number;
  readonly alerts: NonNullable<Config["alerts"]>;
  readonly signal: AbortSignal;
  /** Called with a sentence for each run that ended, and for all that is wrong. */
  readonly onNews: (sentence: string, isFine: boolean) => void;
}

/**
 * Runs the notebooks whose period has no run yet, raises an alert for each that fails, and writes the
 * status page. Two calls at once never run a notebook twice.
 */
export async function runDue(options: OnceOptions): Promise<void> {
  const { folder, out, parallel, signal, onNews } = options;
  const waiting = await findScheduled(folder, out);
  using pulse = await heartbeat(options);
  /** Reports write errors (a full disk) without failing. */
  const told = (error: unknown, name = "The status page") => {
    if (!(error instanceof ProbelabError)) throw error;
    onNews(`${name}: ${error.message}`, false);
    return error.message;
  };
  const unwritten = new Map<string, string>();
  const beat = () => pulse.beat().catch((error: unknown) => void told(error));
  await beat();
  const work = async () => {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
      try {
        const run = await runWhereDue(next, options);
        if (run === undefined) continue;
        onNews(
          `${next.name}: ${run.state}${run.error === null ? "" : `. ${cleanText(run.error, 500)}`}`,
          run.state === "ok",
        );
        await writePage(out, await readStatus(folder, out, new Date()));
      } catch (error) {
        unwritten.set(next.name, told(error, next.name));
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  const status = (await beat()) ?? (await readStatus(folder, out, new Date()));
  const failed = status.map((each) => {
    const error = unwritten.get(each.name);
    return error === undefined ? each : { ...each, state: "fails" as const, error };
  });
  if (!signal.aborted) await callFor(failed, options);
}

const BEAT_MS = 5 * 60_000;
/** Without a heartbeat for so long, Alertmanager takes the schedule for dead. */
const ALIVE_MS = 15 * 60_000;

/**
 * Writes the status page, and says so to what is configured to hear of it: where the page can't be
 * written, as on a full disk, nothing is said. Every five minutes until disposed, as runs may take long.
 */
async function heartbeat({ folder, out, alerts, onNews }: OnceOptions) {
  const channels = await configuredChannels(alerts.heartbeat ?? []);
  const began = new Date();
  const links = { notebook: "", page: alerts.pages ?? "", runbook: alerts.runbook ?? "" };
  const message: AlertMessage = {
    key: `probelab heartbeat of ${hostname()}:${folder}`.slice(0, 200),
    title: "The schedule of notebooks works",
    text: `Its last round was at ${timeText(began)} UTC. Without another for 15 minutes this ends.`,
    severity: 4,
    links,
  };
  const beat = async () => {
    const status = await readStatus(folder, out, new Date());
    await writePage(out, status);
    const expires = new Date(Date.now() + ALIVE_MS);
    await Promise.all(
      channels.map(async (channel) => {
        const failure = await post(channel, { message, since: began }, expires);
        if (failure) onNews(`Can't send the heartbeat to ${channel.name}: ${failure.why}.`, false);
      }),
    );
    return status;
  };
  const timer = setInterval(() => void beat().catch(() => undefined), BEAT_MS);
  return { beat, [Symbol.dispose]: () => clearInterval(timer) };
}

/** @returns undefined where it isn't due, or another process runs it. */
async function runWhereDue(
  { name, path, schedule }: ScheduledNotebook,
  { out, keep, alerts, signal, onNews }: OnceOptions,
): Promise<Run | undefined> {
  if (schedule instanceof ProbelabError) throw schedule;
  const folder = folderOf(out, name);
  const busy = "another process runs it at the moment.";
  const locked = async () => {
    const runs = await readHistory(folder);
    const settled = await Promise.all(runs.map((run) => settle(folder, run)));
    const period = periodAt(new Date(), schedule).start;
    const tries = settled.filter((run) => +run.period === +period);
    const isDone = tries.some(({ state }) => state !== "interrupted") || tries.length > 1;
    if (isDone) return undefined;
    const links = (page: string) =>
      JSON.stringify(runLinks(name, `${folder}/${page}`, out, alerts));
    const run = await runOnce({ name, path, schedule, period, folder, links, signal });
    await removeOld(folder, keep);
    return run;
  };
  try {
    return await withLock(join(folder, ".lock"), locked, 0, busy);
  } catch (error) {
    if (!(error instanceof ProbelabError) || error.message !== busy) throw error;
    onNews(`${name}: ${busy}`, true);
    return undefined;
  }
}

/** A run whose scheduler was killed: nobody holds its lock any more. */
async function settle(folder: string, run: Run): Promise<Run> {
  if (run.state !== "running") return run;
  const error = "The scheduler or its machine ended before it did.";
  const settled: Run = { ...run, state: "interrupted", error };
  await writeRun(folder, settled);
  return settled;
}

function runLinks(name: string, page: string, out: string, alerts: OnceOptions["alerts"]) {
  const below = (base: string, path: string) =>
    `${base.replace(/\/+$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const { pages, notebooks, runbook } = alerts;
  return {
    notebook: notebooks === undefined ? "" : below(notebooks, `${name}.ipynb`),
    page: pages === undefined ? "" : below(pages, relative(out, page).split(sep).join("/")),
    runbook: runbook ?? "",
  };
}

/** An alert for each notebook that fails, and the end of those of others. */
async function callFor(
  status: readonly NotebookStatus[],
  { out, alerts, onNews }: OnceOptions,
): Promise<void> {
  const { channels = [], pages, notebooks, runbook } = alerts;
  if (channels.length === 0) return;
  if (pages === undefined || notebooks === undefined || runbook === undefined) {
    const missing =
      'Can\'t call anybody about notebooks that fail: set "pages", "notebooks" and "runbook" of "alerts" in probelab.config.json.';
    return onNews(missing, false);
  }
  for (const { name, state, error, runs } of status) {
    // What has not ended yet is neither failed nor over.
    if (state === "never ran") continue;
    const title = cleanText(`The notebook ${name} fails`, 200);
    const [last] = runs;
    const page = last?.page ? `${folderOf(out, name)}/${last.id}/${last.page}` : join(out, PAGE);
    const message = {
      key: alertKey(name),
      title,
      severity: 3 as const,
      text: cleanText(error ?? title, 2_000),
      links: runLinks(name, page, out, alerts),
    };
    try {
      await alert.when(state === "fails", message, { send: true });
    } catch (cause) {
      if (!(cause instanceof ProbelabError)) throw cause;
      onNews(cause.message, false);
    }
  }
}
