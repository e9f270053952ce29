import type { Database } from "../database/database.js";
import { bucketSql } from "../database/bucket-sql.js";
import { plainType } from "../database/time-column.js";
import { ProbelabError } from "../error.js";
import { filterSql, type Where } from "../measurements/filter.js";
import { groupedResult } from "../measurements/grouped-result.js";
import {
  checkQuestion,
  dimensionSql,
  sourceSql,
  type MeasurementOptions,
} from "../measurements/question.js";
import { topGroupsSql } from "../measurements/top-groups.js";
import type { Result, Value } from "../result/result.js";
import { CONFIDENCES, wilson, type Confidence } from "./wilson.js";

/** What `lab.testHelpers.failureRate` takes. */
export interface FailureRateOptions extends Omit<MeasurementOptions, "by"> {
  /** Which measurements failed. Default: `msm_failure` is set (`t`, 1 or true). */
  readonly failed?: Where;
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
  const defaults = { every: "all", by: [] as string[], top: 20 } as const;
  const plain = await checkQuestion(database, options, action, defaults);
  const { columns } = plain.table;
  const confidence = options.confidence ?? 0.95;
  if (!(confidence in CONFIDENCES)) {
    throw new ProbelabError(
      `Can't make intervals of confidence ${String(confidence)}: pass 0.9, 0.95 or 0.99.`,
    );
  }
  const needed = options.failed === undefined ? [HELPER, FAILURE] : [HELPER];
  const missing = needed.filter((name) => !columns.has(name));
  if (missing.length > 0) {
    throw new ProbelabError(
      `Can't ${action}: ${plain.table.name} has no column ${missing.join(" and no column ")}, which only wider tables have. ${
        missing.includes(HELPER)
          ? "Without it no measurement tells its helper; ask lab.measurements.counts instead."
          : 'Say which measurements failed, such as failed: { anomaly: "t" }.'
      }`,
    );
  }
  const failed = filterSql(options.failed ?? { [FAILURE]: set(columns.get(FAILURE)) }, plain.table);
  if (failed === null) {
    throw new ProbelabError(
      `Can't ${action} with failed: {}, which says of no measurement that it failed: name a column and its value.`,
    );
  }
  const usesHelper = `\`${HELPER}\` != ''`;
  const asked = {
    ...plain,
    by: [HELPER],
    filter: {
      sql: plain.filter === null ? usesHelper : `${plain.filter.sql} AND ${usesHelper}`,
      parameters: plain.filter?.parameters ?? {},
    },
  };
  const { every, table, range } = asked;
  const source = sourceSql(asked, range);
  const time = every && bucketSql(table.time.dateTime(table.time.sql), every, range);
  const condition = failed.sql.replaceAll("{where_", "{failed_");
  const parameters = Object.fromEntries(
    Object.entries(failed.parameters).map(([name, value]) => [
      name.replace("where", "failed"),
      value,
    ]),
  );
  const cells = `SELECT ${time === null ? "" : `${time} AS _t, `}${dimensionSql(HELPER)} AS _d0, count() AS _n, countIf(${condition}) AS _f
${source.sql}
GROUP BY ${time === null ? "" : "_t, "}_d0`;
  const sql = topGroupsSql(cells, asked, "sum(_n)", [
    { sql: "sum(_n)", as: "_n" },
    { sql: "sum(_f)", as: "_f" },
  ]);
  const counted = (row: Readonly<Record<string, Value>>) => ({
    n: Number(row["_n"]),
    failures: Number(row["_f"]),
  });
  const interval = (row: Readonly<Record<string, Value>>) => {
    const { n, failures } = counted(row);
    return wilson(failures, n, confidence);
  };
  const percent = `${confidence * 100} % interval`;
  const share = { unit: "share", additive: false, missing: "gap" } as const;
  return groupedResult(
    database,
    asked,
    { sql, parameters: { ...source.parameters, ...parameters } },
    [
      {
        name: "rate",
        label: "Share of failed measurements",
        ...share,
        value: (row) => counted(row).failures / counted(row).n,
      },
      {
        name: "low",
        label: `Share, low end of the ${percent}`,
        ...share,
        value: (row) => interval(row)?.low ?? null,
      },
      {
        name: "high",
        label: `Share, high end of the ${percent}`,
        ...share,
        value: (row) => interval(row)?.high ?? null,
      },
      {
        name: "failed",
        label: "Failed measurements",
        unit: "measurements",
        additive: true,
        missing: "zero",
        value: (row) => counted(row).failures,
      },
      {
        name: "measurements",
        label: "Measurements",
        unit: "measurements",
        additive: true,
        missing: "zero",
        value: (row) => counted(row).n,
      },
    ],
    "by measurements in the range",
    [
      `Only measurements that name a ${HELPER}. Intervals are Wilson's, ${confidence * 100} %, as if measurements failed independently; those of one run do not quite.`,
    ],
  );
}

/** How a flag says "yes" in its type. */
function set(type: string | undefined): string | number | boolean {
  const plain = plainType(type ?? "String");
  return plain === "Bool" ? true : /^U?Int/.test(plain) ? 1 : "t";
}
