import { createHash } from "node:crypto";
import { checkOptions, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { keepSecret } from "../../base/redact.js";
import { cleanText, shownValue } from "../../base/text.js";
import { credentials } from "../../database/credentials.js";
import type { AlertChannel } from "../../database/config.js";
import { momentText } from "../../time/time-zone.js";

/** An alert. */
export interface AlertMessage {
  /** One line: "Measurements fell by half in IT". */
  readonly title: string;
  readonly text: string;
  /** Of the incident policy: 1 is the most serious. */
  readonly severity: 1 | 2 | 3 | 4;
  readonly links: AlertLinks;
  /** Alerts of one key are one alert, which is resolved as one. @default the title */
  readonly key?: string;
}

/** The links of an alert; http(s) addresses. */
export interface AlertLinks {
  readonly notebook: string;
  /** The page of the notebook's run. */
  readonly page: string;
  readonly runbook: string;
  /** More links, each under the name that is shown. */
  readonly [name: string]: string;
}

const text = (longest: number) => (value: unknown) =>
  typeof value === "string" && value.trim() !== "" && value.length <= longest;

const RULES: Rules<AlertMessage> = {
  title: { fits: text(200), pass: "a line of up to 200 characters" },
  text: { fits: text(10_000), pass: "a text of up to 10,000 characters" },
  severity: {
    fits: (value) => [1, 2, 3, 4].includes(value as number),
    pass: "1, 2, 3 or 4",
  },
  links: {
    fits: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    pass: "{ notebook, page, runbook }",
  },
  key: { fits: text(200), pass: "a line of up to 200 characters" },
};

const EXAMPLE_CALL = "alert.send({ title, text, severity: 2, links })";

/** @throws ProbelabError for an alert that lacks something, links aside. */
export function checkMessage(message: AlertMessage): void {
  if (typeof message !== "object" || message === null) {
    throw new ProbelabError(
      `Can't send the alert ${shownValue(message)}: pass one, ${EXAMPLE_CALL}.`,
    );
  }
  checkOptions(message, RULES, "send an alert");
  for (const name of ["title", "text", "severity", "links"] as const) {
    if (message[name] === undefined) {
      throw new ProbelabError(`Can't send an alert without ${name}: pass it, ${EXAMPLE_CALL}.`);
    }
  }
}

/** The error of a link that is missing or no whole address; undefined where all are fine. */
export function linkError(links: AlertLinks): ProbelabError | undefined {
  for (const [name, link] of Object.entries({ ...REQUIRED, ...links })) {
    if (isAddress(link)) continue;
    return new ProbelabError(
      `Can't send an alert with the link ${name}: ${shownValue(link)}: pass a whole address, https://…, or take links: alert.links(), for which a scheduled run needs "pages", "notebooks" and "runbook" of "alerts" in probelab.config.json.`,
    );
  }
  return undefined;
}

const REQUIRED = { page: undefined, runbook: undefined, notebook: undefined };

/** True for a whole http(s) address. */
export function isAddress(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** The links of a message, those that every alert has first. */
export function linksOf(message: AlertMessage): (readonly [name: string, link: string])[] {
  return Object.entries({ ...REQUIRED, ...message.links }).map(([name, link]) => [
    cleanText(name, 40),
    link ?? "",
  ]);
}

export function keyOf(message: AlertMessage): string {
  return message.key ?? message.title;
}

/** An alert as a channel shows it: raised since `since`, over at `end` where it is resolved. */
export interface Notice {
  readonly message: AlertMessage;
  readonly since: Date;
  readonly end?: Date;
  /** True where the channel has shown it before. */
  readonly isRepeat?: boolean;
}

/** `Severity 2: Measurements fell by half`, `Resolved: …`. */
export function headline({ message, end }: Notice): string {
  const what = end === undefined ? `Severity ${message.severity}` : "Resolved";
  return `${what}: ${cleanText(message.title)}`;
}

/** The text under the headline. */
export function body({ message, since, end, isRepeat }: Notice): string {
  if (end !== undefined) return `Raised since ${utc(since)}, over at ${utc(end)}.`;
  return isRepeat ? `${message.text}\nRaised since ${utc(since)}.` : message.text;
}

/** `1 May 2026 03:00 UTC` */
export function utc(date: Date): string {
  return momentText(date, "UTC");
}

/** A place that takes alerts; its address is a secret. */
export interface Channel {
  readonly kind: AlertChannel["kind"];
  readonly name: string;
  readonly url: string;
  /** The header Authorization: an access token, or the user and password of the address. */
  readonly authorization?: string;
}

/** The channels of probelab.config.json, with the addresses and tokens of the credentials file. */
export function configuredChannels(channels: readonly AlertChannel[]): Promise<Channel[]> {
  return Promise.all(
    channels.map(async ({ kind, name = kind, url, credential, token }): Promise<Channel> => {
      const refused = (why: string) =>
        new ProbelabError(`Can't use the channel ${shownValue(name)}: ${why}`);
      if ((url === undefined) === (credential === undefined)) {
        throw refused('write either "url" or "credential" in "channels" of probelab.config.json.');
      }
      const address = url ?? (await credentials.get(credential!));
      if (!isAddress(address)) {
        throw refused(
          "its address is no whole address. Write one that begins with https:// or http://.",
        );
      }
      const place = new URL(address);
      const { pathname, username, password } = place;
      if (CHANNELS[kind].isSecretPath && pathname.length > 8) keepSecret(pathname.slice(1));
      const channel = { kind, name: cleanText(name, 40), url: address };
      if (token !== undefined) {
        return { ...channel, authorization: `Bearer ${await credentials.get(token)}` };
      }
      if (username === "" && password === "") return channel;
      const [user, word] = [username, password].map(decoded) as [string, string];
      keepSecret(word, user);
      // Requests take no user and password in an address.
      place.username = place.password = "";
      const basic = Buffer.from(`${user}:${word}`).toString("base64");
      return { ...channel, url: place.href, authorization: `Basic ${basic}` };
    }),
  );
}

/** Identifies a channel on disk, where its address must not be. */
export function channelId({ name, url }: Channel): string {
  return `${name} ${createHash("sha256").update(url).digest("hex").slice(0, 12)}`;
}

/** Severities in the channels' own words. */
const SEVERITIES = {
  1: { label: "critical", priority: "5", tag: "rotating_light" },
  2: { label: "critical", priority: "4", tag: "rotating_light" },
  3: { label: "warning", priority: "3", tag: "warning" },
  4: { label: "info", priority: "2", tag: "information_source" },
} as const;
const OVER = { priority: "3", tag: "white_check_mark" } as const;

type Content = Pick<RequestInit, "headers"> & { readonly path?: string; readonly body: string };

/** How a kind of channel takes notices. */
interface ChannelKind {
  /** The request that shows a notice. @param expires when the alert is over unless it is raised again */
  content(notice: Notice, expires: Date): Content;
  /** True where the channel itself repeats alerts, and ends those that are not raised again. */
  readonly repeats: boolean;
  /** True where the path of the address is its password. */
  readonly isSecretPath: boolean;
}

/** Slack's incoming webhooks. Source: https://docs.slack.dev/messaging/formatting-message-text */
const CHAT: ChannelKind = {
  repeats: false,
  isSecretPath: true,
  content(notice) {
    const escaped = (text: string) =>
      text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const links = linksOf(notice.message).map(
      ([name, link]) =>
        `<${escaped(new URL(link).href).replaceAll("|", "%7C")}|${escaped(name).replaceAll("|", " ")}>`,
    );
    const text = `:${tagOf(notice)}: *${escaped(headline(notice))}*\n${escaped(body(notice))}\n${links.join(" · ")}`;
    return { headers: JSON_TYPE, body: JSON.stringify({ text }) };
  },
};

/** The longest message of ntfy, in bytes: a longer one is an attachment, which most servers refuse. */
const PUSH_BYTES = 4_096;
const MORE = "… more on the page";

/** As many whole characters as a push takes. */
function cutToBytes(text: string): string {
  if (Buffer.byteLength(text) <= PUSH_BYTES) return text;
  const room = Buffer.from(text).subarray(0, PUSH_BYTES - Buffer.byteLength(MORE));
  // What is left of a character that was cut in two is no text.
  return `${new TextDecoder().decode(room, { stream: true })}${MORE}`;
}

/** ntfy's topics. Source: https://docs.ntfy.sh/publish/ */
const PUSH: ChannelKind = {
  repeats: false,
  isSecretPath: false,
  content(notice) {
    const links = linksOf(notice.message);
    const { message, end } = notice;
    const { priority } = end === undefined ? SEVERITIES[message.severity] : OVER;
    // ntfy shows three buttons.
    const actions = links
      .slice(0, 3)
      .map(([label, link]) => ({ action: "view", label, url: new URL(link).href }));
    const headers = {
      Title: headerText(headline(notice)),
      Priority: priority,
      Tags: tagOf(notice),
      Click: new URL(message.links.page).href,
      Actions: headerText(JSON.stringify(actions)),
    };
    return { headers, body: cutToBytes(body(notice)) };
  },
};

/** A plain post. */
const URL_POST: ChannelKind = {
  repeats: false,
  isSecretPath: true,
  content: (notice) => ({ body: `${headline(notice)}\n${body(notice)}` }),
};

/** Source: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml */
const ALERTMANAGER: ChannelKind = {
  repeats: true,
  isSecretPath: false,
  content({ message, since, end }, expires) {
    const { notebook, page, runbook, ...others } = message.links;
    // Alertmanager refuses an alert with an annotation of another name.
    const named = Object.entries(others).map(([name, link]) => {
      return [name.replace(/[^a-zA-Z0-9_]/g, "_").replace(/^(?=\d|$)/, "_"), link] as const;
    });
    const alert = {
      labels: labelsOf(message),
      annotations: {
        ...Object.fromEntries(named),
        summary: cleanText(message.title),
        description: message.text,
        ...(runbook && { runbook_url: runbook }),
        ...(page && { page }),
      },
      startsAt: since.toISOString(),
      endsAt: (end ?? expires).toISOString(),
      ...(notebook && { generatorURL: notebook }),
    };
    return { path: "api/v2/alerts", headers: JSON_TYPE, body: JSON.stringify([alert]) };
  },
};

export const CHANNELS: Readonly<Record<Channel["kind"], ChannelKind>> = {
  chat: CHAT,
  push: PUSH,
  url: URL_POST,
  alertmanager: ALERTMANAGER,
};

/** What Alertmanager routes by; alerts of other labels are other alerts. */
export function labelsOf(message: AlertMessage): Record<string, string> {
  const { notebook } = message.links;
  const file = notebook && new URL(notebook).pathname.split("/").findLast((part) => part !== "");
  return {
    alertname: keyOf(message),
    severity: SEVERITIES[message.severity].label,
    incident_severity: String(message.severity),
    ...(file && { notebook: decoded(file).replace(/\.ipynb$/, "") }),
    source: "probelab",
  };
}

/** A part of an address, decoded where it can be. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const JSON_TYPE = { "Content-Type": "application/json" };

function tagOf({ message, end }: Notice): string {
  return (end === undefined ? SEVERITIES[message.severity] : OVER).tag;
}

/** A header's value: other than ASCII as RFC 2047 writes it. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text)
    ? text
    : `=?UTF-8?B?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

const PATIENCE_MS = 30_000;

/** Why a channel didn't take a notice, without its address. */
export interface Failure {
  readonly why: string;
  /** True where it may have shown the notice all the same: it gave no answer in time. */
  readonly isUnsure?: true;
}

/**
 * Posts a notice to a channel, once.
 *
 * @param expires when the alert is over unless it is raised again
 * @returns undefined where the channel took it.
 */
export async function post(
  { kind, url, authorization }: Channel,
  notice: Notice,
  expires: Date,
): Promise<Failure | undefined> {
  const { path, headers, body: content } = CHANNELS[kind].content(notice, expires);
  try {
    const response = await fetch(path === undefined ? url : `${url.replace(/\/+$/, "")}/${path}`, {
      method: "POST",
      body: content,
      headers: { ...headers, ...(authorization && { Authorization: authorization }) },
      // A redirect, such as to a login page, would end in a 200 that nobody sees.
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const answer = await beginning(response);
    if (!response.ok) return { why: `it answered ${response.status}` };
    const refusal = refusalIn(answer, response.headers.get("content-type") ?? "");
    return refusal === undefined ? undefined : { why: refusal };
  } catch (error) {
    if ((error as Error).name === "TimeoutError") {
      return { why: `no answer in ${PATIENCE_MS / 1000} s`, isUnsure: true };
    }
    const { code, message } = Object((error as Error).cause ?? error) as NodeJS.ErrnoException;
    return { why: `it can't be reached (${code ?? message})` };
  }
}

/** The beginning of an answer, which may be endless or break off. */
async function beginning({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const part of body ?? []) {
      text += decoder.decode(part as Uint8Array, { stream: true });
      if (text.length > 10_000_000) break;
    }
  } catch (error) {
    if ((error as Error).name === "TimeoutError" && text === "") throw error;
  }
  return text;
}

type ChannelAnswer = Readonly<Record<"ok" | "success" | "status" | "error" | "errors", unknown>>;

/** What an answer of 200 says against having taken the notice: a login page, `{"ok": false}`. */
function refusalIn(answer: string, type: string): string | undefined {
  if (/html\b/i.test(type) || /^\s*<[^{]{0,1000}\bhtml\b/i.test(answer)) {
    return "it answered with a web page, such as a login";
  }
  try {
    const { ok, success, status, error, errors } = Object(JSON.parse(answer)) as ChannelAnswer;
    const said = error || errors;
    if (ok !== false && success !== false && status !== "error" && !said) return undefined;
    return `it answered ${shownValue(said || JSON.parse(answer))}`;
  } catch {
    return undefined;
  }
}
