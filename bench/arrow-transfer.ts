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
const sql = `SELECT measurement_start_time, software_version, probe_asn, report_id FROM fastpath LIMIT ${rows}`;
const client = await connection.client();
const times = await sideBySide(
  {
    arrow: () => database.ask({ sql, parameters: {}, action: "read" }),
    async json() {
      const result = await client.query({ query: sql, format: "JSONEachRow" });
      return aq.from(await result.json<object>());
    },
  },
  7,
);
const { arrow = NaN, json = NaN } = times;
report(
  "arrow-transfer",
  [
    { way: "JSONEachRow and aq.from", ms: Math.round(json) },
    { way: "Arrow, as probelab asks", ms: Math.round(arrow) },
  ],
  { speedup: json / arrow },
);
