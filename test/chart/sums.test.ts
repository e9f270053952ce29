import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart, type Chart, type Result, type Value } from "../../src/index.js";
import type { DimensionColumn, MeasureColumn } from "../../src/result/origin.js";
import { buckets } from "../../src/time/bucket.js";
import { subtitle } from "./support/layers.js";
import { columnsOf, makeResult, RANGE } from "./support/sample-results.js";
import { drawnData } from "./support/seen.js";

const WEEKS = buckets(RANGE, "week").map(({ start }) => start);

const MEASURES = {
  counts: { unit: "runs", additive: true, missing: "zero" },
  medians: { unit: "s", additive: false, missing: "gap" },
  shares: { unit: "share", additive: false, missing: "gap", quotient: ["part", "whole"] },
} as const;
type Kind = keyof typeof MEASURES;

interface Row {
  readonly t: Date;
  readonly a: string | null;
  readonly b: string;
  readonly n: number | null;
  readonly part: number;
  readonly whole: number;
}

interface Cube {
  readonly rows: readonly Row[];
  readonly kind: Kind;
  readonly result: Result;
}

/** What a question by week and two dimensions gives, of which some groups have no row in some weeks. */
const cubes = fc
  .record({
    countries: fc.integer({ min: 1, max: 4 }),
    versions: fc.integer({ min: 1, max: 4 }),
    weeks: fc.integer({ min: 1, max: WEEKS.length }),
    amounts: fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 20, maxLength: 60 }),
    kind: fc.constantFrom<Kind>("counts", "medians", "shares"),
  })
  .map(({ countries, versions, weeks, amounts, kind }): Cube => {
    const amount = (at: number): number => amounts[at % amounts.length]!;
    const cells = WEEKS.slice(0, weeks).flatMap((t) =>
      ["IT", null, "other", "DE"]
        .slice(0, countries)
        .flatMap((a) => Array.from({ length: versions }, (_, b) => ({ t, a, b: `3.${b + 8}` }))),
    );
    const rows = cells
      .map((cell, at) => {
        const whole = 1 + amount(at * 5);
        const part = amount(at) % (whole + 1);
        return { ...cell, part, whole, n: kind === "shares" ? part / whole : amount(at) };
      })
      .filter((_, at) => at === 0 || amount(at * 7) % 5 > 0);
    return { rows, kind, result: cubeResult(rows, kind) };
  });

function cubeResult(rows: readonly Row[], kind: Kind): Result {
  const column = (name: keyof Row): Value[] => rows.map((row) => row[name]);
  const measure = (name: string, of: Kind): MeasureColumn => ({
    name,
    label: name,
    ...MEASURES[of],
  });
  const a = [...new Set(rows.map((row) => row.a))];
  const dimensions: DimensionColumn[] = [
    { name: "a", order: a, ...(a.includes("other") && { other: "other" }) },
    { name: "b", order: [...new Set(rows.map((row) => row.b))] },
  ];
  return makeResult(
    {
      t: column("t"),
      a: column("a"),
      b: column("b"),
      n: column("n"),
      ...(kind === "shares" && { part: column("part"), whole: column("whole") }),
    },
    {
      time: { name: "t", every: "week", incomplete: [] },
      dimensions,
      measures: [
        { ...measure("n", kind), main: true },
        ...(kind === "shares" ? [measure("part", "counts"), measure("whole", "counts")] : []),
      ],
    },
  );
}

function grouped<T, K>(rows: readonly T[], key: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return groups;
}

type Column = "t" | "a" | "b";

/** The number at each place, of all rows there. */
function reference({ rows, kind }: Cube, places: readonly Column[]): Map<string, number> {
  const groups = grouped(rows, (row) => placeOf(places.map((name) => row[name])));
  const sum = (own: readonly Row[], name: "n" | "part" | "whole"): number =>
    own.reduce((all, row) => all + Number(row[name] ?? 0), 0);
  const value = (own: readonly Row[]): number =>
    kind === "shares" ? sum(own, "part") / sum(own, "whole") : sum(own, "n");
  return new Map([...groups].map(([place, own]) => [place, value(own)]));
}

