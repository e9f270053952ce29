import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testLists } from "../../../src/index.js";

const entries = (urls: readonly string[]) => urls.map((url) => ({ url }));

describe("testLists.churn(before, after)", () => {
  it("is the symmetric difference as a percentage of the union", () => {
    // 2 in common, 1 out, 2 in: 3 of 5
    expect(testLists.churn(entries(["a", "b", "c"]), entries(["c", "b", "d", "e"]))).toBe(60);
    expect(testLists.churn(entries(["a", "b"]), entries(["b", "a"]))).toBe(0);
    expect(testLists.churn(entries(["a"]), entries(["b"]))).toBe(100);
    expect(testLists.churn(entries([]), entries(["b"]))).toBe(100);
  });

  it("looks at the first 100 entries only, a URL twice among them counting once", () => {
    const long = Array.from({ length: 150 }, (_, index) => `u${index}`);
    const other = [...long.slice(0, 100), "x", "y"];
    expect(testLists.churn(entries(long), entries(other))).toBe(0);
    const last = [...long.slice(0, 99), "x"];
    expect(testLists.churn(entries(long), entries(last))).toBeCloseTo(200 / 101, 12);
    expect(testLists.churn(entries(["a", "a"]), entries(["a", "b"]))).toBe(50);
  });

  it("has no percentage of nothing", () => {
    expect(testLists.churn(entries([]), entries([]))).toBeNull();
  });

  it("agrees with a plain count, is symmetric and lies within 0 and 100", () => {
    const list = fc.array(fc.integer({ min: 0, max: 150 }).map(String), { maxLength: 130 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const churn = testLists.churn(entries(before), entries(after));
        let [either, one] = [0, 0];
        for (let url = 0; url <= 150; url++) {
          const old = before.slice(0, 100).includes(String(url));
          const now = after.slice(0, 100).includes(String(url));
          if (old || now) either++;
          if (old !== now) one++;
        }
        if (either === 0) expect(churn).toBeNull();
        else expect(churn).toBeCloseTo((one / either) * 100, 10);
        expect(testLists.churn(entries(after), entries(before))).toBe(churn);
      }),
      { seed: 1, numRuns: 300 },
    );
  });
});

describe("testLists.changes(before, after)", () => {
  it("names what came in and what went out", () => {
    expect(testLists.changes(entries(["a", "b"]), entries(["c", "b"]))).toEqual({
      added: ["c"],
      removed: ["a"],
      union: 3,
    });
  });
});
