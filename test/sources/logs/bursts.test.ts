import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { median } from "../../../src/base/statistics.js";
import { between } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, LOG_TIME_TYPES, MINUTE, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const { open } = own;

const PROGRAMS = ["nginx", "sshd"];

/** Messages of each program in each minute, as rows. */
function linesOf(counts: Readonly<Record<string, readonly number[]>>, step: number): LogRow[] {
  return Object.entries(counts).flatMap(([identifier, minutes]) =>
    minutes.flatMap((n, minute) =>
      Array.from({ length: n }, (_, index) => ({
        micros: Math.floor(((EPOCH + minute * MINUTE) * 1000 + index * 999_983) / step) * step,
        identifier,
        priority: 6,
        host: "api1",
        message: "hello",
      })),
    ),
  );
}

it.each(LOG_TIME_TYPES)(
  "bursts of $type agrees with plain medians over all minutes, silent ones included",
  async (time) => {
    const minute = fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 4 }) },
      { weight: 1, arbitrary: fc.integer({ min: 5, max: 50 }) },
    );
    const length = 20;
    const given = Object.fromEntries(
      PROGRAMS.map((name, at) => [name, fc.sample(minute, { numRuns: length, seed: 30 + at })]),
    );
    await writeLogs(own.writer, linesOf(given, time.step), time.type);
    await using lab = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(2, 3.5, 6),
        fc.integer({ min: 1, max: length }),
        async (threshold, minutes) => {
          const range = between(new Date(EPOCH), new Date(EPOCH + minutes * MINUTE));
          const found = await lab.logs.bursts({ range, threshold });
          const wanted = Array.from({ length: minutes }, (_, at) => at).flatMap((at) =>
            PROGRAMS.flatMap((identifier) => {
              const all = given[identifier]!.slice(0, minutes);
              const usual = median(all);
              const deviation = median(all.map((n) => Math.abs(n - usual)));
              const messages = all[at]!;
              const score = (messages - usual) / Math.max(1.4826 * deviation, Math.sqrt(usual), 1);
              const t = new Date(EPOCH + at * MINUTE);
              const stands = messages >= 5 && score >= threshold;
              return stands
                ? [{ t, identifier, messages, usual, score: expect.closeTo(score, 9) as number }]
                : [];
            }),
          );
          const key = (row: { t: Date; identifier: unknown }) =>
            `${+row.t} ${String(row.identifier)}`;
          const rows = found.rows().toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
          expect(rows).toEqual(wanted);
          const times = found.column("t").map(Number);
          expect(times).toEqual([...times].sort((a, b) => a - b));
        },
      ),
      { numRuns: 8, seed: 20260430 },
    );
  },
);

describe("bursts", () => {
  const quiet = Array.from({ length: 60 }, (_, minute) => (minute % 2 === 0 ? 2 : 1));
  const range = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));

  it("says that nothing stands out, or that there is nothing", async () => {
    await writeLogs(own.writer, linesOf({ quiet }, 1));
    await using lab = await open();
    const none = await lab.logs.bursts({ range });
    expect(none.origin.notes).toEqual(["No minute stands out by 6 spreads from the usual rate."]);
    const empty = await lab.logs.bursts({ range, identifier: "absent" });
    expect(empty.origin.notes[0]).toMatch(/matches the filter by identifier/);
    await expect(lab.logs.bursts({ range, threshold: 0 })).rejects.toThrow(/threshold: 0/);
  });
});
