import { describe, expect, it } from "vitest";
import type { Lab } from "../../src/lab/connect.js";
import { between } from "../../src/time/time-range.js";
import { ownDatabase } from "../support/own-database.js";
import { EPOCH, MINUTE, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const range = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));
const id = (cc: string, asn: number | string, random: string) =>
  `20260429T235900Z_webconnectivity_${cc}_${asn}_n1_${random}`;

function post(minute: number, report: string, end = ": 200, 3 measurements"): LogRow {
  const micros = (EPOCH + minute * MINUTE) * 1000;
  const message = `POST /report/${report} from 203.0.113.9${end}`;
  return { micros, identifier: "probe-api", priority: 6, host: "api1", message };
}

async function given(
  stored: readonly (readonly [report: string, cc: string, asn: string, time?: string])[],
  asnType = "UInt32",
): Promise<Lab> {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String, probe_asn ${asnType})
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  for (const [report, cc, asn, time = "2026-04-29 23:59:10"] of stored) {
    await own.writer.command(
      `INSERT INTO fastpath VALUES ('${time}', '${report}', '${cc}', ${asn})`,
    );
  }
  return own.open();
}

describe("submissions", () => {
  it("tells each report's worst finding against what is stored", async () => {
    const good = id("IT", 30722, "good");
    const moved = id("IT", 30722, "moved");
    const network = id("IT", 30722, "network");
    await writeLogs(own.writer, [
      post(1, good),
      post(2, good, ": 502, the queue is full"),
      post(3, moved),
      post(4, network),
      post(5, id("IT", 30722, "lost")),
      post(6, id("IT", 30722, "refused"), ": 502, the queue is full"),
      post(7, id("IT", "AS1", "odd")),
      { ...post(8, good), message: "GET /report/ignored" },
    ]);
    await using lab = await given([
      [good, "IT", "30722"],
      [good, "IT", "30722"],
      [moved, "GE", "30722"],
      [network, "IT", "30722"],
      [network, "IT", "1"],
    ]);
    const found = await lab.logs.submissions({ range });
    const rows = found
      .rows()
      .map(({ finding, measurements, stored_cc, detail }) => [
        finding,
        measurements,
        stored_cc,
        detail,
      ]);
    expect(rows).toEqual([
      ["stored", 2, "IT", ""],
      ["country", 1, "GE", "Claims IT, stored GE."],
      ["network", 2, "IT", "Claims AS30722, stored 1+30722."],
      ["missing", 0, null, "The table holds no measurement of it."],
      ["refused", 0, null, "502, the queue is full"],
      ["unreadable", 0, null, expect.stringMatching(/Can't read the probe ASN "AS1"/)],
    ]);
    expect(found.rows(1)).toMatchObject([
      { t: new Date(EPOCH + MINUTE), report_id: good, claimed_cc: "IT", claimed_asn: 30722 },
    ]);
    expect(found.origin.notes[0]).toBe(
      "Of 6 submitted reports: 1 unreadable, 1 refused, 1 missing, 1 country, 1 network, 1 stored.",
    );
  });

  it("reads measurements from before the range by the margin, and ASNs that are text", async () => {
    const early = id("IT", 30722, "early");
    await writeLogs(own.writer, [post(1, early)]);
    await using lab = await given([[early, "IT", "'AS30722'", "2026-04-29 12:00:00"]], "String");
    const finding = async (margin?: string) =>
      (await lab.logs.submissions({ range, ...(margin && { margin }) })).column("finding");
    expect(await finding()).toEqual(["stored"]);
    expect(await finding("1 hour")).toEqual(["missing"]);
  });

  it("says why there is none", async () => {
    await writeLogs(own.writer, [{ ...post(1, "x"), message: "hello" }]);
    await using lab = await given([]);
    const none = await lab.logs.submissions({ range });
    expect(none.numRows).toBe(0);
    expect(none.origin.notes[0]).toMatch(/there are lines of probe-api/);
  });
});
