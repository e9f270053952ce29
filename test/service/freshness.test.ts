import { describe, expect, it } from "vitest";
import { connect, last, type Finding, type Lab, type Result } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";
import { PASSWORD, restrictedServer } from "../support/restricted-server.js";
import { writeLogs, type LogRow } from "../sources/logs/log-rows.js";

const own = ownDatabase();
const freshnessOf = async (lab: Lab) =>
  (await lab.funnel({ range: last("1 hour", { now: lab.now }) })).freshness as Finding & {
    readonly result: Result;
  };
const MINUTE = 60_000;
const now = Date.now();
const sql = (ms: number) => `fromUnixTimestamp64Milli(toInt64(${Math.round(ms)}), 'UTC')`;
const line = (minutesAgo: number, identifier: string): LogRow => ({
  identifier,
  priority: 6,
  host: "api1",
  message: "x",
  micros: (now - minutesAgo * MINUTE) * 1000,
});
const each = (from: number, to: number) =>
  Array.from({ length: Math.floor((from - to) / 4) + 1 }, (_, k) => from - 4 * k);

/** Measurements every four minutes of the day before `last` minutes ago, each stored `lag` seconds later. */
async function measured(last: number, lag: number | null, uid = true): Promise<void> {
  const stored = lag === null ? "" : ", inserted_at DateTime64(3, 'UTC')";
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime64(3, 'UTC'), report_id String, probe_cc String,
      probe_asn UInt32${uid ? ", measurement_uid String" : ""}${stored}) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  const values = each(1440 + last, last).map((ago) => {
    const at = now - ago * MINUTE;
    const text = new Date(at + 30_000).toISOString().replace(/\D/g, "").slice(0, 14);
    const id = uid ? `, '${text}.123_IT_webconnectivity_x'` : "";
    return `(${sql(at)}, 'r', 'IT', 1${id}${lag === null ? "" : `, ${sql(at + lag * 1000)}`})`;
  });
  await own.writer.command(`INSERT INTO fastpath VALUES ${values.join(", ")}`);
}

