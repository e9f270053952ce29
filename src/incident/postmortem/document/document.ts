import { formatInstant } from "../../../time/time-zone.js";
import { checklist, stateText } from "../../severities/checklist.js";
import { formatDuration } from "../../severities/checklist.js";
import { spans, type Block, type Span } from "./blocks.js";
import type { Figure } from "../figure.js";
import { webAddress } from "../web-address.js";
import { missingParts, type Evidence, type PostmortemRecord } from "../record.js";

type Facts = (readonly [string, readonly Span[]])[];

/**
 * A postmortem as the blocks of a document, in the order of the field's usual template: facts,
 * summary, impact, root causes, trigger, detection, resolution, findings, timeline, lessons, action
 * items, figures. Source: B. Beyer et al. (ed.), Site Reliability Engineering, 2016, appendix D,
 * with the policy's demands (seed document, 1.2) as a checklist.
 */
export function documentBlocks(record: PostmortemRecord, figures: readonly Figure[]): Block[] {
  const numbers = new Map(figures.map(({ name }, index) => [name, index + 1]));
  const rests = (evidence: readonly Evidence[]): Span[] => evidenceSpans(evidence, numbers);
  return [
    { kind: "heading", level: 1, text: record.title },
    { kind: "facts", facts: facts(record) },
    ...section("What the severity demands", demands(record)),
    ...told("Summary", record.summary),
    ...told("Impact", record.impact),
    ...told("Root causes", record.rootCauses),
    ...told("Trigger", record.trigger),
    ...told("Detection", record.detection),
    ...told("Resolution", record.resolution),
    ...section(
      "Findings",
      record.findings.length === 0
        ? []
        : [
            {
              kind: "list",
              items: record.findings.map(({ text, evidence }) => [
                ...spans(text),
                ...bracketed(rests(evidence)),
              ]),
            },
          ],
    ),
    ...section("Timeline", timeline(record, rests)),
    ...section("Lessons learned", lessons(record)),
    ...section("Action items", actions(record)),
    ...section(
      "Figures",
      figures.map((figure, index) => ({ kind: "figure", number: index + 1, figure })),
    ),
    { kind: "paragraph", spans: [{ text: colophon(record) }] },
  ];
}

const NOT_YET: Block = { kind: "paragraph", spans: [{ text: "Not written yet." }] };

function section(title: string, blocks: readonly Block[]): Block[] {
  return [{ kind: "heading", level: 2, text: title }, ...(blocks.length > 0 ? blocks : [NOT_YET])];
}

/** One text as paragraphs, several as a list. */
function told(title: string, words: readonly string[]): Block[] {
  const [only = ""] = words;
  return section(
    title,
    words.length > 1
      ? [{ kind: "list", items: words.map(spans) }]
      : only === ""
        ? []
        : only.split(/\n\s*\n/).map((text) => ({ kind: "paragraph", spans: spans(text.trim()) })),
  );
}

function facts(record: PostmortemRecord): Facts {
  const { severity } = checklistOf(record);
  const time = (value: string | null): Span[] => [
    { text: value === null ? "not known" : utc(value) },
  ];
  const began = record.startedAt ?? record.detectedAt;
  const lasted =
    record.resolvedAt === null
      ? []
      : [
          [
            "Lasted",
            [{ text: formatDuration(Date.parse(record.resolvedAt) - Date.parse(began)) }],
          ] as const,
        ];
  return [
    ["Status", [{ text: record.status }]],
    ["Severity", [{ text: `${record.severity}: ${severity.meaning}` }]],
    ["Authors", [{ text: record.authors.join(", ") || "not named" }]],
    ["Began", time(record.startedAt)],
    ["Detected", time(record.detectedAt)],
    ["Response", time(record.respondedAt)],
    ["Resolved", record.resolvedAt === null ? [{ text: "not yet" }] : time(record.resolvedAt)],
    ...lasted,
  ];
}

/** What the severity demands, as `severity.checklist` has it at the time of saving. */
function checklistOf(record: PostmortemRecord) {
  const { severity, detectedAt, respondedAt, call, leader, sterile, savedAt } = record;
  const now = Date.parse(savedAt) < Date.parse(detectedAt) ? detectedAt : savedAt;
  return checklist(
    {
      severity,
      detectedAt,
      respondedAt: respondedAt ?? undefined,
      call: call === null ? undefined : new Date(call),
      leader: leader ?? undefined,
      postmortem: missingParts(record).length === 0,
      sterile: sterile ?? undefined,
    },
    { now },
  );
}

function demands(record: PostmortemRecord): Block[] {
  const { demands } = checklistOf(record);
  const missing = missingParts(record);
  return [
    {
      kind: "checklist",
      items: demands
        .filter(({ state }) => state !== "not demanded")
        .map((each) => {
          const parts = each.demand === "postmortem" ? missing.map((part) => `; ${part}`) : [];
          const name = `${each.demand.slice(0, 1).toUpperCase()}${each.demand.slice(1)}`;
          return {
            done: each.state === "done" || each.state === "late",
            spans: [{ text: `${name}: ${stateText(each)}${parts.join("")}` }],
          };
        }),
    },
  ];
}

function timeline(
  { timeline }: PostmortemRecord,
  rests: (evidence: readonly Evidence[]) => Span[],
): Block[] {
  if (timeline.length === 0) return [];
  return [
    {
      kind: "table",
      heads: ["Time (UTC)", "Event", "Data"],
      rows: timeline.map(({ time, event, evidence }) => [
        [{ text: minute(time) }],
        spans(event),
        rests(evidence),
      ]),
    },
  ];
}

function lessons({ wentWell, wentWrong, lucky }: PostmortemRecord): Block[] {
  return (
    [
      ["What went well", wentWell],
      ["What went wrong", wentWrong],
      ["Where we got lucky", lucky],
    ] as const
  ).flatMap(([title, words]): Block[] =>
    words.length === 0
      ? []
      : [
          { kind: "paragraph", spans: [{ text: `${title}:` }] },
          { kind: "list", items: words.map(spans) },
        ],
  );
}

function actions({ actions }: PostmortemRecord): Block[] {
  if (actions.length === 0) return [];
  return [
    {
      kind: "table",
      heads: ["Action item", "Type", "Owner", "Reference", "Due", "State"],
      rows: actions.map(({ what, type, owner, reference, due, done }) => [
        spans(what),
        [{ text: type }],
        [{ text: owner ?? "nobody yet" }],
        reference === null ? [] : spans(reference),
        due === null ? [] : [{ text: utc(due).replace(" UTC", "") }],
        [{ text: done ? "done" : "open" }],
      ]),
    },
  ];
}

function evidenceSpans(
  evidence: readonly Evidence[],
  numbers: ReadonlyMap<string, number>,
): Span[] {
  return evidence.flatMap((each, index): Span[] => [
    ...(index > 0 ? [{ text: ", " }] : []),
    "text" in each
      ? { text: each.text }
      : "link" in each
        ? linkSpan(each.link)
        : { text: `Figure ${numbers.get(each.figure) ?? "?"}`, figure: each.figure },
  ]);
}

function bracketed(inner: readonly Span[]): Span[] {
  return inner.length === 0 ? [] : [{ text: " (" }, ...inner, { text: ")" }];
}

function linkSpan(link: string): Span {
  const address = webAddress(link);
  return { text: shortLink(link), ...(address !== undefined && { link: address }) };
}

function shortLink(link: string): string {
  const plain = link.replace(/^https?:\/\//i, "").replace(/\/$/, "");
  return plain.length > 48 ? `${plain.slice(0, 47)}…` : plain;
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
