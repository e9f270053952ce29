import type * as Zod from "zod";
import { ProbelabError } from "../../base/error.js";
import { lazySchemas } from "../../base/lazy-schemas.js";
import { shownValue } from "../../base/text.js";
import { Result } from "../../result/result.js";
import { readInstant } from "../../time/instant.js";
import type { SeverityNumber } from "../severities/severities.js";
import { TIME_FIELDS, under, WORD_FIELDS, type Told } from "./record.js";

/** A time: a Date, or a text read in UTC, such as `"2026-05-04 08:40"`. */
export type When = Date | string;

/** One text, whose empty lines part its paragraphs, or a list of points. */
export type Words = string | readonly string[];

/** The fields of a postmortem; all but the first three may come later, through `set`. */
export interface PostmortemFields {
  readonly title: string;
  /** 1 to 4, as `severity` knows them. */
  readonly severity: SeverityNumber;
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
  /** The leader of the call. */
  readonly leader?: string | null;
  /** True where the incident was the only priority while it was investigated. */
  readonly sterile?: boolean | null;
  /** The incident in short, for readers who read nothing else. */
  readonly summary?: Words;
  /** The harm, in exact numbers. */
  readonly impact?: Words;
  readonly rootCauses?: Words;
  /** The event that set it off. */
  readonly trigger?: Words;
  /** The way in which it was noticed. */
  readonly detection?: Words;
  /** The act that ended it. */
  readonly resolution?: Words;
  readonly wentWell?: Words;
  readonly wentWrong?: Words;
  /** Luck that helped. */
  readonly lucky?: Words;
}

/** Nothing told yet. */
export const UNTOLD: Omit<Told, "title" | "severity" | "detectedAt"> = {
  status: "draft",
  authors: [],
  ...under(TIME_FIELDS, null),
  leader: null,
  sterile: null,
  ...under(WORD_FIELDS, []),
};

// Each field's message says what to pass.
const schema = lazySchemas(({ z }) => {
  const text = z.string("a text").trim().min(1, "a text");
  const words = z
    .union([z.string(), z.array(z.string())], "a text, or a list of texts")
    .transform((given) => [given].flat().map((each) => each.trim()))
    .transform((given) => given.filter((each) => each !== ""));
  const time = (role: string) => z.any().transform((given) => instantText(given, role));
  const timeOrNull = (role: string) =>
    z.any().transform((given) => (given === null ? null : instantText(given, role)));
  return z.strictObject({
    authors: words,
    ...under(WORD_FIELDS, words),
    startedAt: timeOrNull("beginning of an incident"),
    detectedAt: time("detection of an incident"),
    respondedAt: timeOrNull("response to an incident"),
    resolvedAt: timeOrNull("end of an incident"),
    call: timeOrNull("time of a conference call"),
    title: text.max(300, "a text of at most 300 characters; the summary takes more"),
    severity: z.literal([1, 2, 3, 4], "1, 2, 3 or 4; severity.suggest(facts) tells which"),
    status: text,
    leader: text.nullable(),
    sterile: z.boolean("true or false").nullable(),
  } satisfies Record<keyof PostmortemFields & keyof Told, Zod.ZodType>);
});

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
  const known = schema().shape;
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(known, name)) {
      throw new ProbelabError(
        `Can't write ${JSON.stringify(name)} into a postmortem: it takes ${Object.keys(known).join(", ")}.`,
      );
    }
    if (value === undefined) continue;
    const { data, error } = known[name as keyof typeof known].safeParse(value);
    if (error !== undefined) {
      const [wrong = value] = [value].flat().filter((each) => typeof each !== "string");
      throw new ProbelabError(
        `Can't write ${described(wrong)} as ${name} of a postmortem: pass ${error.issues[0]?.message}.`,
      );
    }
    read[name] = data;
  }
  return read;
}

const ORDERS = [
  ["startedAt", "resolvedAt", "of an incident that was resolved", "it began"],
  ["startedAt", "detectedAt", "of an incident that was detected", "it began"],
  ["respondedAt", "resolvedAt", "of an incident that was resolved", "the response"],
  ["detectedAt", "respondedAt", "with a response", "the detection"],
  ["detectedAt", "call", "with a conference call", "the detection"],
] as const;

/** Checks the times against each other. @throws ProbelabError where they can't be right. */
export function inOrder(fields: Told): Told {
  for (const [first, then, what, before] of ORDERS) {
    const [one, other] = [fields[first], fields[then]];
    if (one === null || other === null || one <= other) continue;
    throw new ProbelabError(
      `Can't write a postmortem ${what} at ${other}, before ${before} at ${one}: correct ${then} or ${first}.`,
    );
  }
  return fields;
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
  if (typeof text === "string" && text.trim() !== "") return text.trim();
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
