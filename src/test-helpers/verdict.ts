import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { cleanText, grouped } from "../base/text.js";
import { wilson } from "../query/wilson.js";
import type { Result } from "../result/result.js";
import { formatRange } from "../time/time-range.js";
import { binomialMore, fisherMore } from "./exact-tests.js";
import { HELPER } from "./failure-rate.js";

/** A test helper that fails more than it should. */
export interface Departure {
  readonly helper: string;
  /** What it fails more than. */
  readonly against: "rest" | "limit";
  readonly measurements: number;
  readonly failed: number;
  /** Share of failed measurements, and the ends of its 95 % Wilson interval. */
  readonly rate: number;
  readonly low: number;
  readonly high: number;
  /** The share of the rest, or the limit. */
  readonly restRate: number;
}

/** Options of `testHelpers.verdict`. */
export interface VerdictOptions {
  /**
   * The share of failed measurements that no helper may exceed, whatever the others do. Default 0.1:
   * usually a few in a hundred fail, and one in ten lost is the "significant fraction of users" of a
   * severity 2.
   */
  readonly limit?: number;
}

/** Says in words whether a test helper fails more than it should. */
export interface HelperVerdict {
  /** null where too few measurements were seen. */
  readonly alarm: boolean | null;
  /** For an alert: `th1.example.org fails more than usual`. */
  readonly title: string;
  readonly text: string;
  /** Those that fail more than the rest, the most certain first, then those beyond the limit. */
  readonly departures: readonly Departure[];
}

/** Measurements and failures of a helper, or of several together. */
interface Sum {
  readonly helper: string;
  readonly measurements: number;
  readonly failed: number;
}

/** Most p, times the helpers compared (Bonferroni): one false alarm in a thousand verdicts. */
const ALPHA = 0.001;
/** Least rate, in times the rest's: with millions of measurements any difference is significant. */
const LEAST_RATIO = 1.5;

/** `testHelpers.verdict`: see {@link testHelpers}. */
export function verdict(rates: Result, options: VerdictOptions = {}): HelperVerdict {
  const action = "compare test helpers";
  refuseUnknown(options, ["limit"], action);
  const { limit = 0.1 } = options;
  if (!(limit > 0 && limit < 1)) {
    throw new ProbelabError(
      `Can't ${action} with limit: ${String(limit)}: pass a share between 0 and 1, such as limit: 0.1.`,
    );
  }
  const sums = sumsOf(rates, action);
  const other = rates.origin.columns.dimensions.find(({ name }) => name === HELPER)?.other;
  const helpers = sums.filter(({ helper }) => helper !== other);
  const departures = departuresOf(sums, other);
  for (const each of sums) {
    const known = departures.some(({ helper }) => helper === each.helper);
    const p = helpers.length * binomialMore(each.failed, each.measurements, limit);
    if (!known && p <= ALPHA) departures.push(departure(each, "limit", limit));
  }
  const range = rates.origin.range === undefined ? "" : `, ${formatRange(rates.origin.range)}`;
  if (departures.length > 0) {
    const everyone = departures.length >= helpers.length && helpers.length > 1;
    const lines = [
      ...(everyone ? [`All ${helpers.length} test helpers fail.`] : []),
      ...departures.map((each) => `${departureText(each)}${range}.`),
    ];
    const names = departures.map(({ helper }) => cleanText(helper, 60));
    const who = names.length > 2 ? `${names.length} test helpers` : names.join(" and ");
    const title = `${who} ${names.length > 1 ? "fail" : "fails"} more than usual`;
    return { alarm: true, title, text: lines.join("\n"), departures };
  }
  const title = "Test helpers fail more than usual";
  const cantTell = (why: string): HelperVerdict => ({
    alarm: null,
    title,
    text: `Can't tell whether a test helper fails${range}: ${why}.`,
    departures,
  });
  if (sums.length === 0) return cantTell("no measurement names one");
  const unsure = [
    ...sums.flatMap((each) =>
      wilson(each.failed, each.measurements)!.high < limit
        ? []
        : [`${each.helper} has ${rateText(each)}`],
    ),
    ...(helpers.length < sums.length
      ? [`those in "${other}" are only seen together (pass top: Infinity)`]
      : []),
  ];
  const together = `${helpers.length} compared, together ${rateText(total(sums))}`;
  if (unsure.length > 0) {
    return cantTell(`${unsure.join("; ")}. The limit is ${percent(limit)}; ${together}`);
  }
  const worst = sums.reduce((a, b) => (rateOf(b) > rateOf(a) ? b : a));
  const text = `No test helper stands out${range}: ${together}; the highest is ${worst.helper}, ${rateText(worst)}. Each interval ends below the limit of ${percent(limit)}.`;
  return { alarm: false, title, text, departures };
}

