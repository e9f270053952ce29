import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantileOf } from "../../../src/base/statistics.js";
import { between, connect } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, LOG_TIME_TYPES, MINUTE, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const { open } = own;
const HOUR = 60 * MINUTE;
const range = between(new Date(EPOCH), new Date(EPOCH + 3 * HOUR));

function line(minute: number, message: string, time: { step: number } = { step: 1 }): LogRow {
  const micros = Math.floor(((EPOCH + minute * MINUTE) * 1000) / time.step) * time.step;
  return { micros, identifier: "probe-api", priority: 6, host: "api1", message };
}

it.each(LOG_TIME_TYPES)("checkIn agrees with plain lists in $type", async (time) => {
  const list = fc.record({
    minute: fc.integer({ min: 0, max: 119 }),
    urls: fc.oneof(fc.constant(100), fc.integer({ min: 0, max: 120 })),
  });
  const lists = fc.sample(list, { numRuns: 60, seed: 100 });
  const rows = lists.map(({ minute, urls }) =>
    line(minute, `check-in probe-cli/3.20 probe_cc=IT from 203.0.113.9: ${urls} URLs`, time),
  );
  const noise = [line(1, "GET /x 100 URLs"), line(1, "check-in failed")];
  await writeLogs(own.writer, [...rows, ...noise], time.type);
  await using lab = await open();
  const found = await lab.logs.checkIn({ range });
  // None in the last hour.
  const wanted = [0, 1, 2].map((hour) => {
    const own = lists
      .filter(({ minute }) => Math.floor(minute / 60) === hour)
      .map(({ urls }) => urls)
      .sort((a, b) => a - b);
    const level = (p: number) => (own.length === 0 ? null : quantileOf(own, p));
    const full = own.filter((n) => n === 100).length;
    return {
      t: new Date(EPOCH + hour * HOUR),
      lists: own.length,
      hundred: own.length === 0 ? null : full / own.length,
      fewest: level(0),
      q10: level(0.1),
      q50: level(0.5),
      q90: level(0.9),
      most: level(1),
    };
  });
  const round = (row: object) =>
    Object.entries(row).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === "number" ? value.toPrecision(10) : value,
    ]);
  expect(found.rows().map(round)).toEqual(wanted.map(round));
  const lengths = await lab.logs.checkIn({ range, by: "urls", top: Infinity });
  for (const { t, urls, lists: n } of lengths.rows()) {
    const same = lists.filter(
      (one) =>
        String(one.urls) === urls && Math.floor(one.minute / 60) === (Number(t) - EPOCH) / HOUR,
    );
    expect(n).toBe(same.length);
  }
  const total = lengths.column("lists").map(Number);
  expect(total.reduce((a, b) => a + b)).toBe(lists.length);
});

describe("checkIn", () => {
  it("reads other forms of the line by a pattern with the number in brackets", async () => {
    await writeLogs(own.writer, [line(1, "gave 7 of them"), line(2, "gave 9 of them")]);
    const tables = { logs: { forms: { checkIn: "^gave (\\d+)" } } };
    await using lab = await connect({ measurements: own.url, logs: own.url, tables });
    const found = await lab.logs.checkIn({ range });
    expect(found.rows(1)).toMatchObject([{ lists: 2, fewest: 7, q50: 8, most: 9 }]);
    await using plain = await open();
    const none = await plain.logs.checkIn({ range });
    expect(none.numRows()).toBe(0);
    expect(none.origin.notes.join(" ")).toMatch(/there are lines of probe-api.*forms\.checkIn/);
    const without = { logs: { forms: { checkIn: "\\d+ URLs" } } };
    await expect(connect({ measurements: own.url, tables: without })).rejects.toThrow(
      'Can\'t use "\\\\d+ URLs" in tables.logs.forms.checkIn: pass a pattern whose first brackets hold',
    );
  });
});
