import { formatInstant } from "../../../time/time-zone.js";
import {
  checklist,
  formatDuration,
  stateText,
  type Checklist,
  type Demand,
} from "../../severities/checklist.js";
import { webAddress, type Figure } from "../figure.js";
import { missingParts, type Draft, type Evidence, type PostmortemRecord } from "../record.js";

/** A run of text: plain, or a link to an address, or to a figure of the same document by its number. */
export type Span =
  | { readonly text: string }
  | { readonly text: string; readonly link: string }
  | { readonly text: string; readonly figure: number };

/** A run of spans: a paragraph, an item of a list, a cell. */
export type Spans = readonly Span[];

/** A part of a document, as any format writes it. */
export type Block =
  | { readonly kind: "heading"; readonly level: 1 | 2; readonly text: string }
  | { readonly kind: "paragraph"; readonly spans: Spans }
  | { readonly kind: "list"; readonly items: readonly Spans[] }
  | {
      readonly kind: "checklist";
      readonly items: readonly { readonly done: boolean; readonly spans: Spans }[];
    }
  | {
      readonly kind: "table";
      readonly heads: readonly string[];
      readonly rows: readonly (readonly Spans[])[];
    }
  /** Label and value, the label naming its row. */
  | { readonly kind: "facts"; readonly facts: readonly (readonly [Spans, Spans])[] }
  /** A chart or a table with its number: `Figure 1`. */
  | { readonly kind: "figure"; readonly number: number; readonly figure: Figure };

/** The figures of a document, numbered as its text comes to speak of them. */
class Mentions {
  readonly #figures: ReadonlyMap<string, Figure>;
  readonly #numbers = new Map<string, number>();
  #shown = 0;

  constructor(figures: readonly Figure[]) {
    this.#figures = new Map(figures.map((figure) => [figure.name, figure]));
  }

