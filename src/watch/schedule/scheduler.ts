import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProbelabError } from "../../base/error.js";
import { withLock } from "../../files/with-lock.js";
import { writeWhole } from "../../files/write-whole.js";
import { LENGTHS } from "../../time/span.js";
import { Caller } from "./call.js";
import {
  folderOf,
  newId,
  readHistory,
  retain,
  writeRun,
  type History,
  type Run,
} from "./history.js";
import { findScheduled, type Cache, type Scheduled } from "./notebooks.js";
import { lockPath, overview, readSeen, writeSeen, type Overview, type Seen } from "./overview.js";
import { schedulePage } from "./page.js";
import { ProcessTree } from "./process-tree.js";
import { SCHEDULER_ENDED, startRun, type Running } from "./run.js";

/** How notebooks are scheduled. */
export interface SchedulerOptions {
  /** Where the notebooks are. */
  readonly folder: string;
  /** Where the page, the history and the outputs go. */
  readonly out: string;
  /** Runs what is due and ends, for a timer; else it stays. */
  readonly once: boolean;
  /** Notebooks that run side by side. */
  readonly parallel: number;
  /** Runs whose outputs are kept, of each notebook. */
  readonly keep: number;
  /** Told of each run that ended, and of what is wrong. */
  readonly say: (text: string) => void;
  readonly onRun: (run: Run) => void;
  /** Cuts off what runs, and ends. */
  readonly signal: AbortSignal;
}

const STEP_MS = 2_000;

/**
 * Runs notebooks by their schedules until `signal` is aborted. Everything that it knows is in `out`:
 * it may be killed at any moment.
 *
 * @returns the schedule at the end
 * @throws ProbelabError where the folders can't be used, or another scheduler works in `out`
 */
export async function schedule(options: SchedulerOptions): Promise<Overview> {
  const out = resolve(options.out);
  const scheduler = new Scheduler({ ...options, out, folder: resolve(options.folder) });
  const held = `Can't schedule into ${options.out}: another scheduler works there. End that one, or name another folder with --out.`;
  try {
    return await withLock(lockPath(out), () => scheduler.work(), 500, held);
  } catch (cause) {
    if (cause instanceof ProbelabError) throw cause;
    throw new ProbelabError(
      `Can't schedule into ${options.out}: ${(cause as Error).message}. Name a folder that can be written with --out.`,
      { cause },
    );
  }
}

