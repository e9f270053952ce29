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

/** The units in which durations are told, from the coarsest. */
const TOLD: readonly (readonly [length: number, one: string, several: string])[] = [
  [DAY, "day", "days"],
  [HOUR, "h", "h"],
  [MINUTE, "min", "min"],
  [SECOND, "s", "s"],
];

/**
 * Milliseconds in words. In one unit, rounded, the coarsest of which there are two or more: `90 s`,
 * `3 min`, `47 h`, `2 days`. In two units, cut off: `1 h 30 min`, `3 days 4 h`.
 *
 * @param units how many units. @default {1}
 */
export function durationText(milliseconds: number, units: 1 | 2 = 1): string {
  const size = Math.abs(milliseconds);
  if (units === 1) {
    const [length, one, several] = TOLD.find(([length]) => size >= 2 * length) ?? TOLD.at(-1)!;
    const count = Math.round(milliseconds / length);
    return `${count} ${count === 1 ? one : several}`;
  }
  let rest = Math.floor(size / SECOND) * SECOND;
  const counts = TOLD.map(([length, one, several]): [number, string] => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return [count, count === 1 ? one : several];
  });
  const first = counts.findIndex(([count]) => count > 0);
  if (first < 0) return size > 0 ? "less than 1 s" : "0 s";
  return counts
    .slice(first, first + units)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
