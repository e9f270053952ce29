import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import { Result } from "../result/result.js";
import { readInstant } from "../time/instant.js";
import type { SeverityNumber } from "./severity.js";

/** A time: a Date, or a text read in UTC, such as `"2026-05-04 08:40"`. */
export type When = Date | string;

/** One text, whose empty lines part its paragraphs, or a list of points. */
export type Words = string | readonly string[];

/** The fields of a postmortem and their kinds, in the order of the record. */
const FIELDS = {
  title: "title",
  /** 1 to 4, as `severity` knows them. */
  severity: "severity",
  /** When the incident was noticed: the response is due from here. */
  detectedAt: "time",
  /** Default `"draft"`. */
  status: "text",
  authors: "words",
  /** When it began to do harm. */
  startedAt: "timeOrNull",
  /** When somebody began to work on it. */
  respondedAt: "timeOrNull",
  resolvedAt: "timeOrNull",
  /** When the conference call was held. */
  call: "timeOrNull",
  /** The leader of the call. */
  leader: "name",
  /** True where the incident was the only priority while it was investigated. */
  sterile: "flag",
  /** The incident in short, for readers who read nothing else. */
  summary: "words",
  /** The harm, in exact numbers. */
  impact: "words",
  rootCauses: "words",
  /** The event that set it off. */
  trigger: "words",
  /** The way in which it was noticed. */
  detection: "words",
  /** The act that ended it. */
  resolution: "words",
  wentWell: "words",
  wentWrong: "words",
  /** Luck that helped. */
  lucky: "words",
} as const;

type Fields = typeof FIELDS;

/** What a field of each kind takes, and what the record holds of it; times are ISO 8601 in UTC there. */
interface Kinds {
  readonly title: [given: string, kept: string];
  readonly text: [given: string, kept: string];
  readonly severity: [given: SeverityNumber, kept: SeverityNumber];
  readonly time: [given: When, kept: string];
  readonly timeOrNull: [given: When | null, kept: string | null];
  readonly words: [given: Words, kept: readonly string[]];
  readonly name: [given: string | null, kept: string | null];
  readonly flag: [given: boolean | null, kept: boolean | null];
}

type Needed = "title" | "severity" | "detectedAt";

/** The fields of a postmortem; all but the first three may come later, through `set`. */
export type PostmortemFields = {
  readonly [Name in keyof Pick<Fields, Needed>]: Kinds[Fields[Name]][0];
} & { readonly [Name in keyof Omit<Fields, Needed>]?: Kinds[Omit<Fields, Needed>[Name]][0] };

/** The fields as the record holds them. */
export type Told = { readonly [Name in keyof Fields]: Kinds[Fields[Name]][1] };

/** Evidence: a figure, an address, or the text of somebody's word. */
export type Evidence =
  { readonly figure: string } | { readonly link: string } | { readonly text: string };

/** A finding: what the data shows. */
export interface Finding {
  readonly text: string;
  readonly evidence: readonly Evidence[];
}

/** An entry of the timeline. */
export interface TimelineEntry {
  readonly time: string;
  readonly event: string;
  readonly evidence: readonly Evidence[];
}

/** An action item as it is written. */
export interface ActionRecord {
  readonly what: string;
  readonly type: string;
  readonly owner: string | null;
  readonly reference: string | null;
  readonly due: string | null;
  readonly done: boolean;
}

/** All the words of a postmortem so far. */
export interface Draft extends Told {
  readonly findings: readonly Finding[];
  readonly timeline: readonly TimelineEntry[];
  readonly actions: readonly ActionRecord[];
}

const EMPTY = { words: [], timeOrNull: null, name: null, flag: null, text: "draft" } as const;

/** Nothing told yet. */
export const UNTOLD = Object.fromEntries(
  Object.entries(FIELDS).flatMap(([name, kind]) =>
    Object.hasOwn(EMPTY, kind) ? [[name, EMPTY[kind as "words"]]] : [],
  ),
);

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "";

/** Reads a value of each kind but times; undefined where it is none. */
const READ: Readonly<Record<string, (value: unknown) => unknown>> = {
  title: (value) => (isText(value) && value.length <= 300 ? value.trim() : undefined),
  text: (value) => (isText(value) ? value.trim() : undefined),
  name: (value) => (value === null ? null : isText(value) ? value.trim() : undefined),
  flag: (value) => (value === null || typeof value === "boolean" ? value : undefined),
  severity: (value) => ([1, 2, 3, 4].includes(value as number) ? value : undefined),
  words: (value) => {
    const list = [value].flat();
    return list.every((each): each is string => typeof each === "string")
      ? list.map((each) => each.trim()).filter((each) => each !== "")
      : undefined;
  },
};
const PASS: Readonly<Record<string, string>> = {
  title: "a text of at most 300 characters; the summary takes more",
  text: "a text",
  name: "a name",
  flag: "true or false",
  severity: "1, 2, 3 or 4",
  words: "a text, or a list of texts",
};

