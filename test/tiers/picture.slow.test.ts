import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tiers } from "../../src/tiers/tiers.js";
import { inertHtml, inertSvg } from "../chart/support/inert.js";
import { PAYLOADS } from "../chart/support/payloads.js";
import { decodePng } from "../chart/support/png-image.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { randomGraph, turned } from "./random-graph.js";

const directory = new URL("snapshots/", import.meta.url);
const asOf = new Date("2026-05-01T12:00:00Z");

const SMALL = {
  components: {
    api: { tier: 1, hard: ["cache", "db"], soft: ["mon"] },
    cache: { tier: 3 },
    db: { tier: 1, contains: ["one", "two"] },
    one: { tier: 1 },
    two: { tier: 2 },
    mon: { tier: 3, receives: ["api"] },
    copy: { tier: 4, stage: "staging", soft: ["api"], hard: ["stub"] },
    stub: { tier: 5, stage: "staging" },
  },
  pairs: [{ service: "db", active: "one", standby: "two" }],
};

const rejections: unknown[] = [];
const listener = (reason: unknown): void => void rejections.push(reason);
beforeAll(() => void process.on("unhandledRejection", listener));
afterAll(() => {
  process.off("unhandledRejection", listener);
  expect(rejections).toEqual([]);
});

interface Row {
  readonly [name: string]: unknown;
}

/** Rows of the picture's layers: lines and areas, boxes, labels at arrows, texts. */
function layersOf(spec: Record<string, unknown>) {
  const [lines = [], boxes = [], labels = [], words = []] = (
    spec.layer as { data: { values: Row[] } }[]
  ).map(({ data }) => data.values);
  // Arrows are curves; the legend's samples are straight.
  const arrows = lines.filter(({ path }) => String(path).includes("C"));
  const named = new Map(boxes.map((box) => [String(box.name), box]));
  return { lines, arrows, boxes: [...named.values()], labels, words };
}

/** The texts at arrows. */
function labelTexts(spec: Record<string, unknown>): unknown[] {
  return layersOf(spec)
    .words.filter(({ align, text }) => align === "center" && String(text).startsWith("rule"))
    .map(({ text }) => text);
}

/** Where a rectangle with round corners is. */
function areaOf({ path }: Row) {
  const numbers = /^M([-\d.]+),([-\d.]+)h([-\d.]+)a(\d+).*?v([-\d.]+)/.exec(String(path)) ?? [];
  const [x, top, w, radius, h] = numbers.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const left = x - radius;
  return { left, top, right: left + w + 2 * radius, bottom: top + h + 2 * radius };
}

describe("the picture looks as it did (make it anew with UPDATE_PICTURES=1, then look at it)", () => {
  test.each(["light", "dark"] as const)("%s", async (theme) => {
    const graph = tiers.graph(SMALL, { name: "small.yaml", asOf });
    const png = await graph.picture({ theme }).png({ scale: 1 });
    const path = fileURLToPath(new URL(`tiers-${theme}.png`, directory));
    if (process.env.UPDATE_PICTURES) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(path, png);
    }
    expect(existsSync(path), `${path} is missing`).toBe(true);
    const [seen, kept] = [decodePng(png), decodePng(readFileSync(path))];
    expect([seen.width, seen.height]).toEqual([kept.width, kept.height]);
    // Rounding of blended edges differs between kinds of processor.
    const other = seen.pixels.filter((value, at) => Math.abs(value - (kept.pixels[at] ?? 0)) > 8);
    expect(other.length / seen.pixels.length).toBeLessThan(0.001);
  });
});

