import { ProbelabError } from "../../base/error.js";
import { readInstant } from "../../time/instant.js";
import { described } from "./described.js";
import type { PostmortemRecord } from "./record.js";

/** A time: a Date, or a text read in UTC, such as `"2026-05-04 08:40"`. */
export type When = Date | string;

/** One text, whose empty lines part its paragraphs, or a list of points. */
export type Words = string | readonly string[];

/** What a postmortem says; everything but the first three may come later, through `set`. */
export interface PostmortemFields {
  readonly title: string;
  /** 1 to 4, as `severity` knows them. */
  readonly severity: 1 | 2 | 3 | 4;
  /** When the incident was noticed: the response is due from here. */
  readonly detectedAt: When;
  /** Default `"draft"`. */
  readonly status?: string;
  readonly authors?: Words;
  /** When it began to do harm. */
  readonly startedAt?: When | null;
  /** When somebody began to work on it. */
  readonly respondedAt?: When | null;
  readonly resolvedAt?: When | null;
  /** When the conference call was held. */
  readonly call?: When | null;
  /** Who led the call. */
  readonly leader?: string | null;
  /** Whether the incident was the only priority while it was investigated. */
  readonly sterile?: boolean | null;
  /** What happened, for readers who read nothing else. */
  readonly summary?: Words;
  /** Who noticed what, in exact numbers. */
  readonly impact?: Words;
  readonly rootCauses?: Words;
  /** What set it off at that moment. */
  readonly trigger?: Words;
  /** How it was noticed. */
  readonly detection?: Words;
  /** What ended it. */
  readonly resolution?: Words;
  readonly wentWell?: Words;
  readonly wentWrong?: Words;
  /** Where luck helped. */
  readonly lucky?: Words;
}

/** The part of the record that fields tell. */
export type Told = Omit<
  PostmortemRecord,
  "format" | "findings" | "timeline" | "actions" | "figures" | "savedAt" | "masked" | "versions"
>;

const WORDS = [
  "authors",
  "summary",
  "impact",
  "rootCauses",
  "trigger",
  "detection",
  "resolution",
  "wentWell",
  "wentWrong",
  "lucky",
] as const;

const TIMES = {
  startedAt: "beginning of an incident",
  detectedAt: "detection of an incident",
  respondedAt: "response to an incident",
  resolvedAt: "end of an incident",
  call: "time of a conference call",
} as const;

const NAMES = new Set([
  ...WORDS,
  ...Object.keys(TIMES),
  "title",
  "severity",
  "status",
  "leader",
  "sterile",
]);

const LONGEST_TITLE = 300;

/** Nothing told yet. */
export const UNTOLD: Omit<Told, "title" | "severity" | "detectedAt"> = {
  status: "draft",
  authors: [],
  startedAt: null,
  respondedAt: null,
  resolvedAt: null,
  call: null,
  leader: null,
  sterile: null,
  summary: [],
  impact: [],
  rootCauses: [],
  trigger: [],
  detection: [],
  resolution: [],
  wentWell: [],
  wentWrong: [],
  lucky: [],
};

/**
 * The fields as the record holds them; those that are undefined are left out.
 *
 * @throws ProbelabError for an unknown field, a time that can't be read, or no text where one belongs.
 */
export function readFields(fields: Partial<PostmortemFields> | null | undefined): Partial<Told> {
  const read: Record<string, unknown> = {};
  if (typeof fields !== "object" || fields === null) {
    throw new ProbelabError(
      `Can't write ${described(fields)} into a postmortem: pass its fields, { title: "…", severity: 2, detectedAt: "2026-05-04T08:40:00Z" }.`,
    );
  }
  for (const [name, value] of Object.entries(fields)) {
    if (!NAMES.has(name)) {
      throw new ProbelabError(
        `Can't write ${JSON.stringify(name)} into a postmortem: it takes ${[...NAMES].join(", ")}.`,
      );
    }
    if (value === undefined) continue;
    if ((WORDS as readonly string[]).includes(name)) read[name] = words(name, value);
    else if (Object.hasOwn(TIMES, name)) read[name] = time(name as keyof typeof TIMES, value);
    else read[name] = checked(name, value);
  }
  return read;
}

