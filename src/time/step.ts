import { ProbelabError } from "../base/error.js";
import { DAY, HOUR, LENGTHS, readSpan, whyAmbiguous, type Span, type Unit } from "./span.js";

/** The usual steps, from the finest to the coarsest: `"auto"` picks one of them. */
export const BUCKETS = ["minute", "hour", "3 hours", "6 hours", "day", "week", "month"] as const;

type AnySpan =
  | `${number} ${Unit}`
  | `${number} ${Unit}s`
  | `${number}${"" | " "}${"s" | "min" | "h" | "d" | "w" | "mo" | "y"}`;

/**
 * A step of time: a whole number and a unit, such as `"15 minutes"`, `"2 weeks"`, `"90min"` or
 * `"10d"`, or a unit alone. Where its buckets begin: {@link bucketStart}.
 */
export type Bucket =
  | (typeof BUCKETS)[number]
  | "second"
  | "15 minutes"
  | "2 weeks"
  | "3 months"
  | "year"
  // Without the intersection an editor wouldn't offer the names above that any span covers.
  | (AnySpan & Record<never, never>);

/** A step of time; its length in milliseconds, of months in months. */
export interface Step extends Span {
  readonly begins: "clock" | "midnight" | "epoch" | "date" | "month";
  readonly size: number;
  /** A start on the wall clock, in milliseconds since 1970-01-01 on the same clock. */
  readonly origin: number;
}

/** The next unit that always is so many of a smaller one, and how many. */
const LARGER: Partial<Record<Unit, readonly [Unit, number]>> = {
  second: ["minute", 60],
  minute: ["hour", 60],
  hour: ["day", 24],
  day: ["week", 7],
  month: ["year", 12],
};
const MOST_YEARS = 50;

/**
 * The step under its one name, in the largest unit of which it is a whole number: `"60 minutes"` is
 * `"hour"`, `"36h"` stays `"36 hours"`, `"48 hours"` is `"2 days"`, `"7 days"` is `"week"` (so it
 * begins on Monday), `"12 months"` is `"year"`.
 *
 * @throws ProbelabError for what is no step, is ambiguous (`"5m"`) or longer than 50 years.
 */
export function checkBucket(every: unknown): Bucket {
  return nameOf(checkSpan(every));
}

/** The span of a step, in the largest unit of which it is a whole number. */
function checkSpan(every: unknown): Span {
  const span = readSpan(every);
  const refused = `Can't group by ${JSON.stringify(every) ?? "undefined"}`;
  if (span === undefined) {
    const usual = BUCKETS.map((name) => `"${name}"`).join(", ");
    throw new ProbelabError(
      `${refused}: ${whyAmbiguous(every) ?? `pass every: ${usual}, any other whole number of a unit from second to year, such as "15 minutes" or "2 weeks", "auto" or "all"`}.`,
    );
  }
  if (span.count * LENGTHS[span.unit] > MOST_YEARS * LENGTHS.year) {
    throw new ProbelabError(
      `${refused}: a bucket takes at most ${MOST_YEARS} years; every: "all" makes the whole range one.`,
    );
  }
  return largest(span);
}

/** The name of a span as a step. */
export function bucketName(span: Span): Bucket {
  return nameOf(largest(span));
}

function nameOf({ count, unit }: Span): Bucket {
  return count === 1 ? unit : `${count} ${unit}s`;
}

function largest({ count, unit }: Span): Span {
  const [larger, size] = LARGER[unit] ?? [unit, Infinity];
  return count % size === 0 ? largest({ count: count / size, unit: larger }) : { count, unit };
}

/** Parses a step. @throws ProbelabError for any other text, as {@link checkBucket} does. */
export function stepOf(every: Bucket): Step {
  const span = checkSpan(every);
  return { ...span, ...gridOf(span) };
}

function gridOf({ count, unit }: Span): Pick<Step, "begins" | "size" | "origin"> {
  if (unit === "month" || unit === "year") {
    return { begins: "month", size: unit === "year" ? 12 * count : count, origin: 0 };
  }
  const size = count * LENGTHS[unit];
  // 1970-01-05 was a Monday.
  if (unit === "week") return { begins: "date", size, origin: 4 * DAY };
  if (unit === "day") return { begins: "date", size, origin: 0 };
  const begins = HOUR % size === 0 ? "clock" : DAY % size === 0 ? "midnight" : "epoch";
  return { begins, size, origin: 0 };
}

/** The usual length of a step in milliseconds. */
export function usualLength(every: Bucket): number {
  const { count, unit } = stepOf(every);
  return count * LENGTHS[unit];
}

/** A bucket as a noun: `week`, `weeks`, `15-minute bucket`, `3-month buckets`. */
export function bucketNoun(every: Bucket, plural: boolean): string {
  const { count, unit } = stepOf(every);
  return `${count === 1 ? unit : `${count}-${unit} bucket`}${plural ? "s" : ""}`;
}

/** True if each bucket of `coarse` is made of whole ones of `fine` in every zone: months aren't of weeks. */
export function isMultiple(coarse: Bucket, fine: Bucket): boolean {
  const [whole, part] = [stepOf(coarse), stepOf(fine)];
  const same = whole.begins === part.begins && whole.origin === part.origin;
  if (same || (part.begins === "clock" && whole.begins === "midnight")) {
    return whole.size % part.size === 0;
  }
  const fitsDay =
    part.begins === "clock" ||
    part.begins === "midnight" ||
    (part.unit === "day" && part.count === 1);
  return fitsDay && (whole.begins === "date" || whole.begins === "month");
}
