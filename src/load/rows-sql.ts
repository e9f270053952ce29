import { quoteIdentifier } from "../database/time-column.js";
import { fileSql } from "./file-sql.js";
import type { InputFile } from "./input-file.js";
import type { MatchedColumn } from "./match-columns.js";
import { readValue } from "./read-value.js";

/** What the server says where a value can't be read; which one it is, a second question tells. */
export const FAULT_MARK = "probelab: a value can't be read";

/** SQL that reads a file's rows as a table's columns. */
export interface RowsSql {
  readonly parameters: Record<string, string>;
  /** An INSERT of all rows, which throws FAULT_MARK at the first value that can't be read. */
  readonly insert: string;
  /**
   * Tells the first value that can't be read: `row` from 1, `column` from 1, `value`, and `faults`,
   * the number of rows that have such a value; no row where all can be read.
   */
  readonly firstFault: string;
}

/** The SQL that loads `columns` of a file into the table `{into:Identifier}`. */
export function rowsSql(file: InputFile, columns: readonly MatchedColumn[]): RowsSql {
  const structure = columns
    .map(({ name }) => `${quoteIdentifier(name)} Nullable(String)`)
    .join(", ");
  const { sql, parameters } = fileSql(file, "rows", file.format === "parquet" ? "auto" : structure);
  const reads = columns.map(({ name, type, fileType, required }, index) => {
    const raw = `source.${quoteIdentifier(name)}`;
    const { value, given, fault } = readValue(raw, type, fileType);
    return {
      value: `${value} AS value_${index}`,
      bad: required ? `NOT (${given}) OR (${fault})` : `(${given}) AND (${fault})`,
      raw: `CAST(toString(${raw}), 'Nullable(String)')`,
    };
  });
  const values = reads.map(({ value }) => value).join(",\n  ");
  const names = columns.map(({ name }) => quoteIdentifier(name)).join(", ");
  const any = reads.map(({ bad }) => `(${bad})`).join(" OR ");
  const which = reads.map(({ bad }, index) => `${bad}, ${index + 1}`).join(", ");
  return {
    parameters,
    insert: `INSERT INTO {into:Identifier} (${names})
SELECT ${columns.map((_, index) => `value_${index}`).join(", ")} FROM (
  SELECT ${values},
  ${any} AS bad
  FROM ${sql} AS source
) WHERE throwIf(bad, '${FAULT_MARK.replace("'", "\\'")}') = 0`,
    firstFault: `SELECT min(r) AS row, argMin(c, r) AS column, argMin(v, r).1 AS value, count() AS faults
FROM (
  SELECT _row_number + 1 AS r,
  multiIf(${which}, 0) AS c,
  tuple([${reads.map(({ raw }) => raw).join(", ")}][greatest(c, 1)]) AS v
  FROM ${sql} AS source
  WHERE c > 0
) HAVING count() > 0`,
  };
}
