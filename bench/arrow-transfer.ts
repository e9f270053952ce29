/**
 * 1M rows of four columns into an Arquero table: probelab's way (Arrow) against JSONEachRow through
 * the client, as its documentation shows, and aq.from.
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
const times = await sideBySide(
  {
    "JSONEachRow and aq.from": json(typical),
    "Arrow, as probelab asks": arrow(typical),
    "JSONEachRow and aq.from, with a million report_ids": json(unlike),
    "Arrow, with a million report_ids": arrow(unlike),
    "Arrow, and every report_id read": async () => {
      const { table } = await arrow(unlike)();
      const report = table.getter("report_id");
      let length = 0;
      for (let row = 0; row < rows; row++) length += String(report(row)).length;
      return length;
    },
  },
  7,
);
const [jsonMs = NaN, arrowMs = NaN, jsonTexts = NaN, arrowTexts = NaN] = Object.values(times);
report(
  "arrow-transfer",
  Object.entries(times).map(([way, ms]) => ({ way, ms: Math.round(ms) })),
  { speedup: jsonMs / arrowMs, speedup_with_texts: jsonTexts / arrowTexts },
);
