import { CONFIDENCES, wilson } from "../query/wilson.js";
import { amount, changeText, percent } from "./words.js";

/** A number of each of the two versions, with 95 % intervals. */
export type ReleaseValue = {
  measure: string;
  unit: string;
  /** Of the previous version in the two weeks before the release. */
  before: number | null;
  /** Of the previous version in the days of the release (before it, where too few runs are left). */
  previous: number | null;
  previous_low: number | null;
  previous_high: number | null;
  now: number | null;
  now_low: number | null;
  now_high: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
  /** The change and its ends by what the previous version had; null where that is 0. */
  relative: number | null;
  relative_low: number | null;
  relative_high: number | null;
  told: "moved" | "as before" | "can't tell";
};

/** A release is looked at again and again: what moved must lie beyond twice its 95 % interval. */
const STANDS_OUT = 2;
/** Medians that move by less don't matter. */
const MATTERS = 0.1;
/** Hours that tell how failures hang together. */
const LEAST_HOURS = 10;
/** A value with the ends of its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** The quantiles between which the true median lies, 19 times in 20, of so many independent rows. */
export function medianLevels(size: number): Record<keyof Estimate, number> {
  const half = Math.min(0.5, CONFIDENCES[0.95] / (2 * Math.sqrt(Math.max(1, size))));
  return { value: 0.5, low: 0.5 - half, high: 0.5 + half };
}

export interface Hour {
  readonly failed: number;
  readonly n: number;
}

/** The share of failed measurements; its interval is as wide as its hours scatter. @param runs that the measurements are of. */
export function failureShare(hours: readonly Hour[], runs: number): Estimate | null {
  const some = hours.filter(({ n }) => n > 0);
  const n = some.reduce((sum, hour) => sum + hour.n, 0);
  const failed = some.reduce((sum, hour) => sum + hour.failed, 0);
  if (n === 0) return null;
  const value = failed / n;
  const scatter =
    some.reduce((sum, hour) => sum + (hour.failed - hour.n * value) ** 2 / hour.n, 0) /
    (value * (1 - value) * (some.length - 1));
  // Too little to learn it from: a run's measurements are taken for one trial.
  const asOne = Math.max(1, n / Math.max(1, runs));
  const known = Number.isFinite(scatter) ? Math.max(1, scatter) : asOne;
  const trials = n / (some.length < LEAST_HOURS ? Math.max(known, asOne) : known);
  return { value, ...wilson(value * trials, trials)! };
}

/** The difference of two estimates, its interval from theirs. */
export function difference(was: Estimate, is: Estimate): Estimate {
  const value = is.value - was.value;
  return {
    value,
    low: value - Math.hypot(is.value - is.low, was.high - was.value),
    high: value + Math.hypot(is.high - is.value, was.value - was.low),
  };
}

/** What became of a number from one version to the next. */
export function valueOf(
  measure: string,
  unit: string,
  { before, previous, now }: Readonly<Record<"before" | "previous" | "now", Estimate | null>>,
): ReleaseValue {
  const change = previous === null || now === null ? null : difference(previous, now);
  const by = (end: number | undefined) =>
    end === undefined || !previous?.value ? null : end / previous.value;
  return {
    measure,
    unit,
    before: before?.value ?? null,
    previous: previous?.value ?? null,
    previous_low: previous?.low ?? null,
    previous_high: previous?.high ?? null,
    now: now?.value ?? null,
    now_low: now?.low ?? null,
    now_high: now?.high ?? null,
    change: change?.value ?? null,
    low: change?.low ?? null,
    high: change?.high ?? null,
    relative: by(change?.value),
    relative_low: by(change?.low),
    relative_high: by(change?.high),
    told:
      change === null || previous === null
        ? "can't tell"
        : verdict(change, matters(previous, unit)),
  };
}

/** The least change that matters. */
function matters({ value }: Pick<Estimate, "value">, unit: string): number {
  return unit === "share" ? Math.max(0.001, Math.min(0.01, value / 2)) : MATTERS * value;
}

function verdict({ value, low, high }: Estimate, least: number): ReleaseValue["told"] {
  const reach = value < 0 ? high - value : value - low;
  if (Math.abs(value) > STANDS_OUT * reach && Math.abs(value) >= least && value !== 0)
    return "moved";
  return low >= -least && high <= least ? "as before" : "can't tell";
}

export const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** What moved, what didn't and what can't be told, in a sentence. */
export function words(values: readonly ReleaseValue[]): string {
  const of = (state: ReleaseValue["told"]) => values.filter((value) => value.told === state);
  const moved = of("moved").map(
    (value) => `${lower(value.measure)} ${changeText(value.previous, value.now, value.unit)}`,
  );
  const same = of("as before").map(
    (value) => `${lower(value.measure)} (${amount(value.now, value.unit)})`,
  );
  const open = of("can't tell").map((value) => {
    if (value.low === null || value.high === null) return `${lower(value.measure)} (no value)`;
    const by = (end: number) =>
      value.unit === "share" ? percent(end) : percent(end / (value.previous ?? NaN));
    const points = value.unit === "share" ? " points" : "";
    const wide = (value.high - value.low) / matters({ value: value.previous ?? 0 }, value.unit);
    return `${lower(value.measure)} (95 % interval of the change ${by(value.low)} to ${by(value.high)}${points}; about ${Math.max(2, Math.ceil(wide ** 2)).toLocaleString("en-US")} times as many runs would tell)`;
  });
  return [
    ...moved,
    ...(same.length > 0 ? [`as before: ${same.join(", ")}`] : []),
    ...(open.length > 0
      ? [`I can't tell yet, because there are too few runs: ${open.join(", ")}`]
      : []),
  ].join("; ");
}
