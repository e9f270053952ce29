import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProbelabError } from "../../../src/base/error.js";
import type { Notebook } from "../../../src/notebook/notebook-file.js";
import type { Run } from "../../../src/watch/schedule/history.js";
import { jitter, plan } from "../../../src/watch/schedule/plan.js";
import {
  periodAfter,
  periodAt,
  scheduleOf,
  type Schedule,
} from "../../../src/watch/schedule/schedule.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString();

const notebook = (source: string, metadata: object = {}) =>
  ({ metadata, cells: [{ cell_type: "code", source }] }) as unknown as Notebook;
const of = (schedule: object): Schedule => scheduleOf(notebook("", { probelab: { schedule } }))!;

describe("scheduleOf(notebook)", () => {
  test("takes the comment of the first code cell, or the metadata before it", () => {
    const comment = `import "probelab";\n// schedule: { "every": "30 minutes", "memory": "1.5 GB", "timeout": "2 h" }`;
    const read = { every: "30 minutes", zone: "UTC", memory: 1.5e9, timeout: 2 * HOUR };
    expect(scheduleOf(notebook(comment))).toEqual(read);
    const metadata = { probelab: { schedule: { cron: "0 6 * * 1", zone: "Europe/Berlin" } } };
    expect(scheduleOf(notebook(comment, metadata))).toEqual({
      ...{ cron: "0 6 * * 1", zone: "Europe/Berlin", memory: 1e9, timeout: 10 * MINUTE },
    });
    expect(scheduleOf(notebook("1 // every day"))).toBeUndefined();
  });

  test.each([
    ['// schedule: { every: "1 hour" }', /is no JSON/],
    ['// schedule: { "evry": "1 hour" }', /did you mean every/],
    ['// schedule: { "every": "5m" }', /m may be minutes or months/],
    ['// schedule: { "every": "20 seconds" }', /shortest period is a minute/],
    ['// schedule: { "every": "1 hour", "zone": "Europe/Berlin" }', /either every/],
    ['// schedule: { "cron": "0 6 * *" }', /five fields/],
    ['// schedule: { "cron": "* * * * * *" }', /five fields/],
    ['// schedule: { "cron": "0 6 30 2 *" }', /no day is ever such/],
    ['// schedule: { "cron": "0 6 * * 1", "zone": "Berlin" }', /zone: "Berlin"/],
    ['// schedule: { "every": "1 hour", "memory": 5 }', /a size, such as "1 GB"/],
    ['// schedule: { "every": "1 hour", "timeout": "soon" }', /a time, such as/],
    ['// schedule: { "every": "1 hour", "runbook": "javascript:1" }', /a whole address/],
    ["// schedule: null", /an object of options/],
    ["// schedule: 7", /an object of options/],
  ])("refuses %s", (source, why) => {
    expect(() => scheduleOf(notebook(source))).toThrow(ProbelabError);
    expect(() => scheduleOf(notebook(source))).toThrow(why);
  });
});

/** A schedule, and all starts of its periods between two instants by looking at each minute. */
interface Case {
  readonly schedule: Schedule;
  readonly starts: (from: number, to: number) => number[];
}

const known = new Map<string, number[]>();
/** Slow to find, and asked for again with each simulation. */
function once(name: string, from: number, to: number): number[] {
  const key = `${name} ${from} ${to}`;
  const found = known.get(key) ?? CASES[name]!.starts(from, to);
  known.set(key, found);
  return found;
}

function minutes(from: number, to: number, fits: (ms: number) => boolean): number[] {
  const found: number[] = [];
  for (let ms = Math.ceil(from / MINUTE) * MINUTE; ms < to; ms += MINUTE)
    if (fits(ms)) found.push(ms);
  return found;
}

