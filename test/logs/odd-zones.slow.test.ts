import { expect, it } from "vitest";
import { between, type Result } from "../../src/index.js";
import { bucketStart } from "../../src/time/bucket.js";
import { ODD_CHANGES } from "../support/odd-changes.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const HOUR = 3_600_000;
const LINES = 288;

it.each(["Int64", "DateTime64(6, 'UTC')", "String"])(
  "rates and checkIn lose no line around the changes of odd zones, in a column of %s",
  async (type) => {
    // Digits tell their unit from 2001 on.
    for (const [timeZone, change] of ODD_CHANGES.filter(([, at]) => at > "2020")) {
      const from = Date.parse(change) - 36 * HOUR;
      const micros = `toInt64(${from} + number * ${(72 * HOUR) / LINES}) * 1000`;
      const time = type.startsWith("DateTime64") ? `fromUnixTimestamp64Micro(${micros})` : micros;
      await own.writer.command(
        `CREATE OR REPLACE TABLE logs (__REALTIME_TIMESTAMP ${type}, SYSLOG_IDENTIFIER String, message String)
          ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP`,
      );
      await own.writer.command(
        `INSERT INTO logs SELECT ${type === "String" ? `toString(${time})` : time}, 'api', 'check-in for 100 URLs'
          FROM numbers(${LINES})`,
      );
      await using lab = await own.open();
      const range = between(new Date(from), new Date(from + 72 * HOUR), { timeZone });
      for (const every of ["hour", "3 hours", "day"] as const) {
        const lines = new Map<number, number>();
        for (let i = 0; i < LINES; i++) {
          const at = new Date(from + (i * 72 * HOUR) / LINES);
          const start = bucketStart(at, every, timeZone).getTime();
          lines.set(start, (lines.get(start) ?? 0) + 1);
        }
        const filled = (result: Result, name: string) =>
          result.rows().flatMap((row) => (row[name] === 0 ? [] : [[Number(row["t"]), row[name]]]));
        const rates = await lab.logs.rates({ range, every });
        expect(filled(rates, "messages")).toEqual([...lines]);
        const lists = await lab.logs.checkIn({ range, every });
        expect(filled(lists, "lists")).toEqual([...lines]);
      }
    }
  },
  60_000,
);
