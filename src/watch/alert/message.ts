import { checkOptions } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import type { Chart } from "../../chart/chart-value.js";

/** What an alert says. Texts are plain; links are whole addresses (seed document, 1.5). */
export interface AlertMessage {
  /** One line: "Measurements fell by half in IT". */
  readonly title: string;
  readonly text: string;
  /** Of the incident policy: 1 is the most serious. */
  readonly severity: 1 | 2 | 3 | 4;
  readonly links: AlertLinks;
  /** A picture, for channels that take one. */
  readonly chart?: Chart;
  /**
   * What it is about: alerts of the same key are one alert, which is sent once in a window and
   * resolved as one. Default: the title.
   */
  readonly key?: string;
}

/** Where whoever is called looks next; http(s) addresses. */
export interface AlertLinks {
  readonly notebook: string;
  /** The page of the notebook's run. */
  readonly page: string;
  readonly runbook: string;
  /** More, each under the name that is shown. */
  readonly [name: string]: string;
}

/** How each severity is said where a channel has words of its own. */
export const SEVERITIES = {
  1: { label: "critical", priority: 5, tag: "rotating_light" },
  2: { label: "critical", priority: 4, tag: "rotating_light" },
  3: { label: "warning", priority: 3, tag: "warning" },
  4: { label: "info", priority: 2, tag: "information_source" },
} as const;

const text = (most: number) => (value: unknown) =>
  typeof value === "string" && value.trim() !== "" && value.length <= most;
const RULES = {
  title: { fits: text(200), pass: "one line of up to 200 characters" },
  text: { fits: text(10_000), pass: "a text of up to 10,000 characters" },
  severity: {
    fits: (value: unknown) => [1, 2, 3, 4].includes(value as number),
    pass: "1, 2, 3 or 4",
  },
  links: {
    fits: (value: unknown) => typeof value === "object" && value !== null,
    pass: "links: { notebook, page, runbook }",
  },
  chart: {
    fits: (value: unknown) => typeof (value as Chart | null)?.png === "function",
    pass: "a chart, such as chart.line(…)",
  },
  key: { fits: text(300), pass: "a text of up to 300 characters" },
};

/** Refuses what is no message. */
export function checkMessage(message: AlertMessage): void {
  const action = "send an alert";
  checkOptions(message, RULES, action);
  for (const name of ["title", "text", "severity", "links"] as const) {
    if (message[name] !== undefined) continue;
    throw new ProbelabError(`Can't ${action} without ${name}: pass ${RULES[name].pass}.`);
  }
}

/** Refuses a message that would call somebody without telling them where to look. */
export function checkLinks({ links }: AlertMessage): void {
  const action = "send an alert";
  const { notebook, page, runbook, ...more } = links as Partial<AlertLinks>;
  for (const [name, link] of Object.entries({ notebook, page, runbook, ...more })) {
    const url = typeof link === "string" && URL.canParse(link) ? new URL(link) : null;
    if (url !== null && /^https?:$/.test(url.protocol)) continue;
    const scheduled =
      link === ""
        ? ' In a scheduled run alert.links() has them once "pages", "notebooks" and "runbook" stand in "alerts" of probelab.config.json.'
        : "";
    throw new ProbelabError(
      `Can't ${action} with the link ${name}: ${shownValue(link)}: pass a whole address, https://…, that whoever is called can open.${scheduled}`,
    );
  }
}

/** What an alert is about. */
export function keyOf({ key, title }: Pick<AlertMessage, "key" | "title">): string {
  return key ?? title;
}

/** A message without its picture: what is kept of it. */
export type Told = Omit<AlertMessage, "chart">;

/** An alert at one moment, as channels say it. */
export interface Notice extends Told {
  readonly state: "firing" | "resolved";
  readonly since: Date;
  readonly until?: Date;
  /** How often it was raised since then. */
  readonly raised: number;
  /** When it is over unless it is raised again. */
  readonly expires: Date;
  /** Set where an earlier try may have arrived. */
  readonly repeated?: boolean;
  readonly picture?: Buffer;
}

/** `Severity 2: Measurements fell by half`, `Resolved: …`. */
export function headline({ state, severity, title, repeated }: Notice): string {
  const what = state === "resolved" ? "Resolved" : `Severity ${severity}`;
  return `${what}: ${oneLine(title)}${repeated ? " (sent again: the first may have arrived)" : ""}`;
}

/** What there is to read under the headline. */
export function body({ text: told, state, since, until, raised }: Notice): string {
  const from = `since ${utc(since)}`;
  if (state === "resolved") return `It was raised ${from} and is over at ${utc(until ?? since)}.`;
  return raised > 1 ? `${told}\nRaised ${raised} times ${from}.` : told;
}

/** Names and addresses, the ones to open first in front. */
export function linksOf({ links }: Told): [name: string, url: string][] {
  const { page, runbook, notebook, ...more } = links;
  return Object.entries({ page, runbook, notebook, ...more }).map(([name, link]) => [
    name,
    URL.canParse(link) ? new URL(link).href : link || "missing",
  ]);
}

export function oneLine(value: string): string {
  return value.replace(/\s+/g, " ").trim();
}

function utc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