describe("freshness of lab.funnel", () => {
  it("tells the newest rows, the lag by a column, and that all is as usual", async () => {
    await measured(2, 90);
    await writeLogs(
      own.writer,
      [...each(600, 1), ...each(601, 2)].map((ago, at) => line(ago, at % 2 ? "api" : "pipeline")),
    );
    await using lab = await own.open();
    const found = await freshnessOf(lab);
    expect(found).toMatchObject({ kind: "freshness", found: false });
    expect(found.sentence).toMatch(
      /^Measurements have not stopped\. The newest measurement is of .* UTC, \d+ \w+ old\. Stored \d+ s after measurement in the median, \d+ s at the 95th percentile \(by inserted_at\)\. All 2 programs log with no longer silence than usual \(newest line .* old\)\. As of .* UTC\.$/,
    );
    const { result } = await lab.funnel({ range: last("1 hour") });
    expect(result.origin.notes.join()).toMatch(
      /The newest are left out, as rows may still be stored/,
    );
    const rows = found.result.rows();
    expect(rows.map((row) => [row["table"], row["program"], row["silent"]]).sort()).toEqual([
      ["fastpath", null, false],
      ["logs", "api", false],
      ["logs", "pipeline", false],
    ]);
    expect(Math.abs((rows[0]!["lag_q50"] as number) - 90)).toBeLessThanOrEqual(1);
  });

  it("takes no hash of digits in measurement_uid for a time", async () => {
    await measured(2, null);
    await own.writer.command(
      "ALTER TABLE fastpath UPDATE measurement_uid = toString(9000000000000000000 + cityHash64(measurement_uid) % 9000000000) WHERE 1 SETTINGS mutations_sync = 2",
    );
    await using lab = await own.open();
    expect((await freshnessOf(lab)).sentence).toMatch(
      /How far storing lags behind is unknown, because no measurement_uid of the last day gives a time/,
    );
    const drop = await lab.anomalies({ range: last("1 day", { now: lab.now }) });
    expect(drop.state).toBe("unknown");
  });

  it("reads the lag in measurement_uid, and tells measurements that stopped from logs that go on", async () => {
    await measured(300, null);
    await writeLogs(own.writer, [
      ...each(600, 1).map((ago) => line(ago, "api")),
      ...each(900, 200).map((ago) => line(ago, "pipeline")),
    ]);
    await using lab = await own.open();
    const found = await freshnessOf(lab);
    expect(found.found).toBe(true);
    expect(found.sentence).toMatch(
      /^Measurements have stopped while logs go on\. .*, 5 h old\. Stored 30 s after measurement .* \(by measurement_uid\)\. Silent: pipeline \(3 h, never more than \d+ (s|min) in the week before\) of 2 programs\./,
    );
  });

  it("judges no program that was seen too seldom, and says so", async () => {
    await measured(2, 90);
    await own.writer.command("TRUNCATE TABLE logs");
    await writeLogs(own.writer, [
      ...each(600, 1).map((ago) => line(ago, "api")),
      ...[2800, 500].map((ago) => line(ago, "backup")),
    ]);
    await using lab = await own.open();
    const { result, sentence } = await freshnessOf(lab);
    const judged = result.rows().map((row) => [row["program"], row["silent"]]);
    expect(judged).toEqual(
      expect.arrayContaining([
        ["backup", null],
        ["api", false],
      ]),
    );
    expect(sentence).toMatch(
      /The one program logs .*; 1 other program logged too rarely to be judged\./,
    );
    await own.writer.command("ALTER TABLE fastpath DELETE WHERE 1 SETTINGS mutations_sync = 2");
    expect((await freshnessOf(lab)).sentence).toMatch(
      /^Can't tell whether measurements have stopped\. Fastpath holds no measurement.*\. The one program/i,
    );
  });

  it("says what isn't known without such columns, and without log lines", async () => {
    await measured(2, null, false);
    await own.writer.command("DROP TABLE logs");
    await using lab = await own.open();
    const found = await freshnessOf(lab);
    expect(found.found).toBe(false);
    expect(found.sentence).toMatch(
      /is unknown, because fastpath has neither a measurement_uid nor a column for the time of storing, such as inserted_at\. Log lines can't be counted: their table isn't there\./,
    );
    await own.writer.command("TRUNCATE TABLE fastpath");
    const empty = await freshnessOf(lab);
    expect(empty.result.numRows()).toBe(0);
    expect(empty.sentence).toMatch(
      /^Can't tell whether measurements have stopped\. Fastpath holds no measurement/i,
    );
  });

  it("answers a reader who may only read the measurements", async () => {
    await using server = await restrictedServer({
      few: { settings: { readonly: 1 }, grants: ["GRANT SELECT ON probelab.fastpath"] },
    });
    for (const query of [
      "CREATE TABLE probelab.logs (__REALTIME_TIMESTAMP Int64, SYSLOG_IDENTIFIER String, message String) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP",
      "CREATE TABLE probelab.fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String, probe_asn UInt32, inserted_at DateTime('UTC')) ENGINE = MergeTree ORDER BY measurement_start_time",
      "INSERT INTO probelab.fastpath SELECT now('UTC') - number * 60 - 60, 'r', 'IT', 1, now('UTC') - number * 60 - 50 FROM numbers(600)",
    ]) {
      await server.admin.command({ query });
    }
    await using lab = await connect({ measurements: server.as("few"), logs: server.as("few") });
    const found = await freshnessOf(lab);
    expect(found.result.rows().map((row) => row["table"])).toEqual(["fastpath"]);
    expect(found.sentence).toMatch(
      /^Measurements have not stopped\. .*Stored 10 s after measurement .*\. Log lines can't be counted, because: /,
    );
    expect(found.sentence).not.toContain(PASSWORD);
    const range = last("1 hour");
    expect((await lab.funnel({ range })).sentence).toMatch(
      /Submissions can't be counted, because: /,
    );
  });
});
