import type * as Zod from "zod";
import { ProbelabError } from "../base/error.js";
import { lazySchemas } from "../base/lazy-schemas.js";
import { cleanLines, cleanText, mapTexts, shownValue } from "../base/text.js";
import { Result } from "../result/result.js";
import { last } from "../time/time-range.js";
import { readInstant } from "../time/instant.js";
import { figureName } from "./figure.js";
import type { Json } from "../result/json.js";

/** A time: a Date, or a text read in UTC, such as `"2026-05-04 08:40"` or `"2 hours ago"`. */
export type When = Date | string;

/** One text, whose empty lines part its paragraphs, or a list of points. */
export type Words = string | readonly string[];

const isText = (value: unknown): value is string =>
  typeof value === "string" && cleanText(value) !== "";

/** The fields of a postmortem, in the order of the record. The message of each says what to pass. */
const FIELDS = lazySchemas(({ z }) => {
  const text = (pass: string) => z.custom<string>(isText, pass).transform((given) => given.trim());
  const words = z
    .union([z.string(), z.array(z.string())], "a text, or a list of texts")
    .transform((given): readonly string[] => [given].flat().flatMap((each) => each.trim() || []))
    .default([]);
  /** ISO 8601 in UTC in the record. */
  const time = (name: string) =>
    z
      .custom<When>((given) => given !== undefined, "a time")
      .transform((given) => instantText(given, `${name} of a postmortem`));
  const later = (name: string) => time(name).nullable().default(null);
  return z.object({
    title: z
      .custom<string>(
        (value) => isText(value) && value.length <= 300,
        "a text of at most 300 characters; the summary takes more",
      )
      .transform((given) => cleanText(given)),
    /** 1 to 4, as `severity` knows them. */
    severity: z.literal([1, 2, 3, 4], "1, 2, 3 or 4"),
    /** When the incident was noticed: the response is due from here. */
    detectedAt: time("detectedAt"),
    /** @default "draft" */
    status: text("a text").default("draft"),
    authors: words,
    /** When it began to do harm. */
    startedAt: later("startedAt"),
    /** When somebody began to work on it. */
    respondedAt: later("respondedAt"),
    resolvedAt: later("resolvedAt"),
    /** When the conference call was held. */
    call: later("call"),
    /** The leader of the call. */
    leader: text("a name").nullable().default(null),
    /** True where the incident was the only priority while it was investigated. */
    sterile: z.boolean("true or false").nullable().default(null),
    /** The incident in short, for readers who read nothing else. */
    summary: words,
    /** The harm, in exact numbers. */
    impact: words,
    rootCauses: words,
    /** The event that set it off. */
    trigger: words,
    /** The way in which it was noticed. */
    detection: words,
    /** The act that ended it. */
    resolution: words,
    wentWell: words,
    wentWrong: words,
    /** Luck that helped. */
    lucky: words,
  });
});

type Fields = ReturnType<typeof FIELDS>;

/** The fields of a postmortem; all but the first three may come later, through `set`. */
export type PostmortemFields = Readonly<Zod.input<Fields>>;

/** The fields as the record holds them. */
export type Facts = Readonly<Zod.output<Fields>>;

