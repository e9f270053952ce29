import { isAbsolute, join } from "node:path";
import { checkOptions } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { sendGauge } from "../../base/statsd.js";
import { shownValue } from "../../base/text.js";
import { credentials } from "../../credentials/credentials.js";
import { readConfig, type AlertChannel } from "../../database/config.js";
import { configPath, projectRoot } from "../../database/settings.js";
import { alertmanagerChannel, chatChannel, pushChannel, type Channel } from "./channels.js";
import {
  body,
  checkLinks,
  checkMessage,
  headline,
  keyOf,
  linksOf,
  type AlertLinks,
  type AlertMessage,
} from "./message.js";
import { flush, raise, resolve, type Outbox, type Outcome } from "./outbox.js";

/** Where and whether alerts are sent. */
export interface AlertOptions {
  /** Default: `"channels"` of `"alerts"` in probelab.config.json. */
  readonly channels?: readonly Channel[];
  /** Take over what one of the channels doesn't take. Default: `"secondary"` there. */
  readonly secondary?: readonly Channel[];
  /** Default: true in a scheduled run (`AUTORUN=1`), false in a notebook that somebody runs by hand. */
  readonly send?: boolean;
}

/** What became of alerts. As the last line of a cell it shows its sentence. */
export interface AlertReport {
  /** False for a dry run. */
  readonly sent: boolean;
  readonly outcomes: readonly Outcome[];
  /** What was done; of a dry run, what would be sent. */
  readonly sentence: string;
}

const WINDOW_HOURS = 4;
const RULES = {
  channels: { fits: Array.isArray, pass: 'a list, such as [alert.chat("https://…")]' },
  secondary: { fits: Array.isArray, pass: 'a list, such as [alert.push("https://…")]' },
  send: { fits: (value: unknown) => typeof value === "boolean", pass: "true or false" },
};
const MAKE = { chat: chatChannel, push: pushChannel, alertmanager: alertmanagerChannel };

/**
 * Calls people: one alert, or several as one notice.
 *
 * An alert is told by its `key`. Raised again it is sent again after four hours (`"windowHours"` of
 * `"alerts"`), or where it becomes more severe; Alertmanager hears of it each time, and ends it by
 * itself where nobody raises it within the window. Every alert is on disk before it is sent. A
 * channel that is down is tried again with the next alert (or `alert.flush`), and the secondary
 * channels take over at once; a notice that may have arrived says so where it is sent again.
 *
 * In a notebook that is run by hand nothing is sent: the report holds the text. `send: true` sends.
 *
 * @throws ProbelabError for a message without links or a severity, where no channel is configured,
 *   and where not one channel took it.
 * @example
 * await alert.send({
 *   title: "Measurements fell by half", text: drop.sentence, severity: 2, chart: chart.change(drop),
 *   links: { notebook: "https://…", page: "https://…", runbook: "https://…" },
 * });
 */
async function send(
  message: AlertMessage | readonly AlertMessage[],
  options: AlertOptions = {},
): Promise<AlertReport> {
  const messages = Array.isArray(message) ? (message as AlertMessage[]) : [message as AlertMessage];
  messages.forEach(checkMessage);
  checkOptions(options, RULES, "send an alert");
  if (!isSent(options)) return dryRun(messages);
  messages.forEach(checkLinks);
  if (messages.length === 0) return report([]);
  const box = await outboxOf(options);
  const outcomes = await raise(box, messages, new Date());
  for (const one of messages) {
    const own = outcomes.filter(({ key }) => key === keyOf(one));
    if (own.some(({ state }) => state === "sent" || state === "known")) continue;
    const why = own.map(({ channel, state, why: said }) => `${channel} ${said ?? state}`);
    throw new ProbelabError(
      `Can't send the alert ${shownValue(keyOf(one))}: no channel took it (${why.join("; ")}). It is kept and tried again with the next alert, or with alert.flush(); call somebody by other means.`,
    );
  }
  return report(outcomes);
}

/**
 * Sends the alert while the condition holds, and resolves it when it doesn't.
 *
 * @example
 * await alert.when(drop.found, { title: "Measurements dropped", text: drop.sentence, severity: 2, links });
 */
async function when(
  condition: boolean,
  message: AlertMessage,
  options: AlertOptions = {},
): Promise<AlertReport> {
  if (condition) return send(message, options);
  checkMessage(message);
  // What could not be sent when it is needed is found out before.
  if (isSent(options)) checkLinks(message);
  return resolved(keyOf(message), options);
}

/**
 * Resolves an alert by its key: those who were told of it are told that it is over.
 *
 * @example
 * await alert.resolve("measurements drop");
 */
async function resolved(key: string, options: AlertOptions = {}): Promise<AlertReport> {
  checkOptions(options, RULES, "resolve an alert");
  if (!isSent(options)) {
    const sentence = `Nothing is sent from a notebook that is run by hand. With send: true the alert ${shownValue(key)} would be resolved where it is raised.`;
    return shown({ sent: false, outcomes: [], sentence });
  }
  return report(await resolve(await outboxOf(options), [key], new Date()));
}

