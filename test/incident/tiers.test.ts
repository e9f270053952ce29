import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { tiers, type TierOptions } from "../../src/index.js";

type Components = TierOptions["components"];
type Rest = Omit<TierOptions, "components">;

/** `rule component` of each breach. */
const broken = (components: Components, rest: Rest = {}): string[] =>
  tiers({ components, ...rest }).breaches.map(({ rule, component }) => `${rule} ${component}`);

const sentences = (components: Components, rest: Rest = {}): string[] =>
  tiers({ components, ...rest }).breaches.map(({ sentence }) => sentence);

describe("rule 1", () => {
  test("a component that can cause more than its tier says", () => {
    expect(sentences({ db: { tier: 3, causes: 1 } })).toEqual([
      `"db" (tier 3) can cause severity 1: put it in tier 1.`,
    ]);
    expect(broken({ db: { tier: 1, causes: 1 } })).toEqual([]);
  });
});

test("rule 3: every stage but the last has tier 5 and up", () => {
  const components = {
    a: { tier: 4, stage: "test" },
    b: { tier: 4, stage: "staging" },
    c: { tier: 5, stage: "staging" },
    d: { tier: 4 },
  };
  const stages = ["test", "staging", "production"];
  expect(broken(components, { stages })).toEqual(["3 a", "3 b"]);
});

describe("rule 6", () => {
  test("no hard dependency on a higher tier number", () => {
    expect(sentences({ api: { tier: 1, hard: ["cache"] }, cache: { tier: 3 } })).toEqual([
      `"api" (tier 1) hard-depends on "cache" (tier 3), a higher tier number: put "cache" in tier 1, or make the dependency soft.`,
    ]);
  });

  test("a component is reclassified to the lowest tier that it hard-depends on", () => {
    const components = {
      a: { tier: 4, hard: ["b", "c"] },
      b: { tier: 4, hard: ["c"] },
      c: { tier: 2, hard: ["d"] },
      d: { tier: 1 },
    };
    expect(sentences(components)).toEqual([
      `"a" (tier 4) hard-depends on "c" (tier 2): reclassify "a" to tier 2 at once.`,
      `"b" (tier 4) hard-depends on "c" (tier 2): reclassify "b" to tier 2 at once.`,
      `"c" (tier 2) hard-depends on "d" (tier 1): reclassify "c" to tier 1 at once.`,
    ]);
  });

  test("not where rule 3 forbids that tier", () => {
    const components = { copy: { tier: 5, stage: "staging", hard: ["db"] }, db: { tier: 1 } };
    expect(sentences(components)[0]).toMatch(
      /make the dependency soft, or use a copy at "staging"/,
    );
  });

  test("soft dependencies, the same tier and cycles within a tier are allowed", () => {
    const components = {
      a: { tier: 2, hard: ["b"], soft: ["mon", "db"] },
      b: { tier: 2, hard: ["a"] },
      mon: { tier: 4 },
      db: { tier: 1 },
    };
    expect(broken(components)).toEqual([]);
  });

  test("reviewed again after each change, a long chain ends in the lowest tier", () => {
    const components: Record<string, { tier: number; hard: string[] }> = {};
    for (let at = 0; at < 50; at++) {
      components[`c${at}`] = { tier: at === 0 ? 1 : 4, hard: at === 0 ? [] : [`c${at - 1}`] };
    }
    let { breaches } = tiers({ components });
    for (; breaches.length > 0; { breaches } = tiers({ components })) {
      for (const { component, sentence } of breaches) {
        components[component]!.tier = Number(/reclassify .* to tier (\d)/.exec(sentence)?.[1]);
      }
    }
    expect(Object.values(components).every(({ tier }) => tier === 1)).toBe(true);
  });
});

test("rule 7: no dependency on, and no data from, a lower stage; the reverse is allowed", () => {
  const copy = { tier: 5, stage: "staging" };
  for (const relation of ["hard", "soft", "receives"]) {
    expect(broken({ live: { tier: 5, [relation]: ["copy"] }, copy })).toEqual(["7 live"]);
  }
  expect(
    broken({ live: { tier: 5 }, copy: { ...copy, soft: ["live"], receives: ["live"] } }),
  ).toEqual([]);
  expect(sentences({ live: { tier: 5, receives: ["copy"] }, copy })).toEqual([
    `"live" (tier 5) at the stage "production" receives data from "copy" at the lower stage "staging": use a component at "production" or above.`,
  ]);
});