test("picture() tells how many rules are broken, marks them, and shows the resulting tiers", async () => {
  const graph = tiers.graph(SMALL, { name: "small.yaml", asOf });
  const picture = graph.picture();
  const { text, subtitle } = picture.spec.title as { text: string[]; subtitle: string[] };
  expect(text).toEqual(["Tiers of small.yaml"]);
  expect(subtitle[0]).toBe(
    "8 components, 3 rules broken in 4 places, 3 of them still when all is reclassified, 1 to reclassify.",
  );
  const svg = await picture.svg();
  const texts = inertSvg(svg)
    .filter(({ name }) => name === "text")
    .map((element) => element.text);
  for (const name of Object.keys(SMALL.components)) expect(texts).toContain(name);
  for (const word of ["rule 3", "rule 6", "rule 8", "tier 2 as written", "hard", "soft", "data"]) {
    expect(texts).toContain(word);
  }
  expect(picture.spec.description).toMatch(
    /^Tiers of small\.yaml: 8 components, .*Rule 6: .*Tiers: api 1, /,
  );
  expect(picture.origin).toMatchObject({ sql: "", source: "small.yaml" });
});

describe("picture() names each broken rule where it belongs", () => {
  const three = { svc: { tier: 2 }, a: { tier: 3 }, b: { tier: 3 } };
  const pairs = [{ service: "svc", active: "a", standby: "b" }];
  const redundancy = [{ service: "svc", members: ["a", "b"], testHelpers: true }];
  const told = (components: object, rest: object) => {
    const graph = tiers.graph({ components, ...rest }, { asOf });
    const { spec } = graph.picture();
    return {
      rules: graph.check().broken.map(({ rule, path }) => `${rule} ${path.join(">")}`),
      labels: labelTexts(spec).sort(),
      arrows: layersOf(spec).arrows.length,
    };
  };

  test("rule 9 stands at the arrow of the pair where the members are one", () => {
    const { rules, labels, arrows } = told(three, { pairs, redundancy });
    expect(rules).toEqual(["8 a>svc", "8 b>svc", "9 svc>a", "9 svc>b"]);
    expect(labels).toEqual(["rule 8, 9", "rule 8, 9"]);
    expect(arrows).toBe(2);
  });

  test("also beside a hard dependency on the member, whose arrow keeps its own rule", () => {
    const svc = { tier: 2, hard: ["a"] };
    const { labels, arrows } = told({ ...three, svc }, { pairs, redundancy });
    expect(labels).toEqual(["rule 6", "rule 8, 9", "rule 8, 9"]);
    expect(arrows).toBe(3);
  });

  test("data from what a component also depends on has its mark at its own arrow", () => {
    const low = { tier: 5, stage: "staging" };
    const { labels } = told({ api: { tier: 2, soft: ["low"], receives: ["low"] }, low }, {});
    expect(labels).toEqual(["rule 7", "rule 7"]);
  });

  test("a balancer has an arrow to its service, one where it stands under failover too", () => {
    const parts = { svc: { tier: 2 }, a: { tier: 2 }, lb: { tier: 3 } };
    const balanced = { service: "svc", members: ["a"], balancer: "lb" };
    const failover = [{ machinery: "lb", protects: "svc" }];
    for (const rest of [{}, { failover }]) {
      const { labels, arrows } = told(parts, { redundancy: [balanced], ...rest });
      expect(labels).toEqual(["rule 8"]);
      expect(arrows).toBe(2);
    }
  });

  test("no label hides another or a box, where two or three arrows run side by side too", () => {
    const low = { tier: 5, stage: "staging" };
    const svc = { tier: 2, hard: ["a", "low"], receives: ["a", "low"] };
    const cases = [
      [
        { ...three, svc, low },
        { pairs, redundancy },
      ],
      [{ svc: { tier: 2, soft: ["low"], receives: ["low"] }, low }, {}],
      [{ svc, low, a: { ...low, soft: ["svc"] } }, { pairs: [{ ...pairs[0], standby: "low" }] }],
    ] as const;
    for (const [components, rest] of cases) {
      const { spec } = tiers.graph({ components, ...rest }, { asOf }).picture();
      const { boxes, labels } = layersOf(spec);
      expect(labels.length).toBeGreaterThan(1);
      const areas = [...labels, ...boxes].map(areaOf);
      areas.forEach((area, at) => {
        for (const other of areas.slice(at + 1)) {
          const apart =
            other.left > area.right ||
            area.left > other.right ||
            other.top > area.bottom ||
            area.top > other.bottom;
          expect(apart, JSON.stringify([area, other])).toBe(true);
        }
      });
    }
  });

  test("none is left out, none told twice: arrows and boxes hold as many as the report", () => {
    let merged = 0;
    fc.assert(
      fc.property(randomGraph(), (written) => {
        const graph = tiers.graph(written, { asOf });
        const { spec } = graph.picture();
        const boxes = layersOf(spec).boxes.flatMap(({ rules }) => rules || []);
        const arrows = labelTexts(spec);
        const seen = [...boxes, ...arrows]
          .flatMap((text) => String(text).replace("rule ", "").split(", "))
          .map(Number);
        // A component's hard dependency that is soft too is drawn once, and a rule of a box told once.
        const places = graph
          .check()
          .broken.map(({ rule, component, path, message }) =>
            JSON.stringify([
              rule,
              ...(path.length === 2 && rule !== 1 && rule !== 3
                ? [path, message.includes("receives data")]
                : [component]),
            ]),
          );
        const expected = [...new Set(places)].map((place) => (JSON.parse(place) as number[])[0]);
        expect(seen.sort()).toEqual(expected.sort());
        merged += arrows.filter((text) => text === "rule 8, 9").length;
      }),
      { seed: 12, numRuns: 120 },
    );
    expect(merged).toBeGreaterThan(0);
  });
});

