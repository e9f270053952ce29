import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tiers } from "../../src/tiers/tiers.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => void (folder = await temporaryDirectory()));
afterAll(() => folder[Symbol.asyncDispose]());

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, content);
  return path;
}

const YAML = `
components:
  api: { tier: 3, hard: db, soft: [mon] }
  db: { tier: 1 }
  mon:
    tier: 3
`;

test("tiers.read reads the same graph from YAML and JSON", async () => {
  const object = {
    components: {
      api: { tier: 3, hard: "db", soft: ["mon"] },
      db: { tier: 1 },
      mon: { tier: 3 },
    },
  };
  const yaml = await tiers.read(await file("one.yaml", YAML));
  const json = await tiers.read(await file("one.json", JSON.stringify(object, null, "\t")));
  expect(yaml.components).toEqual(json.components);
  expect(yaml.components).toEqual(tiers.graph(object).components);
  expect(yaml.source).toBe("one.yaml");
  expect(yaml.stages).toEqual(["staging", "production"]);
  expect(yaml.components[0]).toEqual({
    name: "api",
    tier: 3,
    stage: "production",
    hard: ["db"],
    soft: ["mon"],
    receives: [],
    contains: [],
    causes: null,
  });
});

test("tiers.read takes keys as they are written, also those that look like numbers", async () => {
  const text = `
components:
  1.10: { tier: 1, hard: ["1.1", cache] }
  '1.1': { tier: 1 }
  True: { tier: 1 }
  ~: { tier: 1 }
  cache: { tier: 1 }
`;
  const { components } = await tiers.read(await file("quoted.yaml", text));
  expect(components.map(({ name }) => name)).toEqual(["1.1", "1.10", "True", "cache", "~"]);
  const json = await file("key.json", `{"components": {1.10: {"tier": 1}}}`);
  expect((await tiers.read(json)).components[0]?.name).toBe("1.10");
});

test("tiers.read takes the aliases that a person writes", async () => {
  const path = await file("alias.yaml", "components:\n  a: &a { tier: 2 }\n  b: *a\n");
  expect((await tiers.read(path)).components.map(({ tier }) => tier)).toEqual([2, 2]);
});

