import { ProbelabError } from "../error.js";
import type { Result } from "../result/result.js";
import { formatRange } from "../time/time-range.js";
import { HELPER } from "./failure-rate.js";
import { fisherMore } from "./fisher.js";
import { wilson } from "../query/wilson.js";

/** A test helper that fails more than the rest. */
export interface Departure {
  readonly helper: string;
  readonly measurements: number;
  readonly failed: number;
  /** Share of failed measurements, with the ends of its 95 % Wilson interval. */
  readonly rate: number;
  readonly low: number;
  readonly high: number;
  /** Share of failed measurements of the rest. */
  readonly restRate: number;
  /** p of Fisher's exact test, one-sided, times the helpers compared (Bonferroni), at most 1. */
  readonly p: number;
}

/** What counts as a departure. */
export interface DepartureOptions {
  /** Most p that counts, after the correction; default 0.001: one false alarm in a thousand looks. */
  readonly alpha?: number;
  /** How many times the rate of the rest it must be at least; default 1.5: with millions of measurements any difference is significant. */
  readonly leastRatio?: number;
}

/**
 * The test helpers that fail more than the rest, the worst first, over the whole range of a
 * `failureRate` Result.
 *
 * Each helper is compared with all others together by Fisher's exact test, one-sided; its p is
 * multiplied by the number of helpers compared (Bonferroni). The one with the least p, if it
 * departs, is taken out and the rest compared anew, so that one bad helper neither hides a second
 * nor makes the good ones look different. Failures within a run hang together, which the test does
 * not know: `leastRatio` keeps what is significant but small from raising an alarm.
 *
 * @throws ProbelabError for a Result that failureRate didn't give.
 * @example
 * helperDepartures(await lab.testHelpers.failureRate({ range: last("1 day"), every: "hour" }));
 */
export function helperDepartures(
  rates: Result,
  { alpha = 0.001, leastRatio = 1.5 }: DepartureOptions = {},
): Departure[] {
  const names = rates.columnNames;
  if (![HELPER, "failed", "measurements"].every((name) => names.includes(name))) {
    throw new ProbelabError(
      `Can't compare test helpers in a Result with the columns ${names.join(", ")}: pass the one of lab.testHelpers.failureRate.`,
    );
  }
  const rest = rates.origin.columns.dimensions.find(({ name }) => name === HELPER)?.other;
  const left = sums(rates);
  const found: Departure[] = [];
  for (;;) {
    const helpers = left.filter(({ helper, measurements }) => helper !== rest && measurements > 0);
    const compared = helpers.map((each) => {
      const others = left.filter((other) => other !== each);
      const restMeasurements = total(others, "measurements");
      const restFailed = total(others, "failed");
      const p = fisherMore(each.failed, each.measurements, restFailed, restMeasurements);
      const rate = each.failed / each.measurements;
      return {
        each,
        rate,
        restRate: restMeasurements === 0 ? NaN : restFailed / restMeasurements,
        p: Math.min(1, p * helpers.length),
      };
    });
    const worst = compared
      .filter(({ p, rate, restRate }) => p <= alpha && rate >= restRate * leastRatio)
      .sort((a, b) => a.p - b.p || b.rate - a.rate)[0];
    if (worst === undefined) return found;
    const { each, rate, restRate, p } = worst;
    const { low, high } = wilson(each.failed, each.measurements) ?? { low: 0, high: 1 };
    found.push({ ...each, rate, low, high, restRate, p });
    left.splice(left.indexOf(each), 1);
  }
}

/**
 * The alert for a team's chat, or null where no helper departs: a line per helper, then the links.
 *
 * @param links full addresses by what they lead to: `{ dashboard, runbook, notebook }`.
 * @example
 * helperAlert(rates, { runbook: "https://docs.example.org/runbooks/test-helpers" });
 */
export function helperAlert(
  rates: Result,
  links: Readonly<Record<string, string>> = {},
  options: DepartureOptions = {},
): string | null {
  const departures = helperDepartures(rates, options);
  if (departures.length === 0) return null;
  return [
    ...departures.map(
      ({ helper, measurements, failed, rate, low, high, restRate }) =>
        `Test helper ${helper} fails more than the rest: ${percent(rate)} (95 % interval ${percent(low)} to ${percent(high)}; ${failed.toLocaleString("en-US")} of ${measurements.toLocaleString("en-US")} measurements) against ${percent(restRate)}${rates.origin.range ? `, ${formatRange(rates.origin.range)}` : ""}.`,
    ),
    ...Object.entries(links).map(([name, address]) => `${name}: ${address}`),
  ].join("\n");
}

interface Sum {
  readonly helper: string;
  readonly measurements: number;
  readonly failed: number;
}

function sums(rates: Result): Sum[] {
  const helpers = new Map<string, { measurements: number; failed: number }>();
  for (const row of rates.rows()) {
    const name = row[HELPER] as string;
    const sum = helpers.get(name) ?? { measurements: 0, failed: 0 };
    sum.measurements += Number(row["measurements"]);
    sum.failed += Number(row["failed"]);
    helpers.set(name, sum);
  }
  return [...helpers].map(([helper, sum]) => ({ helper, ...sum }));
}

function total(list: readonly Sum[], name: "measurements" | "failed"): number {
  return list.reduce((sum, each) => sum + each[name], 0);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 2 : 1)} %`;
}