function placeOf(values: readonly unknown[]): string {
  return values
    .map((value) =>
      value instanceof Date ? value.toISOString() : ((value as string | null) ?? "(none)"),
    )
    .join(" ");
}

/** The number at each place of the compiled chart; @throws where two stand at one. */
async function seen(drawn: Chart, fields: readonly string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const { panel, datum } of await drawnData(drawn)) {
    // The end of a step, and what fills a stack, are no rows.
    if (typeof datum["n"] !== "number" || datum["from"] !== undefined) continue;
    const values = fields.map((name) =>
      name === "t" ? new Date(datum["t"] as string | number) : datum[name],
    );
    const place = `${panel} ${placeOf(values)}`.trim();
    if (found.has(place)) expect(datum["n"]).toBe(found.get(place));
    found.set(place, datum["n"]);
  }
  return found;
}

/** Numbers without zeros, which a chart may draw where no row is, in order; with their places where these have the same names. */
function amounts(numbers: ReadonlyMap<string, number>, placed = false): unknown[] {
  const known = [...numbers].filter(([, n]) => n !== 0);
  return placed
    ? known.toSorted(([a], [b]) => (a < b ? -1 : 1))
    : known.map(([, n]) => n).sort((a, b) => a - b);
}

/** Each way to draw such a Result: the columns that tell its places apart. `stacks` adds up its series. */
const WAYS: readonly {
  readonly name: string;
  readonly draw: (result: Result) => Chart;
  readonly places: readonly Column[];
  readonly panels?: Column;
  readonly stacks?: true;
}[] = [
  { name: "bars of a", draw: (r) => chart.bar(r, { x: "a", color: null }), places: ["a"] },
  {
    name: "bars of a by b",
    draw: (r) => chart.bar(r, { x: "a", color: "b", stack: false }),
    places: ["a", "b"],
  },
  { name: "bars of weeks", draw: (r) => chart.bar(r, { color: null }), places: ["t"] },
  {
    name: "stacked bars of weeks",
    draw: (r) => chart.bar(r, { y: "n", color: "a", stack: "sum" }),
    places: ["t", "a"],
    stacks: true,
  },
  {
    name: "a heat map of a and b",
    draw: (r) => chart.heatmap(r, { x: "a", y: "b", color: "n" }),
    places: ["a", "b"],
  },
  {
    name: "a heat map of weeks",
    draw: (r) => chart.heatmap(r, { y: "b", color: "n" }),
    places: ["t", "b"],
  },
  { name: "a line", draw: (r) => chart.line(r, { color: null }), places: ["t"] },
  { name: "lines by a", draw: (r) => chart.line(r, { color: "a" }), places: ["t", "a"] },
  { name: "an area", draw: (r) => chart.area(r, { color: null }), places: ["t"] },
  {
    name: "areas by b",
    draw: (r) => chart.area(r, { y: "n", color: "b" }),
    places: ["t", "b"],
    stacks: true,
  },
  { name: "dots", draw: (r) => chart.dot(r, { color: null }), places: ["t"] },
  { name: "dots by a", draw: (r) => chart.dot(r, { color: "a" }), places: ["t", "a"] },
  {
    name: "lines in panels by a",
    draw: (r) => chart.line(r, { facet: "a", color: null }),
    places: ["t"],
    panels: "a",
  },
  {
    name: "bars in panels by b",
    draw: (r) => chart.bar(r, { facet: "b", x: "a", color: null }),
    places: ["a"],
    panels: "b",
  },
];

