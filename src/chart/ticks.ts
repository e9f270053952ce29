import { Temporal } from "temporal-polyfill";
import { bucketStart, nextBucket, type Bucket } from "../time/bucket.js";
import type { Unit } from "../time/span.js";
import { bucketName, isMultiple, stepOf, usualLength } from "../time/step.js";

/** Where a time axis has its labels. */
export interface Ticks {
  /** Milliseconds since the epoch. */
  readonly at: readonly number[];
  /** Those with a second line: the first, and where the next larger unit begins. */
  readonly major: readonly number[];
  /** Strftime formats of both lines. */
  readonly format: string;
  readonly majorFormat: string;
}

interface Step {
  readonly every: Bucket;
  /** True for days that are counted from the first of each month. */
  readonly monthly?: true;
}

const SIZES: Record<Unit, readonly number[]> = {
  second: [1, 2, 5, 10, 15, 30],
  minute: [1, 5, 10, 15, 30],
  hour: [1, 2, 3, 6, 12],
  day: [1, 2, 4],
  week: [1, 2],
  month: [1, 2, 3, 6],
  year: [1, 2, 5, 10, 20, 50],
};
const STEPS: Step[] = (Object.keys(SIZES) as Unit[]).flatMap((unit) =>
  SIZES[unit].map((count) => ({
    every: bucketName({ count, unit }),
    ...(unit === "day" && count > 1 && { monthly: true as const }),
  })),
);

/** What the second line of a label names, for steps of a unit. */
const LARGER_UNIT = {
  second: "day",
  minute: "day",
  hour: "day",
  day: "year",
  week: "year",
  month: "year",
  year: "none",
} as const;

/** At most `most` labels on steps of a zone's calendar and clock, never finer than the buckets. */
export function timeTicks(
  [start, end]: readonly [number, number],
  timeZone: string,
  most: number,
  every?: Bucket,
): Ticks {
  const span = end - start;
  if (every === undefined && span <= SHORTEST) return fractionTicks(start, end, most);
  const usable = stepsFrom(every ?? "second");
  const starts = ({ every, monthly }: Step): number[] =>
    monthly
      ? daysBetween(start, end, stepOf(every).count, timeZone)
      : startsBetween(start, end, every, timeZone);
  const rough = usable.findIndex((each) => span / usualLength(each.every) <= most - 1);
  const fits = rough < 0 ? usable.length - 1 : rough;
  // One label alone shows no scale: the next finer step, where its labels are as few as may be.
  const finer = fits > 0 && starts(usable[fits]!).length < 2 ? starts(usable[fits - 1]!) : [];
  const step = usable[finer.length >= 2 && finer.length <= most ? fits - 1 : fits]!;
  const at = starts(step);
  const unit = stepOf(step.every).unit;
  const larger = LARGER_UNIT[unit];
  const key = (instant: number): string => {
    const date = zoned(instant, timeZone).toPlainDate().toString();
    return larger === "day" ? date : larger === "year" ? date.slice(0, -6) : "";
  };
  const formats = {
    day: [unit === "second" ? "%H:%M:%S" : "%H:%M", "%b %-d, %Y"],
    year: [unit === "month" ? "%b" : "%b %-d", "%Y"],
    none: ["%Y", ""],
  };
  const [format = "", majorFormat = ""] = formats[larger];
  const major = at.filter((tick, index) => index === 0 || key(tick) !== key(at[index - 1] ?? tick));
  return { at, major, format, majorFormat };
}

/** Milliseconds of the longest axis whose labels are parts of seconds. */
const SHORTEST = 2_000;

function fractionTicks(start: number, end: number, most: number): Ticks {
  const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
  const step = sizes.find((size) => (end - start) / size <= most - 1) ?? SHORTEST;
  const at: number[] = [];
  for (let tick = Math.ceil(start / step) * step; tick <= end; tick += step) at.push(tick);
  return { at, major: at.slice(0, 1), format: "%H:%M:%S.%L", majorFormat: "%b %-d, %Y" };
}

// The steps that labels of such buckets may have: of several units the step itself, and twice that;
// then the calendar's, where their labels stand at starts of buckets or are far fewer than these.
function stepsFrom(every: Bucket): Step[] {
  const { count, unit } = stepOf(every);
  const length = usualLength(every);
  const own = (count === 1 ? [] : [every, bucketName({ count: 2 * count, unit })]).filter((each) =>
    isMultiple(each, every),
  );
  const shorter = own.length === 0 ? length : usualLength(own.at(-1)!) + 1;
  const larger = STEPS.filter(
    (each) =>
      usualLength(each.every) >= shorter &&
      (isMultiple(each.every, every) || usualLength(each.every) >= 3 * length),
  );
  return [...own.map((each) => ({ every: each })), ...larger];
}

/** The starts of a zone's steps in a span, as milliseconds. */
function startsBetween(start: number, end: number, every: Bucket, timeZone: string): number[] {
  const at: number[] = [];
  let tick = bucketStart(new Date(Math.ceil(start)), every, timeZone);
  for (; tick.getTime() <= end; tick = nextBucket(tick, every, timeZone)) {
    if (tick.getTime() >= start) at.push(tick.getTime());
  }
  return at;
}

function daysBetween(start: number, end: number, days: number, timeZone: string): number[] {
  const at: number[] = [];
  const day = zoned(start, timeZone).startOfDay();
  let tick = day.subtract({ days: (day.day - 1) % days });
  while (tick.epochMilliseconds <= end) {
    if (tick.epochMilliseconds >= start) at.push(tick.epochMilliseconds);
    const later = tick.add({ days });
    // A lone last day of a month would crowd the label of the first.
    const room = later.daysInMonth - later.day >= days / 2;
    tick = later.month === tick.month && room ? later : tick.with({ day: 1 }).add({ months: 1 });
  }
  return at;
}

function zoned(instant: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.round(instant)).toZonedDateTimeISO(timeZone);
}

/**
 * A Vega expression that writes an instant in a time zone. Vega knows UTC and the process's zone only:
 * the scale stays UTC, so that an hour which comes twice is drawn twice; only the text is shifted.
 */
export function zoneExpression(
  instant: string,
  format: string,
  timeZone: string,
  [start, end]: readonly [number, number],
): string {
  const offset = zoneOffset(instant, timeZone, [start, end]);
  const shifted = offset === "0" ? instant : `+${instant} + (${offset})`;
  return `utcFormat(${shifted}, ${JSON.stringify(format)})`;
}

/** A Vega expression of a zone's offset at an instant of a span, in milliseconds. */
export function zoneOffset(
  instant: string,
  timeZone: string,
  [start, end]: readonly [number, number],
): string {
  let at = Temporal.Instant.fromEpochMilliseconds(Math.round(start)).toZonedDateTimeISO(timeZone);
  const parts: string[] = [];
  for (;;) {
    const offset = String(at.offsetNanoseconds / 1e6);
    const next = at.getTimeZoneTransition("next");
    if (next === null || next.epochMilliseconds > end) return [...parts, offset].join("");
    parts.push(`+${instant} < ${next.epochMilliseconds} ? ${offset} : `);
    at = next;
  }
}
