import { CONFIDENCES, wilson } from "../query/wilson.js";

/** A value with the ends of its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** A value with an interval of 1.96 standard errors on either side. */
export function around(value: number, error: number): Estimate {
  const half = CONFIDENCES[0.95] * error;
  return { value, low: value - half, high: value + half };
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