  /** A link to a figure; undefined where there is none of that name. */
  link(name: string): Span | undefined {
    if (!this.#figures.has(name)) return undefined;
    const number = this.#numbers.get(name) ?? this.#numbers.size + 1;
    this.#numbers.set(name, number);
    return { text: `Figure ${number}`, figure: number };
  }

  /** The figures that were spoken of since it was called last. */
  due(): Block[] {
    const blocks = [...this.#numbers].slice(this.#shown).map(([name, number]): Block => {
      return { kind: "figure", number, figure: this.#figures.get(name)! };
    });
    this.#shown = this.#numbers.size;
    return blocks;
  }

  /** Those that nothing speaks of. */
  rest(): Block[] {
    for (const name of this.#figures.keys()) this.link(name);
    return this.due();
  }
}

/** The blocks before and after the words of an open incident. */
export interface Live {
  readonly head: readonly Block[];
  readonly end: string;
}

/**
 * A postmortem as the blocks of a document, in the order of the field's usual template: facts,
 * summary, impact, root causes, trigger, detection, resolution, findings, timeline, lessons, action
 * items. Source: B. Beyer et al. (ed.), Site Reliability Engineering, 2016, appendix D, with the
 * policy's demands (seed document, 1.2) as a checklist. A figure stands below what first speaks of
 * it: a finding, a timeline, a text with `[figure: its-name]`; the others stand at the end.
 */
export function documentBlocks(
  record: PostmortemRecord,
  figures: readonly Figure[],
  live?: Live,
): Block[] {
  const mentions = new Mentions(figures);
  const spans = (text: string): Span[] => textSpans(text, mentions);
  const list = (words: readonly string[]): Block => ({ kind: "list", items: words.map(spans) });
  const { facts, demands } = severityBlocks(record);
  const blocks: Block[] = [
    { kind: "heading", level: 1, text: record.title },
    ...(live?.head ?? []),
    facts,
    ...(live ? [] : section("What the severity demands", [demands])),
  ];
  const write = (title: string, made: readonly Block[]): void => {
    if (live === undefined || made.length > 0) blocks.push(...section(title, made));
    blocks.push(...mentions.due());
  };
  // One text as paragraphs, several as a list.
  const writeText = (title: string, words: readonly string[]): void => {
    const paragraphs = (words[0] ?? "").split(/\n\s*\n/).filter((text) => text !== "");
    const paragraphBlocks = paragraphs.map((text): Block => ({
      kind: "paragraph",
      spans: spans(text.trim()),
    }));
    write(title, words.length > 1 ? [list(words)] : paragraphBlocks);
  };
  writeText("Summary", record.summary);
  writeText("Impact", record.impact);
  writeText("Root causes", record.rootCauses);
  writeText("Trigger", record.trigger);
  writeText("Detection", record.detection);
  writeText("Resolution", record.resolution);
  write(
    "Findings",
    record.findings.flatMap(({ text, evidence }): Block[] => {
      const words = spans(text);
      const shown = evidenceSpans(evidence, mentions);
      const rests = shown.length > 0 ? [...plain(" ("), ...shown, ...plain(")")] : [];
      return [{ kind: "list", items: [[...words, ...rests]] }, ...mentions.due()];
    }),
  );
  const timeline = record.timeline.map(({ time, event, evidence }) => [
    plain(minute(time)),
    spans(event),
    evidenceSpans(evidence, mentions),
  ]);
  write("Timeline", table(["Time (UTC)", "Event", "Data"], timeline));
  const lessons = (title: string, words: readonly string[]): Block[] =>
    words.length === 0 ? [] : [{ kind: "paragraph", spans: plain(`${title}:`) }, list(words)];
  write("Lessons learned", [
    ...lessons("What went well", record.wentWell),
    ...lessons("What went wrong", record.wentWrong),
    ...lessons("Where we got lucky", record.lucky),
  ]);
  const actions = record.actions.map(({ what, type, owner, reference, due, done }) => [
    spans(what),
    plain(type),
    plain(owner ?? "nobody yet"),
    spans(reference ?? ""),
    plain(due === null ? "" : formatInstant(new Date(due), "UTC")),
    plain(done ? "done" : "open"),
  ]);
  const heads = ["Action item", "Type", "Owner", "Reference", "Due", "State"];
  write("Action items", table(heads, actions));
  const rest = mentions.rest();
  if (rest.length > 0) blocks.push(...section("More figures", rest));
  return [...blocks, { kind: "paragraph", spans: plain(live?.end ?? colophon(record)) }];
}

/** A heading and what stands below it. */
export function section(title: string, blocks: readonly Block[]): Block[] {
  const notYet: Block = { kind: "paragraph", spans: plain("Not written yet.") };
  return [{ kind: "heading", level: 2, text: title }, ...(blocks.length > 0 ? blocks : [notYet])];
}

function table(heads: readonly string[], rows: readonly (readonly Spans[])[]): Block[] {
  return rows.length === 0 ? [] : [{ kind: "table", heads, rows }];
}

/** A text without links. */
export function plain(text: string): Span[] {
  return [{ text }];
}

/** Text as spans, its web addresses as links, `[figure: weekly]` as one to that figure. */
function textSpans(text: string, mentions: Mentions): Span[] {
  const parts: Span[] = [];
  let end = 0;
  const links = /\[figure: ?([a-z0-9-]+)\]|https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi;
  for (const match of text.matchAll(links)) {
    const [whole, name] = match;
    if (match.index > end) parts.push({ text: text.slice(end, match.index) });
    const masked = /\[(?:IPv[46]|e-mail)/.test(whole);
    const link = masked || name !== undefined ? undefined : webAddress(whole);
    const figure = name === undefined ? undefined : mentions.link(name);
    parts.push(figure ?? { text: whole, ...(link !== undefined && { link }) });
    end = match.index + whole.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The facts, and what the severity demands, as `severity.checklist` has it at the time of saving. */
function severityBlocks(record: PostmortemRecord): { facts: Block; demands: Block } {
  const { startedAt, detectedAt, respondedAt, resolvedAt } = record;
  const missing = missingParts(record);
  const { severity, demands } = demandsOf(record, new Date(record.savedAt));
  const time = (value: string | null): string => (value === null ? "not known" : utc(value));
  const facts = [
    ["Status", record.status],
    ["Severity", `${record.severity}: ${severity.meaning}`],
    ["Authors", record.authors.join(", ") || "not named"],
    ["Began", time(startedAt)],
    ["Detected", time(detectedAt)],
    ["Response", time(respondedAt)],
    ["Resolved", resolvedAt === null ? "not yet" : utc(resolvedAt)],
  ];
  if (resolvedAt !== null) {
    const lasted = Date.parse(resolvedAt) - Date.parse(startedAt ?? detectedAt);
    facts.push(["Lasted", formatDuration(lasted)]);
  }
  const items = demands
    .filter(({ state }) => state !== "not demanded")
    .map((each) => {
      const parts = each.demand === "postmortem" ? missing.map((part) => `; ${part}`) : [];
      const text = demandText(each, record, new Date(record.savedAt));
      return { done: isDone(each), spans: plain(`${text}${parts.join("")}`) };
    });
  return {
    facts: {
      kind: "facts",
      facts: facts.map(([name = "", value = ""]) => [plain(name), plain(value)] as const),
    },
    demands: { kind: "checklist", items },
  };
}

/** The demands of an incident's severity and their states. */
export function demandsOf(draft: Draft, at: Date): Checklist {
  const { severity, detectedAt, respondedAt, call, leader, sterile } = draft;
  const times = { detectedAt, respondedAt, call: call === null ? null : new Date(call) };
  const postmortem = missingParts(draft).length === 0;
  const now = new Date(Math.max(+at, Date.parse(detectedAt)));
  return checklist({ severity, ...times, leader, postmortem, sterile }, { now });
}

/** True for a demand that is met, also late. */
export function isDone({ state }: Demand): boolean {
  return state === "done" || state === "late";
}

/** Days after the detection in which what nobody told can still be done. */
const ACTING = 30;

/** True while somebody can still meet a deadline. */
export function canAct({ resolvedAt, detectedAt }: Draft, now: Date): boolean {
  return resolvedAt === null && (+now - Date.parse(detectedAt)) / 86_400_000 <= ACTING;
}

/** The state of a demand in words; after the incident, what is on record. */
export function demandText(demand: Demand, draft: Draft, now: Date): string {
  const { state, deadline, overBy } = demand;
  const name = `${demand.demand.slice(0, 1).toUpperCase()}${demand.demand.slice(1)}`;
  const due = deadline === undefined ? "" : utc(deadline.toISOString());
  if (state === "late" && overBy !== undefined) {
    return `${name}: late: it began ${formatDuration(overBy)} after it was due, ${due}`;
  }
  const over = state === "overdue" && !canAct(draft, now);
  return `${name}: ${over ? `none is on record; it was due ${due}` : stateText(demand)}`;
}

function evidenceSpans(evidence: readonly Evidence[], mentions: Mentions): Span[] {
  return evidence.flatMap((each, index): Span[] => [
    ...(index > 0 ? plain(", ") : []),
    "figure" in each
      ? (mentions.link(each.figure) ?? { text: "a figure that isn't there" })
      : "link" in each
        ? linkSpan(each.link)
        : each,
  ]);
}

function linkSpan(link: string): Span {
  const short = link.replace(/^https?:\/\//i, "").replace(/\/$/, "");
  const text = short.length > 48 ? `${short.slice(0, 47)}…` : short;
  const address = webAddress(link);
  return { text, ...(address !== undefined && { link: address }) };
}

function colophon({ savedAt, masked, versions }: PostmortemRecord): string {
  const addresses = masked
    ? "E-mail and IP addresses are masked."
    : "Addresses are not masked: not for publication.";
  return `Saved at ${utc(savedAt)} by probelab ${versions["probelab"] ?? ""}. ${addresses} Check it with "probelab postmortem verify"; the rows behind every figure are in data/, the queries in queries/.`;
}

/** A time of the day also at midnight, which is a moment among moments here. */
function minute(instant: string): string {
  const text = formatInstant(new Date(instant), "UTC");
  return text.includes(" ") ? text : `${text} 00:00`;
}

/** A time with its zone, for a sentence. */
export function utc(instant: string): string {
  return `${formatInstant(new Date(instant), "UTC")} UTC`;
}
