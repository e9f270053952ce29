import type { Database } from "../database/database.js";
import { bucketSql } from "../database/bucket-sql.js";
import { quoteIdentifier } from "../database/time-column.js";
import type { Result } from "../result/result.js";
import { groupedResult, type Measure } from "./grouped-result.js";
import { checkQuestion, dimensionSql, sourceSql, type MeasurementOptions } from "./question.js";
import { indent, topGroupsSql } from "./top-groups.js";

/** What a question on duplicates takes; the whole range is one bucket unless `every` is given. */
export type DuplicateOptions = Omit<MeasurementOptions, "distinct">;

/** `lab.measurements.duplicates`: see {@link Measurements.duplicates}. */
export async function duplicates(database: Database, options: DuplicateOptions): Promise<Result> {
  const asked = await checkQuestion(database, { ...options, distinct: false }, "count duplicates", {
    every: "all",
    by: [],
    top: 6,
  });
  const { every, by, table, range } = asked;
  const source = sourceSql(asked, range);
  const byUid = table.columns.has("measurement_uid");
  const key = byUid ? ["measurement_uid"] : [...table.columns.keys()];
  const time = table.time.sql;
  const once = `SELECT count() AS _rows, min(${time}) AS _first${by
    .map((column, index) => `, argMin(tuple(${quoteIdentifier(column)}), ${time}).1 AS _c${index}`)
    .join("")}
${source.sql}
GROUP BY ${key.map(quoteIdentifier).join(", ")}`;
  const groups = [
    ...(every === null ? [] : [`${bucketSql(table.time.dateTime("_first"), every, range)} AS _t`]),
    ...by.map((_, index) => `${dimensionSql(`_c${index}`)} AS _d${index}`),
  ];
  const keys = groups.map((group) => group.slice(group.lastIndexOf(" ") + 1));
  const cells = `SELECT ${[...groups, "count() AS _n", "sum(_rows) AS _all", "countIf(_rows > 1) AS _twice"].join(", ")}
FROM (
${indent(once)}
)${keys.length > 0 ? `\nGROUP BY ${keys.join(", ")}` : "\nHAVING _n > 0"}`;
  const sums = ["_n", "_all", "_twice"].map((name) => ({ sql: `sum(${name})`, as: name }));
  const sql = topGroupsSql(cells, asked, "sum(_n)", sums);
  return groupedResult(
    database,
    asked,
    { sql, parameters: source.parameters },
    [
      count("measurements", "_n", "Measurements, each once"),
      count("rows", "_all", "Rows of the table"),
      count("duplicated", "_twice", "Measurements held more than once"),
      {
        name: "share",
        label: "Share of rows that are surplus",
        unit: "share",
        additive: false,
        missing: "gap",
        value: (row) => 1 - Number(row["_n"]) / Number(row["_all"]),
      },
    ],
    "by measurements in the range",
    [
      ...asked.notes,
      byUid
        ? "Rows of one measurement_uid are one measurement."
        : "Rows that are equal in every column are one measurement: the table has no measurement_uid.",
    ],
  );
}

function count(name: string, column: string, label: string): Measure {
  return {
    name,
    label,
    unit: name === "rows" ? "rows" : "measurements",
    additive: true,
    missing: "zero",
    value: (row) => Number(row[column]),
  };
}
