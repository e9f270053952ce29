import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { between } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";
import { EPOCH, LOG_TIME_TYPES, logRow, MINUTE, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const { open } = own;
const LENGTHS = { minute: MINUTE, hour: 60 * MINUTE } as const;

it("rates agrees with plain rows: buckets, groups, the rest as other, covered minutes", async () => {
  const cases = fc.constantFrom(...LOG_TIME_TYPES).chain((time) =>
    fc.record({
      time: fc.constant(time),
      rows: fc.array(logRow(time), { minLength: 1, maxLength: 40 }),
      every: fc.constantFrom("minute" as const, "hour" as const),
      by: fc.constantFrom("identifier" as const, "host" as const, "priority" as const),
      top: fc.constantFrom(1, 2, Infinity),
      from: fc.integer({ min: -6, max: 30 }),
      minutes: fc.integer({ min: 1, max: 90 }),
      cut: fc.constantFrom(0, 30_000),
    }),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ({ time, rows, every, by, top, from, minutes, cut }) => {
      await writeLogs(own.writer, rows, time.type);
      await using lab = await open();
      const start = EPOCH + from * MINUTE + cut;
      const end = start + minutes * MINUTE;
      const range = between(new Date(start), new Date(end));
      const found = await lab.logs.rates({ range, every, by, top });

      const inside = rows.filter((row) => row.micros >= start * 1000 && row.micros < end * 1000);
      const sizes = new Map<string, number>();
      for (const row of inside) {
        sizes.set(String(row[by]), (sizes.get(String(row[by])) ?? 0) + 1);
      }
      const kept = [...sizes]
        .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
        .slice(0, top)
        .map(([name]) => name);
      const groups = sizes.size > kept.length ? [...kept, "other"] : kept;
      const size = LENGTHS[every];
      const wanted: Record<string, unknown>[] = [];
      for (let t = Math.floor(start / size) * size; t < end; t += size) {
        const own = inside.filter((row) => Math.floor(row.micros / 1000 / size) * size === t);
        for (const group of groups) {
          const messages = own.filter((row) => group === nameOf(row, by, kept)).length;
          const covered = (Math.min(t + size, end) - Math.max(t, start)) / MINUTE;
          wanted.push({ t: new Date(t), [by]: group, messages, per_minute: messages / covered });
        }
      }
      expect(found.rows()).toEqual(inside.length === 0 ? [] : wanted);
    }),
    { numRuns: 60, seed: 20260430 },
  );
}, 300_000);

function nameOf(row: LogRow, by: "identifier" | "host" | "priority", kept: readonly string[]) {
  return kept.includes(String(row[by])) ? String(row[by]) : "other";
}

describe("rates", () => {
  const one = {
    micros: EPOCH * 1000,
    identifier: "nginx",
    priority: 6,
    host: "api1",
    message: "a",
  };

  it("takes minutes, and the finest step that a chart holds for a longer range", async () => {
    await writeLogs(own.writer, [one]);
    await using lab = await open();
    const ask = async (days: number, by?: "identifier") =>
      (
        await lab.logs.rates({
          range: between(new Date(EPOCH), new Date(EPOCH + days * 1440 * MINUTE)),
          ...(by && { by }),
        })
      ).origin.columns.time?.every;
    expect(await ask(0.5)).toBe("minute");
    expect(await ask(3, "identifier")).toBe("hour");
    expect(await ask(60)).toBe("hour");
    const all = await lab.logs.rates({
      range: between(new Date(EPOCH), new Date(EPOCH + 4 * MINUTE)),
      every: "all",
    });
    expect(all.rows()).toEqual([{ messages: 1, per_minute: 0.25 }]);
    expect(all.origin.columns.time).toBeUndefined();
  });

  it("groups by any column of the table, and refuses others", async () => {
    await writeLogs(own.writer, [one]);
    await using lab = await open();
    const range = between(new Date(EPOCH), new Date(EPOCH + MINUTE));
    const found = await lab.logs.rates({ range, by: ["SYSLOG_IDENTIFIER", "host"] });
    const cells = { SYSLOG_IDENTIFIER: "nginx", host: "api1", messages: 1, per_minute: 1 };
    expect(found.rows()).toEqual([{ t: new Date(EPOCH), ...cells }]);
    await expect(lab.logs.rates({ range, by: "hosts" })).rejects.toThrow(/did you mean host\?/);
  });
});
