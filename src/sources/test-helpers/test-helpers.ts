import type { Database } from "../../database/database.js";
import type { Measure } from "../../query/measure.js";
import type { GroupedRow } from "../../query/row-types.js";
import type { Result } from "../../result/result.js";
import type { Bucket } from "../../time/bucket.js";
import { failureRate, verdict, type FailureRateOptions } from "./failures.js";
import { list, type HelperRow, type ListOptions } from "./instances.js";
import { rotation, type Rotation, type RotationOptions } from "./rotation.js";

type FailureMeasures = Record<"rate" | "rate_low" | "rate_high", Measure> &
  Record<"failed" | "measurements", Measure<number>>;

/** Questions on the test helpers: the table `test_helper_instances`, and the measurements of each. */
export interface TestHelpers {
  /**
   * Gives the summary of the service's documentation: `rdn`, `dns_zone`, `name`, `region`,
   * `draining_at` (a Date in UTC; null while live), name descending, 8 rows.
   *
   * No question on this table takes a time range: it has a row per instance and no column of time
   * but draining_at, which is null for the live ones.
   *
   * @throws ProbelabError where the table of test helpers is missing or lacks a column that is needed.
   * @example
   * table(await lab.testHelpers.list());
   */
  list(options?: ListOptions): Promise<Result<HelperRow>>;
  /**
   * Looks at the rotation: the state and age of each instance, the next to rotate (always the oldest
   * live one), the moment from which it may be, the stagger of the ages (about a week), and
   * rotations that came too close together for DNS to follow (less than 24 hours apart).
   *
   * Ages come from `created_at` where the table has it, else from names that end in
   * `YYYYMMDDHHMMSS` (UTC). Where an age is unknown it is null, and so is `next`. "Now" is `lab.now`.
   *
   * @throws ProbelabError where the table of test helpers is missing or lacks a column that is needed.
   * @example
   * const rotation = await lab.testHelpers.rotation({ closestHours: 24 });
   * rotation.findings;
   * table(rotation.instances);
   */
  rotation(options?: RotationOptions): Promise<Rotation>;
  /**
   * Computes the share of failed measurements by test helper: columns `t` (with `every`),
   * `test_helper_address`, `rate`, the ends `rate_low` and `rate_high` of its Wilson interval (95 %), `failed`
   * and `measurements`. A bucket without measurements has a null rate: a gap.
   *
   * An address is a name in DNS, and outlives the instances that it points to.
   *
   * @throws ProbelabError where the table has no `test_helper_address`, or no `msm_failure` and
   *   `failed` isn't given.
   * @example
   * const rates = await lab.testHelpers.failureRate({ range: last("2 weeks"), every: "day" });
   * chart.line(rates, { y: "rate" });
   */
  failureRate<const E extends Bucket | "auto" | "all" = "all">(
    options: FailureRateOptions & { readonly every?: E },
  ): Promise<Result<GroupedRow<"test_helper_address", E, FailureMeasures>>>;
}

/** Binds the questions to a database. @param now the present of its data. */
export function testHelpersOf(database: Database, now: Date): TestHelpers {
  return {
    list: (options) => list(database, options),
    rotation: (options) => rotation(database, now, options),
    failureRate: async (options) => (await failureRate(database, options)) as never,
  };
}

/** Functions on the answers of `lab.testHelpers`. They ask nothing. */
export const testHelpers = {
  /**
   * Says whether a test helper fails more than it should, from a `failureRate` Result.
   *
   * Each helper is compared with all others together by Fisher's exact test, one-sided: p times the
   * number of helpers (Bonferroni) at most 0.001 and a rate at least 1.5 times theirs is a departure.
   * The most certain one is taken out and the others are compared anew. A helper beyond `limit`
   * departs too (exact binomial test, the same p), so that one that is alone, or all at once, are found.
   *
   * `alarm` is false only where the interval of each helper ends below the limit, and null where too
   * few measurements were seen. `title` and `text` are those of an alert.
   *
   * @throws ProbelabError for a Result of another question, or a limit that is no share.
   * @example
   * const { alarm, title, text } = testHelpers.verdict(await lab.testHelpers.failureRate({ range: last("6 hours") }));
   * await alert.when(alarm === true, { key: "test helpers fail", title, text, severity: 2, links: alert.links({ runbook: "https://docs.example.org/helpers" }) });
   */
  verdict,
};
