import fc from "fast-check";
import { expect, it } from "vitest";
import { between } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();

const EPOCH = Date.UTC(2026, 3, 1);
const DAY = 86_400_000;

it("duplicates agrees with plain rows, by measurement_uid and by whole rows", async () => {
  const row = fc.record({
    uid: fc.constantFrom("a", "b", "c", "d", "e"),
    day: fc.integer({ min: 0, max: 3 }),
    second: fc.integer({ min: 0, max: 3 }),
    cc: fc.constantFrom("IT", "GE"),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 25 }),
      fc.boolean(),
      async (drawn, withUid) => {
        // Of one measurement_uid all rows are of one country, as they are of one measurement.
        const rows = withUid
          ? drawn.map((one) => ({ ...one, cc: one.uid < "c" ? "IT" : "GE" }))
          : drawn;
        const uid = withUid ? "measurement_uid" : "input";
        await own.writer.command(
          `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), ${uid} String, report_id String, probe_cc String)
           ENGINE = MergeTree ORDER BY measurement_start_time`,
        );
        const seconds = (one: (typeof rows)[number]) => (EPOCH + one.day * DAY) / 1000 + one.second;
        await own.writer.command(
          `INSERT INTO fastpath VALUES ${rows.map((one) => `(${seconds(one)}, '${one.uid}', 'r', '${one.cc}')`).join(", ")}`,
        );
        await using lab = await own.open();
        const range = between(new Date(EPOCH), new Date(EPOCH + 3 * DAY));
        const found = await lab.measurements.duplicates({ range, every: "day", by: "probe_cc" });

        const inside = rows.filter((one) => one.day < 3);
        const groups = new Map<string, typeof rows>();
        for (const one of inside) {
          const key = withUid ? one.uid : JSON.stringify(one);
          groups.set(key, [...(groups.get(key) ?? []), one]);
        }
        const measured = [...groups.values()].map((own) => ({
          day: Math.min(...own.map((one) => one.day)),
          cc: own[0]?.cc,
          rows: own.length,
        }));
        for (const { t, probe_cc, ...rest } of found.rows()) {
          const own = measured.filter(
            (one) => one.cc === probe_cc && EPOCH + one.day * DAY === Number(t),
          );
          const all = own.reduce((sum, one) => sum + one.rows, 0);
          expect(rest).toEqual({
            measurements: own.length,
            rows: all,
            duplicated: own.filter((one) => one.rows > 1).length,
            share: all === 0 ? null : 1 - own.length / all,
          });
        }
        const total = found.column("rows").map(Number);
        expect(total.reduce((a, b) => a + b, 0)).toBe(inside.length);
        const whole = await lab.measurements.duplicates({ range });
        expect(whole.column("measurements")).toEqual(groups.size === 0 ? [] : [groups.size]);
        expect(whole.origin.notes.join()).toMatch(withUid ? /measurement_uid/ : /every column/);
      },
    ),
    { numRuns: 60, seed: 3 },
  );
}, 300_000);
