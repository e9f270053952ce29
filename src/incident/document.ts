import { markdownText, Table } from "../chart/page.js";
import { dateText, formatInstant, momentText } from "../time/time-zone.js";
import { contradictions, missingParts, type Draft, type Evidence } from "./record.js";
import { titleOf, webAddress, type Figure } from "./figure.js";
import { durationText } from "../time/span.js";
import { demandsOf, severity } from "./severity.js";

/** A chart or a table, its heading `Figure 1`, and its caption unless it says that itself. */
export interface FigureBlock {
  readonly number: number;
  readonly caption: string;
  readonly figure: Figure;
}

/**
 * A part of a document: a figure, or GitHub-flavoured Markdown. All text of others is escaped in it: no
 * HTML, picture or link begins in it that isn't one of the document's own.
 */
export type Block = string | FigureBlock;

/** The figures of a document, numbered as its text comes to speak of them. */
class Mentions {
  readonly #figures: ReadonlyMap<string, Figure>;
  readonly #numbers = new Map<string, number>();
  #shown = 0;

  constructor(figures: readonly Figure[]) {
    this.#figures = new Map(figures.map((figure) => [figure.name, figure]));
  }

  /** A link to a figure; undefined where there is none of that name. */
  link(name: string): string | undefined {
    if (!this.#figures.has(name)) return undefined;
    const number = this.#numbers.get(name) ?? this.#numbers.size + 1;
    this.#numbers.set(name, number);
    return `[Figure ${number}](#figure-${number})`;
  }

  /** The figures that were spoken of since it was called last. */
  due(): Block[] {
    const blocks = [...this.#numbers].slice(this.#shown).map(([name, number]) => {
      const figure = this.#figures.get(name)!;
      const { caption, content } = figure;
      // A table says its own, and a chart's title is in its picture.
      const own = content instanceof Table ? content.model.caption : titleOf(content);
      return { number, caption: caption === own ? "" : caption, figure };
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
export interface DocumentOptions {
  /** The moment of the deadlines' states. */
  readonly at: Date;
  /** True lists what is still missing, at the top. */
  readonly missing: boolean;
  /** The last line. */
  readonly end?: string;
}

/**
 * A postmortem as the blocks of a document, in the order of the field's usual template: facts,
 * summary, impact, root causes, trigger, detection, resolution, timeline, findings, lessons, action
 * items; what nobody wrote is left out. Source: B. Beyer et al. (ed.), Site Reliability Engineering,
 * 2016, appendix D, with the policy's demands (seed document, 1.2) as a checklist. A figure stands
 * below the finding that first rests on it; the others stand at the end.
 */
export function documentBlocks(
  draft: Draft,
  figures: readonly Figure[],
  frame: DocumentOptions,
): Block[] {
  const mentions = new Mentions(figures);
  const lacks = missingParts(draft);
  const blocks: Block[] = [
    `# ${markdownText(draft.title)}`,
    ...(frame.missing && lacks.length > 0
      ? [paragraph(`Draft. Still missing: ${lacks.join(", ")}.`)]
      : []),
    list(factsOf(draft).map(markdownText)),
  ];
  const sections = {
    Summary: draft.summary,
    Impact: draft.impact,
    "Root causes": draft.rootCauses,
    Trigger: draft.trigger,
    Detection: draft.detection,
    Resolution: draft.resolution,
  };
  for (const [title, words] of Object.entries(sections)) {
    // One text as paragraphs, several as a list.
    const paragraphs = (words[0] ?? "").split(/\n\s*\n/).filter((text) => text !== "");
    const whole = paragraphs.map((text) => startless(linked(text.trim())));
    blocks.push(...section(title, words.length > 1 ? [list(words.map(linked))] : whole));
    if (title === "Summary") {
      blocks.push(...section("What the severity demands", [demandList(draft, frame.at)]));
    }
  }
  const against = contradictions(draft.findings);
  const findings = draft.findings.flatMap(({ text, evidence }, at): Block[] => {
    const rests = evidenceText(evidence, mentions);
    const proof = rests === "" ? "" : ` (${rests})`;
    return [list([linked(text) + proof]), ...against[at]!.map(paragraph), ...mentions.due()];
  });
  const timeline = draft.timeline.map(({ time, event, evidence }) => [
    markdownText(minute(time)),
    linked(event),
    evidenceText(evidence, mentions),
  ]);
  blocks.push(...section("Timeline", table(["Time (UTC)", "Event", "Data"], timeline)));
  blocks.push(...section("Findings", findings));
  const others = mentions.due();
  const lessons = (title: string, words: readonly string[]): Block[] =>
    words.length === 0 ? [] : [paragraph(`${title}:`), list(words.map(linked))];
  blocks.push(
    ...section("Lessons learned", [
      ...lessons("What went well", draft.wentWell),
      ...lessons("What went wrong", draft.wentWrong),
      ...lessons("Where we got lucky", draft.lucky),
    ]),
  );
  const actions = draft.actions.map(({ what, type, owner, reference, due, done }) => [
    linked(what),
    markdownText(type),
    markdownText(owner ?? "nobody yet"),
    linked(reference ?? ""),
    markdownText(due === null ? "" : dateText(new Date(due), "UTC")),
    done ? "done" : "open",
  ]);
  const heads = ["Action item", "Type", "Owner", "Reference", "Due", "State"];
  blocks.push(...section("Action items", table(heads, actions)));
  blocks.push(...section("More figures", [...others, ...mentions.rest()]));
  return [...blocks, ...(frame.end === undefined ? [] : [paragraph(frame.end)])];
}

/** Blocks as one text. Charts are PNG files in `charts/`, which GitHub shows; every figure links to its data and its query. */
export function documentMarkdown(blocks: readonly Block[]): string {
  const texts = blocks.map((block) => (typeof block === "string" ? block : figureMarkdown(block)));
  return `${texts.join("\n\n")}\n`;
}

/** Blocks as a notebook shows them while they are being written: figures by their captions only. */
export function previewMarkdown(blocks: readonly Block[]): string {
  const shown = blocks.map((block) =>
    typeof block === "string"
      ? block
      : paragraph(`Figure ${block.number}: ${block.figure.caption}`),
  );
  return documentMarkdown(shown);
}

function figureMarkdown({ number, caption: said, figure }: FigureBlock): string {
  const { name, caption, content } = figure;
  const files = `[data](data/${name}.csv), [Parquet](data/${name}.parquet), [query](queries/${name}.sql)`;
  const shown =
    content instanceof Table
      ? [content.markdown.trim(), files]
      : [`![${markdownText(caption)}](charts/${name}.png)`, `[SVG](charts/${name}.svg), ${files}`];
  // GitHub makes a heading's id of its words: these give #figure-1.
  return [`### Figure ${number}`, ...(said === "" ? [] : [paragraph(said)]), ...shown].join("\n\n");
}

/** A heading and what stands below it; nothing where that is empty. */
function section(title: string, blocks: readonly Block[]): Block[] {
  return blocks.length === 0 ? [] : [`## ${title}`, ...blocks];
}

/** A paragraph without links. */
function paragraph(text: string): string {
  return startless(markdownText(text));
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${startless(item)}`).join("\n");
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): Block[] {
  if (rows.length === 0) return [];
  const all = [heads.map(markdownText), heads.map(() => ":--"), ...rows];
  return [all.map((cells) => `| ${cells.join(" | ")} |`).join("\n")];
}

/** Markdown that begins no heading, list or rule. */
function startless(markdown: string): string {
  return markdown
    .replace(/^([-+=])(?=[\s=+-]|$)/, "\\$1")
    .replace(/^(\d+)([.)])(?=\s|$)/, "$1\\$2");
}

/** Text as Markdown, its web addresses as links. */
function linked(text: string): string {
  const parts: string[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(/https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi)) {
    parts.push(markdownText(text.slice(end, index)), link(found, found));
    end = index + found.length;
  }
  return [...parts, markdownText(text.slice(end))].join("");
}

/** A link; the text alone where the address is none. */
function link(text: string, address: string): string {
  const url = webAddress(address);
  if (url === undefined) return markdownText(text);
  // Markdown reads entities in addresses too.
  const plain = url
    .replace(/[<>\s\\]/g, (character) => encodeURIComponent(character))
    .replace(/&(?=#?\w+;)/g, "&amp;");
  return `[${markdownText(text)}](<${plain}>)`;
}

function factsOf(draft: Draft): string[] {
  const { severity: number, startedAt, detectedAt, respondedAt, resolvedAt } = draft;
  const time = (value: string | null): string => (value === null ? "not known" : utc(value));
  const lasted = Date.parse(resolvedAt ?? detectedAt) - Date.parse(startedAt ?? detectedAt);
  const took = [
    ["to detect", startedAt, detectedAt],
    ["from there to respond", detectedAt, respondedAt],
    ["from the beginning to mitigate", startedAt, resolvedAt],
  ].flatMap(([what, from, until]) =>
    respondedAt && from && until
      ? [`${durationText(Date.parse(until) - Date.parse(from), 2)} ${what}`]
      : [],
  );
  const resolved =
    resolvedAt === null ? "not yet" : `${utc(resolvedAt)}, after ${durationText(lasted, 2)}`;
  return [
    `Status: ${draft.status}; authors: ${draft.authors.join(", ") || "not named"}`,
    `Severity: ${number}, ${severity(number).meaning}`,
    `Began: ${time(startedAt)}; detected: ${time(detectedAt)}; response: ${time(respondedAt)}; resolved: ${resolved}`,
    ...(took.length === 0 ? [] : [`It took ${took.join(", ")}.`]),
  ];
}

/** What the severity demands, and what of it is there. */
function demandList(draft: Draft, at: Date): string {
  const now = new Date(Math.max(+at, Date.parse(draft.detectedAt)));
  const demands = demandsOf(draft, missingParts(draft).length === 0, now);
  return demands
    .map(({ done, text }) => `- [${done ? "x" : " "}] ${markdownText(text)}`)
    .join("\n");
}

function evidenceText(evidence: readonly Evidence[], mentions: Mentions): string {
  const texts = evidence.map((each) => {
    if ("text" in each) return markdownText(each.text);
    if ("figure" in each) return mentions.link(each.figure) ?? "a figure that isn't there";
    const short = each.link.replace(/^https?:\/\//i, "").replace(/\/$/, "");
    return link(short.length > 48 ? `${short.slice(0, 47)}…` : short, each.link);
  });
  return texts.join(", ");
}

/** A time of the day also at midnight, which is a moment among moments here. */
function minute(instant: string): string {
  const text = formatInstant(new Date(instant), "UTC");
  return text.includes(" ") ? text : `${text} 00:00`;
}

/** A time with its zone, for a sentence. */
export function utc(instant: string): string {
  return momentText(new Date(instant), "UTC");
}
