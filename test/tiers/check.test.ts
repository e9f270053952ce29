import { describe, expect, test } from "vitest";
import { tiers } from "../../src/tiers/tiers.js";

type Parts = Record<string, unknown>;

const check = (components: Parts, rest: Parts = {}) =>
  tiers.graph({ components, ...rest }, { name: "g" }).check();

const broken = (components: Parts, rest: Parts = {}) =>
  check(components, rest).broken.map(
    ({ rule, path, written, resulting }) =>
      `${rule} ${path.join(">")}${written ? "" : " only then"}${resulting ? "" : " no more then"}`,
  );

const moved = (components: Parts, rest: Parts = {}) =>
  check(components, rest).reclassify.map(
    ({ from, to, because, rules }) => `${because.join(">")} ${from}-${to} rule ${rules.join("+")}`,
  );

describe("rule 6, as its two sentences stand", () => {
  test("a hard dependency on a higher number is broken, and reclassifies nobody", () => {
    const graph = { api: { tier: 1, hard: "cache" }, cache: { tier: 3 } };
    expect(broken(graph)).toEqual(["6 api>cache"]);
    expect(moved(graph)).toEqual([]);
    const [first] = check(graph).broken;
    expect(first?.message).toBe(
      `"api" (tier 1) hard-depends on "cache" (tier 3), a higher tier number.`,
    );
    expect(first?.remedy).toMatch(/^Put "cache" in tier 1, .* or make the dependency soft\.$/);
  });

  test("one on a lower number is allowed, and reclassifies at once", () => {
    const graph = { api: { tier: 3, hard: ["db"] }, db: { tier: 1 } };
    expect(broken(graph)).toEqual([]);
    expect(moved(graph)).toEqual(["api>db 3-1 rule 6"]);
  });

  test("one on the same number does neither", () => {
    const graph = { api: { tier: 2, hard: ["db"] }, db: { tier: 2 } };
    expect([...broken(graph), ...moved(graph)]).toEqual([]);
  });

  test("a soft dependency does neither", () => {
    const graph = {
      api: { tier: 3, soft: ["db", "mon"] },
      db: { tier: 1 },
      mon: { tier: 4 },
    };
    expect([...broken(graph), ...moved(graph)]).toEqual([]);
  });

  test("the reclassification goes on along a chain, in whatever order it is written", () => {
    const graph = {
      c: { tier: 2, hard: ["d"] },
      a: { tier: 4, hard: ["b"] },
      b: { tier: 3, hard: ["c"] },
      d: { tier: 1 },
    };
    expect(moved(graph)).toEqual(["a>b>c>d 4-1 rule 6", "b>c>d 3-1 rule 6", "c>d 2-1 rule 6"]);
  });

  test("it breaks rule 6 for another dependency, and heals one", () => {
    const graph = {
      top: { tier: 1, hard: ["api"] },
      api: { tier: 3, hard: ["db", "cache"] },
      db: { tier: 1 },
      cache: { tier: 3 },
    };
    expect(moved(graph)).toEqual(["api>db 3-1 rule 6"]);
    expect(broken(graph)).toEqual(["6 api>cache only then", "6 top>api no more then"]);
  });

  test("the shortest path is told, the first by name among equals", () => {
    const graph = {
      a: { tier: 4, hard: ["long", "z", "m"] },
      long: { tier: 4, hard: ["z"] },
      m: { tier: 4, hard: ["db"] },
      z: { tier: 4, hard: ["db"] },
      db: { tier: 1 },
    };
    expect(moved(graph)[0]).toBe("a>m>db 4-1 rule 6");
  });

  test("also where the equal paths end at different components", () => {
    const graph = {
      a: { tier: 4, hard: ["x", "z"] },
      x: { tier: 4, hard: ["db2"] },
      z: { tier: 4, hard: ["db1"] },
      db1: { tier: 1 },
      db2: { tier: 1 },
    };
    expect(moved(graph)[0]).toBe("a>x>db2 4-1 rule 6");
  });

  test("a chain of 2,000 components is settled", () => {
    const name = (at: number) => `c${String(at).padStart(4, "0")}`;
    const components = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [
        name(at),
        { tier: at === 1_999 ? 1 : 4, hard: at === 1_999 ? [] : [name(at + 1)] },
      ]),
    );
    const report = check(components);
    expect(report.reclassify).toHaveLength(1_999);
    expect(report.reclassify[0]?.because).toHaveLength(2_000);
    expect(String(report).length).toBeLessThan(40_000);
  });
});