/**
 * The fields as the record holds them; those that are undefined are left out.
 *
 * @throws ProbelabError for an unknown field, a time that can't be read, or no text where one belongs.
 */
export function readFields(fields: Partial<PostmortemFields> | null | undefined): Partial<Told> {
  if (typeof fields !== "object" || fields === null) {
    throw new ProbelabError(
      `Can't write ${described(fields)} into a postmortem: pass its fields, { title: "…", severity: 2, detectedAt: "2026-05-04T08:40:00Z" }.`,
    );
  }
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(FIELDS, name)) {
      throw new ProbelabError(
        `Can't write ${JSON.stringify(name)} into a postmortem: it takes ${Object.keys(FIELDS).join(", ")}.`,
      );
    }
    if (value !== undefined) read[name] = readField(name as keyof Fields, value);
  }
  return read;
}

function readField(name: keyof Fields, value: unknown): unknown {
  const kind = FIELDS[name];
  if (kind === "timeOrNull" && value === null) return null;
  if (kind === "time" || kind === "timeOrNull") {
    return instantText(value, `${name} of a postmortem`);
  }
  const read = READ[kind]?.(value);
  if (read !== undefined) return read;
  const [wrong = value] = [value].flat().filter((each) => typeof each !== "string");
  throw new ProbelabError(
    `Can't write ${described(wrong)} as ${name} of a postmortem: pass ${PASS[kind]}.`,
  );
}

const ORDERS = [
  ["startedAt", "resolvedAt", "of an incident that was resolved", "it began"],
  ["startedAt", "detectedAt", "of an incident that was detected", "it began"],
  ["respondedAt", "resolvedAt", "of an incident that was resolved", "the response"],
  ["detectedAt", "respondedAt", "with a response", "the detection"],
  ["detectedAt", "call", "with a conference call", "the detection"],
] as const;

/** Checks the times against each other. @throws ProbelabError where they can't be right. */
export function inOrder(fields: Partial<Told>): void {
  for (const [first, then, what, before] of ORDERS) {
    const [one, other] = [fields[first], fields[then]];
    if (one == null || other == null || one <= other) continue;
    throw new ProbelabError(
      `Can't write a postmortem ${what} at ${other}, before ${before} at ${one}: correct ${then} or ${first}.`,
    );
  }
}

/** The parts of the usual template that must be written, with their titles. */
const PARTS = [
  ["summary", "summary"],
  ["impact", "impact"],
  ["rootCauses", "root causes"],
  ["trigger", "trigger"],
  ["detection", "detection"],
  ["resolution", "resolution"],
  ["timeline", "timeline"],
  ["actions", "action items"],
] as const;

/** What a postmortem still lacks: `summary`, `trigger`, `data for 2 timeline entries`. */
export function missingParts(draft: Draft): string[] {
  const bare = draft.timeline.filter(({ evidence }) => evidence.length === 0).length;
  return [
    ...PARTS.flatMap(([name, title]) => (draft[name].length === 0 ? [title] : [])),
    ...(bare > 0 ? [`data for ${bare} timeline ${bare === 1 ? "entry" : "entries"}`] : []),
  ];
}

/** A time as the record holds it. */
export function instantText(value: unknown, role: string): string {
  return readInstant(value, "UTC", role).toISOString();
}

/** The current time, to the second. */
export function thisSecond(): Date {
  return new Date(Math.floor(Date.now() / 1_000) * 1_000);
}

/** A text that says something. @param what it is, for the error. */
export function readText(text: unknown, what: string): string {
  if (isText(text)) return text.trim();
  throw new ProbelabError(
    `Can't write ${described(text)} as ${what}: pass a text that says something.`,
  );
}

/** A value for an error, without rows and SQL. */
export function described(value: unknown): string {
  if (value instanceof Promise) return "a Promise (is an await missing?)";
  if (value instanceof Result) return "a Result (wrap it: table(result))";
  if (Array.isArray(value)) return "a list (pass its members one by one)";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  return typeof value === "object" && value !== null ? "an object" : shownValue(value);
}
