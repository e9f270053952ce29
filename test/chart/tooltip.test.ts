import { parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, test } from "vitest";
import { between, type Chart, chart } from "../../src/index.js";
import { makeResult, weeklyCounts } from "./support/sample-results.js";

/** What tooltips say of the time, as Vega computes it from the spec. */
function times(drawn: Chart): Set<unknown> {
  const { spec } = compile(structuredClone(drawn.spec) as unknown as TopLevelSpec);
  const view = new View(parse(spec)).run();
  const rows = (spec.data ?? []).flatMap(({ name }) => view.data(name) as { when?: string }[]);
  view.finalize();
  return new Set(rows.flatMap(({ when }) => (when === undefined ? [] : [when])));
}

describe("the tooltip's time", () => {
  test("is the day of the bucket, in UTC whatever the process's zone", () => {
    for (const mark of ["area", "bar", "dot"] as const) {
      const seen = times(chart[mark](weeklyCounts()));
      expect(seen.size).toBe(14);
      expect([...seen]).toEqual(expect.arrayContaining(["2026-01-26", "2026-03-09", "2026-04-27"]));
    }
  });

  test("follows the clocks of the range's zone", () => {
    const range = between("2026-03-29", "2026-03-30", { timeZone: "Europe/Rome" });
    const seen = times(chart.bar(weeklyCounts({ range, every: "hour" })));
    expect(seen.size).toBe(23);
    expect(seen).toContain("2026-03-29 01:00");
    expect(seen).not.toContain("2026-03-29 02:00");
    expect(seen).toContain("2026-03-29 03:00");
  });
});

test("tooltips quote the names that a notebook's tooltip would take for a picture or a heading", () => {
  const result = makeResult(
    { image: ["https://evil.example/a.png"], title: [1] },
    {
      dimensions: [{ name: "image", order: ["https://evil.example/a.png"] }],
      measures: [{ name: "title", label: "image", unit: "", additive: true, missing: "zero" }],
    },
  );
  const spec = JSON.stringify(chart.bar(result).spec);
  expect(spec).toContain(`"title":"'image'"`);
  expect(spec).not.toMatch(/"tooltip":\[[^\]]*"title":"(image|title)"/);
});