describe("rule 8", () => {
  test("failover machinery and balancers: the tier of the service, or a lower number", () => {
    const components = (tier: number) => ({ api: { tier: 2 }, lb: { tier, protects: ["api"] } });
    expect(sentences(components(3))).toEqual([
      `"lb" (tier 3) protects "api" (tier 2): put it in tier 2 or lower.`,
    ]);
    expect([...broken(components(2)), ...broken(components(1))]).toEqual([]);
  });

  test("both members of a pair share the tier of the service", () => {
    const db = { tier: 2, pair: ["one", "two"] };
    expect(broken({ db, one: { tier: 1 }, two: { tier: 3 } })).toEqual(["8 one", "8 two"]);
    expect(broken({ db, one: { tier: 2 }, two: { tier: 2 } })).toEqual([]);
  });
});

describe("rule 9", () => {
  const hosts = { one: { tier: 3 }, two: { tier: 4 } };
  const lb = { tier: 1, protects: ["helpers"] };
  const helpers = { tier: 2, members: ["one", "two"], testHelpers: true, reliable: true };

  test("the test helper service is at least tier 2 as a whole, another may be of any tier", () => {
    expect(broken({ helpers, lb, ...hosts })).toEqual([]);
    expect(broken({ helpers: { ...helpers, tier: 1 }, lb, ...hosts })).toEqual([]);
    expect(broken({ helpers: { ...helpers, tier: 3 }, lb, ...hosts })).toEqual(["9 helpers"]);
    const other = { ...helpers, tier: 4, testHelpers: false };
    expect(broken({ helpers: other, lb, ...hosts })).toEqual([]);
  });

  test("members in tier 3 or 4 need a reliable balancer, and tier 5 is too high", () => {
    expect(broken({ helpers, ...hosts })).toEqual(["9 one", "9 two"]);
    const unreliable = { ...helpers, reliable: false };
    expect(broken({ helpers: unreliable, lb, ...hosts })).toEqual(["9 one", "9 two"]);
    expect(broken({ helpers, lb, ...hosts, one: { tier: 5 } })).toEqual(["9 one"]);
  });
});

test("demands are the table of 1.4", () => {
  const table = [1, 2, 3, 4, 5].map((tier) =>
    Object.values(tiers.demands(tier) ?? {})
      .map((demanded) => (demanded ? "y" : "n"))
      .join(""),
  );
  expect(table).toEqual(["yyyy", "yynn", "nynn", "nnnn", ""]);
});

test("every rule of 1.3 is there", () => {
  expect(tiers.rules.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(tiers.rules[5]?.text).toMatch(
    /^A component may hard-depend only on components of the same/,
  );
});

test("a cell shows the review, whatever names components have", () => {
  const components = JSON.parse(
    '{"__proto__":{"tier":4},"a\\nb":{"tier":3,"hard":["db"]},"db":{"tier":1}}',
  ) as Components;
  expect(inspect(tiers({ components }))).toBe(`3 components, 1 rule broken in 1 place
  Rule 6: "a b" (tier 3) hard-depends on "db" (tier 1): reclassify "a b" to tier 1 at once.`);
});

test.each([
  [{}, /^Can't review tiers without components: pass/],
  [{ components: [] }, /^Can't review tiers with components: \[\]: pass an object/],
  [{ component: {} }, /with the option "component": did you mean components\?/],
  [{ components: { a: {} } }, /^Can't review the component "a" without a tier: pass 1 to 4/],
  [{ components: { a: { tier: "2" } } }, /with tier: "2": pass 1 to 4 by the highest/],
  [{ components: { a: { tier: 1, causes: 5 } } }, /with causes: 5: pass the highest severity/],
  [{ components: { a: { tier: 1, hard: "b" } } }, /with hard: "b": pass a list of components'/],
  [{ components: { abc: { tier: 1, hard: ["abd"] } } }, /"abd", which is no component. Did you/],
  [{ components: { a: { tier: 1, stage: "live" } } }, /at the stage "live": pass one of "staging"/],
  [{ components: {}, stages: ["x", "x"] }, /with stages: \["x","x"\]: pass different names/],
])("tiers(%j) is refused", (options, message) => {
  expect(() => tiers(options as TierOptions)).toThrow(message);
});
