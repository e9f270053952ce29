import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { grouped } from "../base/text.js";
import type { TimeColumn } from "../result/origin.js";
import { autoBucket, buckets, checkBucket, type Bucket, type RangeBucket } from "../time/bucket.js";
import { LENGTHS } from "../time/span.js";
import { bucketNoun, usualLength } from "../time/step.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import { dateText } from "../time/time-zone.js";
import { asInstant, evenStart, secondsOf } from "./clickhouse.js";
import type { Source } from "./source.js";

/** More buckets than rows that an answer may have. */
const MOST_BUCKETS = 2_000_000;

/** The buckets of a question, parsed at the door: where each starts, its SQL, and how it is shown. */
export class AskedBuckets {
  readonly spans: readonly RangeBucket[];

  /**
   * @param every null where the whole range is one bucket, without a column of time.
   * @throws ProbelabError for more buckets than can be listed.
   */
  constructor(
    readonly every: Bucket | null,
    readonly range: TimeRange,
  ) {
    const count = every === null ? 1 : Math.round((+range.end - +range.start) / usualLength(every));
    if (count > MOST_BUCKETS) {
      throw new ProbelabError(
        `Can't group ${formatRange(range)} by ${every}: ${grouped(count)} buckets are too many. Take a coarser bucket ("auto" picks one in a question) or a shorter range.`,
      );
    }
    this.spans = every === null ? [{ ...range, complete: true }] : buckets(range, every);
  }

  /**
   * SQL for the start of the bucket that a DateTime or DateTime64 inside the range falls in: the same instant
   * as `bucketStart` gives, in every zone and on servers of every age, as whole seconds since 1970 or, where a
   * server can group by them, a DateTime, which it groups by in two thirds of a DateTime64's time.
   *
   * The starts are written into the SQL: those of buckets of one length as an even distance, which is
   * all of them unless clocks change or the buckets are months.
   */
  key(instant: string): string {
    const stretches: { from: number; length: number }[] = [];
    for (const { start, end } of this.spans) {
      const [from, length] = [+start / 1000, (+end - +start) / 1000];
      if (stretches.at(-1)?.length !== length) stretches.push({ from, length });
    }
    const seconds = evenStart(secondsOf(instant), stretches);
    const isDateTime = +this.spans[0]!.start >= 0 && +this.range.end < 2 ** 32 * 1000;
    return isDateTime ? `toDateTime(${seconds}, 'UTC')` : seconds;
  }

  /** SQL for the start of a bucket, as DateTime64(3), from its key. */
  start(key: string): string {
    return asInstant(key, this.range.timeZone);
  }

  /** The column of starts, and which of the buckets the range covers only in part. */
  column(name: string): TimeColumn | undefined {
    if (this.every === null) return undefined;
    const incomplete = this.spans.filter(({ complete }) => !complete).map(({ start }) => start);
    return { name, every: this.every, incomplete };
  }
}

/** For `top: Infinity`, which may give fewer groups or more. */
const MANY_GROUPS = 50;
/** Buckets that an answer should have before values are named instead. */
export const FEW_BUCKETS = 12;

/** The buckets of a question, those of `"auto"` the finest that keep the answer under 5,000 rows. */
export function askedBuckets(
  wanted: Bucket | "auto" | "all",
  range: TimeRange,
  groups: number,
  source: Source,
): AskedBuckets {
  if (wanted === "all") return new AskedBuckets(null, range);
  if (wanted === "auto") {
    const most = Number.isFinite(groups) ? Math.floor(MOST_ROWS / FEW_BUCKETS) : MANY_GROUPS;
    const fitting = autoBucket(range, MOST_ROWS, Math.min(groups, most));
    return new AskedBuckets(coarser(fitting, finestOf(source)), range);
  }
  const every = checkBucket(wanted);
  checkFinest(every, source);
  return new AskedBuckets(every, range);
}

/** The coarser of two buckets. */
export function coarser(a: Bucket, b: Bucket): Bucket {
  return usualLength(a) < usualLength(b) ? b : a;
}

/** The finest bucket that a source can be asked by, of the usual ones. */
export function finestOf({ daysOnly, hoursOnly }: Source): "minute" | "hour" | "day" {
  return daysOnly !== undefined ? "day" : hoursOnly !== undefined ? "hour" : "minute";
}

/** @throws ProbelabError for a bucket that is finer than the source's times. */
function checkFinest(every: Bucket, source: Source): void {
  const { daysOnly, hoursOnly } = source;
  const length = usualLength(every);
  const why =
    daysOnly !== undefined && length < LENGTHS.day
      ? daysOnly
      : hoursOnly !== undefined && length % LENGTHS.hour !== 0 && /second|minute/.test(every)
        ? hoursOnly
        : undefined;
  if (why === undefined) return;
  throw new ProbelabError(
    `Can't group by ${every}: ${why}. Take every: "${finestOf(source)}" or a coarser one.`,
  );
}

/** Names the buckets that the range covers only in part. */
export function incompleteNotes(time: TimeColumn | undefined, { timeZone }: TimeRange): string[] {
  if (time === undefined || time.incomplete.length === 0) return [];
  const starts = time.incomplete.map((start) => dateText(start, timeZone)).join(" and ");
  const single = time.incomplete.length === 1;
  return [
    `The ${bucketNoun(time.every, !single)} of ${starts} ${single ? "is" : "are"} covered only in part by the range.`,
  ];
}
