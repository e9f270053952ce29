import { buckets, steadyOffset, type Bucket } from "../time/bucket.js";
import type { Unit } from "../time/span.js";
import { bucketName, isMultiple, stepOf, usualLength } from "../time/step.js";
import { formatInstant } from "../time/time-zone.js";

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

const SIZES: Record<Unit, readonly number[]> = {
  second: [1, 2, 5, 10, 15, 30],
  minute: [1, 5, 10, 15, 30],
  hour: [1, 2, 3, 6, 12],
  day: [1],
  week: [1, 2],
  month: [1, 2, 3, 6],
  year: [1, 2, 5, 10, 20, 50],
};
const STEPS: Bucket[] = (Object.keys(SIZES) as Unit[]).flatMap((unit) =>
  SIZES[unit].map((count) => bucketName({ count, unit })),
);

const DATE = "%b %-d, %Y";
/** For steps of a unit the formats of both lines, and how much of a date the second one names. */
const LINES: Record<Unit, readonly [format: string, majorFormat: string, letters: number]> = {
  second: ["%H:%M:%S", DATE, 10],
  minute: ["%H:%M", DATE, 10],
  hour: ["%H:%M", DATE, 10],
  day: ["%b %-d", "%Y", 4],
  week: ["%b %-d", "%Y", 4],
  month: ["%b", "%Y", 4],
  year: ["%Y", "", 0],
};

/** At most `most` labels on steps of a zone's calendar and clock, never finer than the buckets. */
export function timeTicks(
  [start, end]: readonly [number, number],
  timeZone: string,
  most: number,
  every?: Bucket,
): Ticks {
  const span = end - start;
  const usable = stepsFrom(every ?? "second");
  const starts = (each: Bucket): number[] => startsBetween(start, end, each, timeZone);
  const rough = usable.findIndex((each) => span / usualLength(each) <= most - 1);
  const fits = rough < 0 ? usable.length - 1 : rough;
  // One or two labels show no scale: the next finer step whose labels are as few as may be.
  const finer = usable
    .slice(Math.max(0, fits - 2), fits)
    .findLast((each) => starts(each).length <= most);
  const [some, more] = [starts(usable[fits]!), finer === undefined ? [] : starts(finer)];
  const denser = some.length < 3 && more.length > some.length;
  const [step, at] = denser ? [finer!, more] : [usable[fits]!, some];
  if (at.length < 2) {
    const all = every === undefined ? [start, end] : starts(every);
    if (all.length > 0) return endTicks(all[0]!, all.at(-1)!, timeZone);
  }
  const [format, majorFormat, letters] = LINES[stepOf(step).unit];
  const key = (instant: number): string =>
    formatInstant(new Date(instant), timeZone).slice(0, letters);
  const major = at.filter((tick, index) => index === 0 || key(tick) !== key(at[index - 1] ?? tick));
  return { at, major, format, majorFormat };
}

/** The first and the last instant, with as much of their dates and clocks as tells them apart. */
function endTicks(start: number, end: number, timeZone: string): Ticks {
  // A lone instant is drawn as wide as a millisecond.
  const at = end - start > 1 ? [start, end] : [start];
  const texts = at.map((instant) => formatInstant(new Date(instant), timeZone));
  if (texts.every((text) => !text.includes(" "))) {
    const [format, majorFormat] = LINES.day;
    const isNewYear = texts.at(-1)!.slice(0, 4) !== texts[0]!.slice(0, 4);
    return { at, major: isNewYear ? at : [start], format, majorFormat };
  }
  const whole = (size: number): boolean => at.every((instant) => instant % size === 0);
  const clock = whole(60_000) ? "%H:%M" : whole(1_000) ? "%H:%M:%S" : "%H:%M:%S.%L";
  const isNewDay = texts.at(-1)!.slice(0, 10) !== texts[0]!.slice(0, 10);
  return { at, major: isNewDay ? at : [start], format: clock, majorFormat: DATE };
}

// The steps that labels of such buckets may have: of several units the step itself, and twice that;
// then the calendar's, where their labels stand at starts of buckets or are far fewer than these.
function stepsFrom(every: Bucket): Bucket[] {
  const { count, unit } = stepOf(every);
  const length = usualLength(every);
  const own = (count === 1 ? [] : [every, bucketName({ count: 2 * count, unit })]).filter((each) =>
    isMultiple(each, every),
  );
  const shorter = own.length === 0 ? length : usualLength(own.at(-1)!) + 1;
  const larger = STEPS.filter(
    (each) =>
      usualLength(each) >= shorter && (isMultiple(each, every) || usualLength(each) >= 3 * length),
  );
  return [...own, ...larger];
}

/** The starts of a zone's steps in a span, as milliseconds. */
function startsBetween(start: number, end: number, every: Bucket, timeZone: string): number[] {
  const range = { start: new Date(Math.ceil(start)), end: new Date(end + 1), timeZone };
  const starts = buckets(range, every).map((bucket) => +bucket.start);
  return starts.filter((at) => at >= start && at <= end);
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
  let own = steadyOffset(Math.round(start), timeZone);
  let offset = "";
  for (; own.until <= end; own = steadyOffset(own.until, timeZone)) {
    offset += `+${instant} < ${own.until} ? ${own.offset} : `;
  }
  offset += own.offset;
  const shifted = offset === "0" ? instant : `+${instant} + (${offset})`;
  return `utcFormat(${shifted}, ${JSON.stringify(format)})`;
}
