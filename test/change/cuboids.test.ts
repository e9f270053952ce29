import { expect, test } from "vitest";
import { countCauses } from "../../src/change/count-causes.js";
import { cuboidsOf, elementOf, sumsBy, takeOut } from "../../src/change/cuboids.js";
import { rateCauses } from "../../src/change/rate-causes.js";
import { cellsOf, seeded, service } from "./cells-given.js";

const NAMES = ["a", "b", "c", "d"];

test("cuboids group leaves as their values do, for every combination of dimensions", () => {
  const draw = seeded(1);
  const rows = service(1, NAMES, [3, 4, 2, 5]).filter(() => draw.uniform() < 0.6);
  const { leaves } = cellsOf(NAMES, rows);
  const cuboids = cuboidsOf(leaves);
  expect(cuboids).toHaveLength(15);
  const groupsOf = (at: number): number[] => {
    const { finer, parts } = cuboids[at]!;
    const joined = finer === undefined ? [...rows.keys()] : groupsOf(finer);
    return joined.map((one) => parts[one]!);
  };
  for (const [at, cuboid] of cuboids.entries()) {
    const group = groupsOf(at);
    const keys = rows.map(({ values }) => cuboid.dimensions.map((at) => values[at]).join("|"));
    expect(cuboid.groups).toBe(new Set(keys).size);
    const groupOf = new Map<string, number>();
    keys.forEach((key, leaf) => {
      const known = groupOf.get(key) ?? group[leaf]!;
      groupOf.set(key, known);
      expect(group[leaf]).toBe(known);
    });
    for (let one = 0; one < cuboid.groups; one += 1) {
      const { dimensions, values } = elementOf(leaves, cuboid, one);
      const leaf = group.indexOf(one);
      expect(values).toEqual(dimensions.map((at) => leaves.codes[at]![leaf]));
    }
  }
});

test("sums by cuboid are those of the leaves that are left", () => {
  const draw = seeded(3);
  const rows = service(3, NAMES, [3, 4, 2, 5]).filter(() => draw.uniform() < 0.6);
  const { leaves, after } = cellsOf(NAMES, rows);
  const cuboids = cuboidsOf(leaves);
  const out = Uint8Array.from(rows, () => Number(draw.uniform() < 0.3));
  const sums = sumsBy(cuboids, after);
  takeOut(
    cuboids,
    sums,
    after,
    [...out.keys()].filter((leaf) => out[leaf] === 1),
  );
  expect(sumsBy(cuboids, after, { out })).toEqual(sums);
  for (const [at, cuboid] of cuboids.entries()) {
    for (let one = 0; one < cuboid.groups; one += 1) {
      const { dimensions, values } = elementOf(leaves, cuboid, one);
      const own = rows.filter(
        (_, leaf) =>
          out[leaf] === 0 && dimensions.every((of, k) => leaves.codes[of]![leaf] === values[k]),
      );
      expect(sums[at]![one]).toBe(own.reduce((sum, row) => sum + row.after, 0));
    }
  }
  expect(sumsBy(cuboids, after, { out, many: 4 })).toEqual(sums.slice(0, 4));
});

test("single dimensions come first, and a leaf alone is all combinations", () => {
  const { leaves } = cellsOf(NAMES, service(2, NAMES, [1, 1, 1, 1]));
  const cuboids = cuboidsOf(leaves);
  const orders = cuboids.map(({ dimensions }) => dimensions.length);
  expect(orders).toEqual([...orders].sort());
  expect(cuboids.every(({ groups }) => groups === 1)).toBe(true);
});

test("causes of a count share no leaf, and are those that hold their element's leaves", () => {
  for (let seed = 0; seed < 10; seed += 1) {
    const rows = service(seed, NAMES, [4, 5, 3, 4], ([a, b, c]) =>
      a === "a1" ? 0.3 : b === "b2" && c === "c3" ? 3 : 1,
    );
    const cells = cellsOf(NAMES, rows);
    const { causes } = countCauses({
      ...cells.leaves,
      ...{ before: cells.before, after: cells.after, ratio: 1 },
    });
    const named = causes.map(({ dimensions, values }) =>
      dimensions.map((at, k) => cells.values[at]![values[k]!]!).join(" "),
    );
    expect(named).toEqual(expect.arrayContaining(["a1", "b2 c3"]));
    const all = causes.flatMap(({ leaves }) => leaves);
    expect(new Set(all).size).toBe(all.length);
    for (const { dimensions, values, leaves } of causes) {
      for (const leaf of leaves) {
        expect(dimensions.map((at) => cells.leaves.codes[at]![leaf])).toEqual(values);
      }
    }
  }
});

test("causes of a share share no leaf, and hold what they have beyond their own rate", () => {
  const draw = seeded(5);
  const rows = service(3, NAMES, [4, 5, 3, 4]).map((row) => ({
    ...row,
    partBefore: Math.min(row.before, draw.count(row.before * 0.1)),
    partAfter: Math.min(row.after, draw.count(row.after * (row.values[1] === "b4" ? 0.5 : 0.1))),
  }));
  const cells = cellsOf(NAMES, rows, "rate");
  const causes = rateCauses({
    ...cells.leaves,
    ...{ allBefore: cells.before, allAfter: cells.after },
    ...{ partBefore: cells.partBefore, partAfter: cells.partAfter },
  });
  expect(causes).toHaveLength(1);
  const [{ dimensions, values, leaves, excess }] = causes as [(typeof causes)[0]];
  expect(dimensions.map((at, k) => cells.values[at]![values[k]!])).toEqual(["b4"]);
  const sum = (list: Float64Array) => leaves.reduce((all, leaf) => all + list[leaf]!, 0);
  const own = sum(cells.partBefore) / sum(cells.before);
  expect(excess / (sum(cells.partAfter) - sum(cells.after) * own)).toBeCloseTo(1, 2);
});
