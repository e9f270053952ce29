import { isAbsolute, join } from "node:path";
import { checkOptions, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { trackPending } from "../../base/pending-work.js";
import { redact } from "../../base/redact.js";
import { cleanLines, mapTexts, shownValue } from "../../base/text.js";
import { configPath, readConfig } from "../../database/config.js";
import { projectRoot } from "../../database/settings.js";
import { HOUR } from "../../time/span.js";
import {
  configuredChannels,
  body,
  checkMessage,
  headline,
  keyOf,
  linkError,
  linksOf,
  type AlertLinks,
  type AlertMessage,
} from "./channels.js";
import { raise, resolve, type AlertOutcome, type Delivered, type Delivery } from "./sent-alerts.js";

/** Options of sending. The channels are `"channels"` of `"alerts"` in probelab.config.json. */
export interface AlertOptions {
  /** @default true in a scheduled run (`AUTORUN=1`), false in a notebook that somebody runs by hand */
  readonly send?: boolean;
}

/** The outcome of an alert. As the last line of a cell it shows its sentence. */
export interface AlertReport {
  /** False for a dry run. */
  readonly sent: boolean;
  readonly outcomes: readonly AlertOutcome[];
  /** A sentence on what was sent; in a dry run, on what would be. */
  readonly sentence: string;
}

const RULES: Rules<AlertOptions> = {
  send: { fits: (value) => typeof value === "boolean", pass: "true or false" },
};
const WINDOW_HOURS = 4;

/**
 * Calls people. Alerts of one `key` are one alert: chat and push get it once in four hours
 * (`"windowHours"` of `"alerts"` in probelab.config.json), and at once where it becomes more severe;
 * Alertmanager gets it each time and groups, repeats, routes and silences it.
 *
 * In a notebook that is run by hand nothing is sent: the report holds the text. `send: true` sends.
 *
 * @throws ProbelabError for a message without links or a severity, where no channel is configured,
 *   and where no channel took it: it is not known as sent then, so the next run sends it again.
 * @example
 * await alert.send({
 *   title: "Measurements fell by half", text: drop.sentence, severity: 2,
 *   links: { notebook: "https://…", page: "https://…", runbook: "https://…" },
 * });
 */
async function send(given: AlertMessage, options: AlertOptions = {}): Promise<AlertReport> {
  checkMessage(given);
  checkOptions(options, RULES, "send an alert");
  const message = mapTexts(given, inert);
  const error = linkError(message.links);
  if (!isSent(options)) return dryRun(message, error);
  if (error !== undefined) throw error;
  const key = keyOf(message);
  return trackPending(async () => report("send", key, await raise(await delivery(), message)));
}

/** A text as it may leave: without secrets and without what could disturb its reader. */
function inert(text: string): string {
  return cleanLines(redact(text));
}

/**
 * Sends the alert while the condition holds, and resolves it when it doesn't.
 *
 * @throws ProbelabError as `alert.send`, also for a message that could not be sent if it were needed.
 * @example
 * await alert.when(drop.found, { title: "Measurements dropped", text: drop.sentence, severity: 2, links });
 */
async function when(
  condition: boolean,
  message: AlertMessage,
  options: AlertOptions = {},
): Promise<AlertReport> {
  // undefined must not close an alert; a Promise must not raise one.
  if (typeof condition !== "boolean") {
    throw new ProbelabError(
      `Can't tell whether to alert from ${shownValue(condition)}: pass true or false, alert.when(drop.found, { title, … }).`,
    );
  }
  if (condition) return send(message, options);
  checkMessage(message);
  const error = linkError(message.links);
  if (isSent(options) && error !== undefined) throw error;
  return resolved(keyOf(message), options);
}

/**
 * Resolves an alert by its key: each channel that took the alert gets its end.
 *
 * @throws ProbelabError where no channel took the end; the next call sends it again.
 * @example
 * await alert.resolve("measurements drop");
 */
async function resolved(given: string, options: AlertOptions = {}): Promise<AlertReport> {
  checkOptions(options, RULES, "resolve an alert");
  if (typeof given !== "string" || given.trim() === "") {
    throw new ProbelabError(
      `Can't resolve the alert ${shownValue(given)}: pass its key or its title, alert.resolve("measurements drop").`,
    );
  }
  const key = inert(given);
  if (!isSent(options)) {
    const sentence = `With send: true, an open alert ${quoted(key)} would be closed.`;
    return shown({ sent: false, outcomes: [], sentence });
  }
  return trackPending(async () => report("resolve", key, await resolve(await delivery(), key)));
}

/**
 * The links of this run's alerts, as the schedule gives them (`PROBELAB_LINKS`); those passed come
 * first. A link that is in neither is empty: a dry run says so, and sending is refused.
 *
 * @example
 * const links = alert.links({ runbook: "https://docs.example.org/runbooks/drop" });
 */
function links(passed: Partial<AlertLinks> = {}): AlertLinks {
  if (typeof passed !== "object" || passed === null) {
    throw new ProbelabError(
      `Can't take the links ${shownValue(passed)}: pass an object, alert.links({ runbook: "https://…" }).`,
    );
  }
  const all = [scheduledLinks(), passed].flatMap((some) =>
    Object.entries(some).filter(([, link]) => link),
  );
  return { notebook: "", page: "", runbook: "", ...(Object.fromEntries(all) as object) };
}

function scheduledLinks(): Partial<AlertLinks> {
  const text = process.env["PROBELAB_LINKS"] || "{}";
  try {
    const links: unknown = JSON.parse(text);
    if (typeof links === "object" && links !== null) return links;
  } catch {
    // Named below.
  }
  throw new ProbelabError(
    `Can't read the links of PROBELAB_LINKS, ${shownValue(text)}: write JSON, {"notebook": "https://…"}.`,
  );
}

/** Calls people: see `alert.send`. */
export const alert = { send, when, resolve: resolved, links } as const;

function isSent({ send }: AlertOptions): boolean {
  return send ?? process.env["AUTORUN"] === "1";
}

async function delivery(): Promise<Delivery> {
  const root = projectRoot(process.cwd());
  const { alerts = {} } = readConfig(configPath(root));
  const channels = await configuredChannels(alerts.channels ?? []);
  if (channels.length === 0) {
    throw new ProbelabError(
      'Can\'t send an alert: no channel is configured. Name one in "channels" of "alerts" in probelab.config.json: its "kind" (chat, push or alertmanager), and its "url" or the key of its address in the credentials file.',
    );
  }
  const folder = process.env["PROBELAB_WATCH"] || ".probelab-watch";
  return {
    folder: join(isAbsolute(folder) ? folder : join(root, folder), "alerts"),
    channels,
    windowMs: (alerts.windowHours ?? WINDOW_HOURS) * HOUR,
    nextRun: Date.parse(process.env["PROBELAB_NEXT_RUN"] ?? "") || 0,
  };
}

function dryRun(message: AlertMessage, error: ProbelabError | undefined): AlertReport {
  const notice = { message, since: new Date() };
  const all = linksOf(message).map(([name, link]) => `${name}: ${link || "missing"}`);
  const text = [headline(notice), body(notice), ...all].join("\n");
  const missing = error === undefined ? "" : `\n\n${error.message}`;
  const sentence = `Nothing is sent from a notebook that is run by hand. With send: true, or in a scheduled run, this would be sent:\n\n${text}${missing}`;
  return shown({ sent: false, outcomes: [], sentence });
}

/** The report of what was done. @throws ProbelabError where it reached no channel. */
function report(
  action: "send" | "resolve",
  key: string,
  { outcomes, note }: Delivered,
): AlertReport {
  const parts = outcomes.map(
    ({ channel: name, state, why }) =>
      `${name}: ${state === "sent before" ? `already sent, ${why}` : why === undefined ? state : `${state}, ${why}`}`,
  );
  if (outcomes.length > 0 && outcomes.every(({ state }) => state === "failed")) {
    throw new ProbelabError(
      `Can't ${action} the alert ${shownValue(key)}: no channel took it (${parts.join("; ")}). Check the channels in probelab.config.json, and call somebody by other means; the next run tries again.`,
    );
  }
  const sentence =
    parts.length === 0
      ? `The alert ${quoted(key)} is not open.`
      : `Alert ${quoted(key)} ${action === "send" ? "" : "closed "}to ${parts.join("; ")}.`;
  return shown({ sent: true, outcomes, sentence: [sentence, note].filter(Boolean).join(" ") });
}

function quoted(key: string): string {
  return `“${shownValue(key).slice(1, -1)}”`;
}

/** The report, which a cell shows as its sentence. */
function shown(answer: AlertReport): AlertReport {
  const display = () => ({ "text/plain": answer.sentence });
  return Object.defineProperty(answer, Symbol.for("Jupyter.display"), { value: display });
}