/** One entry as its file holds it; a postmortem is the sum of its entries. */
const ENTRY = lazySchemas(({ z }) => {
  const time = z.iso.datetime();
  const evidence = z
    .array(
      z.union([
        z.strictObject({ figure: z.string() }),
        z.strictObject({ text: z.string() }),
        z.strictObject({ link: z.string().regex(/^https?:\/\//i) }),
      ]),
    )
    .readonly();
  const [measure, by, ranges] = [z.string(), z.string(), z.string()];
  const moved = z.strictObject({ measure, change: z.number(), by, start: time, end: time, ranges });
  const finding = z.strictObject({
    text: z.string(),
    evidence,
    /** How its measure moved, where an answer said so. */
    moved: z.array(moved).readonly().exactOptional(),
  });
  const action = z.strictObject({
    what: z.string(),
    type: z.string(),
    owner: z.string().nullable(),
    reference: z.string().nullable(),
    due: time.nullable(),
    done: z.boolean(),
  });
  const figure = z.strictObject({
    /** Evidence names figures by it: no two share one. */
    id: z.string().regex(/^[0-9a-f]{16}$/),
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,79}$/),
    kind: z.enum(["chart", "table"]),
    caption: z.string(),
    recipe: z.custom<Json>((value) => value !== undefined),
  });
  const timed = z.strictObject({ time, event: z.string(), evidence });
  return z.strictObject({
    format: z.literal("probelab entry 1"),
    writtenAt: time,
    /** Nobody in a postmortem that one value holds. */
    author: z.string().exactOptional(),
    facts: z
      .record(z.string(), z.unknown())
      .transform((facts) => readFields(facts as Partial<PostmortemFields>))
      .exactOptional(),
    findings: z.array(finding).readonly().exactOptional(),
    /** The texts of findings of earlier entries that hold no more. */
    withdrawn: z.array(z.string()).readonly().exactOptional(),
    timeline: z.array(timed).readonly().exactOptional(),
    actions: z.array(action).readonly().exactOptional(),
    figures: z.array(figure).readonly().exactOptional(),
  });
});

export type Entry = Readonly<Zod.output<ReturnType<typeof ENTRY>>>;
/** What an entry says. */
export type EntryContent = Omit<Entry, "format" | "writtenAt" | "author">;
type Items<Name extends keyof EntryContent> = Readonly<
  Extract<NonNullable<EntryContent[Name]>, readonly unknown[]>[number]
>;
/** A finding: what the data shows. */
export type ReportedFinding = Items<"findings">;
/** An entry of the timeline. */
export type TimelineEntry = Items<"timeline">;
export type ActionRecord = Items<"actions">;
/** A chart or a table, without its data. */
export type EntryFigure = Items<"figures">;
/** Evidence: a figure, an address, or the text of somebody's word. */
export type Evidence = TimelineEntry["evidence"][number];

/** All the words of a postmortem so far. */
export interface Draft extends Facts {
  readonly findings: readonly ReportedFinding[];
  readonly timeline: readonly TimelineEntry[];
  readonly actions: readonly ActionRecord[];
}

/** The facts before anybody wrote one. */
function noFacts(): Partial<Facts> {
  const fields = Object.entries(FIELDS().shape);
  return Object.fromEntries(fields.map(([name, field]) => [name, field.safeParse(undefined).data]));
}

/**
 * The fields as the record holds them; those that are undefined are left out.
 *
 * @throws ProbelabError for an unknown field, a time that can't be read, or no text where one belongs.
 */
export function readFields(fields: Partial<PostmortemFields> | null | undefined): Partial<Facts> {
  if (typeof fields !== "object" || fields === null) {
    throw new ProbelabError(
      `Can't write ${described(fields)} into a postmortem: pass its fields, { title: "…", severity: 2, detectedAt: "2026-05-04T08:40:00Z" }.`,
    );
  }
  const { shape } = FIELDS();
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(shape, name)) {
      throw new ProbelabError(
        `Can't write ${JSON.stringify(name)} into a postmortem: it takes ${Object.keys(shape).join(", ")}.`,
      );
    }
    if (value === undefined) continue;
    const { data, error } = shape[name as keyof Facts].safeParse(value);
    const [wrong = value] = [value].flat().filter((each) => typeof each !== "string");
    if (error) {
      throw new ProbelabError(
        `Can't write ${described(wrong)} as ${name} of a postmortem: pass ${error.issues[0]!.message}.`,
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
export function inOrder(fields: Partial<Facts>): void {
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
  ["findings", "findings"],
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

/** A time as the record holds it; `"2 hours ago"` of now. */
export function instantText(value: unknown, role: string): string {
  const ago = typeof value === "string" && /^\s*(\S.*?)\s+ago\s*$/.exec(value)?.[1];
  const time = ago ? last(ago, { now: thisSecond() }).start : value;
  return readInstant(time, "UTC", role).toISOString();
}

/** Time by which clocks of several machines may differ, in milliseconds. */
const CLOCKS = 5 * 60_000;

/** A time at which something happened. @throws ProbelabError for one of the future. */
export function pastText(value: unknown, role: string): string {
  const text = instantText(value, role);
  if (Date.parse(text) <= Date.now() + CLOCKS) return text;
  throw new ProbelabError(
    `Can't take ${text} as the ${role}: it has not come yet. Times are UTC; leave it out for now.`,
  );
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

/** An entry written now, without what could disturb a reader of its texts. */
export function entryOf(part: EntryContent, author?: string): Entry {
  const writtenAt = new Date().toISOString();
  return {
    format: "probelab entry 1",
    writtenAt,
    ...(author !== undefined && { author }),
    ...mapTexts(part, cleanLines, /^(recipe|link)$/),
  };
}

/** An event that rests on somebody's word. */
export function said(event: string, time: string, by: string | undefined): TimelineEntry {
  return { time, event, evidence: by === undefined ? [] : [{ text: `said by ${by}` }] };
}

/** An entry of its text. @throws where it is none that this probelab writes. */
export function parseEntry(text: string): Entry {
  return ENTRY().parse(JSON.parse(text));
}

/** Merges entries: the last value of each field, all list items, the timeline sorted. Figures stand in the order in which they were added first, each with a name of its own. */
export function sumOf(entries: readonly Entry[]): {
  readonly draft: Draft;
  readonly figures: readonly EntryFigure[];
} {
  const latest = new Map<string, EntryFigure>();
  for (const figure of entries.flatMap(({ figures = [] }) => figures))
    latest.set(figure.id, figure);
  const names = new Map<string, string>();
  const figures = [...latest.values()].map((figure) => {
    // Two that add a figure of one name at the same time each had it to themselves.
    const name = figureName(figure.name, new Set(names.values()), 80);
    names.set(figure.id, name);
    return { ...figure, name };
  });
  const named = <T extends { readonly evidence: readonly Evidence[] }>(each: T): T => ({
    ...each,
    evidence: each.evidence.map((source) =>
      "figure" in source ? { figure: names.get(source.figure) ?? source.figure } : source,
    ),
  });
  const facts = Object.assign({}, noFacts(), ...entries.map(({ facts }) => facts)) as Facts;
  const authors = [...new Set(entries.flatMap(({ author }) => author ?? []))];
  const timeline = entries.flatMap(({ timeline = [], author }) =>
    timeline.map(named).map((event) => ({ ...event, event: signed(event, author) })),
  );
  const draft = {
    ...facts,
    authors: facts.authors.length > 0 ? facts.authors : authors,
    findings: standing(entries).map(named),
    timeline: timeline.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)),
    actions: entries.flatMap(({ actions = [] }) => actions),
  };
  return { draft: structuredClone(draft), figures };
}

/** The findings that no later entry withdrew. */
function standing(entries: readonly Entry[]): readonly ReportedFinding[] {
  return entries.reduce<readonly ReportedFinding[]>(
    (all, { findings = [], withdrawn = [] }) => [
      ...all.filter(({ text }) => !withdrawn.includes(text)),
      ...findings,
    ],
    [],
  );
}

/** Says beside each finding where it and an earlier one move a measure in opposite directions. */
export function contradictions(findings: readonly ReportedFinding[]): readonly string[][] {
  return findings.map(({ moved = [] }, at) =>
    findings.slice(0, at).flatMap((earlier) =>
      (earlier.moved ?? []).flatMap((one) =>
        moved
          .filter(({ measure, change, start, end }) => {
            const isSame = measure === one.measure && start < one.end && one.start < end;
            return isSame && change * one.change < 0;
          })
          .map(({ measure, by, ranges }) => {
            const compare =
              ranges === one.ranges
                ? "These two compare the same ranges, whose rows changed between the answers"
                : "These two compare different ranges";
            return `${compare}: ${measure} ${one.by} ${one.ranges}, and ${by} ${ranges}.`;
          }),
      ),
    ),
  );
}

/** The event with its author, unless the evidence names the author already. */
function signed({ event, evidence }: TimelineEntry, author?: string): string {
  return author === undefined || evidence.some((source) => "text" in source)
    ? event
    : `${event} (${author})`;
}
