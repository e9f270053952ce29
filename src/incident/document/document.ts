import { Table } from "../../chart/table.js";
import { formatInstant } from "../../time/time-zone.js";
import { missingParts, type Draft, type Evidence } from "../record.js";
import { titleOf, webAddress, type Figure } from "../figure.js";
import { demandsOf, formatDuration, severity } from "../severity.js";

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
  /** A chart or a table, its heading `Figure 1`, and its caption unless it says that itself. */
  | {
      readonly kind: "figure";
      readonly number: number;
      readonly caption: string;
      readonly figure: Figure;
    };

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
      const figure = this.#figures.get(name)!;
      const { caption, content } = figure;
      const own = content instanceof Table ? content.model.caption : titleOf(content);
      return { kind: "figure", number, caption: caption === own ? "" : caption, figure };
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

/** What a document says beside its words. */
export interface Frame {
  /** The moment of the deadlines' states. */
  readonly at: Date;
  /** True lists what is still missing, at the top. */
  readonly missing: boolean;
  /** The last line. */
  readonly end?: string;
}

/**
 * A postmortem as the blocks of a document, in the order of the field's usual template: facts,
 * summary, impact, root causes, trigger, detection, resolution, findings, timeline, lessons, action
 * items; what nobody wrote is left out. Source: B. Beyer et al. (ed.), Site Reliability Engineering,
 * 2016, appendix D, with the policy's demands (seed document, 1.2) as a checklist. A figure stands
 * below what first rests on it, a finding or the timeline; the others stand at the end.
 */
export function documentBlocks(draft: Draft, figures: readonly Figure[], frame: Frame): Block[] {
  const mentions = new Mentions(figures);
  const list = (words: readonly string[]): Block => ({ kind: "list", items: words.map(spans) });
  const lacks = missingParts(draft);
  const blocks: Block[] = [
    { kind: "heading", level: 1, text: draft.title },
    ...(frame.missing && lacks.length > 0
      ? [paragraph(`Draft. Still missing: ${lacks.join(", ")}.`)]
      : []),
    factsOf(draft),
    ...section("What the severity demands", [demandList(draft, frame.at)]),
  ];
  // One text as paragraphs, several as a list.
  const writeText = (title: string, words: readonly string[]): void => {
    const paragraphs = (words[0] ?? "").split(/\n\s*\n/).filter((text) => text !== "");
    const whole = paragraphs.map((text): Block => ({
      kind: "paragraph",
      spans: spans(text.trim()),
    }));
    blocks.push(...section(title, words.length > 1 ? [list(words)] : whole));
  };
  writeText("Summary", draft.summary);
  writeText("Impact", draft.impact);
  writeText("Root causes", draft.rootCauses);
  writeText("Trigger", draft.trigger);
  writeText("Detection", draft.detection);
  writeText("Resolution", draft.resolution);
  const findings = draft.findings.flatMap(({ text, evidence }): Block[] => {
    const rests = evidenceSpans(evidence, mentions);
    const proof = rests.length > 0 ? [...plain(" ("), ...rests, ...plain(")")] : [];
    return [{ kind: "list", items: [[...spans(text), ...proof]] }, ...mentions.due()];
  });
  blocks.push(...section("Findings", findings));
  const timeline = draft.timeline.map(({ time, event, evidence }) => [
    plain(minute(time)),
    spans(event),
    evidenceSpans(evidence, mentions),
  ]);
  blocks.push(...section("Timeline", table(["Time (UTC)", "Event", "Data"], timeline)));
  blocks.push(...mentions.due());
  const lessons = (title: string, words: readonly string[]): Block[] =>
    words.length === 0 ? [] : [paragraph(`${title}:`), list(words)];
  blocks.push(
    ...section("Lessons learned", [
      ...lessons("What went well", draft.wentWell),
      ...lessons("What went wrong", draft.wentWrong),
      ...lessons("Where we got lucky", draft.lucky),
    ]),
  );
  const actions = draft.actions.map(({ what, type, owner, reference, due, done }) => [
    spans(what),
    plain(type),
    plain(owner ?? "nobody yet"),
    spans(reference ?? ""),
    plain(due === null ? "" : formatInstant(new Date(due), "UTC")),
    plain(done ? "done" : "open"),
  ]);
  const heads = ["Action item", "Type", "Owner", "Reference", "Due", "State"];
  blocks.push(...section("Action items", table(heads, actions)));
  blocks.push(...section("More figures", mentions.rest()));
  return [...blocks, ...(frame.end === undefined ? [] : [paragraph(frame.end)])];
}

/** A heading and what stands below it; nothing where that is empty. */
function section(title: string, blocks: readonly Block[]): Block[] {
  return blocks.length === 0 ? [] : [{ kind: "heading", level: 2, text: title }, ...blocks];
}

/** A paragraph without links. */
function paragraph(text: string): Block {
  return { kind: "paragraph", spans: plain(text) };
}

function table(heads: readonly string[], rows: readonly (readonly Spans[])[]): Block[] {
  return rows.length === 0 ? [] : [{ kind: "table", heads, rows }];
}

function plain(text: string): Span[] {
  return [{ text }];
}

/** Text as spans, its web addresses as links. */
function spans(text: string): Span[] {
  const parts: Span[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(/https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi)) {
    if (index > end) parts.push({ text: text.slice(end, index) });
    const link = webAddress(found);
    parts.push({ text: found, ...(link !== undefined && { link }) });
    end = index + found.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

function factsOf(draft: Draft): Block {
  const { severity: number, startedAt, detectedAt, respondedAt, resolvedAt } = draft;
  const time = (value: string | null): string => (value === null ? "not known" : utc(value));
  const lasted = Date.parse(resolvedAt ?? detectedAt) - Date.parse(startedAt ?? detectedAt);
  const resolved =
    resolvedAt === null ? "not yet" : `${utc(resolvedAt)}, after ${formatDuration(lasted)}`;
  const facts = [
    `Status: ${draft.status}; authors: ${draft.authors.join(", ") || "not named"}`,
    `Severity: ${number}, ${severity(number).meaning}`,
    `Began: ${time(startedAt)}; detected: ${time(detectedAt)}; response: ${time(respondedAt)}; resolved: ${resolved}`,
  ];
  return { kind: "list", items: facts.map(plain) };
}

/** What the severity demands, and what of it is there. */
function demandList(draft: Draft, at: Date): Block {
  const now = new Date(Math.max(+at, Date.parse(draft.detectedAt)));
  const demands = demandsOf(draft, missingParts(draft).length === 0, now);
  const items = demands.map(({ done, text }) => ({ done, spans: plain(text) }));
  return { kind: "checklist", items };
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

/** A time of the day also at midnight, which is a moment among moments here. */
function minute(instant: string): string {
  const text = formatInstant(new Date(instant), "UTC");
  return text.includes(" ") ? text : `${text} 00:00`;
}

/** A time with its zone, for a sentence. */
export function utc(instant: string): string {
  return `${formatInstant(new Date(instant), "UTC")} UTC`;
}
