import { formatInstant } from "../../../time/time-zone.js";
import { checklist, formatDuration, stateText } from "../../severities/checklist.js";
import { webAddress, type Figure } from "../figure.js";
import { missingParts, type Evidence, type PostmortemRecord } from "../record.js";

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

/**
 * A postmortem as the blocks of a document, in the order of the field's usual template: facts,
 * summary, impact, root causes, trigger, detection, resolution, findings, timeline, lessons, action
 * items, figures. Source: B. Beyer et al. (ed.), Site Reliability Engineering, 2016, appendix D,
 * with the policy's demands (seed document, 1.2) as a checklist.
 */
export function documentBlocks(record: PostmortemRecord, figures: readonly Figure[]): Block[] {
  const numbers = new Map(figures.map(({ name }, index) => [name, index + 1]));
  const findings = record.findings.map(({ text, evidence }) => {
    const shown = evidenceSpans(evidence, numbers);
    return [...spans(text), ...(shown.length > 0 ? [...plain(" ("), ...shown, ...plain(")")] : [])];
  });
  const timeline = record.timeline.map(({ time, event, evidence }) => [
    plain(minute(time)),
    spans(event),
    evidenceSpans(evidence, numbers),
  ]);
  const lessons = (title: string, words: readonly string[]): Block[] =>
    words.length === 0 ? [] : [{ kind: "paragraph", spans: plain(`${title}:`) }, ...list(words)];
  const actions = record.actions.map(({ what, type, owner, reference, due, done }) => [
    spans(what),
    plain(type),
    plain(owner ?? "nobody yet"),
    spans(reference ?? ""),
    plain(due === null ? "" : formatInstant(new Date(due), "UTC")),
    plain(done ? "done" : "open"),
  ]);
  const { facts, demands } = severityBlocks(record);
  return [
    { kind: "heading", level: 1, text: record.title },
    facts,
    ...section("What the severity demands", [demands]),
    ...section("Summary", told(record.summary)),
    ...section("Impact", told(record.impact)),
    ...section("Root causes", told(record.rootCauses)),
    ...section("Trigger", told(record.trigger)),
    ...section("Detection", told(record.detection)),
    ...section("Resolution", told(record.resolution)),
    ...section("Findings", findings.length > 0 ? [{ kind: "list", items: findings }] : []),
    ...section("Timeline", table(["Time (UTC)", "Event", "Data"], timeline)),
    ...section("Lessons learned", [
      ...lessons("What went well", record.wentWell),
      ...lessons("What went wrong", record.wentWrong),
      ...lessons("Where we got lucky", record.lucky),
    ]),
    ...section(
      "Action items",
      table(["Action item", "Type", "Owner", "Reference", "Due", "State"], actions),
    ),
    ...section(
      "Figures",
      figures.map((figure, index) => ({ kind: "figure", number: index + 1, figure })),
    ),
    { kind: "paragraph", spans: plain(colophon(record)) },
  ];
}

function section(title: string, blocks: readonly Block[]): Block[] {
  const notYet: Block = { kind: "paragraph", spans: plain("Not written yet.") };
  return [{ kind: "heading", level: 2, text: title }, ...(blocks.length > 0 ? blocks : [notYet])];
}

/** One text as paragraphs, several as a list. */
function told(words: readonly string[]): Block[] {
  if (words.length > 1) return list(words);
  const paragraphs = (words[0] ?? "").split(/\n\s*\n/).filter((text) => text !== "");
  return paragraphs.map((text) => ({ kind: "paragraph", spans: spans(text.trim()) }));
}

function list(words: readonly string[]): Block[] {
  return [{ kind: "list", items: words.map(spans) }];
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
  for (const match of text.matchAll(/https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index) });
    const masked = /\[(?:IPv[46]|e-mail)/.test(match[0]);
    const link = masked ? undefined : webAddress(match[0]);
    parts.push({ text: match[0], ...(link !== undefined && { link }) });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The facts, and what the severity demands, as `severity.checklist` has it at the time of saving. */
function severityBlocks(record: PostmortemRecord): { facts: Block; demands: Block } {
  const { startedAt, detectedAt, respondedAt, resolvedAt, call, savedAt } = record;
  const missing = missingParts(record);
  const { severity, demands } = checklist(
    {
      severity: record.severity,
      detectedAt,
      respondedAt,
      call: call === null ? null : new Date(call),
      leader: record.leader,
      postmortem: missing.length === 0,
      sterile: record.sterile,
    },
    { now: savedAt < detectedAt ? detectedAt : savedAt },
  );
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
      const name = `${each.demand.slice(0, 1).toUpperCase()}${each.demand.slice(1)}`;
      return {
        done: each.state === "done" || each.state === "late",
        spans: plain(`${name}: ${stateText(each)}${parts.join("")}`),
      };
    });
  return {
    facts: {
      kind: "facts",
      facts: facts.map(([name = "", value = ""]) => [plain(name), plain(value)] as const),
    },
    demands: { kind: "checklist", items },
  };
}

function evidenceSpans(
  evidence: readonly Evidence[],
  numbers: ReadonlyMap<string, number>,
): Span[] {
  return evidence.flatMap((each, index): Span[] => [
    ...(index > 0 ? plain(", ") : []),
    "figure" in each
      ? figureSpan(numbers.get(each.figure))
      : "link" in each
        ? linkSpan(each.link)
        : each,
  ]);
}

function figureSpan(number: number | undefined): Span {
  return number === undefined
    ? { text: "a figure that isn't there" }
    : { text: `Figure ${number}`, figure: number };
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

function utc(instant: string): string {
  return `${formatInstant(new Date(instant), "UTC")} UTC`;
}
