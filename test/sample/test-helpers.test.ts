import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Writer } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { FAILED_PERMILLE, FAILING_HELPER } from "../../src/sample/test-helpers.js";
import { numbers, temporaryWriter } from "./temporary-writer.js";

let writer: Writer;
beforeAll(async () => {
  writer = await temporaryWriter();
  await fillSample(writer, { rows: 500_000, end: new Date("2026-05-01T00:00:00Z") });
});
afterAll(() => writer[Symbol.asyncDispose]());

describe("the planted faults of the test helpers", () => {
  it("are told by sample_truth in its own columns", async () => {
    const rows = await writer.rows<{ name: string; changes: string }>(
      "SELECT name, changes FROM sample_truth WHERE name LIKE 'test-helper%' ORDER BY name",
    );
    expect(rows).toEqual([
      {
        name: "test-helper-fails-more",
        changes: `msm_failure of ${FAILING_HELPER} from 1.2 % to 6 %`,
      },
      {
        name: "test-helpers-rotated-too-quickly",
        changes: "40 minutes after the rotation before it",
      },
    ]);
  });

  it("make one helper fail as often as they say, from its rotation on, and no other", async () => {
    const since = "(SELECT released_at FROM sample_truth WHERE name = 'test-helper-fails-more')";
    const share = (condition: string) =>
      numbers(
        writer,
        `SELECT avg(msm_failure = 't') AS rate, count() AS n FROM fastpath WHERE test_helper_address != '' AND ${condition}`,
      );
    const helper = `test_helper_address = '${FAILING_HELPER}'`;
    const spans = {
      failing: `${helper} AND measurement_start_time >= ${since}`,
      before: `${helper} AND measurement_start_time < ${since}`,
      others: `NOT ${helper} AND measurement_start_time >= ${since}`,
    };
    for (const [name, condition] of Object.entries(spans)) {
      const { rate = NaN, n = 0 } = await share(condition);
      const expected =
        (name === "failing" ? FAILED_PERMILLE.failing : FAILED_PERMILLE.others) / 1000;
      // five standard deviations of a share
      expect(Math.abs(rate - expected), name).toBeLessThan(
        5 * Math.sqrt((expected * (1 - expected)) / n),
      );
    }
    const [rotation] = await writer.rows(
      `SELECT name FROM test_helper_instances WHERE draining_at = ${since} AND concat('https://', rdn, '.', dns_zone) = '${FAILING_HELPER}'`,
    );
    expect(rotation).toBeDefined();
  });
});