class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #caller = new Caller();
  readonly #running = new Map<string, Running>();
  readonly #histories = new Map<string, History>();
  /** Records that the disk didn't take: they are tried again. */
  readonly #unwritten = new Map<string, Run>();
  readonly #cache: Cache = new Map();
  readonly #said = new Set<string>();
  /** Notebooks that another process runs just now. */
  readonly #busy = new Map<string, number>();
  /** Notebooks that were started: once by a timer is once. */
  readonly #started = new Set<string>();
  #notebooks: readonly Scheduled[] = [];
  /** What was wrong in the last turn, and in this one so far. */
  #troubles: readonly string[] = [];
  #news: string[] = [];
  #wake = new AbortController();
  #written = { at: 0, state: "" };

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  async work(): Promise<Overview> {
    const { out, once, signal, say } = this.#options;
    const before = await readSeen(out).catch(() => undefined);
    this.#notebooks = before?.notebooks ?? [];
    for (const { name } of this.#notebooks) await this.#recover(name);
    if (!this.#caller.calls)
      say("No alert channel is configured: nobody is called where a notebook fails.");
    signal.addEventListener("abort", () => this.#wake.abort(), { once: true });
    for (;;) {
      const now = await this.#look();
      if (signal.aborted) break;
      const started = this.#start(now);
      if (once && started === 0 && this.#running.size === 0) break;
      await sleep(STEP_MS, undefined, { signal: this.#wake.signal }).catch(() => undefined);
      if (this.#wake.signal.aborted) this.#wake = new AbortController();
    }
    for (const running of this.#running.values()) {
      running.stop("interrupted", "The scheduler was ended.");
    }
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await sleep(0);
    const last = await this.#look();
    await this.#caller.done();
    return last;
  }

  /** Looks at the notebooks and tells what there is, where something changed. */
  async #look(): Promise<Overview> {
    const { folder, out, once } = this.#options;
    this.#troubles = this.#news.splice(0);
    const known = this.#notebooks;
    try {
      this.#notebooks = await findScheduled(folder, out, this.#cache);
    } catch (cause) {
      const why = `Can't look for notebooks in ${folder}: ${(cause as Error).message}.`;
      if (this.#written.at === 0)
        throw new ProbelabError(`${why} Name a folder that can be read.`, { cause });
      this.#trouble(why);
    }
    for (const { name } of this.#notebooks) {
      if (!this.#histories.has(name)) await this.#recover(name);
    }
    for (const [name, run] of this.#unwritten) await this.#write(name, run);
    const gone = known.filter(({ name }) => !this.#notebooks.some((one) => one.name === name));
    if (this.#caller.trouble !== undefined) this.#trouble(this.#caller.trouble);
    const seen: Seen = {
      ...{ version: 1, folder, stays: !once, looked: new Date().toISOString() },
      ...{ notebooks: this.#notebooks, troubles: this.#troubles },
    };
    const now = overview(out, seen, this.#histories, new Date());
    this.#caller.look(
      now.views,
      gone.map(({ name }) => name),
      now.at,
    );
    const state = JSON.stringify([
      now.views.map((view) => [view, view.runs.length]),
      this.#troubles,
    ]);
    const age = now.at.getTime() - this.#written.at;
    if (state !== this.#written.state || age < 0 || age >= LENGTHS.minute) {
      this.#written = { at: now.at.getTime(), state };
      try {
        await writeSeen(out, seen);
        await writeWhole(join(out, "index.html"), schedulePage(now));
      } catch (error) {
        this.#trouble((error as Error).message);
      }
    }
    return now;
  }

  /** Starts what is due, the longest due first. */
  #start({ views, at }: Overview): number {
    const { out, parallel, say } = this.#options;
    const now = at.getTime();
    const due = views.filter(({ name, state, plan: { period, at: when = Infinity } }) => {
      if (this.#options.once && this.#started.has(name)) return false;
      const isFree = !this.#running.has(name) && !this.#unwritten.has(name) && state !== "paused";
      // A timer has its own delay; one that waits out ours would miss the period.
      const starts = this.#options.once ? (period ?? Infinity) : when;
      return period !== undefined && isFree && starts <= now && (this.#busy.get(name) ?? 0) <= now;
    });
    due.sort((a, b) => (a.plan.at ?? 0) - (b.plan.at ?? 0));
    const begun = due.slice(0, Math.max(0, parallel - this.#running.size));
    for (const { name, path, schedule: own, place, plan } of begun) {
      const id = newId(at);
      const run: Run = {
        ...{ id, notebook: name, periods: plan.periods, started: at.toISOString() },
        ...{ period: new Date(plan.period!).toISOString(), state: "running", seconds: null },
        ...{ peakMemory: null, exit: null, error: null, rowsRead: null, page: null },
      };
      const file = path
        .split(/[/\\]/)
        .at(-1)!
        .replace(/\.ipynb$/, ".html");
      const links = this.#caller.links(name, `${place}/${id}/${file}`, own?.runbook) ?? {};
      const running = startRun({ run, path, folder: folderOf(out, name) }, own!, links);
      this.#running.set(name, running);
      this.#started.add(name);
      this.#remember(name, run);
      void running.ended
        .then(async (ended) => {
          if (ended === undefined) {
            this.#busy.set(name, Date.now() + LENGTHS.minute / 6);
            this.#forget(name, id);
            if (this.#options.once) say(`${name}: another process runs it just now.`);
          } else {
            this.#remember(name, ended.run);
            if (ended.unwritten) this.#unwritten.set(name, ended.run);
            this.#options.onRun(ended.run);
            await retain(folderOf(out, name), this.#histories.get(name)!, this.#options.keep);
            this.#histories.set(name, await this.#history(name));
          }
        })
        .catch((error: Error) => this.#trouble(error.message))
        .finally(() => {
          this.#running.delete(name);
          this.#wake.abort();
        });
    }
    return begun.length;
  }

  /** Reads a notebook's runs; one that still runs there was cut off, with the scheduler that started it. */
  async #recover(name: string): Promise<void> {
    const folder = folderOf(this.#options.out, name);
    const { runs } = await readHistory(folder);
    for (const run of runs.filter(({ state }) => state === "running")) {
      await new ProcessTree(-1, run.id).kill(true);
      const cut = { state: "interrupted", exit: 130, error: SCHEDULER_ENDED } as const;
      await this.#write(name, { ...run, ...cut });
    }
    this.#histories.set(name, await this.#history(name));
  }

  /** The runs on disk, and those that the disk didn't take. */
  async #history(name: string): Promise<History> {
    const { runs, damaged } = await readHistory(folderOf(this.#options.out, name));
    const lost = this.#unwritten.get(name);
    return lost === undefined
      ? { runs, damaged }
      : { runs: [lost, ...runs.filter(({ id }) => id !== lost.id)], damaged };
  }

  async #write(name: string, run: Run): Promise<void> {
    try {
      await writeRun(folderOf(this.#options.out, name), run);
      this.#unwritten.delete(name);
    } catch (error) {
      this.#unwritten.set(name, run);
      this.#trouble((error as Error).message);
    }
  }

  #remember(name: string, run: Run): void {
    this.#forget(name, run.id);
    const { runs = [], damaged = [] } = this.#histories.get(name) ?? {};
    this.#histories.set(name, { runs: [run, ...runs], damaged });
  }

  #forget(name: string, id: string): void {
    const { runs = [], damaged = [] } = this.#histories.get(name) ?? {};
    this.#histories.set(name, { runs: runs.filter((run) => run.id !== id), damaged });
  }

  #trouble(text: string): void {
    if (!this.#news.includes(text)) this.#news.push(text);
    if (!this.#said.has(text)) this.#options.say(text);
    this.#said.add(text);
  }
}
