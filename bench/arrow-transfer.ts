/**
 * 1M rows of four columns into an Arquero table: probelab's way (Arrow) against the quickest way by JSON, a
 * column each (JSONColumnsWithMetadata through the client, and aq.table), and against JSONEachRow, as the
 * client's documentation shows, and aq.from. JSON leaves times as texts; Arrow gives dates.
 */
import * as aq from "arquero";
import { openConnection } from "../src/database/connection.js";
import { Database } from "../src/database/database.js";
import { report } from "./support/report.js";
import { sampleDatabase } from "./support/sample-database.js";
import { sideBySide } from "./support/side-by-side.js";

const rows = Number(process.env["TRANSFER_ROWS"] ?? 1_000_000);
const source = await sampleDatabase(10_000_000);
await using database = await Database.open(source);
await using connection = openConnection(source, 600);
const client = await connection.client();
const typical = "measurement_start_time, software_version, probe_cc, probe_asn";
const unlike = "measurement_start_time, software_version, probe_asn, report_id";
const ask = (columns: string) => `SELECT ${columns} FROM fastpath LIMIT ${rows}`;

const arrow = (columns: string) => () =>
  database.ask({ sql: ask(columns), parameters: {}, action: "read" });
const json = (columns: string) => async () => {
  const result = await client.query({ query: ask(columns), format: "JSONEachRow" });
  return aq.from(await result.json<object>());
};
const jsonColumns = (columns: string) => async () => {
  const result = await client.query({ query: ask(columns), format: "JSONColumnsWithMetadata" });
  const { data } = await result.json<{ data: Record<string, unknown[]> }>();
  return aq.table(data);
};
const times = await sideBySide(
  {
    "JSONEachRow and aq.from": json(typical),
    "JSON by columns and aq.table": jsonColumns(typical),
    "Arrow, as probelab asks": arrow(typical),
    "JSONEachRow and aq.from, with a million report_ids": json(unlike),
    "JSON by columns and aq.table, with a million report_ids": jsonColumns(unlike),
    "Arrow, with a million report_ids": arrow(unlike),
    "Arrow, and every report_id read": async () => {
      const { table } = await arrow(unlike)();
      const report = table.getter("report_id");
      let length = 0;
      for (let row = 0; row < rows; row++) length += String(report(row)).length;
      return length;
    },
  },
  Number(process.env["ROUNDS"] ?? 7),
);
const [eachRow = NaN, byColumns = NaN, arrowMs = NaN] = Object.values(times);
const [textsByColumns = NaN, , textsRead = NaN] = Object.values(times).slice(4);
report(
  "arrow-transfer",
  Object.entries(times).map(([way, ms]) => ({ way, ms: Math.round(ms) })),
  {
    speedup: byColumns / arrowMs,
    speedup_over_each_row: eachRow / arrowMs,
    speedup_with_texts_read: textsByColumns / textsRead,
  },
);
