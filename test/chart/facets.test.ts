import { describe, expect, test } from "vitest";
import { chart, type Chart } from "../../src/index.js";
import { subtitle, type Layer } from "./support/layers.js";
import { asked, counted } from "./support/sample-results.js";

interface PanelSpec {
  readonly title: { readonly text: string };
  readonly width: number;
  readonly layer: readonly Layer[];
}

const panels = (drawn: Chart) => drawn.spec.concat as readonly PanelSpec[];
const rowsOf = (drawn: Chart) =>
  panels(drawn).flatMap(({ layer }) => layer.flatMap(({ data }) => data.values));

/** Counts by week in so many countries, the first the smallest. */
function countries(many: number) {
  const names = Array.from({ length: many }, (_, at) => `C${at}`);
  const weeks = [0, 1, 2].map((week) => new Date(Date.UTC(2026, 1, 2 + 7 * week)));
  const rows = weeks.flatMap((t) => names.map((cc, at) => ({ t, cc, n: at + 1 })));
  return asked(rows, { cc: names }, [counted("n", "N")], "week");
}

describe("facet", () => {
  test("draws the 12 largest, and says how many there are", () => {
    const drawn = chart.line(countries(40), { facet: "cc" });
    const expected = Array.from({ length: 12 }, (_, at) => `C${28 + at}`);
    expect(panels(drawn).map((panel) => panel.title.text)).toEqual(expected);
    expect(subtitle(drawn)).toContain("Drawn: 12 of 40 panels by CC, the largest.");
  });

  test("all panels together hold fewer than 5,000 rows, and fit the width", async () => {
    const rows = Array.from({ length: 40_000 }, (_, at) => ({
      at: new Date(Date.UTC(2026, 1, 1) + at * 60_000),
      host: `h${at % 10}`,
      load: Math.sin(at / 900),
    }));
    const drawn = chart.line(rows, { facet: "host", width: 600 });
    expect(rowsOf(drawn).length).toBeLessThan(5_000);
    const wide = panels(drawn)[0]?.width ?? NaN;
    expect(3 * wide).toBeLessThanOrEqual(600);
    expect(await drawn.svg()).toContain(">h9<");
  });

  test("categories stand in one order in all panels", () => {
    const rows = [
      { test: "tor", name: "cli", n: 9 },
      { test: "web", name: "cli", n: 1 },
      { test: "web", name: "ios", n: 30 },
    ];
    const drawn = chart.bar(rows, { x: "test", y: "n", facet: "name", sort: "value" });
    const orders = panels(drawn).map(({ layer }) => layer[0]?.encoding.x?.sort);
    expect(orders).toEqual([
      ["web", "tor"],
      ["web", "tor"],
    ]);
  });
});
