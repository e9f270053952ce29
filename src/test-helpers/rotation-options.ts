import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { checkRange, last, type TimeRange } from "../time/time-range.js";

/** What `lab.testHelpers.rotation` takes; everything has a default. */
export interface RotationOptions {
  /** The rotations to look at; live instances are always in. Default: the last 6 months before `lab.now`. */
  readonly range?: TimeRange;
  /**
   * Rotations fewer hours apart than this are too close for DNS to follow. Default 24: typical
   * times to live are one to five days (RFC 1912, section 2.2), so a day is the least after which
   * resolvers have asked again. With shorter records in your zone, pass their time to live.
   */
  readonly closestHours?: number;
  /** How far apart in age neighbours should be, in days. Default 7: the seed document's "about one week". */
  readonly staggerDays?: number;
  /** How far from that still counts as staggered, in days. Default 3: 4 to 10 days apart. */
  readonly toleranceDays?: number;
  readonly signal?: AbortSignal;
}

/** The options, checked. */
export interface RotationQuestion {
  readonly range: TimeRange;
  readonly closestHours: number;
  readonly staggerDays: number;
  readonly toleranceDays: number;
}

/** @throws ProbelabError for a number that is no span of time. */
export function checkRotation(options: RotationOptions, now: Date): RotationQuestion {
  const known = ["range", "closestHours", "staggerDays", "toleranceDays", "signal"];
  refuseUnknown(options, known, "look at rotations");
  const { closestHours = 24, staggerDays = 7, toleranceDays = 3 } = options;
  const range =
    options.range === undefined
      ? last("6 months", { now })
      : checkRange(options.range, "look at rotations");
  for (const [name, value] of Object.entries({ closestHours, staggerDays, toleranceDays })) {
    if (!(Number.isFinite(value) && value >= 0)) {
      throw new ProbelabError(
        `Can't look at rotations with ${name}: ${String(value)}: pass a number from 0, such as ${name}: ${name === "closestHours" ? 24 : 7}.`,
      );
    }
  }
  return { range, closestHours, staggerDays, toleranceDays };
}
