import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { prefix } from "../../src/query/prefix.js";
import { question, questionArguments } from "../../src/result/question.js";
import { between } from "../../src/time/time-range.js";

const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.string(),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constant(null),
    fc.date({ noInvalidDate: true, min: new Date("1970-01-01"), max: new Date("2100-01-01") }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("$time", "$$x", "$number")), tie("value"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));

describe("question(ask, arguments)", () => {
  test("gives the arguments back after a way through JSON, whatever they hold", () => {
    fc.assert(
      fc.property(fc.array(plain.value, { maxLength: 3 }), (given) => {
        const asked = question("query", given);
        const read = JSON.parse(JSON.stringify(asked)) as NonNullable<typeof asked>;
        expect(questionArguments(read)).toEqual(dropSignals(given));
      }),
      { numRuns: 400, seed: 5 },
    );
  });

  test("keeps a range with its zone, a prefix, and top: Infinity", () => {
    const options = {
      range: between("2026-03-01", "2026-04-01", { timeZone: "Europe/Rome" }),
      where: { software_version: [prefix("3.8"), "3.9.1"] },
      top: Infinity,
      signal: new AbortController().signal,
    };
    const asked = question("measurements.counts", [options]);
    const { signal, ...kept } = options;
    expect(signal.aborted).toBe(false);
    const read = JSON.parse(JSON.stringify(asked)) as NonNullable<typeof asked>;
    expect(questionArguments(read)).toEqual([kept]);
  });

  test("is undefined for what JSON can't hold", () => {
    expect(question("query", [() => 1])).toBeUndefined();
    expect(question("query", [{ deep: [new Map()] }])).toBeUndefined();
    expect(question("query", [new Date(NaN)])).toBeUndefined();
  });
});

/** A property `signal` is no part of a question. */
function dropSignals(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropSignals);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "signal")
      .map(([name, inner]) => [name, dropSignals(inner)]),
  );
}
