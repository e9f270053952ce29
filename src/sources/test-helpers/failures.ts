import { checkOptions, refuseUnknown } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { cleanText, grouped } from "../../base/text.js";
import type { Database } from "../../database/database.js";
import {
  askedTable,
  askRoom,
  type MeasurementColumn,
  type MeasurementOptions,
} from "../measurements/questions.js";
import { isSet } from "../measurements/flags.js";
import { count, share } from "../../query/measure.js";
import { isComparison, matchList, whereText, type Where } from "../../query/where.js";
import { wilson } from "../../query/wilson.js";
import type { Result } from "../../result/result.js";
import { checkRange, rangeText } from "../../time/time-range.js";
import { binomialMore, fisherMore } from "./exact-tests.js";

/** Options of `lab.testHelpers.failureRate`. */
export interface FailureRateOptions extends Omit<MeasurementOptions, "by" | "top" | "other"> {
  /** Condition of a failed measurement. @default `msm_failure` is set (`t`, 1, true). @throws ProbelabError where it holds values that are neither */
  readonly failed?: Where<MeasurementColumn>;
}

/** The column that names the helper of a measurement; only wider tables have it. */
const HELPER = "test_helper_address";
const FAILURE = "msm_failure";

/** `lab.testHelpers.failureRate`: see {@link TestHelpers.failureRate}. */
export async function failureRate(
  database: Database,
  options: FailureRateOptions,
): Promise<Result> {
  const action = "ask for the failure rate of test helpers";
  refuseUnknown(options, ["range", "every", "where", "signal", "dedupe", "failed"], action);
  const { failed: wanted, where = {}, ...rest } = options ?? {};
  const { name, columns } = await database.table("measurements");
  const range = checkRange(rest.range, action);
  const failed = wanted ?? (await isSet(database, FAILURE, range)) ?? {};
  const missing = [
    ...(columns.has(HELPER) ? [] : [HELPER]),
    ...(wanted === undefined && !columns.has(FAILURE) ? [FAILURE] : []),
  ];
  if (missing.length > 0) {
    throw new ProbelabError(
      `Can't ${action}: ${name} has no column ${missing.join(" and no column ")}, which only wider tables have. ${
        missing.includes(HELPER)
          ? "Without it the helper of a measurement is unknown; ask lab.measurements.counts instead."
          : 'Pass the condition of a failed one, such as failed: { anomaly: "t" }.'
      }`,
    );
  }
  if (Object.keys(failed).length === 0) {
    throw new ProbelabError(
      `Can't ${action} with failed: {}: name a column and its value, such as failed: { anomaly: "t" }.`,
    );
  }
  return askRoom(
    askedTable(database),
    "measurements",
    { ...rest, where: { ...where, ...named(where) }, by: HELPER },
    {
      rate: share(failed, { label: "Share of failed measurements", interval: 0.95 }),
      failed: count({ where: failed, label: "Failed measurements" }),
      measurements: count(),
    },
    {
      action,
      every: "all",
      top: Infinity,
      filterText: whereText(where),
      after: [
        `Only measurements that name a ${HELPER}. The 95 % intervals are Wilson's and take measurements as independent; those of one run are not quite.`,
      ],
    },
  );
}

/** The condition that a measurement names its helper, beside those on that column in `where`. */
function named(where: Where): Where {
  const helper = where[HELPER];
  const none = ["", null] as const;
  if (helper === undefined) return { [HELPER]: { ne: none } };
  if (!isComparison(helper)) return {};
  const { ne } = helper;
  return { [HELPER]: { ...helper, ne: ne === undefined ? none : [...matchList(ne), ...none] } };
}

/** Measurements and failures of a helper, or of several together. */
interface Sum {
  readonly helper: string;
  readonly measurements: number;
  readonly failed: number;
}