describe("rule 1", () => {
  test("a tier number above the severity that a component can cause is broken, and lowered", () => {
    const graph = { db: { tier: 3, causes: 1 } };
    expect(broken(graph)).toEqual(["1 db no more then"]);
    expect(moved(graph)).toEqual(["db 3-1 rule 1"]);
  });

  test("what a component's outage takes down counts, however far", () => {
    const graph = {
      front: { tier: 1, causes: 1, hard: ["api"] },
      api: { tier: 1, hard: ["disk"] },
      disk: { tier: 4 },
    };
    expect(broken(graph)).toEqual(["1 front>api>disk no more then", "6 api>disk no more then"]);
    expect(moved(graph)).toEqual(["disk>api>front 4-1 rule 1"]);
  });

  test("a number below it is broken where nothing else asks for it", () => {
    expect(broken({ mon: { tier: 1, causes: 3 } })).toEqual(["1 mon"]);
    expect(broken({ mon: { tier: 1, causes: 3, hard: ["db"] }, db: { tier: 1 } })).toEqual([]);
    expect(broken({ mon: { tier: 1, causes: 3 }, api: { tier: 1, hard: ["mon"] } })).toEqual([]);
  });
});

describe("rule 3", () => {
  test("all stages but the last have tier 5 and up", () => {
    const stages = ["test", "staging", "production"];
    const graph = {
      a: { tier: 4, stage: "test" },
      b: { tier: 4, stage: "staging" },
      c: { tier: 5, stage: "staging" },
      d: { tier: 4 },
      e: { tier: 6, stage: "test" },
    };
    expect(broken(graph, { stages })).toEqual(["3 a", "3 b"]);
  });

  test("a hard dependency on production reclassifies, which breaks rule 3: its path is told", () => {
    const graph = {
      copy: { tier: 5, stage: "staging", hard: ["proxy"] },
      proxy: { tier: 5, stage: "staging", hard: ["db"] },
      db: { tier: 1 },
    };
    expect(moved(graph)).toEqual(["copy>proxy>db 5-1 rule 6", "proxy>db 5-1 rule 6"]);
    expect(broken(graph)).toEqual(["3 copy>proxy>db only then", "3 proxy>db only then"]);
  });
});

test("rule 5: a dependency that is both hard and soft is told, and counts as hard", () => {
  const graph = { api: { tier: 2, hard: ["db"], soft: ["db"] }, db: { tier: 1 } };
  expect(broken(graph)).toEqual(["5 api>db"]);
  expect(moved(graph)).toEqual(["api>db 2-1 rule 6"]);
});

describe("rule 7", () => {
  const staging = { tier: 5, stage: "staging" };
  test("no dependency on, and no data from, a lower stage", () => {
    for (const relation of ["hard", "soft", "receives"]) {
      const graph = { live: { tier: 5, [relation]: ["copy"] }, copy: staging };
      expect(broken(graph)).toEqual(["7 live>copy"]);
    }
  });

  test("each way is told by itself", () => {
    const graph = { live: { tier: 5, soft: ["copy"], receives: ["copy"] }, copy: staging };
    const messages = check(graph).broken.map(({ message }) => message);
    expect(messages).toEqual([
      `"live" at the stage "production" receives data from "copy" at the lower stage "staging".`,
      `"live" at the stage "production" soft-depends on "copy" at the lower stage "staging".`,
    ]);
  });

  test("the reverse is allowed", () => {
    const graph = { live: { tier: 5 }, copy: { ...staging, soft: ["live"], receives: ["live"] } };
    expect(broken(graph)).toEqual([]);
  });
});

describe("rule 8", () => {
  test("failover machinery: the same tier or a lower number", () => {
    const failover = [{ machinery: "switch", protects: "api" }];
    const graph = (tier: number) => ({ api: { tier: 2 }, switch: { tier } });
    expect([...broken(graph(2), { failover }), ...broken(graph(1), { failover })]).toEqual([]);
    expect(broken(graph(3), { failover })).toEqual(["8 switch>api no more then"]);
    expect(moved(graph(3), { failover })).toEqual(["switch>api 3-2 rule 8"]);
  });

  test("both members of a pair share the service's tier; one below it is told, none is raised", () => {
    const pairs = [{ service: "db", active: "one", standby: "two" }];
    const graph = { db: { tier: 2 }, one: { tier: 1 }, two: { tier: 3 } };
    expect(moved(graph, { pairs })).toEqual(["two>db 3-2 rule 8"]);
    expect(broken(graph, { pairs })).toEqual(["8 one>db", "8 two>db no more then"]);
  });

  test("a balancer is failover machinery of its service, said to be reliable or not, written twice or not", () => {
    const graph = (tier: number) => ({ svc: { tier: 2 }, a: { tier: 2 }, lb: { tier } });
    const failover = [{ machinery: "lb", protects: "svc" }];
    for (const testHelpers of [true, false]) {
      for (const reliable of [true, false]) {
        const group = { service: "svc", members: ["a"], balancer: "lb", reliable, testHelpers };
        const redundancy = [group];
        for (const rest of [{ redundancy }, { redundancy, failover }]) {
          expect(broken(graph(4), rest)).toEqual(["8 lb>svc no more then"]);
          expect(moved(graph(4), rest)).toEqual(["lb>svc 4-2 rule 8"]);
          expect([...broken(graph(2), rest), ...broken(graph(1), rest)]).toEqual([]);
        }
      }
    }
    const redundancy = [{ service: "svc", members: ["a"], balancer: "lb" }];
    expect(check(graph(4), { redundancy }).broken[0]?.message).toBe(
      `"lb" (tier 4) protects "svc" (tier 2), which has a lower tier number.`,
    );
    // Rule 8 allows the lower number, so that it needs no other reason.
    expect(broken({ ...graph(1), lb: { tier: 1, causes: 3 } }, { redundancy })).toEqual([]);
  });

  test("a service that is reclassified takes its machinery and its pair along", () => {
    const graph = {
      api: { tier: 3, hard: ["db"] },
      db: { tier: 1 },
      switch: { tier: 3, hard: ["dns"] },
      dns: { tier: 2 },
      one: { tier: 3 },
      two: { tier: 3 },
    };
    const rest = {
      failover: [{ machinery: "switch", protects: "api" }],
      pairs: [{ service: "api", active: "one", standby: "two" }],
    };
    expect(moved(graph, rest)).toEqual([
      "api>db 3-1 rule 6",
      "one>api>db 3-1 rule 8+6",
      "switch>api>db 3-1 rule 8+6",
      "two>api>db 3-1 rule 8+6",
    ]);
    expect(broken(graph, rest)).toEqual(["6 switch>dns only then"]);
  });
});

