import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { entryPath } from "../../base/entry-path.js";
import { redact } from "../../base/redact.js";
import { writeRun, type Run } from "./history.js";
import { ProcessTree, RUN_VARIABLE } from "./process-tree.js";
import type { Schedule } from "./schedule.js";

/** What the scheduler tells the process of a run. */
export type ToRun =
  | { readonly job: Job }
  | { readonly stop: { readonly state: Run["state"]; readonly error: string } };

/** A run to make. */
export interface Job {
  readonly run: Run;
  /** The notebook. */
  readonly path: string;
  /** The notebook's folder in the schedule's. */
  readonly folder: string;
}

/** What it tells back where its record can't be written. */
export interface FromRun {
  readonly unwritten: Run;
}

/** Exit code of a run that was not made, since another process runs the notebook. */
export const BUSY = 75;

/** Why a run was cut off that its scheduler left behind. */
export const SCHEDULER_ENDED = "The scheduler ended while it ran.";

/** A run that goes on. */
export interface Running {
  readonly run: Run;
  /** Cuts it off. */
  stop(state: Run["state"], error: string): void;
  /** Its record, once its last process has ended; undefined where another process runs the notebook. */
  readonly ended: Promise<{ readonly run: Run; readonly unwritten: boolean } | undefined>;
}

const CHECK_MS = 250;
/** Time to write what a notebook has put out so far, for one that is stopped. */
const GRACE_MS = 20_000;

/**
 * Runs a notebook in a process of its own, with limits for all that it starts: their resident memory
 * together, looked at every 250 ms, and the time of the whole run. No shell has a part in it.
 */
export function startRun(job: Job, { memory, timeout }: Schedule, links: object): Running {
  const { run, folder } = job;
  const child = fork(entryPath(import.meta.url, "./run-main.js"), [], {
    // Of its own group and session: what it starts is ended with it, and Ctrl-C is the scheduler's.
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    execArgv: [],
    env: {
      ...process.env,
      AUTORUN: "1",
      PROBELAB_LINKS: JSON.stringify(links),
      [RUN_VARIABLE]: run.id,
    },
  });
  const tree = new ProcessTree(child.pid ?? -1, run.id);
  const begun = performance.now();
  let said = "";
  let unwritten: Run | undefined;
  let stopped: { state: Run["state"]; error: string; at: number } | undefined;
  let peak = 0;
  const tell = (message: ToRun) => {
    if (child.connected) child.send(message, () => undefined);
  };
  const stop = (state: Run["state"], error: string) => {
    stopped ??= { state, error, at: performance.now() };
    tell({ stop: { state, error } });
  };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2_000);
  });
  child.on("message", (message: FromRun) => (unwritten = message.unwritten));
  const gone = once(child, "exit").catch((error: Error) => [error.message]);
  tell({ job });

  const watch = async () => {
    const over = new AbortController();
    void gone.then(() => over.abort());
    while (!over.signal.aborted) {
      const held = await tree.memory();
      peak = Math.max(peak, held);
      const took = performance.now() - begun;
      if (stopped !== undefined && performance.now() - stopped.at > GRACE_MS) {
        await tree.kill(true);
      } else if (stopped === undefined && held > memory) {
        stop(
          "memory",
          `It held ${sizeText(held)}, more than ${sizeText(memory)}, and was ended. Allow more with "memory", or let the database aggregate first.`,
        );
        await tree.kill(false);
      } else if (stopped === undefined && took > timeout) {
        stop(
          "timeout",
          `It took longer than ${timeText(timeout)} and was stopped. Allow more with "timeout", or ask for a shorter range.`,
        );
      }
      await sleep(CHECK_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
  };

  const end = async () => {
    const watched = watch();
    const [code, signal] = (await gone) as [number | string | null, string | undefined];
    await watched;
    await tree.kill(true);
    if (code === BUSY) return undefined;
    const written = await readRun(join(folder, run.id, "run.json"));
    const how = signal === undefined ? `exit code ${code}` : `signal ${signal}`;
    const died: Run = {
      ...run,
      ...{ state: "died", exit: 5, seconds: (performance.now() - begun) / 1000 },
      error: `The run's own process ended (${how}). ${redact(said)}`.trim(),
      ...(stopped !== undefined && { state: stopped.state, error: stopped.error, exit: 130 }),
    };
    const last = unwritten ?? (written?.state === "running" ? died : (written ?? died));
    const whole = { ...last, peakMemory: peak, seconds: (performance.now() - begun) / 1000 };
    const lost = await writeRun(folder, whole).then(
      () => false,
      () => true,
    );
    return { run: whole, unwritten: lost };
  };
  return { run, stop, ended: end() };
}

async function readRun(path: string): Promise<Run | undefined> {
  return readFile(path, "utf8").then(
    (text) => JSON.parse(text) as Run,
    () => undefined,
  );
}

/** `1.2 GB`, `430 MB`. */
export function sizeText(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
}

/** `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function timeText(ms: number): string {
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s < 10 ? (ms / 1000).toFixed(1) : s} s`;
  const [big, small, names] =
    s < 3600
      ? [Math.floor(s / 60), s % 60, ["min", "s"]]
      : [Math.floor(s / 3600), Math.floor((s % 3600) / 60), ["h", "min"]];
  return small === 0 ? `${big} ${names[0]}` : `${big} ${names[0]} ${small} ${names[1]}`;
}
