import { deprecated } from "../base/deprecated.js";
import type { Database } from "../database/database.js";
import type { Measure } from "../query/measure.js";
import type { GroupedRow } from "../query/row-types.js";
import type { Result } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { alert, departures, verdict } from "./departures.js";
import { failureRate, type FailureRateOptions } from "./failure-rate.js";
import { list, type HelperRow, type ListOptions } from "./instances.js";
import {
  rotation,
  type InstanceRow,
  type Rotation,
  type RotationOptions,
  type RotationRow,
} from "./rotation.js";
import { timeline } from "./timeline.js";

type FailureMeasures = Record<"rate" | "low" | "high", Measure> &
  Record<"failed" | "measurements", Measure<number>>;

/** Questions on the test helpers: the table `test_helper_instances`, and how measurements fare. */
export interface TestHelpers {
  /**
   * The summary of the service's documentation: `rdn`, `dns_zone`, `name`, `region`, `draining_at`
   * (a Date in UTC; null while live), name descending, 8 rows.
   *
   * It takes no time range, as no question on this table does: the table has a row per instance, so
   * some tens a year, and no column of time but draining_at, which is null for the instances that
   * matter most.
   *
   * @throws ProbelabError where the table of test helpers is missing or lacks a column that is needed.
   * @example
   * table(await lab.testHelpers.list());
   */
  list(options?: ListOptions): Promise<Result<HelperRow>>;
  /**
   * Which test helpers are live or draining, how old each is, which is rotated next (always the
   * oldest live), whether the ages of the live ones are staggered by about a week, and which
   * rotations came too close together for DNS to follow (default: less than 24 hours apart).
   *
   * Ages come from the column `created_at` where the table has it, else from the names, which end in
   * the time of making (`…-YYYYMMDDHHMMSS`, UTC); where neither tells, ages are null and `next` is null. "Now" is `lab.now`.
   *
   * @throws ProbelabError where the table of test helpers is missing or lacks a column that is needed.
   * @example
   * const rotation = await lab.testHelpers.rotation({ closestHours: 24 });
   * rotation.findings;
   * chart.vegaLite(rotation.instances, testHelpers.timeline(rotation));
   */
  rotation(options?: RotationOptions): Promise<Rotation>;
  /**
   * The part `instances` of a rotation alone: the same options, a Result that can be asked again.
   *
   * @throws ProbelabError where the table of test helpers is missing or lacks a column that is needed.
   * @example
   * table(await lab.testHelpers.instances());
   */
  instances(options?: RotationOptions): Promise<Result<InstanceRow>>;
  /**
   * The part `rotations` of a rotation alone.
   *
   * @throws ProbelabError where the table of test helpers is missing or lacks a column that is needed.
   * @example
   * table(await lab.testHelpers.rotations());
   */
  rotations(options?: RotationOptions): Promise<Result<RotationRow>>;
  /**
   * The share of failed measurements by test helper: columns `t` (with `every`),
   * `test_helper_address`, `rate`, the ends `low` and `high` of its Wilson interval (95 %), `failed`
   * and `measurements`; all helpers unless `top` is given. A bucket without measurements has a null
   * rate: a gap. `testHelpers.departures` and `testHelpers.verdict` tell from it which helper departs
   * from the rest.
   *
   * An address is a name in DNS, and outlives the instances it points to.
   *
   * @throws ProbelabError where the table has no `test_helper_address`, or no `msm_failure` and
   *   `failed` says nothing else.
   * @example
   * const rates = await lab.testHelpers.failureRate({ range: last("2 weeks"), every: "day" });
   * chart.line(rates, { y: "rate" });
   */
  failureRate<const E extends Bucket | "auto" | "all" = "all">(
    options: FailureRateOptions & { readonly every?: E },
  ): Promise<Result<GroupedRow<"test_helper_address", E, FailureMeasures>>>;
}

/** The questions, bound to a database. @param now what "now" means for its data. */
export function testHelpersOf(database: Database, now: Date): TestHelpers {
  return {
    list: (options) => list(database, now, options),
    rotation: (options) => rotation(database, now, options),
    instances: async (options) => (await rotation(database, now, options)).instances,
    rotations: async (options) => (await rotation(database, now, options)).rotations,
    failureRate: async (options) => (await failureRate(database, options)) as never,
  };
}

/** What is told from the answers of `lab.testHelpers`, without asking again. */
export const testHelpers = {
  /**
   * The test helpers that fail more than they should, over a `failureRate` Result: first those that
   * fail more than the rest, the worst first, then those beyond the limit, then those that fail more
   * than in their own past; each once.
   *
   * - The rest: each helper is compared with all others together by Fisher's exact test, one-sided.
   *   The one with the least p, if it departs, is taken out and the rest compared anew, so that one
   *   bad helper neither hides a second nor makes the good ones look different.
   * - The limit: the exact binomial test (Clopper and Pearson, 1934), one-sided, over the whole range
   *   and over its last tenth. It finds what fails alone or with all others.
   * - The past: Fisher's exact test of the last tenth of the range against all before it, or of the
   *   range against `baseline`.
   *
   * What does not depart by itself is then taken together. Each p is multiplied by the number of
   * helpers compared (Bonferroni). Failures within a run hang together, which the tests do not know:
   * `leastRatio` keeps what is significant but small from raising an alarm.
   *
   * @throws ProbelabError for a Result that failureRate didn't give, or a limit that is no share.
   * @example
   * testHelpers.departures(await lab.testHelpers.failureRate({ range: last("1 day"), every: "hour" }));
   */
  departures,
  /**
   * Whether the test helpers fail more than they should, with what was looked at. Without a departure
   * it is no alarm only where each helper was seen enough to tell: where the 95 % interval of its rate
   * ends below the limit, in the whole range and in what is compared with the past.
   *
   * @throws ProbelabError as testHelpers.departures.
   * @example
   * testHelpers.verdict(await lab.testHelpers.failureRate({ range: last("1 day"), every: "hour" })).text;
   */
  verdict,
  /**
   * What `alert.send` takes where a helper departs: a title, a line per helper, severity 2 and the
   * links; null where none does. null is no all-clear where too little was seen: `testHelpers.verdict`
   * tells that apart.
   *
   * @param links whole addresses of the notebook, its page (or a dashboard) and the runbook.
   * @example
   * const failing = testHelpers.alert(rates, alert.links({ runbook: "https://docs.example.org/runbooks/test-helpers" }));
   * if (failing !== null) await alert.send(failing);
   */
  alert,
  /**
   * Vega-Lite for the lives of the test helpers: a lane per name in DNS, a bar per instance from its
   * making until it drains, and a line where a rotation came too soon after another. Times in UTC.
   *
   * @example
   * const rotation = await lab.testHelpers.rotation();
   * chart.vegaLite(rotation.instances, testHelpers.timeline(rotation));
   */
  timeline,
};

/** @deprecated Use `testHelpers.departures`. */
export const helperDepartures = renamed("helperDepartures", "departures");

/** @deprecated Use `testHelpers.verdict`. */
export const helperVerdict = renamed("helperVerdict", "verdict");

/** @deprecated Use `testHelpers.timeline`. */
export const helperTimeline = renamed("helperTimeline", "timeline");

function renamed<Name extends keyof typeof testHelpers>(old: string, now: Name) {
  const call = testHelpers[now] as (...given: unknown[]) => unknown;
  return ((...given: unknown[]) => {
    deprecated(old, `testHelpers.${now}`);
    return call(...given);
  }) as (typeof testHelpers)[Name];
}
