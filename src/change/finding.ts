import { cleanText, lowered } from "../base/text.js";
import { wilson } from "../query/wilson.js";
import { costOf, type MeasureColumn, type Origin, type ResultColumns } from "../result/origin.js";
import type { Result } from "../result/result.js";
import type { TimeRange } from "../time/time-range.js";
import { sentenceText } from "./words.js";

const KINDS = [
  "compare",
  "explain",
  "change points",
  "anomalies",
  "freshness",
  "funnel",
  "release",
] as const;

/** What a finding says, the shortest first; no part repeats another. */
export interface Telling {
  /** What, where, how much, in at most 12 words, without a full stop. */
  readonly headline: string;
  /** One sentence of at most 25 words: the figures behind the headline. "" where it needs none. */
  readonly evidence: string;
  /** The rest, a sentence or two each: other causes, the ranges, what would not show. */
  readonly details: readonly string[];
  /** All three as one text. */
  readonly sentence: string;
}

/** How a measure moved between two ranges: findings may compare different ones. */
export interface Moved {
  /** Of which rows: `measurements with probe_cc = IT`. */
  readonly measure: string;
  /** Below 0 where it fell. */
  readonly change: number;
  /** In words: `fell by 12 %`. */
  readonly by: string;
  /** The later range, ISO 8601. */
  readonly start: string;
  readonly end: string;
  /** Both in words: `in 8–14 May 2026 against 1–7 May 2026`. */
  readonly ranges: string;
}

/** A move of a measure in a range. @param filter of its rows, in words. */
export function movedIn(
  { start, end }: TimeRange,
  label: string,
  filter: string | undefined,
  said: Pick<Moved, "change" | "by" | "ranges">,
): Moved {
  const measure = `${lowered(label)}${filter ? ` with ${filter}` : ""}`;
  return { measure, ...said, start: start.toISOString(), end: end.toISOString() };
}

/** The answer of every question of "what changed?": what it says, the table behind it, and whether anything was found. */
export interface Finding extends Telling {
  /** Which answer it is, for charts. */
  readonly kind: (typeof KINDS)[number];
  /** True where something was found: the command line exits with 8. */
  readonly found: boolean;
  /** The table, ranked, with the origin of the question behind it. */
  readonly result: Result;
  /** What its sentence says of the measure over all rows that were asked. */
  readonly moved?: readonly Moved[];
}

/** Makes a telling of its parts; empty details are left out. */
export function tell(
  headline: string,
  evidence: string,
  details: readonly (string | undefined | false)[],
): Telling {
  const said = (text: string) => sentenceText(cleanText(text));
  const all = details.filter((text): text is string => Boolean(text)).map(said);
  const shown = evidence === "" ? "" : said(evidence);
  const head = said(headline);
  const parts = [head, shown, ...all].filter((text) => text !== "");
  return { headline: head.slice(0, -1), evidence: shown, details: all, sentence: parts.join(" ") };
}

/** By its members: it may be of another copy of this library. */
export function isFinding(value: unknown): value is Finding {
  if (typeof value !== "object" || value === null) return false;
  const { kind, headline, evidence, details, found, result } = value as Partial<Finding>;
  return (
    KINDS.includes(kind!) &&
    typeof headline === "string" &&
    typeof evidence === "string" &&
    Array.isArray(details) &&
    typeof found === "boolean" &&
    typeof result === "object" &&
    "origin" in result
  );
}

/** The columns of a table of changes, of which `change` is the main one, from `low` to `high`. */
export function changeColumns(
  all: readonly (readonly [name: string, label: string, unit: string])[],
): MeasureColumn[] {
  return all.map(([name, label, unit]) => ({
    name,
    label,
    unit,
    additive: false,
    missing: "gap",
    ...(name === "change" && { main: true, interval: ["low", "high"] }),
  }));
}

/** The origin of a table that several answers, at least one, were put together to. */
export function originOfAll(
  origins: readonly Omit<Origin, "columns" | "reductions" | "notes">[],
  columns: ResultColumns,
  notes: readonly string[],
): Origin {
  return {
    ...origins.at(-1)!,
    sql: [...new Set(origins.map(({ sql }) => sql))].join("\n\n-- and:\n"),
    parameters: Object.fromEntries(origins.flatMap(({ parameters }) => Object.entries(parameters))),
    ...costOf(...origins),
    columns,
    reductions: [],
    notes: [...new Set(notes)],
  };
}

/** A value with the ends of its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** A share of so many independent trials, above 0, with Wilson's interval. */
export function shareOf(part: number, trials: number): Estimate {
  return { value: part / trials, ...wilson(part, trials)! };
}

/**
 * The difference of two independent estimates, its interval from theirs: of shares Newcombe's
 * (Statistics in Medicine 17, 1998, method 10), of others Zou and Donner's (ibid. 27, 2008).
 */
export function difference(was: Estimate, is: Estimate): Estimate {
  const value = is.value - was.value;
  return {
    value,
    low: value - Math.hypot(is.value - is.low, was.high - was.value),
    high: value + Math.hypot(is.high - is.value, was.value - was.low),
  };
}
