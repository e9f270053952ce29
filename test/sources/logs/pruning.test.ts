import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { last, type Lab } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, LOG_TIME_TYPES, timeSql } from "./log-rows.js";

const ROWS = 1_500_000;
/** Lines of 60 days up to EPOCH, evenly: an hour holds 0.07 % of them, less than one granule. */
const SPAN_MICROS = 60 * 86_400 * 1_000_000;

const own = ownDatabase();
let lab: Lab;

// One of numbers, one of times, one of text.
describe.each([LOG_TIME_TYPES[0], LOG_TIME_TYPES[3], LOG_TIME_TYPES[5]])(
  "the last hour of a table with $type",
  ({ type }) => {
    beforeAll(async () => {
      const micros = `${EPOCH * 1000} - ${SPAN_MICROS} + intDiv(number * ${SPAN_MICROS}, ${ROWS})`;
      await own.writer.command(
        `CREATE OR REPLACE TABLE logs (__REALTIME_TIMESTAMP ${type}, SYSLOG_IDENTIFIER LowCardinality(String), message String)
       ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP`,
      );
      await own.writer.command(
        `INSERT INTO logs SELECT ${timeSql(type, micros)}, ['nginx', 'sshd'][number % 2 + 1], concat('line ', toString(number)) FROM numbers(${ROWS})`,
      );
      lab = await own.open();
    });
    afterAll(() => lab.close());

    const range = last("1 hour", { now: new Date(EPOCH) });
    const lines = Math.round((ROWS * 3600e6) / SPAN_MICROS);

    it("is found by reading at most 1 % of the rows, also where no line matches", async () => {
      const all = await lab.logs.search({ range, limit: Infinity });
      expect(Math.abs(all.numRows() - lines)).toBeLessThanOrEqual(1);
      expect(all.origin.rowsRead).toBeGreaterThan(0);
      expect(all.origin.rowsRead).toBeLessThanOrEqual(ROWS / 100);
      for (const filter of [{ contains: "no line says this" }, { identifier: "absent" }]) {
        const none = await lab.logs.search({ range, ...filter });
        expect(none.numRows()).toBe(0);
        expect(none.origin.rowsRead).toBeLessThanOrEqual(ROWS / 100);
      }
    });

    it("is counted by reading at most 1 % of the rows", async () => {
      const counted = await lab.logs.rates({ range, every: "minute", by: "identifier" });
      const messages = counted.column("messages").map(Number);
      expect(Math.abs(messages.reduce((a, b) => a + b) - lines)).toBeLessThanOrEqual(1);
      expect(counted.origin.rowsRead).toBeLessThanOrEqual(ROWS / 100);
    });
  },
);
