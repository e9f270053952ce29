import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Database } from "../../../src/database/database.js";
import { last, type LogLine } from "../../../src/index.js";
import { follower } from "../../../src/sources/logs/follow.js";
import { withSignal } from "../../../src/base/current-signal.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, insertLogs, LOG_TIME_TYPES, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const LATENESS = 10_000;

/** What happens, in order: lines are stored, with an age in ms (below 0: their clock is ahead), time passes, a poll. */
const event = fc.oneof(
  fc.record({
    kind: fc.constant("store" as const),
    lines: fc.array(
      fc.record({
        age: fc.oneof(
          fc.constantFrom(0, 1, LATENESS - 1000),
          fc.integer({ min: -3000, max: LATENESS - 1000 }),
        ),
        message: fc.constantFrom("a", "b"),
        identifier: fc.constantFrom("nginx", "sshd"),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 15_000 }) }),
  fc.record({ kind: fc.constant("poll" as const) }),
);

const text = (row: Pick<LogLine, "identifier" | "message"> & { ms: number }) =>
  `${row.ms} ${row.identifier} ${row.message}`;

it("a follower gives each line once, however late within the lateness, shared times and twins included", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 5, maxLength: 25 }),
      fc.constantFrom(...LOG_TIME_TYPES),
      fc.boolean(),
      async (events, time, filtered) => {
        await writeLogs(own.writer, [], time.type);
        await using database = await Database.open(own.source);
        let present = EPOCH;
        const poll = follower(database, {
          filter: filtered ? { identifier: "nginx" } : {},
          since: new Date(EPOCH),
          lateness: LATENESS,
          now: () => new Date(present),
        });
        const stored: LogRow[] = [];
        const given: LogLine[] = [];
        for (const happening of [...events, { kind: "poll" as const }]) {
          if (happening.kind === "pass") present += happening.ms;
          if (happening.kind === "poll") given.push(...(await poll()));
          if (happening.kind === "store") {
            const rows = happening.lines.map(({ age, ...rest }) => ({
              ...rest,
              micros: Math.floor(((present - age) * 1000) / time.step) * time.step,
              priority: 6,
              host: "api1",
            }));
            await insertLogs(own.writer, rows, time.type);
            stored.push(...rows);
          }
        }
        const wanted = stored.filter(
          (row) => row.micros >= EPOCH * 1000 && (!filtered || row.identifier === "nginx"),
        );
        expect(given.map((line) => text({ ...line, ms: line.t.getTime() })).sort()).toEqual(
          wanted.map((row) => text({ ...row, ms: Math.floor(row.micros / 1000) })).sort(),
        );
      },
    ),
    { numRuns: 30, seed: 11 },
  );
}, 300_000);

describe("lab.logs.follow", () => {
  it("gives what is written while it runs, masked when asked, and ends when interrupted", async () => {
    await writeLogs(own.writer, []);
    await using lab = await own.open();
    const interrupt = new AbortController();
    const since = new Date();
    const following = lab.logs.follow({
      since,
      every: "1 second",
      mask: true,
      matches: "^n\\d+ ",
      signal: interrupt.signal,
    });
    const WANTED = 90;
    const writing = (async () => {
      for (let batch = 0; batch < 9; batch++) {
        // Every line of a batch has the same time, and every third batch an earlier one.
        const micros = (Date.now() + (batch % 3 === 2 ? -2000 : 0)) * 1000;
        const rows = Array.from({ length: 10 }, (_, index) => ({
          micros: Math.max(micros, since.getTime() * 1000),
          identifier: "nginx",
          priority: 6,
          host: "api1",
          message: `n${batch * 10 + index} from 203.0.113.9`,
        }));
        await insertLogs(own.writer, rows);
      }
    })();
    const seen: string[] = [];
    for await (const line of following) {
      seen.push(line.message);
      if (seen.length === WANTED) break;
    }
    await writing;
    expect([...seen].sort()).toEqual(
      Array.from({ length: WANTED }, (_, index) => `n${index} from [IPv4]`).sort(),
    );
    const again = lab.logs.follow({ since: new Date(), signal: interrupt.signal });
    const ended = again.next();
    interrupt.abort();
    expect(await ended).toEqual({ done: true, value: undefined });
  });

  it("ends with the interrupt of the cell that began it, also while it waits", async () => {
    await writeLogs(own.writer, []);
    await using lab = await own.open();
    const cell = new AbortController();
    const following = withSignal(cell.signal, () => lab.logs.follow({ every: "1 hour" }));
    const ended = following.next();
    await lab.logs.rates({ range: last("1 minute") });
    cell.abort();
    expect(await ended).toEqual({ done: true, value: undefined });
  });

  it("refuses what can't be meant before it asks", async () => {
    await using lab = await own.open();
    expect(() => lab.logs.follow({ every: "often" })).toThrow(/Can't read the duration "often"/);
    expect(() => lab.logs.follow({ since: "now" as unknown as Date })).toThrow(/no Date/);
    await expect(lab.logs.follow({ priority: 9 }).next()).rejects.toThrow(/priority 9/);
  });
});