describe("rule 9", () => {
  const members = { one: { tier: 3 }, two: { tier: 4 } };
  const group = { service: "helpers", members: ["one", "two"], testHelpers: true };

  test("the test helper service is at least tier 2 as a whole", () => {
    const redundancy = [{ ...group, balancer: "lb", reliable: true }];
    const graph = (tier: number) => ({ helpers: { tier }, lb: { tier: 2 }, ...members });
    expect(broken(graph(2), { redundancy })).toEqual([]);
    expect(broken({ ...graph(1), lb: { tier: 1 } }, { redundancy })).toEqual([]);
    expect(broken(graph(1), { redundancy })).toEqual(["8 lb>helpers no more then"]);
    expect(broken(graph(3), { redundancy })).toEqual(["9 helpers no more then"]);
    expect(moved(graph(3), { redundancy })).toEqual(["helpers 3-2 rule 9"]);
  });

  test("another redundant service may be of any tier", () => {
    const redundancy = [{ ...group, testHelpers: false }];
    expect(broken({ helpers: { tier: 4 }, ...members }, { redundancy })).toEqual([]);
  });

  test("members in tier 3 or 4 need a balancer that is said to be reliable", () => {
    const graph = { helpers: { tier: 2 }, lb: { tier: 2 }, ...members };
    const both = ["9 helpers>one", "9 helpers>two"];
    expect(broken(graph, { redundancy: [group] })).toEqual(both);
    expect(broken(graph, { redundancy: [{ ...group, balancer: "lb" }] })).toEqual(both);
    expect(broken(graph, { redundancy: [{ ...group, reliable: true }] })).toEqual(both);
    expect(broken(graph, { redundancy: [{ ...group, balancer: "lb", reliable: false }] })).toEqual(
      both,
    );
    expect(broken(graph, { redundancy: [{ ...group, balancer: "lb", reliable: true }] })).toEqual(
      [],
    );
  });

  test("no balancer lets a member into tier 5", () => {
    const graph = { helpers: { tier: 2 }, lb: { tier: 2 }, one: { tier: 5 }, two: { tier: 2 } };
    const redundancy = [{ ...group, balancer: "lb", reliable: true }];
    expect(broken(graph, { redundancy })).toEqual(["9 helpers>one"]);
  });
});

test("reviews are those of 1.4 by the resulting tier; what the reclassification adds is told", () => {
  const { reviews } = check({
    a: { tier: 1 },
    b: { tier: 2 },
    c: { tier: 3 },
    d: { tier: 4 },
    e: { tier: 5, stage: "staging" },
    f: { tier: 3, hard: ["a"] },
  });
  const words = reviews.map((each) =>
    [each.architectureReview, each.codeReview, each.securityReview, each.changeManagement]
      .map((asked) => (asked === null ? "-" : asked ? "y" : "n"))
      .join(""),
  );
  expect(words).toEqual(["yyyy", "yynn", "nynn", "nnnn", "----", "yyyy"]);
  expect(reviews.at(-1)).toMatchObject({
    tier: 1,
    added: ["architectureReview", "securityReview", "changeManagement"],
  });
  expect(reviews.slice(0, -1).every(({ added }) => added.length === 0)).toBe(true);
});

test("every rule of 1.3 is there by number and name, with what data can't show", () => {
  expect(tiers.rules.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const { name, checked, unchecked } of tiers.rules) {
    expect(name).not.toBe("");
    expect(checked + unchecked).not.toBe("");
  }
  const { unchecked } = check({ a: { tier: 1 } });
  expect(unchecked.map(({ number }) => number)).toEqual([1, 2, 4, 5, 6, 7, 9]);
});