/**
 * The helpers that fail more than the rest. The most certain one is taken out and the others are
 * compared anew, so that a bad helper neither hides a second nor makes good ones look odd.
 */
function departuresOf(sums: readonly Sum[], other: string | undefined): Departure[] {
  const found: Departure[] = [];
  for (let left = sums; ;) {
    const helpers = left.filter(({ helper }) => helper !== other);
    const [worst] = helpers
      .map((each) => {
        const rest = total(left.filter((other) => other !== each));
        const p = fisherMore(each.failed, each.measurements, rest.failed, rest.measurements);
        return { each, restRate: rateOf(rest), p: Math.min(1, p * helpers.length) };
      })
      .filter(({ each, restRate, p }) => p <= ALPHA && rateOf(each) >= LEAST_RATIO * restRate)
      .sort((a, b) => a.p - b.p || rateOf(b.each) - rateOf(a.each));
    if (worst === undefined) return found;
    found.push(departure(worst.each, "rest", worst.restRate));
    left = left.filter((other) => other !== worst.each);
  }
}

function departure(sum: Sum, against: Departure["against"], restRate: number): Departure {
  const { low, high } = wilson(sum.failed, sum.measurements)!;
  return { ...sum, against, rate: rateOf(sum), low, high, restRate };
}

/** Measurements and failures by helper; rows of no helper and helpers without measurements are left out. */
function sumsOf(rates: Result, action: string): Sum[] {
  const names = rates.columnNames();
  if (![HELPER, "failed", "measurements"].every((name) => names.includes(name))) {
    throw new ProbelabError(
      `Can't ${action} in a Result with the columns ${names.join(", ")}: pass the one of lab.testHelpers.failureRate.`,
    );
  }
  const sums = new Map<string, Sum>();
  for (const row of rates.rows()) {
    const helper = row[HELPER];
    if (typeof helper !== "string" || helper === "") continue;
    const { measurements = 0, failed = 0 } = sums.get(helper) ?? {};
    sums.set(helper, {
      helper,
      measurements: measurements + Number(row["measurements"]),
      failed: failed + Number(row["failed"]),
    });
  }
  return [...sums.values()].filter(({ measurements }) => measurements > 0);
}

function total(sums: readonly Sum[]): Sum {
  const sum = (name: "measurements" | "failed") => sums.reduce((n, each) => n + each[name], 0);
  return { helper: "all", measurements: sum("measurements"), failed: sum("failed") };
}

function rateOf({ failed, measurements }: Sum): number {
  return failed / measurements;
}

function departureText(each: Departure): string {
  const than = each.against === "rest" ? "the rest" : "the limit";
  return `Test helper ${each.helper} fails more than ${than}: ${rateText(each)} against ${percent(each.restRate)}`;
}

function rateText(sum: Sum): string {
  const { low, high } = wilson(sum.failed, sum.measurements)!;
  const [failed, all] = [sum.failed, sum.measurements].map((n) => grouped(n));
  return `${percent(rateOf(sum))} (95 % interval ${percent(low)} to ${percent(high)}; ${failed} of ${all} measurements)`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 2 : 1)} %`;
}