const clock = new Intl.DateTimeFormat("en-GB", {
  ...{ timeZone: "Europe/Berlin", weekday: "short", hour: "2-digit", minute: "2-digit" },
});
/** Every day, the first minute at which Berlin's clocks show at least so much. */
function berlin(hour: number, minute: number, weekday?: string) {
  const wanted = hour * 60 + minute;
  const told = (ms: number) => {
    const [day = "", time = ""] = clock.format(ms).split(/,? /);
    const [hours = 0, rest = 0] = time.split(":").map(Number);
    return { day, shown: hours * 60 + rest };
  };
  const fits = (ms: number) => {
    const { day, shown } = told(ms);
    const before = told(ms - MINUTE);
    const passes = before.shown < wanted && shown >= wanted;
    // Clocks that are set back pass it twice.
    const twice = told(ms - HOUR).shown >= wanted && told(ms - HOUR).day === day;
    return passes && !twice && (weekday === undefined || day === weekday);
  };
  return (from: number, to: number) =>
    minutes(from, to, (ms) => ms % (30 * MINUTE) === 0 && fits(ms));
}

const CASES: Record<string, Case> = {
  "every 30 minutes": {
    schedule: of({ every: "30 minutes" }),
    starts: (from, to) => minutes(from, to, (ms) => ms % (30 * MINUTE) === 0),
  },
  "every 7 hours": {
    schedule: of({ every: "7 hours" }),
    starts: (from, to) => minutes(from, to, (ms) => ms % (7 * HOUR) === 0),
  },
  "every day": {
    schedule: of({ every: "1 day" }),
    starts: (from, to) => minutes(from, to, (ms) => ms % DAY === 0),
  },
  "every week": {
    schedule: of({ every: "week" }),
    starts: (from, to) =>
      minutes(from, to, (ms) => ms % DAY === 0 && new Date(ms).getUTCDay() === 1),
  },
  "0 6 * * 1 (Berlin)": {
    schedule: of({ cron: "0 6 * * 1", zone: "Europe/Berlin" }),
    starts: berlin(6, 0, "Mon"),
  },
  "30 2 * * * (Berlin)": {
    schedule: of({ cron: "30 2 * * *", zone: "Europe/Berlin" }),
    starts: berlin(2, 30),
  },
  "*/20 9-17 * * 1-5": {
    schedule: of({ cron: "*/20 9-17 * * 1-5" }),
    starts: (from, to) =>
      minutes(from, to, (ms) => {
        const date = new Date(ms);
        const [day, hour] = [date.getUTCDay(), date.getUTCHours()];
        return day >= 1 && day <= 5 && hour >= 9 && hour <= 17 && date.getUTCMinutes() % 20 === 0;
      }),
  },
};

// Berlin's clocks are set forward in the first four weeks, back in the second ones.
const BEGINS = [at("2026-03-10T07:13:20Z"), at("2026-10-05T11:47:00Z")];