test.each([
  [{ theme: "x" }, /draw a graph with theme: "x": pass "light" or "dark"/],
  [
    { them: "dark" },
    /draw a graph with the option "them": did you mean theme\? The options are theme, title/,
  ],
  [{ title: 5 }, /title: 5: pass a text/],
])("picture(%j) says what to pass", (options, message) => {
  const graph = tiers.graph(SMALL, { name: "small.yaml", asOf });
  expect(() => graph.picture(options as { theme: "dark" })).toThrow(message);
});

test("picture() has a row per component, for files", () => {
  const { data } = tiers.graph(SMALL, { name: "small.yaml", asOf }).picture();
  expect(data.rows.map(([name]) => name)).toEqual(Object.keys(SMALL.components).sort());
  const two = data.rows.find(([name]) => name === "two");
  expect(Object.fromEntries(data.names.map((name, at) => [name, two?.[at]]))).toEqual({
    component: "two",
    stage: "production",
    tier: 1,
    tier_as_written: 2,
    hard: "",
    soft: "",
    receives: "",
    contains: "",
    broken_rules: "8",
  });
});

test("picture(): no two boxes meet, each is whole in the picture and in the band of its stage", () => {
  fc.assert(
    fc.property(randomGraph(), (written) => {
      const { spec } = tiers.graph(written, { asOf }).picture();
      const [width, height] = [Number(spec.width), Number(spec.height)];
      const layers = layersOf(spec);
      const boxes = layers.boxes.map((box) => ({
        name: String(box.name),
        stage: String(box.stage),
        ...areaOf(box),
      }));
      expect(boxes.map(({ name }) => name).sort()).toEqual(Object.keys(written.components).sort());
      // The name of a stage stands above the area's left end.
      const bands = new Map(
        layers.lines
          .filter(({ fill }) => fill === "#f5f6f8")
          .map(areaOf)
          .map((area) => [
            layers.words.find(({ x, y }) => x === area.left && y === area.top - 8)?.text,
            area,
          ]),
      );
      boxes.forEach((box, at) => {
        expect(box.left).toBeGreaterThanOrEqual(0);
        expect(box.top).toBeGreaterThanOrEqual(0);
        expect(box.right).toBeLessThanOrEqual(width);
        expect(box.bottom).toBeLessThanOrEqual(height);
        const band = bands.get(box.stage);
        if (bands.size > 0) {
          expect(band?.top).toBeLessThan(box.top);
          expect(band?.bottom).toBeGreaterThan(box.bottom);
        }
        for (const other of boxes.slice(at + 1)) {
          const apart =
            other.left >= box.right ||
            box.left >= other.right ||
            other.top >= box.bottom ||
            box.top >= other.bottom;
          expect(apart, `${box.name} and ${other.name}`).toBe(true);
        }
      });
      const areas = [...bands.values()];
      areas.forEach((band, at) => {
        for (const other of areas.slice(at + 1)) {
          const apart =
            other.left >= band.right ||
            band.left >= other.right ||
            other.top - 16 >= band.bottom ||
            band.top - 16 >= other.bottom;
          expect(apart, "two stages").toBe(true);
        }
      });
    }),
    { seed: 9, numRuns: 60 },
  );
});

