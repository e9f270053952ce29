import type { Writer } from "../../../src/database/writer.js";
import type { Measurement } from "./measurement.js";

/** All rows of a measurement table as text, in the order of their uid. */
export function rowsOf(writer: Writer, table = "fastpath"): Promise<Measurement[]> {
  return writer.rows<Measurement>(
    `SELECT * REPLACE (toString(probe_asn) AS probe_asn, toString(test_runtime) AS test_runtime,
       toString(test_start_time) AS test_start_time,
       toString(measurement_start_time) AS measurement_start_time)
     FROM ${table} ORDER BY measurement_uid, report_id, input`,
  );
}

/** Number and a sum of all rows that no order of rows, but any change of one, alters. */
export async function contentOf(writer: Writer, table = "fastpath"): Promise<string> {
  const [row] = await writer.rows<{ content: string }>(
    `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(*)))) AS content FROM ${table}`,
  );
  return row?.content ?? "";
}

/** The one row that a query gives, its values as numbers. */
export async function numbers(writer: Writer, sql: string): Promise<Record<string, number>> {
  const [row] = await writer.rows<Record<string, unknown>>(sql);
  return Object.fromEntries(Object.entries(row ?? {}).map(([key, value]) => [key, Number(value)]));
}