/** What is told, its times checked against each other. @throws ProbelabError where they can't be right. */
export function inOrder(told: Told): Told {
  const { startedAt, detectedAt, respondedAt, resolvedAt, call } = told;
  if (startedAt !== null && resolvedAt !== null && resolvedAt < startedAt) {
    throw new ProbelabError(
      `Can't write a postmortem of an incident that was resolved at ${resolvedAt}, before it began at ${startedAt}: correct startedAt or resolvedAt.`,
    );
  }
  if (startedAt !== null && detectedAt < startedAt) {
    throw new ProbelabError(
      `Can't write a postmortem of an incident that was detected at ${detectedAt}, before it began at ${startedAt}: correct detectedAt or startedAt.`,
    );
  }
  if (respondedAt !== null && resolvedAt !== null && resolvedAt < respondedAt) {
    throw new ProbelabError(
      `Can't write a postmortem of an incident that was resolved at ${resolvedAt}, before the response at ${respondedAt}: correct respondedAt or resolvedAt.`,
    );
  }
  if (respondedAt !== null && respondedAt < detectedAt) {
    throw new ProbelabError(
      `Can't write a postmortem with a response at ${respondedAt}, before the detection at ${detectedAt}: correct respondedAt or detectedAt.`,
    );
  }
  if (call !== null && call < detectedAt) {
    throw new ProbelabError(
      `Can't write a postmortem with a conference call at ${call}, before the detection at ${detectedAt}: correct call or detectedAt.`,
    );
  }
  return told;
}

/** A time as the record holds it. */
export function instantText(value: unknown, role: string): string {
  return readInstant(value, "UTC", role).toISOString();
}

/** A text that says something. @param what it is, for the error. */
export function said(text: unknown, what: string): string {
  if (typeof text === "string" && text.trim() !== "") return text.trim();
  throw new ProbelabError(
    `Can't write ${described(text)} as ${what}: pass a text that says something.`,
  );
}

function time(name: keyof typeof TIMES, value: unknown): string | null {
  return value === null && name !== "detectedAt" ? null : instantText(value, TIMES[name]);
}

function words(name: string, value: unknown): string[] {
  const list: unknown[] = typeof value === "string" || !Array.isArray(value) ? [value] : value;
  for (const each of list) {
    if (typeof each !== "string") {
      throw new ProbelabError(
        `Can't write ${described(each)} as ${name} of a postmortem: pass a text, or a list of texts.`,
      );
    }
  }
  return (list as string[]).map((text) => text.trim()).filter((text) => text !== "");
}

function checked(name: string, value: unknown): unknown {
  if (name === "severity") {
    if (value === 1 || value === 2 || value === 3 || value === 4) return value;
    throw new ProbelabError(
      `Can't write a postmortem of severity ${described(value)}: pass 1, 2, 3 or 4; severity.suggest(facts) tells which.`,
    );
  }
  if (name === "sterile") {
    if (typeof value === "boolean" || value === null) return value;
  } else if (name === "leader" && value === null) {
    return value;
  } else if (typeof value === "string" && value.trim() !== "") {
    const text = value.trim();
    if (name !== "title" || text.length <= LONGEST_TITLE) return text;
    throw new ProbelabError(
      `Can't write a title of ${text.length.toLocaleString("en-US")} characters: say it in ${LONGEST_TITLE}, the summary takes more.`,
    );
  }
  throw new ProbelabError(
    `Can't write ${described(value)} as ${name} of a postmortem: pass ${name === "sterile" ? "true or false" : "a text"}.`,
  );
}