test("picture() is saved in every format of charts", async () => {
  await using folder = await temporaryDirectory();
  const picture = tiers.graph(SMALL, { name: "small.yaml", asOf }).picture();
  const beginnings = {
    svg: "<svg",
    png: "\u0089PNG",
    pdf: "%PDF",
    html: "<!DOCTYPE html>",
    json: "{",
  };
  for (const [extension, beginning] of Object.entries(beginnings)) {
    const path = await picture.save(join(folder.path, `tiers.${extension}`));
    expect(readFileSync(path, "latin1").slice(0, 15).toLowerCase()).toMatch(
      new RegExp(`^${beginning.toLowerCase()}`),
    );
  }
});

test("picture() doesn't hang on the order of the file", async () => {
  const [written] = fc.sample(randomGraph(), { seed: 10, numRuns: 1 });
  if (written === undefined) throw new Error("no graph");
  const options = { name: "g", asOf };
  const svg = await tiers.graph(written, options).picture().svg();
  expect(await tiers.graph(turned(written, 3), options).picture().svg()).toBe(svg);
});

test("picture() of more than 300 components, or too many arrows, is refused", () => {
  const components = (count: number, soft: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `c${at}`,
        {
          tier: 2,
          soft: Array.from({ length: soft }, (_, next) => `c${(at + next + 1) % count}`),
        },
      ]),
    );
  expect(() => tiers.graph({ components: components(301, 0) }).picture()).toThrow(
    /^Can't draw 301 components: a picture that can be read holds at most 300/,
  );
  expect(() => tiers.graph({ components: components(200, 20) }).picture()).toThrow(
    /^Can't draw 4,000 arrows: /,
  );
});

describe("names stay inert", () => {
  const groups = Array.from({ length: Math.ceil(PAYLOADS.length / 15) }, (_, at) =>
    PAYLOADS.slice(at * 15, at * 15 + 15)
      .map((payload) => payload.slice(0, 200))
      .filter((payload) => payload.trim() !== ""),
  );

  test.each(groups.map((names, at) => [at, names] as const))("group %i", async (_, names) => {
    const unique = [...new Set(names)];
    const components = Object.fromEntries(
      unique.map((name, at) => [
        name,
        { tier: 4 - (at % 3), hard: unique.slice(at + 1, at + 3), stage: "</script>" },
      ]),
    );
    const graph = tiers.graph(
      { stages: ["<b>low", "</script>"], components },
      { name: unique[0] ?? "" },
    );
    const report = graph.check();
    inertHtml(report.html);
    const told = report.toString() + report.broken.map((each) => each.message + each.remedy).join();
    expect(told).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
    expect(report.markdown).not.toMatch(/<(?!U\+)[a-z/!]/i);
    const elements = inertSvg(await graph.picture().svg());
    expect(elements.length).toBeGreaterThan(unique.length * 3);
  });

  test("in errors too", () => {
    const name = "\u202e</script>\u0007".padEnd(150, "x");
    const read = () => tiers.graph({ components: { a: { tier: 1, hard: [name] } } });
    expect(read).toThrow(/no component "<U\+202E><\/script> x+…"/);
  });
});
