import { readConfig } from "../../database/config.js";
import { configPath, projectRoot } from "../../database/settings.js";
import { ProbelabError } from "../../base/error.js";
import { LENGTHS } from "../../time/span.js";
import { alert } from "../alert/alert.js";
import type { AlertLinks, AlertMessage } from "../alert/message.js";
import type { View } from "./overview.js";
import { timeText } from "./run.js";

/** Where the links of a schedule's alerts lead. */
interface Places {
  readonly pages: string;
  readonly notebooks: string;
  readonly runbook: string;
}

/** An alert that is raised on for longer than its window ends by itself: it is renewed in time. */
const RENEWALS = 4;

/**
 * Calls somebody about notebooks that fail, and once more when they recover. Where no channel is
 * configured nobody is called.
 */
export class Caller {
  readonly #places: Places | undefined;
  readonly #renewMs: number;
  readonly #told = new Map<string, { readonly at: number; readonly run: string }>();
  #flushed = 0;
  #work: Promise<void> = Promise.resolve();
  /** Why the last call went wrong; the alerts are kept and tried again. */
  trouble: string | undefined;

  /** @throws ProbelabError where channels are configured, but not where the links lead. */
  constructor() {
    const { alerts = {} } = readConfig(configPath(projectRoot(process.cwd())));
    const { channels = [], windowHours = 4, pages, notebooks, runbook } = alerts;
    this.#renewMs = (windowHours * LENGTHS.hour) / RENEWALS;
    if (channels.length === 0) return;
    if (pages === undefined || notebooks === undefined || runbook === undefined) {
      throw new ProbelabError(
        'Can\'t call anybody about failing notebooks: alerts need links. Set "pages", "notebooks" and "runbook" beside "channels" in "alerts" of probelab.config.json: the addresses at which the schedule\'s folder and the notebooks\' are served, and of a page that says what to do.',
      );
    }
    this.#places = { pages, notebooks, runbook };
  }

  /** False where no channel is configured. */
  get calls(): boolean {
    return this.#places !== undefined;
  }

  /** The links of a notebook's alerts. @param page a run's, from the schedule's folder; else the schedule's own */
  links(name: string, page: string, runbook?: string): AlertLinks | undefined {
    if (this.#places === undefined) return undefined;
    const { pages, notebooks } = this.#places;
    return {
      notebook: below(notebooks, `${name}.ipynb`),
      page: below(pages, page),
      runbook: runbook ?? this.#places.runbook,
    };
  }

  /** Raises and resolves what changed since the last time. @param gone notebooks that are there no more */
  look(views: readonly View[], gone: readonly string[], at: Date): void {
    if (this.#places === undefined) return;
    const now = at.getTime();
    const raised: AlertMessage[] = [];
    const resolved: string[] = [];
    for (const view of views.filter(({ state }) => state !== "paused")) {
      const told = this.#told.get(view.name);
      const run = view.state === "fails" ? (view.problem ?? view.last?.id ?? "") : "";
      if (told?.run === run && (run === "" || now - told.at < this.#renewMs)) continue;
      this.#told.set(view.name, { at: now, run });
      if (run === "") resolved.push(keyOf(view.name));
      else raised.push(this.#message(view));
    }
    for (const name of gone) {
      this.#told.delete(name);
      resolved.push(keyOf(name));
    }
    const flush = now - this.#flushed >= LENGTHS.minute || now < this.#flushed;
    if (raised.length === 0 && resolved.length === 0 && !flush) return;
    this.#flushed = now;
    this.#work = this.#work.then(() => this.#call(raised, resolved));
  }

  /** Resolves once all calls so far are made. */
  done(): Promise<void> {
    return this.#work;
  }

  async #call(raised: readonly AlertMessage[], resolved: readonly string[]): Promise<void> {
    try {
      if (raised.length > 0) await alert.send(raised, { send: true });
      for (const key of resolved) await alert.resolve(key, { send: true });
      await alert.flush({ send: true });
      this.trouble = undefined;
    } catch (error) {
      this.trouble = (error as Error).message;
    }
  }

  #message({ name, place, last, lastGood, problem, schedule }: View): AlertMessage {
    const took = last?.seconds == null ? "" : ` after ${timeText(last.seconds * 1000)}`;
    const why = problem ?? last?.error ?? "It was cut off twice.";
    const good =
      lastGood === undefined
        ? "It never ran well."
        : `Its last good run began at ${lastGood.started.slice(0, 16).replace("T", " ")} UTC.`;
    const ended =
      problem === undefined && last !== undefined
        ? `The run of ${last.started.slice(0, 16).replace("T", " ")} UTC ended with ${last.state}${took}.\n`
        : "";
    const page = last?.page && problem === undefined ? `${place}/${last.page}` : "index.html";
    return {
      key: keyOf(name),
      title: `The notebook ${name.slice(-120)} ${problem === undefined ? "fails" : "can't be scheduled"}`,
      text: `${ended}${why.slice(0, 3_000)}\n${good}`,
      // An outage of what watches the service: severity 3 of the incident policy.
      severity: 3,
      links: this.links(name, page, schedule?.runbook)!,
    };
  }
}

function keyOf(name: string): string {
  return `schedule ${name}`.slice(0, 200);
}

function below(base: string, path: string): string {
  const segments = path.split(/[/\\]/).map(encodeURIComponent).join("/");
  return new URL(segments, base.endsWith("/") ? base : `${base}/`).href;
}
