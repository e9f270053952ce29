import { describe, expect, test } from "vitest";
import { cuboid, total } from "../../src/change/cells/cube.js";
import { search, type Contrast } from "../../src/change/cells/scan.js";
import { seeded } from "../support/change/draws.js";

const SIZES = [6, 10, 4];
const many = SIZES.reduce((product, size) => product * size, 1);
const codes = SIZES.map((size, at) => {
  const step = SIZES.slice(at + 1).reduce((product, one) => product * one, 1);
  return Int32Array.from({ length: many }, (_, leaf) => Math.floor(leaf / step) % size);
});
const leaves = { sizes: SIZES, codes };

/** Two tables of counts as many times as scattered as Poisson counts; by leaf what is planted, and its weight. */
function tables(
  seed: number,
  dispersion: number,
  factor: (leaf: number) => number,
  weight: (leaf: number) => number = () => 1,
): Contrast {
  const draw = seeded(seed);
  const means = Float64Array.from(
    { length: many },
    (_, leaf) => 150 * weight(leaf) * Math.exp(0.8 * draw.normal()),
  );
  const drawn = (mean: number) => dispersion * draw.poisson(mean / dispersion);
  const before = means.map(drawn);
  const after = means.map((mean, leaf) => drawn(mean * factor(leaf)));
  const exposure = means.map((mean) => 2 * mean);
  return {
    leaves,
    after,
    before,
    exposureAfter: exposure,
    exposureBefore: exposure,
    users: cuboid(leaves, [0, 1, 2]),
    clusters: cuboid(leaves, [0, 1, 2]),
    isNarrow: false,
    isShare: false,
    isIndependent: false,
    usualDispersion: 3,
    tolerance: () => 0.05,
  };
}

const found = (given: Contrast) => search(() => given);
const seeds = (count: number) => [...Array(count).keys()];

describe("the search on seeded Poisson tables", () => {
  test.each([1, 5, 20])(
    "names nothing where nothing changed: size at most 1 in 100, at dispersion %i",
    (dispersion) => {
      const named = seeds(200).filter((seed) => {
        const { named, whole } = found(tables(seed, dispersion, () => 1));
        return named.length > 0 || whole?.isCertain === true;
      });
      expect(named.length).toBeLessThanOrEqual(2);
    },
  );

  test.each([
    [1, 0.7],
    [5, 0.4],
    [20, 0.1],
  ])("names a planted pair of values exactly: power, at dispersion %i", (dispersion, factor) => {
    const isPlanted = (leaf: number) => codes[0]![leaf] === 2 && codes[2]![leaf] === 1;
    const right = seeds(40).filter((seed) => {
      const given = tables(seed, dispersion, (leaf) => (isPlanted(leaf) ? factor : 1));
      const [first, ...others] = found(given).named;
      return first?.dims.join() === "0,2" && first.codes.join() === "2,1" && others.length === 0;
    });
    expect(right.length).toBeGreaterThanOrEqual(36);
  });

  test("tells a change of the whole from that of a value that holds most of it", () => {
    const isFirst = (leaf: number) => codes[2]![leaf] === 0;
    for (const seed of seeds(20)) {
      const alike = found(tables(seed, 5, () => 0.6));
      expect(alike.whole?.isCertain).toBe(true);
      expect(alike.named).toEqual([]);
      const weights = (leaf: number) => (isFirst(leaf) ? 10 : 1);
      const fell = (leaf: number) => (isFirst(leaf) ? 0.5 : 1);
      const most = found(tables(seed, 5, fell, weights));
      expect(most.whole).toBeUndefined();
      expect(most.named.map(({ dims, codes }) => [dims, codes])).toEqual([[[2], [0]]]);
    }
  });

  test.each([1, 5, 20])(
    "the interval of a planted change holds it in 95 of 100, at dispersion %i",
    (dispersion) => {
      const isPlanted = (leaf: number) => codes[1]![leaf] === 3;
      const holding = seeds(100).filter((seed) => {
        const given = tables(seed, dispersion, (leaf) => (isPlanted(leaf) ? 0.3 : 1));
        const own = [...codes[0]!.keys()].filter(isPlanted);
        const change = total(given.after, own) - total(given.before, own);
        const planted = -0.7 * 0.5 * total(given.exposureBefore, own);
        return Math.abs(change - planted) < 1.96 * Math.sqrt(found(given).variance(own));
      });
      expect(holding.length).toBeGreaterThanOrEqual(95);
    },
  );
});
