import fc from "fast-check";
import { expect, it } from "vitest";
import { HOUR, type Pass } from "../../src/snapshot/held.js";
import { current, missing } from "../../src/snapshot/passes.js";

/** Hours from 0 to 48; `at` too: an hour is read late enough from `at >= end + late` on. */
const passes = fc.array(
  fc.record({
    from: fc.integer({ min: 0, max: 40 }),
    length: fc.integer({ min: 1, max: 12 }),
    at: fc.nat(80),
  }),
  { maxLength: 8 },
);
const made = (all: readonly { from: number; length: number; at: number }[]): Pass[] =>
  all.map(({ from, length, at }, pass) => ({
    pass,
    start: new Date(from * HOUR),
    end: new Date((from + length) * HOUR),
    // No two at once.
    at: new Date(at * HOUR + pass),
  }));

it("current gives each hour to the pass that read it last", () => {
  fc.assert(
    fc.property(passes, (all) => {
      const given = made(all);
      const kept = current(given);
      for (let hour = 0; hour < 60; hour++) {
        const at = hour * HOUR;
        const covers = (one: Pass) => +one.start <= at && at < +one.end;
        const last = given.filter(covers).sort((a, b) => +b.at - +a.at)[0];
        expect(kept.filter(covers).map(({ pass }) => pass)).toEqual(last ? [last.pass] : []);
      }
    }),
    { seed: 15, numRuns: 300 },
  );
});

it("missing asks for the hours that none has read late enough after the pass's end", () => {
  fc.assert(
    fc.property(passes, fc.nat(30), fc.integer({ min: 1, max: 30 }), (all, start, length) => {
      const kept = current(made(all));
      const late = 6 * HOUR;
      const spans = missing(kept, [start * HOUR, (start + length) * HOUR], late);
      for (let hour = 0; hour < 70; hour++) {
        const at = hour * HOUR;
        const settled = kept.some(
          (one) => +one.start <= at && at < +one.end && +one.at >= +one.end + late,
        );
        const asked = spans.filter(([from, to]) => from <= at && at < to).length;
        expect(asked).toBe(hour >= start && hour < start + length && !settled ? 1 : 0);
      }
    }),
    { seed: 15, numRuns: 300 },
  );
});
