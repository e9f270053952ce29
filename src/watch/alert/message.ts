import { checkOptions, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { cleanText, shownValue } from "../../base/text.js";

/** An alert. */
export interface AlertMessage {
  /** One line: "Measurements fell by half in IT". */
  readonly title: string;
  readonly text: string;
  /** Of the incident policy: 1 is the most serious. */
  readonly severity: 1 | 2 | 3 | 4;
  readonly links: AlertLinks;
  /** Alerts of one key are one alert, which is resolved as one. Default: the title. */
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

const SUCH = "alert.send({ title, text, severity: 2, links })";

/** @throws ProbelabError for an alert that lacks something, links aside. */
export function checkMessage(message: AlertMessage): void {
  if (typeof message !== "object" || message === null) {
    throw new ProbelabError(`Can't send the alert ${shownValue(message)}: pass one, ${SUCH}.`);
  }
  checkOptions(message, RULES, "send an alert");
  for (const name of ["title", "text", "severity", "links"] as const) {
    if (message[name] === undefined) {
      throw new ProbelabError(`Can't send an alert without ${name}: pass it, ${SUCH}.`);
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

/** `2026-05-01 03:00 UTC` */
export function utc(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
