import { ProbelabError } from "../base/error.js";
import { SAMPLE_DAYS } from "./season.js";

/** Which sample to make; times in seconds since 1970, [start, end). */
export interface SamplePlan {
  readonly rows: number;
  readonly seed: number;
  readonly start: number;
  readonly end: number;
}

/**
 * The options of a sample, checked; defaults: 5,000,000 rows, seed 1, up to the last midnight UTC.
 *
 * @throws ProbelabError when one can't be used.
 */
export function checkPlan(options: {
  readonly rows?: number;
  readonly seed?: number;
  readonly end?: Date;
}): SamplePlan {
  const { rows = 5_000_000, seed = 1, end = lastMidnight() } = options;
  if (!Number.isSafeInteger(rows) || rows < 1 || rows > 10_000_000_000) {
    throw new ProbelabError(
      `Can't make a sample of ${rows} rows: take a whole number from 1 to 10,000,000,000, such as 5000000.`,
    );
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new ProbelabError(
      `Can't use the seed ${seed}: take a whole number from 0 on, such as 1.`,
    );
  }
  const seconds = Math.floor(end.getTime() / 1000);
  if (!(seconds >= Date.UTC(1973, 0, 1) / 1000 && seconds <= Date.UTC(2106, 0, 1) / 1000)) {
    const shown = Number.isNaN(seconds) ? "an invalid Date" : end.toISOString();
    throw new ProbelabError(
      `Can't end a sample at ${shown}: take a Date from 1973 to 2105, or leave it out for the last midnight UTC.`,
    );
  }
  return { rows, seed, start: seconds - SAMPLE_DAYS * 86_400, end: seconds };
}

function lastMidnight(): Date {
  return new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
}
