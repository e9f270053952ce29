import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { cleanText } from "../base/text.js";
import { wilson } from "../query/wilson.js";
import type { Result } from "../result/result.js";
import { bucketStart } from "../time/bucket.js";
import { formatRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { binomialMore, fisherMore } from "./exact-tests.js";
import { HELPER } from "./failure-rate.js";

/** A test helper that fails more than it should. */
export interface Departure {
  /** Its address, or what its row is called where it holds several: the rest of the top, all that do not depart by themselves. */
  readonly helper: string;
  /** What it fails more than: the other helpers, the limit, or itself before. */
  readonly against: "rest" | "limit" | "past";
  readonly measurements: number;
  readonly failed: number;
  /** Share of failed measurements, with the ends of its 95 % Wilson interval. */
  readonly rate: number;
  readonly low: number;
  readonly high: number;
  /** What the rate is compared with: the share of the rest, the limit, the share of its own past. */
  readonly restRate: number;
  /** p of the exact test, one-sided, times the helpers compared (Bonferroni), at most 1. */
  readonly p: number;
}

/** What counts as a departure. */
export interface DepartureOptions {
  /** Most p that counts, after the correction, for each of the three comparisons; default 0.001: one false alarm in a thousand looks. */
  readonly alpha?: number;
  /** How many times the rate of the rest, or of the past, it must be at least; default 1.5: with millions of measurements any difference is significant. */
  readonly leastRatio?: number;
  /**
   * The share of failed measurements that no helper may exceed, whatever the others do. Default 0.1:
   * `msm_failure` is a matter of few in a hundred, and one measurement in ten lost is the "significant
   * fraction of users" of a severity 2. With another sign of failure pass what is usual for it.
   */
  readonly limit?: number;
  /**
   * The past to compare with: a failureRate Result of an earlier range. Default: of a Result with
   * buckets, all before the last tenth of its range.
   */
  readonly baseline?: Result;
}

/** Whether the test helpers fail more than they should, in words. */
export interface HelperVerdict {
  /** null where too little was seen to tell. */
  readonly alarm: boolean | null;
  /** What was found or not, how much was looked at, and what was not. */
  readonly text: string;
  readonly departures: readonly Departure[];
}

/** Measurements and failures of a helper, or of several together. */
interface Sum {
  readonly helper: string;
  readonly measurements: number;
  readonly failed: number;
}

/** The recent part of the range and what was before it, by helper. */
interface Past {
  readonly recent: ReadonlyMap<string, Sum>;
  readonly before: ReadonlyMap<string, Sum>;
  /** In words: when the recent is, and when it was before. */
  readonly since: string;
  readonly then: string;
}

/** `testHelpers.departures`: see {@link testHelpers}. */
export function departures(rates: Result, options: DepartureOptions = {}): Departure[] {
  return compareHelpers(rates, options).found;
}

/** `testHelpers.verdict`: see {@link testHelpers}. */
export function verdict(rates: Result, options: DepartureOptions = {}): HelperVerdict {
  const compared = compareHelpers(rates, options);
  const { all, found, rest, alpha, limit, leastRatio, past } = compared;
  const range = spanOf(rates);
  const helpers = all.filter(({ helper }) => helper !== rest);
  const told = (alarm: boolean | null, sentences: readonly string[]): HelperVerdict => ({
    alarm,
    text: sentences.join(alarm ? "\n" : " "),
    departures: found,
  });
  if (found.length > 0) {
    const every = helpers.every(({ helper }) => found.some((each) => each.helper === helper));
    const first = every && helpers.length > 1 ? [`All ${helpers.length} test helpers fail.`] : [];
    return told(true, [...first, ...found.map((each) => departureText(each, past, range))]);
  }
  const sum = total(all);
  if (sum.measurements === 0) {
    return told(null, [
      `Whether a test helper fails can't be told: no measurement names one, ${range}.`,
    ]);
  }
  const noPast =
    past === null
      ? ["Not compared with the past: that takes a Result with buckets (every), or a baseline."]
      : [];
  const looked = `${helpers.length} looked at, together ${rateText(sum)}`;
  const unsure = whatIsUnsure(compared);
  if (unsure.length > 0) {
    return told(null, [
      `Whether a test helper fails can't be told, ${range}: ${unsure.join("; ")}. The limit is ${percent(limit)}; ${looked}.`,
      ...noPast,
    ]);
  }
  const worst = all.reduce((a, b) => (rateOf(b) > rateOf(a) ? b : a));
  const others = [
    ...(all.length > 1 ? ["the rest"] : []),
    ...(past === null ? [] : [`before (${past.since} against ${past.then})`]),
  ];
  return told(false, [
    `No test helper stands out, ${range}: ${looked}; the highest is ${worst.helper}, ${rateText(worst)}.`,
    `Each interval ends below the limit of ${percent(limit)}. None is shown (p at most ${alpha}) to fail ${leastRatio} times as often as ${others.join(", or as ") || "another"}.`,
    ...noPast,
    ...rates.origin.reductions,
  ]);
}

/** What `alert.send` takes to call somebody about test helpers. */
export interface HelperAlert {
  readonly key: string;
  readonly title: string;
  readonly text: string;
  readonly severity: 2;
  readonly links: HelperLinks;
}

/** Whole addresses: of the notebook, of its page or a dashboard, of the runbook, and more under names of their own. */
export interface HelperLinks {
  readonly notebook: string;
  readonly page: string;
  readonly runbook: string;
  readonly [name: string]: string;
}

/** `testHelpers.alert`: see {@link testHelpers}. */
export function alert(
  rates: Result,
  links: HelperLinks,
  options: DepartureOptions = {},
): HelperAlert | null {
  const { alarm, text, departures: found } = verdict(rates, options);
  if (alarm !== true) return null;
  const names = found.map(({ helper }) => cleanText(helper, 60));
  const who = names.length > 2 ? `${names.length} test helpers` : names.join(" and ");
  const title = `${who} ${names.length > 1 ? "fail" : "fails"} more than usual`;
  return { key: "test helpers fail", title, text, severity: 2, links };
}

/** What keeps an all-clear from being given, a part of a sentence each. */
function whatIsUnsure({ all, past, limit, rest }: Comparison): string[] {
  const isBelow = ({ failed, measurements }: Sum) =>
    (wilson(failed, measurements)?.high ?? 1) < limit;
  const unsure = all.flatMap((each) => {
    if (!isBelow(each)) return [`${each.helper} has ${rateText(each)}`];
    const recent = past?.recent.get(each.helper);
    if (past === null || (recent !== undefined && isBelow(recent))) return [];
    return [`${each.helper} has ${rateText(recent ?? total([]))} ${past.since}`];
  });
  const names = new Set(all.map(({ helper }) => helper));
  const gone = [...(past?.before.keys() ?? [])].filter((helper) => !names.has(helper));
  return [
    ...unsure,
    ...gone.map((helper) => `${helper} has no measurement left`),
    ...(rest !== undefined && names.has(rest)
      ? [`those in "${rest}" are only seen together (pass top: Infinity)`]
      : []),
  ];
}

type Comparison = ReturnType<typeof compareHelpers>;

function compareHelpers(rates: Result, options: DepartureOptions) {
  refuseUnknown(options, ["alpha", "leastRatio", "limit", "baseline"], "compare test helpers");
  const { alpha = 0.001, leastRatio = 1.5, limit = 0.1 } = options;
  if (!(limit > 0 && limit < 1)) {
    throw new ProbelabError(
      `Can't compare test helpers with limit: ${String(limit)}: pass a share between 0 and 1, such as limit: 0.1.`,
    );
  }
  const rest = rates.origin.columns.dimensions.find(({ name }) => name === HELPER)?.other;
  const isHelper = ({ helper }: Sum) => helper !== rest;
  const all = [...sums(rates).values()].filter(({ measurements }) => measurements > 0);
  const past = pastOf(rates, options.baseline);

  /** The departure, where p says so after the correction for the helpers compared. */
  const depart = (
    each: Sum,
    against: Departure["against"],
    restRate: number,
    p: number,
    compared = Math.max(1, all.filter(isHelper).length),
  ): Departure[] => {
    const rate = rateOf(each);
    const enough = against === "limit" ? rate > restRate : rate >= restRate * leastRatio;
    const corrected = Math.min(1, p * compared);
    if (!(corrected <= alpha && enough)) return [];
    const { low, high } = wilson(each.failed, each.measurements) ?? { low: 0, high: 1 };
    return [{ ...each, against, rate, low, high, restRate, p: corrected }];
  };
  const fisher = (one: Sum, other: Sum): number =>
    fisherMore(one.failed, one.measurements, other.failed, other.measurements);

  // The worst is taken out and the rest compared anew, until none departs.
  let left = all;
  const found: Departure[] = [];
  for (;;) {
    const helpers = left.filter(isHelper);
    const [worst] = helpers
      .flatMap((each) => {
        const others = total(left.filter((other) => other !== each));
        return depart(each, "rest", rateOf(others), fisher(each, others), helpers.length);
      })
      .sort((a, b) => a.p - b.p || b.rate - a.rate);
    if (worst === undefined) break;
    found.push(worst);
    left = left.filter(({ helper }) => helper !== worst.helper);
  }

  /** The first of: beyond the limit in the range, in its recent part, or more than in its past. */
  const beyond = (each: Sum, recent?: Sum, before?: Sum): Departure[] =>
    [
      ...[each, ...(recent ? [recent] : [])].flatMap((sum) =>
        depart(sum, "limit", limit, binomialMore(sum.failed, sum.measurements, limit)),
      ),
      ...(recent && before ? depart(recent, "past", rateOf(before), fisher(recent, before)) : []),
    ].slice(0, 1);
  const calm = left.filter((each) => {
    const own = beyond(each, past?.recent.get(each.helper), past?.before.get(each.helper));
    found.push(...own);
    return own.length === 0;
  });
  if (calm.length > 1) {
    const name = `the ${calm.length} others together`;
    const together = (sums?: ReadonlyMap<string, Sum>) =>
      sums &&
      total(
        calm.flatMap(({ helper }) => sums.get(helper) ?? []),
        name,
      );
    found.push(...beyond(total(calm, name), together(past?.recent), together(past?.before)));
  }
  return { all, found, rest, alpha, limit, leastRatio, past };
}

/** The recent part and what was before it; null where the Result has no buckets and there is no baseline. */
function pastOf(rates: Result, baseline: Result | undefined): Past | null {
  const { range, columns } = rates.origin;
  if (baseline !== undefined) {
    const [recent, before] = [sums(rates), sums(baseline)];
    return { recent, before, since: spanOf(rates), then: spanOf(baseline) };
  }
  const { time } = columns;
  if (range === undefined || time === undefined || !rates.columnNames.includes(time.name)) {
    return null;
  }
  const tenth = new Date(range.end.getTime() - (range.end.getTime() - range.start.getTime()) / 10);
  const start = bucketStart(tenth, time.every, range.timeZone);
  if (start <= range.start) return null;
  const isRecent = (row: Readonly<Record<string, unknown>>) =>
    Number(row[time.name]) >= start.getTime();
  const words = `${formatInstant(start, range.timeZone)} ${range.timeZone}`;
  return {
    recent: sums(rates, isRecent),
    before: sums(rates, (row) => !isRecent(row)),
    since: `since ${words}`,
    then: `${formatInstant(range.start, range.timeZone)} to ${words}`,
  };
}

/** Measurements and failures by helper; rows that name no helper are none's. */
function sums(
  rates: Result,
  counts: (row: Readonly<Record<string, unknown>>) => boolean = () => true,
): Map<string, Sum> {
  const names = rates.columnNames;
  if (![HELPER, "failed", "measurements"].every((name) => names.includes(name))) {
    throw new ProbelabError(
      `Can't compare test helpers in a Result with the columns ${names.join(", ")}: pass the one of lab.testHelpers.failureRate.`,
    );
  }
  const helpers = new Map<string, Sum>();
  for (const row of rates.rows()) {
    const helper = row[HELPER];
    if (typeof helper !== "string" || helper === "" || !counts(row)) continue;
    const { measurements = 0, failed = 0 } = helpers.get(helper) ?? {};
    helpers.set(helper, {
      helper,
      measurements: measurements + Number(row["measurements"]),
      failed: failed + Number(row["failed"]),
    });
  }
  return helpers;
}

function total(list: readonly Sum[], helper = "all"): Sum {
  const sum = (name: "measurements" | "failed") => list.reduce((n, each) => n + each[name], 0);
  return { helper, measurements: sum("measurements"), failed: sum("failed") };
}

function rateOf({ failed, measurements }: Sum): number {
  return failed / measurements;
}

/** The time that a Result covers, in words. */
function spanOf({ origin }: Result): string {
  return origin.range === undefined ? "no range is known" : formatRange(origin.range);
}

function departureText(each: Departure, past: Past | null, range: string): string {
  const { helper, restRate, against } = each;
  const than = { rest: "the rest", limit: "the limit", past: "before" }[against];
  const when = against === "past" && past !== null ? `${past.since} against ${past.then}` : range;
  return `Test helper ${helper} fails more than ${than}: ${rateText(each)} against ${percent(restRate)}, ${when}.`;
}

function rateText(sum: Sum): string {
  const { failed, measurements } = sum;
  const ends = wilson(failed, measurements);
  if (ends === null) return "no measurement";
  const [part, all] = [failed, measurements].map((value) => value.toLocaleString("en-US"));
  return `${percent(rateOf(sum))} (95 % interval ${percent(ends.low)} to ${percent(ends.high)}; ${part} of ${all} measurements)`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 2 : 1)} %`;
}