/**
 * The links of this run's alerts, as the scheduler gives them (`PROBELAB_LINKS`), and one's own
 * before them. One that neither tells is empty: a dry run says so, and sending is refused.
 *
 * @example
 * const links = alert.links({ runbook: "https://docs.example.org/runbooks/drop" });
 */
function links(own: Partial<AlertLinks> = {}): AlertLinks {
  const given = JSON.parse(process.env["PROBELAB_LINKS"] || "{}") as Partial<AlertLinks>;
  const all = [given, own].flatMap((some) => Object.entries(some).filter(([, link]) => link));
  return { notebook: "", page: "", runbook: "", ...(Object.fromEntries(all) as object) };
}

/**
 * Tries again what channels didn't take so far, where it is due.
 *
 * @example
 * await alert.flush();
 */
async function flushed(options: AlertOptions = {}): Promise<AlertReport> {
  checkOptions(options, RULES, "send alerts again");
  return report(await flush(await outboxOf(options), new Date()));
}

/**
 * A gauge of StatsD, over UDP.
 *
 * @param address `host:port`; default: `"statsd"` of `"alerts"` in probelab.config.json.
 * @example
 * await alert.gauge("probelab.measurements.drop", 0.5);
 */
async function gauge(name: string, value: number, address?: string): Promise<void> {
  const to = address ?? readConfig(configPath(projectRoot(process.cwd()))).alerts?.statsd;
  if (to === undefined) {
    throw new ProbelabError(
      `Can't send the gauge ${shownValue(name)}: no address. Pass host:port, or set "alerts": { "statsd": "127.0.0.1:8125" } in probelab.config.json.`,
    );
  }
  await sendGauge(to, name, value);
}

/** Calls people: see `alert.send`. */
export const alert = {
  send,
  when,
  resolve: resolved,
  flush: flushed,
  links,
  gauge,
  chat: chatChannel,
  push: pushChannel,
  alertmanager: alertmanagerChannel,
} as const;

function isSent({ send: asked }: AlertOptions): boolean {
  return asked ?? process.env["AUTORUN"] === "1";
}

async function outboxOf(options: AlertOptions): Promise<Outbox> {
  const root = projectRoot(process.cwd());
  const { alerts = {} } = readConfig(configPath(root));
  const made = async (list: readonly AlertChannel[] = []) => Promise.all(list.map(channelOf));
  const channels = options.channels ?? (await made(alerts.channels));
  if (channels.length === 0) {
    throw new ProbelabError(
      'Can\'t send an alert: no channel is configured. Set "alerts": { "channels": [{ "kind": "chat", "credential": "alerts.chat" }] } in probelab.config.json, or pass channels: [alert.chat("https://…")].',
    );
  }
  const secondary = options.secondary ?? (await made(alerts.secondary));
  const names = [...channels, ...secondary].map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new ProbelabError(
      `Can't send an alert: two channels are called ${shownValue(twice)}. Give each a name of its own.`,
    );
  }
  const folder = process.env["PROBELAB_WATCH"] || ".probelab-watch";
  return {
    folder: join(isAbsolute(folder) ? folder : join(root, folder), "alerts"),
    channels,
    secondary,
    windowMs: (alerts.windowHours ?? WINDOW_HOURS) * 3_600_000,
  };
}

async function channelOf({ kind, name, url, credential, token }: AlertChannel): Promise<Channel> {
  const address = url ?? (credential === undefined ? "" : await credentials.get(credential));
  return MAKE[kind](address, {
    ...(name !== undefined && { name }),
    ...(token !== undefined && { token: await credentials.get(token) }),
  });
}

function dryRun(messages: readonly AlertMessage[]): AlertReport {
  const untold = messages.flatMap((message) => {
    try {
      checkLinks(message);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  const texts = messages.map((message) => {
    const now = new Date();
    const notice = { ...message, state: "firing", since: now, expires: now, raised: 1 } as const;
    const links = linksOf(message).map(([name, url]) => `${name}: ${url}`);
    return [headline(notice), body(notice), ...links].join("\n");
  });
  const sentence = `Nothing is sent from a notebook that is run by hand. With send: true, or in a scheduled run, this would be:\n\n${[...texts, ...new Set(untold)].join("\n\n")}`;
  return shown({ sent: false, outcomes: [], sentence });
}

function report(outcomes: readonly Outcome[]): AlertReport {
  const parts = outcomes.map(({ key, channel, state, why }) => {
    const what = {
      sent: "sent",
      known: "told before",
      waiting: "tried again later",
      refused: "refused",
      unknown: "may have arrived",
    }[state];
    return `${shownValue(key)} to ${channel}: ${what}${why === undefined ? "" : ` (${why})`}`;
  });
  const sentence = parts.length === 0 ? "Nothing was to be sent." : `${parts.join("; ")}.`;
  return shown({ sent: true, outcomes, sentence });
}

/** The report, which a cell shows as its sentence. */
function shown(answer: AlertReport): AlertReport {
  const display = () => ({ "text/plain": answer.sentence });
  return Object.defineProperty(answer, Symbol.for("Jupyter.display"), { value: display });
}