describe.each(Object.entries(CASES))("%s", (name, { schedule, starts }) => {
  test.each(BEGINS)("has the periods that a calendar tells, from %s on", (begin) => {
    const expected = starts(begin, begin + 28 * DAY);
    const found: number[] = [];
    for (let next = periodAfter(schedule, begin); next! < begin + 28 * DAY;) {
      found.push(next!);
      next = periodAfter(schedule, next!);
    }
    expect(found.map(iso)).toEqual(expected.map(iso));
    for (const [index, start] of expected.entries()) {
      const end = expected[index + 1] ?? start + MINUTE;
      for (const inside of [start, start + 1, end - 1])
        expect(periodAt(schedule, inside)).toBe(start);
    }
  });

  /** Real time in ms from the beginning; what happens then. */
  const events = (jumps: fc.Arbitrary<number>) =>
    fc.record({
      begin: fc.constantFrom(...BEGINS),
      crashes: fc.array(fc.record({ when: fc.nat(27 * DAY), down: fc.nat(2 * DAY) }), {
        maxLength: 8,
      }),
      jumps: fc.array(fc.record({ when: fc.nat(27 * DAY), by: jumps }), { maxLength: 5 }),
      durations: fc.array(fc.oneof(fc.nat(5 * MINUTE), fc.nat(90 * MINUTE), fc.nat(30 * HOUR)), {
        minLength: 1,
        maxLength: 20,
      }),
      delay: fc.constantFrom(0, 17 * SECOND),
    });
  type Events = typeof events extends (one: never) => fc.Arbitrary<infer T> ? T : never;

  /**
   * Four weeks of a scheduler that sleeps, runs, crashes and comes back, by a clock that jumps.
   * Beside it, a ledger of periods: opened where the clock passes their start, closed by a run.
   */
  function simulate({ begin, crashes, jumps, durations, delay }: Events) {
    let offset = 0;
    let runs: Run[] = [];
    let running: { run: Run; until: number } | undefined;
    let open: number[] = [];
    let passed = begin - 1;
    const ended: { run: Run; accounted: number[] }[] = [];
    const all = once(name, begin - 10 * DAY, begin + 50 * DAY);
    const happenings = [
      ...crashes.flatMap(({ when, down }) => [{ when, what: "crash" as const, down }]),
      ...jumps.map(({ when, by }) => ({ when, what: "jump" as const, by })),
    ].sort((a, b) => a.when - b.when);
    let downUntil = 0;
    const wall = (real: number) => begin + real + offset;
    const pass = (to: number) => {
      if (to > passed) open.push(...all.filter((start) => start > passed && start <= to));
      passed = to;
      // One that never ran owes the period that it is in.
      if (ended.length === 0 && running === undefined) open = open.slice(-1);
    };
    const close = (run: Run) => {
      runs = [run, ...runs.filter(({ id }) => id !== run.id)];
      const cutOff = runs.filter((one) => one.state === "interrupted" && one.period === run.period);
      if (run.state === "interrupted" && cutOff.length < 2) return;
      const accounted = open.filter((start) => start <= at(run.period));
      open = open.filter((start) => start > at(run.period));
      ended.push({ run, accounted });
    };
    // The first run is of the period that it finds itself in.
    open.push(periodAt(schedule, begin)!);
    for (let real = 0; real < 30 * DAY;) {
      const next = happenings[0];
      while (happenings[0] !== undefined && happenings[0].when <= real) {
        const one = happenings.shift()!;
        pass(wall(real));
        if (one.what === "jump") offset += one.by;
        else if (real >= downUntil) {
          downUntil = real + one.down;
          if (running !== undefined) close({ ...running.run, state: "interrupted" });
          running = undefined;
        }
      }
      if (next !== undefined && next.when <= real) continue;
      pass(wall(real));
      if (running !== undefined && running.until <= real) {
        close({ ...running.run, state: "ok" });
        running = undefined;
      }
      const owed = plan(wall(real), schedule, runs, delay);
      const isUp = real >= downUntil;
      if (isUp && running === undefined && owed.period !== undefined && owed.at! <= wall(real)) {
        // The last two days are quiet.
        const length = real > 28 * DAY ? 1 : (durations[ended.length % durations.length] ?? 1);
        const run = {
          ...{ id: `${runs.length}`, state: "running", started: iso(wall(real)) },
          ...{ period: iso(owed.period), periods: owed.periods },
        } as Run;
        running = { run, until: real + length };
        runs = [run, ...runs];
      }
      const due = owed.at === undefined ? Infinity : real + Math.max(1, owed.at - wall(real));
      const waits = [due, running?.until ?? Infinity, happenings[0]?.when ?? Infinity];
      if (!isUp) waits[0] = downUntil;
      else if (running !== undefined) waits[0] = Infinity;
      real = Math.max(real + 1, Math.min(...waits, 30 * DAY));
    }
    pass(wall(30 * DAY));
    return { ended, open, wall: wall(30 * DAY), delay };
  }

  test("four weeks: every period has one run, its own or one that makes up for several", () => {
    fc.assert(
      fc.property(events(fc.nat(3 * DAY)), (given) => {
        const { ended, open, wall, delay } = simulate(given);
        for (const { run, accounted } of ended) {
          expect(accounted.length).toBeGreaterThan(0);
          expect(run.periods).toBe(accounted.length);
          expect(accounted.at(-1)).toBe(at(run.period));
        }
        // At most the period that has just begun.
        expect(open.filter((start) => start < wall - delay - 2)).toEqual([]);
      }),
      { seed: 14, numRuns: 8 },
    );
  });

  test("four weeks with a clock that is set back, too: no period is without a run", () => {
    fc.assert(
      fc.property(events(fc.integer({ min: -2 * DAY, max: 2 * DAY })), (given) => {
        const { ended, open, wall, delay } = simulate(given);
        expect(open.filter((start) => start < wall - delay - 2)).toEqual([]);
        // Runs follow each other; one is repeated only where the time was.
        for (const [index, { run }] of ended.entries()) {
          const before = ended[index - 1]?.run;
          if (before === undefined || at(run.period) > at(before.period)) continue;
          expect(at(run.started)).toBeLessThan(at(before.started) - 5 * MINUTE);
        }
      }),
      { seed: 15, numRuns: 8 },
    );
  });

  test("jitter is a notebook's own, and far shorter than its period", () => {
    const all = Array.from({ length: 50 }, (_, index) => jitter(`${name} ${index}`, schedule));
    expect(all).toEqual(
      Array.from({ length: 50 }, (_, index) => jitter(`${name} ${index}`, schedule)),
    );
    expect(new Set(all).size).toBeGreaterThan(40);
    expect(Math.max(...all)).toBeLessThanOrEqual(30 * SECOND);
  });
});

