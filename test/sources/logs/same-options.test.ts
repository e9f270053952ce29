import { expect, it } from "vitest";
import { between, type Result } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, MINUTE, writeLogs } from "./log-rows.js";

const own = ownDatabase();
const range = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));

it("every question on the logs takes the same filters and the same mask", async () => {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String, probe_asn UInt32)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  const report = "POST /report/20260429T235900Z_webconnectivity_IT_1_n1_x: 503, not from";
  const lines = (host: string, address: string) =>
    Array.from({ length: 20 }, (_, at) => ({
      micros: (EPOCH + MINUTE) * 1000 + at,
      identifier: "api",
      priority: 3,
      host,
      message: `${report} ${address}: check-in for 100 URLs`,
    }));
  await writeLogs(own.writer, [
    ...lines("203.0.113.1", "203.0.113.7"),
    ...lines("203.0.113.2", "203.0.113.8"),
    ...lines("elsewhere", "198.51.100.1"),
  ]);
  await using lab = await own.open();
  const filters = {
    range,
    identifier: "api",
    host: ["203.0.113.1", "203.0.113.2"],
    priority: "err",
    contains: "POST /report",
    matches: "not from [0-9]",
    where: { PRIORITY: { lte: 5 } },
    mask: true,
  } as const;
  const grouped = { ...filters, every: "all", by: ["host", "message"] } as const;
  const answers: Record<string, Result> = {
    search: await lab.logs.search(filters),
    rates: await lab.logs.rates(grouped),
    bursts: await lab.logs.bursts(filters),
    checkIn: await lab.logs.checkIn({ ...filters, every: "all" }),
    submissions: await lab.logs.submissions(filters),
  };
  const numbers = Object.entries(answers).map(([name, answer]) => [name, answer.numRows()]);
  expect(Object.fromEntries(numbers)).toEqual({
    search: 40,
    rates: 2,
    bursts: 1,
    checkIn: 1,
    submissions: 1,
  });
  for (const [name, answer] of Object.entries(answers)) {
    const shown = JSON.stringify([answer.rows(), answer.origin.filter, answer.origin.notes]);
    expect([name, /203.{1,3}0/.exec(shown)?.[0]]).toEqual([name, undefined]);
    expect(answer.origin.notes).toContain("E-mail and IP addresses are masked.");
  }
  expect(answers["rates"]?.column("host")).toEqual(["[IPv4 1]", "[IPv4 2]"]);
  expect(answers["search"]?.column("message")[0]).toMatch(/ not from \[IPv4\]: check-in/);
  await expect(lab.logs.bursts({ range, identifer: "api" } as object as never)).rejects.toThrow(
    /did you mean identifier\?/,
  );
}, 60_000);
