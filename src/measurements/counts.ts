import type { Database } from "../database/database.js";
import { bucketSql } from "../database/bucket-sql.js";
import type { Result } from "../result/result.js";
import { groupedResult } from "./grouped-result.js";
import { checkQuestion, dimensionSql, sourceSql, type MeasurementOptions } from "./question.js";
import { topGroupsSql } from "./top-groups.js";

/** `lab.measurements.counts`: see {@link Measurements.counts}. */
export async function counts(database: Database, options: MeasurementOptions): Promise<Result> {
  const asked = await checkQuestion(database, options, "count measurements", {
    every: "auto",
    by: [],
    top: 6,
  });
  const { every, by, table, range } = asked;
  const source = sourceSql(asked, range);
  const time = every && bucketSql(table.time.dateTime(table.time.sql), every, range);
  const keys = [...(time === null ? [] : ["_t"]), ...by.map((_, index) => `_d${index}`)];
  const columns = [
    ...(time === null ? [] : [`${time} AS _t`]),
    ...by.map((column, index) => `${dimensionSql(column)} AS _d${index}`),
    "count() AS _n",
  ];
  const group = keys.length > 0 ? `\nGROUP BY ${keys.join(", ")}` : "\nHAVING _n > 0";
  const cells = `SELECT ${columns.join(", ")}\n${source.sql}${group}`;
  const sql = topGroupsSql(cells, asked, "sum(_n)", [{ sql: "sum(_n)", as: "_n" }]);
  return groupedResult(
    database,
    asked,
    { sql, parameters: source.parameters },
    [
      {
        name: "measurements",
        label: "Measurements",
        unit: "measurements",
        additive: true,
        missing: "zero",
        value: (row) => Number(row["_n"]),
      },
    ],
    "by measurements in the range",
  );
}