describe("plan(now, schedule, runs)", () => {
  const schedule = of({ every: "30 minutes" });
  const run = (started: string, state: Run["state"], period = started) =>
    ({ id: started, started: iso(at(started)), period: iso(at(period)), state }) as Run;
  const now = at("2026-11-02T10:10:00Z");

  test("a new notebook owes the period that it is in", () => {
    expect(plan(now, schedule, [])).toEqual({
      ...{ period: at("2026-11-02T10:00:00Z"), periods: 1, at: at("2026-11-02T10:00:00Z") },
    });
  });

  test("a run that was cut off is made once more, not a third time", () => {
    const first = run("2026-11-02T10:00:00Z", "interrupted");
    const second = run("2026-11-02T10:05:00Z", "interrupted", "2026-11-02T10:00:00Z");
    expect(plan(now, schedule, [first]).period).toBe(at("2026-11-02T10:00:00Z"));
    expect(plan(now, schedule, [second, first]).period).toBeUndefined();
    expect(plan(now + 30 * MINUTE, schedule, [second, first]).periods).toBe(1);
  });

  test("a clock that is set back by a little repeats nothing, by more what it repeats", () => {
    const runs = [run("2026-11-02T11:00:00Z", "ok"), run("2026-11-02T10:30:00Z", "ok")];
    expect(plan(at("2026-11-02T10:58:00Z"), schedule, runs).period).toBeUndefined();
    expect(plan(at("2026-11-02T10:40:00Z"), schedule, runs).period).toBeUndefined();
    expect(plan(at("2026-11-02T10:20:00Z"), schedule, runs).period).toBe(
      at("2026-11-02T10:00:00Z"),
    );
  });

  test("a schedule that was changed counts from the runs before", () => {
    const runs = [run("2026-11-02T10:00:00Z", "ok")];
    expect(plan(now, of({ every: "5 minutes" }), runs)).toMatchObject({ periods: 2 });
    expect(plan(now, of({ every: "week" }), runs)).toEqual({
      ...{ periods: 0, at: at("2026-11-09T00:00:00Z") },
    });
  });
});