describe("a chart draws the sum of all rows at each of its places, or is refused", () => {
  test.each(WAYS)("$name", async ({ draw, places, panels, stacks }) => {
    const shown = panels === undefined ? places : [panels, ...places];
    await fc.assert(
      fc.asyncProperty(cubes, async (cube) => {
        const { result, kind } = cube;
        const cantStack =
          kind !== "counts" && stacks && new Set(cube.rows.map((row) => row[places[1]!])).size > 1;
        if ((kind === "medians" && shown.length < 3) || cantStack) {
          expect(() => draw(result)).toThrow(
            /its values (\(n\) )?can't be added up; (take|ask|draw)/,
          );
          return;
        }
        const drawn = draw(result);
        const [found, known] = [await seen(drawn, places), reference(cube, shown)];
        expect(amounts(found)).toEqual(amounts(known));
        if (panels === undefined) expect(amounts(found, true)).toEqual(amounts(known, true));
        if (shown.length < 3) expect(description(drawn)).toMatch(/All .*added up\./);
      }),
      { seed: 28, numRuns: 12 },
    );
  });

  test("linked views", async () => {
    await fc.assert(
      fc.asyncProperty(cubes, async (cube) => {
        if (cube.kind === "medians") {
          expect(() => chart.explore(cube.result)).toThrow(/whose values don't add up/);
          return;
        }
        const bars = (await drawnData(chart.explore(cube.result))).filter(
          ({ datum }) => "amount" in datum,
        );
        for (const [field, column] of [
          ["d0", "a"],
          ["d1", "b"],
        ] as const) {
          const own = bars.filter(({ datum }) => field in datum);
          const values = new Map(
            own.map(({ datum }) => [String(datum[field]), Number(datum["f"])]),
          );
          expect(amounts(values)).toEqual(amounts(reference(cube, [column])));
        }
      }),
      { seed: 29, numRuns: 12 },
    );
  });

  test("a histogram", () => {
    const bins = [0, 100, 0, 100].map((from, at) => ({ from, to: from + 100, a: `a${at}`, n: at }));
    const result = makeResult(columnsOf(bins), {
      dimensions: [{ name: "a", order: bins.map(({ a }) => a) }],
      measures: [{ name: "n", label: "n", ...MEASURES.counts }],
    });
    const drawn = chart.histogram(result, { color: null });
    expect(drawn.data.rows).toEqual([
      [0, 100, 2],
      [100, 200, 4],
    ]);
    expect(subtitle(drawn)).toContain("All values of a added up.");
  });
});

function description(drawn: Chart): string {
  return String(drawn.spec["description"]);
}

describe("what a chart adds up", () => {
  const [cube] = fc.sample(
    cubes.filter(({ kind, rows }) => kind === "counts" && rows.length > 40),
    { seed: 1, numRuns: 1 },
  );
  const { rows, result } = cube!;

  test("stands in its subtitle", () => {
    expect(subtitle(chart.bar(result, { x: "b", color: null }))).toMatch(
      /All values of a and weeks added up\./,
    );
  });

  test("is null where no row has a number, which isn't zero", () => {
    const [a] = rows;
    const unknown = rows.map((row) => (row.t === a!.t ? { ...row, n: null } : row));
    const { origin, table } = cubeResult(unknown, "counts");
    // Without a range nobody knows of buckets without a row, which would be drawn as zero.
    const { range: _, ...rest } = origin;
    const { data } = chart.line(result.with(table, rest), { color: null });
    const nulls = data.rows.filter(([, n]) => n === null);
    expect(nulls).toHaveLength(1);
  });

  test("of a column that nothing is known of is refused, as the Result has several rows for each place", () => {
    const derived = result.with((table) => table.derive({ twice: (d: { n: number }) => d.n * 2 }));
    expect(() => chart.line(derived, { y: "twice", color: "a" })).toThrow(
      'Can\'t draw "twice" without "b": nothing says that its values add up; take "b" as color, or ask for the result without it.',
    );
    expect(() => chart.bar(derived, { x: "a", y: "twice" })).toThrow(/without "t": nothing says/);
  });
});
