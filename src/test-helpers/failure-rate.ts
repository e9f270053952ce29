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
import { count, share, shareHigh, shareLow } from "../query/measure.js";
import { isComparison, matchList, whereText, type Where } from "../query/where.js";
import { CONFIDENCES, type Confidence } from "../query/wilson.js";
import type { Result } from "../result/result.js";

/** What `lab.testHelpers.failureRate` takes; all helpers unless `top` is given. */
export interface FailureRateOptions extends Omit<MeasurementOptions, "by"> {
  /** Which measurements failed. Default: `msm_failure` is set (`t`, 1 or true). */
  readonly failed?: Where<MeasurementColumn>;
  /** Of the intervals: 0.9, 0.95 (default) or 0.99. */
  readonly confidence?: Confidence;
}

/** The column that names the helper of a measurement; real deployments have it, the seed document has not. */
export const HELPER = "test_helper_address";
const FAILURE = "msm_failure";

/** `lab.testHelpers.failureRate`: see {@link TestHelpers.failureRate}. */
export async function failureRate(
  database: Database,
  options: FailureRateOptions,
): Promise<Result> {
  const action = "ask for the failure rate of test helpers";
  const known = [
    ...GROUP_OPTIONS.filter((name) => name !== "by"),
    "distinct",
    "failed",
    "confidence",
  ];
  refuseUnknown(options, known, action);
  const { failed: wanted, confidence = 0.95, where = {}, ...rest } = options ?? {};
  if (!(confidence in CONFIDENCES)) {
    throw new ProbelabError(
      `Can't make intervals of confidence ${String(confidence)}: pass 0.9, 0.95 or 0.99.`,
    );
  }
  const table = await database.table("measurements");
  const needed = wanted === undefined ? [HELPER, FAILURE] : [HELPER];
  const missing = needed.filter((name) => !table.columns.has(name));
  if (missing.length > 0) {
    throw new ProbelabError(
      `Can't ${action}: ${table.name} has no column ${missing.join(" and no column ")}, which only wider tables have. ${
        missing.includes(HELPER)
          ? "Without it no measurement tells its helper; ask lab.measurements.counts instead."
          : 'Say which measurements failed, such as failed: { anomaly: "t" }.'
      }`,
    );
  }
  const failed = wanted ?? { [FAILURE]: set(table.columns.get(FAILURE)) };
  if (Object.keys(failed).length === 0) {
    throw new ProbelabError(
      `Can't ${action} with failed: {}, which says of no measurement that it failed: name a column and its value.`,
    );
  }
  const percent = `${confidence * 100} % interval`;
  const of = { label: `Share, low end of the ${percent}`, confidence };
  return askMeasurements(
    askedTable(database),
    { ...rest, where: { ...where, ...named(where) }, by: HELPER },
    {
      rate: share(failed, { label: "Share of failed measurements" }),
      low: shareLow(failed, of),
      high: shareHigh(failed, { ...of, label: `Share, high end of the ${percent}` }),
      failed: count({ where: failed, label: "Failed measurements" }),
      measurements: count(),
    },
    {
      action,
      every: "all",
      top: Infinity,
      filterText: whereText(where),
      after: [
        `Only measurements that name a ${HELPER}. Intervals are Wilson's, ${confidence * 100} %, as if measurements failed independently; those of one run do not quite.`,
      ],
    },
  );
}

/** Which measurements failed, as the table's own type says it; null where it has no such column. */
export async function failedWhere(database: Database): Promise<Where | null> {
  const table = await database.table("measurements");
  return table.columns.has(FAILURE) ? { [FAILURE]: set(table.columns.get(FAILURE)) } : null;
}

/** The condition that a measurement names its helper, beside what is asked of that column already. */
function named(where: Where): Where {
  const asked = where[HELPER];
  const none = ["", null] as const;
  if (asked === undefined) return { [HELPER]: { not: none } };
  if (!isComparison(asked)) return {};
  const { not } = asked;
  return { [HELPER]: { ...asked, not: not === undefined ? none : [...matchList(not), ...none] } };
}

/** How a flag says "yes" in its type. */
function set(type: string | undefined): string | number | boolean {
  const plain = plainType(type ?? "String");
  return plain === "Bool" ? true : /^U?Int/.test(plain) ? 1 : "t";
}
