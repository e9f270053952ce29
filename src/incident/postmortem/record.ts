import type { Json } from "../../result/json.js";
import type { SeverityNumber } from "../severities/severities.js";

/** Evidence: a figure, an address, or the text of an address that was masked. */
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

/** A chart or a table, without its data. */
export interface FigureRecord {
  /** Of its files: what every file system and every link takes. */
  readonly name: string;
  readonly kind: "chart" | "table";
  readonly caption: string;
  /** The recipe that makes the chart or table from its data, as tagged JSON. */
  readonly recipe: Json;
}

/** The fields that hold texts, beside `authors`, in the order of the record. */
export const WORD_FIELDS = [
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

/** The fields that hold times which may not be known; `call` is when the conference call was held. */
export const TIME_FIELDS = ["startedAt", "respondedAt", "resolvedAt", "call"] as const;

/** The fields of a postmortem. Times are ISO 8601 in UTC. */
export interface Told
  extends
    Readonly<Record<(typeof WORD_FIELDS)[number], readonly string[]>>,
    Readonly<Record<(typeof TIME_FIELDS)[number], string | null>> {
  readonly title: string;
  readonly severity: SeverityNumber;
  readonly status: string;
  readonly authors: readonly string[];
  readonly detectedAt: string;
  /** The leader of the conference call. */
  readonly leader: string | null;
  /** True where the incident was the only priority; null where not recorded. */
  readonly sterile: boolean | null;
}

/** An object with the same value under each name. */
export function under<Name extends string, Value>(
  names: readonly Name[],
  value: Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>;
}

/** Everything told so far; what the record adds when it is saved is left out. */
export interface Draft extends Told {
  readonly findings: readonly Finding[];
  readonly timeline: readonly TimelineEntry[];
  readonly actions: readonly ActionRecord[];
}

/**
 * A postmortem as `postmortem.json` holds it: all its words, and how its charts and tables are made
 * of the files in `data/`.
 */
export interface PostmortemRecord extends Draft {
  readonly format: "probelab postmortem 1";
  readonly figures: readonly FigureRecord[];
  readonly savedAt: string;
  /** True where addresses are masked. */
  readonly masked: boolean;
  readonly versions: Readonly<Record<string, string>>;
}

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

/**
 * The parts that a postmortem still lacks, each as a clause: `not written yet: summary, trigger` (parts of the
 * usual template), `2 timeline entries without data` (each has to rest on a figure or an address).
 */
export function missingParts(draft: Draft): string[] {
  const unwritten = PARTS.filter(([name]) => draft[name].length === 0).map(([, title]) => title);
  const bare = draft.timeline.filter(({ evidence }) => evidence.length === 0).length;
  return [
    ...(unwritten.length > 0 ? [`not written yet: ${unwritten.join(", ")}`] : []),
    ...(bare > 0 ? [`${bare} timeline ${bare === 1 ? "entry" : "entries"} without data`] : []),
  ];
}
