import type { Database } from "../database/database.js";
import type { Measure } from "../query/measure.js";
import type { GroupedRow } from "../query/row-types.js";
import type { Result } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { failureRate, type FailureRateOptions } from "./failure-rate.js";
import { list, type ListOptions, type HelperRow } from "./list.js";
import type { RotationOptions } from "./rotation-options.js";
import { rotation, type InstanceRow, type Rotation, type RotationRow } from "./rotation.js";

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
   * @example
   * const rotation = await lab.testHelpers.rotation({ closestHours: 24 });
   * rotation.findings;
   * chart.vegaLite(rotation.instances, helperTimeline(rotation));
   */
  rotation(options?: RotationOptions): Promise<Rotation>;
  /** The part `instances` of a rotation alone: the same options, a Result that can be asked again. */
  instances(options?: RotationOptions): Promise<Result<InstanceRow>>;
  /** The part `rotations` of a rotation alone. */
  rotations(options?: RotationOptions): Promise<Result<RotationRow>>;
  /**
   * The share of failed measurements by test helper: columns `t` (with `every`),
   * `test_helper_address`, `rate`, the ends `low` and `high` of its Wilson interval (95 %), `failed`
   * and `measurements`. A bucket without measurements has a null rate: a gap. `helperDepartures` and
   * `helperAlert` tell from it which helper departs from the rest.
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
