/** Units of a span of time, from the finest to the coarsest. */
export type Unit = "second" | "minute" | "hour" | "day" | "week" | "month" | "year";

/** A whole number of units. */
export interface Span {
  readonly count: number;
  readonly unit: Unit;
}

/** Lengths in milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;

/** Usual lengths in milliseconds: a month's is a twelfth of a year's. */
export const LENGTHS: Record<Unit, number> = {
  second: SECOND,
  minute: MINUTE,
  hour: HOUR,
  day: DAY,
  week: WEEK,
  month: 30.4375 * DAY,
  year: 365.25 * DAY,
};

const SPELLINGS: Record<Unit, readonly string[]> = {
  second: ["second", "seconds", "sec", "secs", "s"],
  minute: ["minute", "minutes", "min", "mins"],
  hour: ["hour", "hours", "hr", "hrs", "h"],
  day: ["day", "days", "d"],
  week: ["week", "weeks", "wk", "wks", "w"],
  month: ["month", "months", "mo"],
  year: ["year", "years", "yr", "yrs", "y"],
};
const UNITS = new Map(
  (Object.keys(SPELLINGS) as Unit[]).flatMap((unit) =>
    SPELLINGS[unit].map((spelling) => [spelling, unit] as const),
  ),
);

/** More than any calendar here has to count: 10,000 years. */
const LONGEST = 10_000 * LENGTHS.year;

/**
 * A span from what an analyst writes: `"3 months"`, `"36h"`, `"90d"`, `"45 min"`, or a unit alone,
 * which means one of it. Undefined for what is none, and for `"3m"`, which may be either of two.
 */
export function readSpan(text: unknown): Span | undefined {
  const match = typeof text === "string" ? /^\s*(\d+)?\s*([a-z]+)\s*$/i.exec(text) : null;
  const unit = UNITS.get(match?.[2]?.toLowerCase() ?? "");
  const count = Number(match?.[1] ?? 1);
  if (unit === undefined || count < 1 || count * LENGTHS[unit] > LONGEST) return undefined;
  return { count, unit };
}

/** The remedy for `"3m"`; undefined for any other text. */
export function whyAmbiguous(text: unknown): string | undefined {
  const match = typeof text === "string" ? /^\s*(\d*)\s*m\s*$/i.exec(text) : null;
  if (match === null) return undefined;
  const [minutes, months] = ["min", "mo"].map((unit) => JSON.stringify(`${match[1] ?? ""}${unit}`));
  return `m may be minutes or months: write ${minutes} for minutes or ${months} for months`;
}
