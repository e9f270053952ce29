import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Writer } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { numbers, temporaryWriter } from "./temporary-writer.js";

const END = new Date("2026-05-01T00:00:00Z");
let writer: Writer;

beforeAll(async () => {
  writer = await temporaryWriter();
  await fillSample(writer, { rows: 300_000, end: END });
});
afterAll(() => writer[Symbol.asyncDispose]());

describe("the logs of the sample", () => {
  it("say that check-in very often gives 100 URLs", async () => {
    const answers = await numbers(
      writer,
      `SELECT count() AS n, avg(urls = 100) AS hundred, min(urls) AS fewest, max(urls) AS most FROM (
         SELECT toUInt32OrZero(extract(message, '(\\\\d+) URLs')) AS urls FROM logs
         WHERE SYSLOG_IDENTIFIER = 'probe-api' AND message LIKE 'check-in %')`,
    );
    expect(answers["n"]).toBeGreaterThan(5_000);
    expect(answers["hundred"]).toBeGreaterThan(0.9);
    expect(answers["hundred"]).toBeLessThan(0.97);
    expect(answers["fewest"]).toBeGreaterThanOrEqual(20);
    expect(answers["most"]).toBe(100);
  });

  it("hold the submission of each run's report under its id", async () => {
    const reports = await numbers(
      writer,
      `SELECT count() AS n, uniqExact(id) AS ids, countIf(id IN (SELECT report_id FROM fastpath)) AS known,
         (SELECT uniqExact(report_id) FROM fastpath) AS runs
       FROM (SELECT extract(message, '^POST /report/([^ ]+)') AS id FROM logs WHERE message LIKE 'POST /report/%')`,
    );
    // but for those that the planted fault of the pipeline loses
    const [truth] = await writer.rows<{ changes: string }>(
      "SELECT changes FROM sample_truth WHERE name = 'accepted-reports-not-stored'",
    );
    const lost = Number(/(\d+) reports accepted and not stored/.exec(truth!.changes)![1]);
    expect((reports["n"] ?? NaN) - (reports["known"] ?? NaN)).toBe(lost);
    expect(reports["ids"]).toBe(reports["n"]);
    // those of the last minutes come after the end
    expect((reports["runs"] ?? NaN) - (reports["known"] ?? NaN)).toBeLessThan(10);
  });

  it("count microseconds, in the table's order, with priorities of syslog", async () => {
    const found = await numbers(
      writer,
      `SELECT min(__REALTIME_TIMESTAMP) / 1e6 AS first, max(__REALTIME_TIMESTAMP) / 1e6 AS last,
         countIf(PRIORITY > 7) AS beyond, countIf(PRIORITY <= 3) AS errors,
         avg(__REALTIME_TIMESTAMP % 1000000 = 0) AS whole_seconds FROM logs`,
    );
    expect(found["first"]).toBeGreaterThan(END.getTime() / 1000 - 182 * 86_400 - 10);
    expect(found["last"]).toBeLessThan(END.getTime() / 1000);
    expect(found["beyond"]).toBe(0);
    expect(found["errors"]).toBeGreaterThan(5);
    expect(found["whole_seconds"]).toBeLessThan(0.01);
    const [table] = await writer.rows<{ sorting_key: string }>(
      "SELECT sorting_key FROM system.tables WHERE database = {database:String} AND name = 'logs'",
      { parameters: { database: writer.database } },
    );
    expect(table?.sorting_key).toBe("__REALTIME_TIMESTAMP");
  });

  it("name addresses of the ranges for documentation only", async () => {
    const other = await numbers(
      writer,
      `SELECT countIf(NOT match(address, '^(192\\\\.0\\\\.2|198\\\\.51\\\\.100|203\\\\.0\\\\.113)\\\\.')) AS n, count() AS all
       FROM (SELECT arrayJoin(extractAll(message, '\\\\d+\\\\.\\\\d+\\\\.\\\\d+\\\\.\\\\d+')) AS address FROM logs)`,
    );
    expect(other["all"]).toBeGreaterThan(1_000);
    expect(other["n"]).toBe(0);
  });
});
