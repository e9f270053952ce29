import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { median } from "../../src/base/statistics.js";
import { between } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";
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

it("bursts agrees with plain medians over all minutes, silent ones included", async () => {
  const minute = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 4 }) },
    { weight: 1, arbitrary: fc.integer({ min: 5, max: 50 }) },
  );
  const length = 20;
  const counts = fc.array(minute, { minLength: length, maxLength: length });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ nginx: counts, sshd: counts }),
      fc.constantFrom(...LOG_TIME_TYPES),
      fc.constantFrom(2, 3.5, 6),
      fc.integer({ min: 1, max: length }),
      async (given, time, threshold, minutes) => {
        await writeLogs(own.writer, linesOf(given, time.step), time.type);
        await using lab = await open();
        const range = between(new Date(EPOCH), new Date(EPOCH + minutes * MINUTE));
        const found = await lab.logs.bursts({ range, threshold });
        const wanted: {
          t: number;
          identifier: string;
          messages: number;
          usual: number;
          score: number;
        }[] = [];
        for (let at = 0; at < minutes; at++) {
          for (const identifier of PROGRAMS) {
            const all = given[identifier as "nginx"].slice(0, minutes);
            const usual = median(all);
            const deviation = median(all.map((n) => Math.abs(n - usual)));
            const messages = all[at] ?? NaN;
            const score = (messages - usual) / Math.max(1.4826 * deviation, Math.sqrt(usual), 1);
            if (messages === 0 || messages < 5 || score < threshold) continue;
            wanted.push({ t: EPOCH + at * MINUTE, identifier, messages, usual, score });
          }
        }
        const rows = found.rows().map((row) => ({ ...row, t: Number(row["t"]) }));
        const key = (row: { t: number; identifier?: unknown }) =>
          `${row.t} ${String(row.identifier)}`;
        rows.sort((a, b) => (key(a) < key(b) ? -1 : 1));
        expect(rows.map((row) => ({ ...row, score: 0 }))).toEqual(
          wanted.map((row) => ({ ...row, score: 0 })),
        );
        rows.forEach((row, index) => {
          expect((row as unknown as { score: number }).score).toBeCloseTo(
            wanted[index]?.score ?? NaN,
            9,
          );
        });
        const times = found.column("t").map(Number);
        expect(times).toEqual([...times].sort((a, b) => a - b));
      },
    ),
    { numRuns: 25, seed: 20260430 },
  );
}, 300_000);

describe("bursts", () => {
  const quiet = Array.from({ length: 60 }, (_, minute) => (minute % 2 === 0 ? 2 : 1));
  const range = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));

  it("compares a program with itself: what is usual for a loud one is a burst of a quiet one", async () => {
    const loud = quiet.map(() => 40);
    const burst = quiet.map((n, minute) => (minute === 30 ? 40 : n));
    await writeLogs(own.writer, linesOf({ loud, quiet: burst }, 1));
    await using lab = await open();
    const found = await lab.logs.bursts({ range });
    expect(found.column("identifier")).toEqual(["quiet"]);
    expect(found.column("t")).toEqual([new Date(EPOCH + 30 * MINUTE)]);
  });

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