describe("tiers.read refuses", () => {
  const bomb = [
    "a: &a [x, x, x, x, x, x, x, x, x]",
    ..."bcdefghij"
      .split("")
      .map((name, at) => `${name}: &${name} [${`*${"abcdefghij"[at]}, `.repeat(9)}]`),
    "components: *j",
  ].join("\n");
  test.each([
    ["a.txt", YAML, /^Can't read the component graph "[^"]*a\.txt": pass the path of a \.yaml/],
    [
      "twice.yaml",
      "components:\n  a: {tier: 1}\n  a: {tier: 2}\n",
      /is no YAML \(.*unique.*line 3/,
    ],
    ["twice.json", `{"components": {"a": {"tier": 1}, "a": {"tier": 2}}}`, /is no JSON \(.*unique/],
    [
      "bad.yaml",
      "components:\n  a: {tier: 1\n",
      /is no YAML \(.* line \d+, column \d+\)\. Correct/,
    ],
    ["bad.json", `{"components": {"a": {"tier": 1}`, /is no JSON \(/],
    ["bomb.yaml", bomb, /is no YAML \(Excessive alias count/],
    ["deep.yaml", `components: ${"[".repeat(200_000)}`, /is no YAML \(/],
    [
      "empty.yaml",
      "",
      /^Can't read the component graph "empty\.yaml": it has no components; write/,
    ],
    ["list.yaml", "- a\n- b\n", /it has no components/],
    ["blank.yaml", "components:\n  : { tier: 1 }\n", /a component's name has 0 characters/],
    [
      "map.yaml",
      "components:\n  ? { a: b }\n  : { tier: 1 }",
      /is no YAML \(.*keys must be str.* 2,/,
    ],
    ["field.yaml", "components: { a: { tier: 1, 0x10: 2 } }", /"a" has "0x10", which isn't known/],
    [
      "alias-key.yaml",
      "x: &v 1.10\ncomponents: { *v : { tier: 1 } }",
      /keys must be strings at line 2/,
    ],
    [
      "ring.yaml",
      "components: &c { a: { tier: 1, hard: *c } }",
      /component "a" has hard: a value that holds itself; write a name or a list of names/,
    ],
    [
      "self.yaml",
      "components: { a: { tier: 1 } }\nfailover: &f [*f]\n",
      /: entry 1 of failover is a value that holds itself; write \{ machinery/,
    ],
    ["text.yaml", "components: all of them\n", /it has no components/],
    ["latin.yaml", Buffer.from("components: { caf\xe9: { tier: 1 } }", "latin1"), /not in UTF-8/],
    [
      "large.yaml",
      `# ${"x".repeat(2_000_000)}\n${YAML}`,
      /it has 2,000,0\d\d bytes, more than 2,000,000/,
    ],
  ])("%s", async (name, content, message) => {
    const error = await tiers.read(await file(name, content)).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: "ProbelabError" });
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message.length).toBeLessThan(500);
  });

  test("a missing file, a folder and no path", async () => {
    const read = (path: string) => expect(() => tiers.read(path)).rejects;
    await read(join(folder.path, "none.yaml")).toThrow(/there is no such file; check the path\.$/);
    await writeFile(join(folder.path, "x"), "");
    await read(join(folder.path, "x", "y.yaml")).toThrow(/ENOTDIR; check the path/);
    await read("/dev/zero").toThrow(/pass the path of a \.yaml/);
    await read(undefined as unknown as string).toThrow(/graph undefined: pass the path/);
  });
});

describe("a graph is refused with the place that is wrong", () => {
  const one = { tier: 1 };
  test.each([
    [{ a: {} }, {}, /component "a" has no tier: write tier: 1 to 4 by the highest severity/],
    [{ a: null }, {}, /component "a" has no tier/],
    [{ a: { tier: null } }, {}, /component "a" has no tier/],
    [{ a: { tier: "2" } }, {}, /component "a" has tier: "2"; write tier: 1 to 4/],
    [{ a: { tier: 0 } }, {}, /component "a" has tier: 0; write tier/],
    [{ a: { tier: 1.5 } }, {}, /component "a" has tier: 1.5; write tier/],
    [{ a: { tier: 1, causes: 5 } }, {}, /has causes: 5; write the highest severity it can cause/],
    [
      { a: { tier: 1, hards: ["b"] } },
      {},
      /has "hards", which isn't known: write tier, stage, hard/,
    ],
    [{ a: { tier: 1, hard: [1] } }, {}, /has hard: \[1\]; write a name or a list of names/],
    [{ a: { tier: 1, hard: ["b"] } }, {}, /component "a", hard: there is no component "b"; add it/],
    [{ a: one, b: { tier: 1, soft: ["A "] } }, {}, /there is no component "A"; write "a"/],
    [{ a: { tier: 1, receives: ["b"] } }, {}, /component "a", receives: there is no component "b"/],
    [{ a: { tier: 1, contains: ["b"] } }, {}, /component "a", contains: there is no component "b"/],
    [{ a: { tier: 1, hard: ["a"] } }, {}, /component "a" names itself under hard: take it out/],
    [{ a: { tier: 1, soft: ["a"] } }, {}, /component "a" names itself under soft/],
    [
      { a: { tier: 1, stage: "live" } },
      {},
      /"a" is at the stage "live", which isn't known: write "staging" or "production"/,
    ],
    [{ a: one }, { stages: ["x", "x"] }, /the stage "x" stands twice/],
    [
      { a: one },
      { stages: [] },
      /it has stages: \[\]; write 1 to 20 names from the lowest to the highest, such as \[staging, production\]\.$/,
    ],
    [{ a: one }, { stages: "live" }, /it has stages: "live"; write 1 to 20 names/],
    [{ a: one }, { stages: ["x", 1] }, /it has stages: \["x",1\]; write 1 to 20 names/],
    [
      { a: one },
      { stage: ["x"] },
      /: it has "stage", which isn't known: write components, stages, failover, pairs, redundancy \(did you mean stages\?\)\.$/,
    ],
    [
      { a: one },
      { failovers: [], owner: 1 },
      /: it has "failovers", "owner", which isn't known: .*\(did you mean failover\?\)\.$/,
    ],
    [
      { a: one },
      { owner: 1 },
      /: it has "owner", which isn't known: write components, .*, redundancy\.$/,
    ],
    [
      { a: one },
      { failover: { machinery: "a" } },
      /it has failover: \{"machinery":"a"\}; write a list, \[\{ machinery: …, protects: … \}\]\.$/,
    ],
    [
      { a: one },
      { failover: ["a"] },
      /: entry 1 of failover is "a"; write \{ machinery: …, protects: … \}\.$/,
    ],
    [
      { a: one },
      { failover: [{ machinery: "a" }] },
      /: entry 1 of failover has no protects: write the name of a component, in quotes where it looks like a number\.$/,
    ],
    [
      { a: one },
      { failover: [{ machinery: "a", protects: 7 }] },
      /: entry 1 of failover has protects: 7; write the name of a component, in quotes/,
    ],
    [
      { a: one },
      { failover: [{ machinery: "a", protects: "a", protect: 1 }] },
      /: entry 1 of failover has "protect", which isn't known: write machinery, protects \(did you mean protects\?\)\.$/,
    ],
    [
      { a: one },
      { failover: [{ machinery: "a", protects: "b" }] },
      /failover: there is no component "b"/,
    ],
    [{ a: one }, { failover: [{ machinery: "a", protects: "a" }] }, /failover names "a" twice/],
    [
      { a: one, b: one },
      { pairs: [{ service: "a", active: "b", standby: "b" }] },
      /pairs names "b" twice/,
    ],
    [
      { a: one },
      { pairs: [{ service: "a" }] },
      /: entry 1 of pairs has no active: write the name of a component, .*; entry 1 of pairs has no standby: /,
    ],
    [
      { a: one },
      { redundancy: [{ service: "a", members: [] }] },
      /redundancy of "a" has no members/,
    ],
    [
      { a: one },
      { redundancy: [{ service: "a", members: ["c"] }] },
      /redundancy: there is no component "c"/,
    ],
    [
      { a: one },
      { redundancy: [{ service: "a", members: ["a"], reliable: "yes" }] },
      /: entry 1 of redundancy has reliable: "yes"; write true or false\.$/,
    ],
    [
      { a: one },
      { redundancy: [{ service: "a", members: "a" }, { service: "a", members: [1] }, null] },
      /: entry 2 of redundancy has members: \[1\]; write a name or a list of names.*; entry 3 of redundancy is null; write \{ service: …/,
    ],
    [
      { a: one },
      { redundancy: [{ service: "a" }] },
      /: entry 1 of redundancy has no members: write a name or/,
    ],
    [{ "": one }, {}, /a component's name has 0 characters, not 1 to 200/],
    [{ ["n".repeat(201)]: one }, {}, /a component's name has 201 characters/],
  ])("%j %j", (components, rest, message) => {
    const read = () => tiers.graph({ components, ...rest }, { name: "g" });
    expect(read).toThrow(message);
    expect(read).toThrow(/^Can't read the component graph "g": /);
  });

  test.each([undefined, null, [], "components", 7])("%j is no graph", (content) => {
    expect(() => tiers.graph(content)).toThrow(
      /^Can't read the component graph "graph": it has no/,
    );
  });

  test("several faults are told at once, the first five", () => {
    const components = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`c${at}`, {}]));
    expect(() => tiers.graph({ components })).toThrow(/"c0" .*"c4" .*; and 4 more\.$/);
  });

  test("more than 2,000 components are refused, 2,000 are not", () => {
    const many = (count: number) => ({
      components: Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, one])),
    });
    expect(tiers.graph(many(2_000)).components).toHaveLength(2_000);
    expect(() => tiers.graph(many(2_001))).toThrow(/it has 2,001 components, more than 2,000/);
  });
});

describe("cycles", () => {
  const ring = (relation: string, names: readonly string[]) => ({
    components: Object.fromEntries(
      names.map((name, at) => [name, { tier: 2, [relation]: [names[(at + 1) % names.length]] }]),
    ),
  });

  test("one of hard dependencies is told with its path", () => {
    expect(() => tiers.graph(ring("hard", ["a", "b", "c"]))).toThrow(
      /hard dependencies run in a cycle, a → b → c → a: .* make one of them soft/,
    );
    const behind = { ...ring("hard", ["x", "y"]).components, a: { tier: 2, hard: ["x"] } };
    expect(() => tiers.graph({ components: behind })).toThrow(/cycle, x → y → x:/);
  });

  test("one of contained components too", () => {
    expect(() => tiers.graph(ring("contains", ["a", "b"]))).toThrow(
      /components contain each other in a cycle, a → b → a/,
    );
  });

  test("of a long one the ends are told", () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `c${String(at).padStart(4, "0")}`);
    expect(() => tiers.graph(ring("hard", names))).toThrow(
      /c0000 → c0001 → .*… 1,989 more … → .*c1999 → c0000/,
    );
  });

  test("soft ones and those of data are none, nor is a diamond", () => {
    tiers.graph(ring("soft", ["a", "b"]));
    tiers.graph(ring("receives", ["a", "b"]));
    const diamond = {
      a: { tier: 1, hard: ["b", "c"] },
      b: { tier: 1, hard: ["d"] },
      c: { tier: 1, hard: ["d"] },
      d: { tier: 1 },
    };
    expect(tiers.graph({ components: diamond }).check().broken).toEqual([]);
  });
});

test("names such as constructor and __proto__ are names like others", async () => {
  const path = await file(
    "names.yaml",
    "components:\n  __proto__: { tier: 1 }\n  constructor: { tier: 3, hard: [__proto__] }\n  toString: { tier: 3, hard: [constructor] }\n",
  );
  const { reclassify, reviews } = (await tiers.read(path)).check();
  expect(reviews.map(({ component }) => component)).toEqual([
    "__proto__",
    "constructor",
    "toString",
  ]);
  expect(reclassify.map(({ because }) => because.join(" "))).toEqual([
    "constructor __proto__",
    "toString constructor __proto__",
  ]);
});