/** A test helper that fails more than it should. */
export interface Departure extends Sum {
  /** What it fails more than. */
  readonly against: "rest" | "limit";
  /** Share of failed measurements. */
  readonly rate: number;
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

/** Most p, times the helpers compared (Bonferroni): one false alarm in a thousand verdicts. */
const ALPHA = 0.001;
/** Least rate, in times the rest's: with millions of measurements any difference is significant. */
const LEAST_RATIO = 1.5;

/** `testHelpers.verdict`: see {@link testHelpers}. */
export function verdict(rates: Result, options: VerdictOptions = {}): HelperVerdict {
  const action = "compare test helpers";
  const isShare = (value: unknown) => Number(value) > 0 && Number(value) < 1;
  const pass = "a share between 0 and 1, such as limit: 0.1";
  checkOptions(options, { limit: { fits: isShare, pass } }, action);
  const { limit = 0.1 } = options;
  const sums = sumsOf(rates, action);
  const departures = departuresOf(sums, limit);
  const range = rates.origin.range === undefined ? "" : `, ${rangeText(rates.origin.range)}`;
  if (departures.length > 0) {
    const everyone = departures.length === sums.length && sums.length > 1;
    const lines = departures.map((each) => {
      const than = each.against === "rest" ? "the rest" : "the limit";
      return `Test helper ${each.helper} fails more than ${than}: ${rateText(each)} against ${percent(each.restRate)}${range}.`;
    });
    const names = departures.map(({ helper }) => cleanText(helper, 60));
    const who = names.length > 2 ? `${names.length} test helpers` : names.join(" and ");
    return {
      alarm: true,
      title: `${who} ${names.length > 1 ? "fail" : "fails"} more than usual`,
      text: [...(everyone ? [`All ${sums.length} test helpers fail.`] : []), ...lines].join("\n"),
      departures,
    };
  }
  const quiet = { title: "Test helpers fail more than usual", departures };
  if (sums.length === 0) {
    const text = `Can't tell whether a test helper fails${range}: no measurement names one.`;
    return { alarm: null, text, ...quiet };
  }
  const compared = `${sums.length} compared, together ${rateText(total(sums))}`;
  const unsure = sums
    .filter(({ failed, measurements }) => wilson(failed, measurements)!.high >= limit)
    .map((each) => `${each.helper} has ${rateText(each)}`);
  if (unsure.length > 0) {
    const text = `Can't tell whether a test helper fails${range}: ${unsure.join("; ")}. The limit is ${percent(limit)}; ${compared}.`;
    return { alarm: null, text, ...quiet };
  }
  const worst = sums.reduce((a, b) => (rateOf(b) > rateOf(a) ? b : a));
  const text = `No test helper stands out${range}: ${compared}; the highest is ${worst.helper}, ${rateText(worst)}. Each interval ends below the limit of ${percent(limit)}.`;
  return { alarm: false, text, ...quiet };
}

/**
 * The helpers that fail more than the rest, or than the limit. The most certain one is taken out and
 * the others are compared anew, so that a bad helper neither hides a second nor makes good ones look odd.
 */
function departuresOf(sums: readonly Sum[], limit: number): Departure[] {
  const found: Departure[] = [];
  for (let left = sums; ;) {
    const [worst] = left
      .map((each) => {
        const rest = total(left.filter((other) => other !== each));
        const p = fisherMore(each.failed, each.measurements, rest.failed, rest.measurements);
        return { each, restRate: rateOf(rest), p: Math.min(1, p * left.length) };
      })
      .filter(({ each, restRate, p }) => p <= ALPHA && rateOf(each) >= LEAST_RATIO * restRate)
      .sort((a, b) => a.p - b.p || rateOf(b.each) - rateOf(a.each));
    if (worst !== undefined) {
      const { each, restRate } = worst;
      found.push({ ...each, against: "rest", rate: rateOf(each), restRate });
      left = left.filter((other) => other !== each);
      continue;
    }
    const beyond = left.filter(
      ({ failed, measurements }) =>
        sums.length * binomialMore(failed, measurements, limit) <= ALPHA,
    );
    return [
      ...found,
      ...beyond.map((each): Departure => ({
        ...each,
        against: "limit",
        rate: rateOf(each),
        restRate: limit,
      })),
    ];
  }
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
    const each = {
      helper,
      measurements: Number(row["measurements"]),
      failed: Number(row["failed"]),
    };
    const before = sums.get(helper);
    sums.set(helper, before === undefined ? each : { ...total([before, each]), helper });
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

function rateText(sum: Sum): string {
  const { low, high } = wilson(sum.failed, sum.measurements)!;
  const [failed, all] = [sum.failed, sum.measurements].map((n) => grouped(n));
  return `${percent(rateOf(sum))} (95 % interval ${percent(low)} to ${percent(high)}; ${failed} of ${all} measurements)`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 2 : 1)} %`;
}
