import { refuseUnknown } from "../base/check-options.js";
import type { Database } from "../database/database.js";
import { plainType } from "../database/time-column.js";
import { ProbelabError } from "../base/error.js";
import {
  askedTable,
  askMeasurements,
  type MeasurementColumn,
  type MeasurementOptions,
} from "../measurements/questions.js";
import { GROUP_OPTIONS } from "../query/ask.js";
import { count, share } from "../query/measure.js";
import { isComparison, matchList, whereText, type Where } from "../query/where.js";
import type { Result } from "../result/result.js";

/** Options of `lab.testHelpers.failureRate`; all helpers unless `top` is given. */
export interface FailureRateOptions extends Omit<MeasurementOptions, "by"> {
  /** Condition of a failed measurement. Default: `msm_failure` is set (`t`, 1 or true). */
  readonly failed?: Where<MeasurementColumn>;
}

/** The column that names the helper of a measurement; only wider tables have it. */
export const HELPER = "test_helper_address";
const FAILURE = "msm_failure";

/** `lab.testHelpers.failureRate`: see {@link TestHelpers.failureRate}. */
export async function failureRate(
  database: Database,
  options: FailureRateOptions,
): Promise<Result> {
  const action = "ask for the failure rate of test helpers";
  const known = GROUP_OPTIONS.filter((name) => name !== "by");
  refuseUnknown(options, [...known, "dedupe", "failed"], action);
  const { failed: wanted, where = {}, ...rest } = options ?? {};
  const table = await database.table("measurements");
  const needed = wanted === undefined ? [HELPER, FAILURE] : [HELPER];
  const missing = needed.filter((name) => !table.columns.has(name));
  if (missing.length > 0) {
    throw new ProbelabError(
      `Can't ${action}: ${table.name} has no column ${missing.join(" and no column ")}, which only wider tables have. ${
        missing.includes(HELPER)
          ? "Without it the helper of a measurement is unknown; ask lab.measurements.counts instead."
          : 'Pass the condition of a failed one, such as failed: { anomaly: "t" }.'
      }`,
    );
  }
  const failed = wanted ?? { [FAILURE]: set(table.columns.get(FAILURE)) };
  if (Object.keys(failed).length === 0) {
    throw new ProbelabError(
      `Can't ${action} with failed: {}: name a column and its value, such as failed: { anomaly: "t" }.`,
    );
  }
  return askMeasurements(
    askedTable(database),
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

/** The condition of a failed measurement, in the column's own type; null where there is no such column. */
export async function failedWhere(database: Database): Promise<Where | null> {
  const table = await database.table("measurements");
  return table.columns.has(FAILURE) ? { [FAILURE]: set(table.columns.get(FAILURE)) } : null;
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

/** The value of a set flag, in its type. */
function set(type: string | undefined): string | number | boolean {
  const plain = plainType(type ?? "String");
  return plain === "Bool" ? true : /^U?Int/.test(plain) ? 1 : "t";
}
