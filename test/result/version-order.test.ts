import fc from "fast-check";
import { expect, it } from "vitest";
import { compareVersions } from "../../src/result/version-order.js";

it("compareVersions(a, b) orders by component, letters before the end and before numbers", () => {
  const ordered = [
    "3.8-alpha",
    "3.8-beta",
    "3.8",
    "3.8.1",
    "3.9",
    "3.10",
    "3.10.0",
    "3.80",
    "4.0-rc1",
    "4.0",
    null,
  ];
  expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
});

it("compareVersions(a, b) compares numbers of any length exactly", () => {
  expect(compareVersions("1.9007199254740993", "1.9007199254740992")).toBeGreaterThan(0);
});

it("compareVersions(a, b) is a total order", () => {
  const version = fc.option(
    fc.stringMatching(/^[0-9]{1,3}(\.[0-9]{1,2}){0,2}(-(alpha|beta|rc)[0-9]?)?$/),
  );
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      }
      expect(compareVersions(a, b) === 0).toBe(a === b);
    }),
    { numRuns: 1000, seed: 5 },
  );
});
