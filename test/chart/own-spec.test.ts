import type { Spec } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, test } from "vitest";
import type { Chart } from "../../src/chart/chart-value.js";
import { chart } from "../../src/chart/chart.js";
import { makeResult, weeklyCounts } from "./support/sample-results.js";

const titlesOf = (drawn: Chart): Set<string> =>
  new Set([...JSON.stringify(drawn.spec).matchAll(/"title":"([^"]*)"/g)].map(([, text]) => text!));

/** Texts of a picture, drawn in a process of another zone than UTC. */
async function texts(drawn: Chart): Promise<string[]> {
  return [...(await drawn.svg()).matchAll(/<text[^>]*>([^<]+)</g)].map(([, text]) => text!);
}

describe("chart.vegaLite(result, spec)", () => {
  test("draws times in UTC, whatever the zone of the process", async () => {
    const at = ["2026-01-01T00:00:00Z", "2026-02-01T01:00:00Z"].map((text) => new Date(text));
    const result = makeResult({ at, n: [1, 2] });
    const months = chart.vegaLite(result, {
      mark: "bar",
      transform: [{ calculate: "month(datum.at) + ' of month('", as: "number" }],
      encoding: {
        x: { field: "at", timeUnit: "yearmonth", axis: { format: "%Y-%m" } },
        y: { field: "n", type: "quantitative" },
        color: { field: "number", type: "nominal" },
      },
    });
    const said = await texts(months);
    expect(said).toContain("2026-01");
    expect(said).not.toContain("2025-12");
    expect(said).toEqual(expect.arrayContaining(["0 of month(", "1 of month("]));
    const hours = chart.vegaLite(result, {
      mark: "text",
      encoding: {
        x: { field: "at", type: "temporal" },
        text: { field: "at", type: "temporal", format: "%H:%M" },
        tooltip: { field: "at", type: "temporal", format: "%H:%M" },
      },
    });
    expect(await texts(hours)).toEqual(expect.arrayContaining(["00:00", "01:00"]));
    const compiled: Spec = compile(structuredClone(hours.spec) as unknown as TopLevelSpec).spec;
    expect(JSON.stringify(compiled)).not.toMatch(/timeFormat/);
  });

  test("names axes and the chart as the Result does, unless the spec does", () => {
    const encoding = {
      x: { field: "t", type: "temporal" },
      y: { field: "measurements", type: "quantitative" },
      color: { field: "software_version", type: "nominal" },
    };
    const named = chart.vegaLite(weeklyCounts(), { mark: "line", encoding });
    expect([...titlesOf(named)]).toEqual(["Week from Monday (UTC)", "Measurements", "Version"]);
    expect((named.spec["title"] as { text: string[] }).text).toEqual([
      "Measurements by time and version, 2026-02-01 to 2026-05-01 UTC",
    ]);
    const own = chart.vegaLite(weeklyCounts(), {
      title: "Mine",
      mark: "line",
      encoding: {
        ...encoding,
        x: { ...encoding.x, title: null },
        y: { ...encoding.y, title: "N" },
      },
    });
    expect([...titlesOf(own)]).toEqual(["N", "Version"]);
    expect((own.spec["title"] as { text: string[] }).text).toEqual(["Mine"]);
  });

  test('is as wide as its place with width: "container" too', async () => {
    const drawn = chart.vegaLite(weeklyCounts(), {
      ...{ width: "container", height: "container", mark: "tick" },
      encoding: { x: { field: "measurements", type: "quantitative" } },
    });
    expect(drawn.spec["width"]).toBe(1000);
    expect(JSON.stringify(await drawn.screenSpec())).toContain("probelab_place");
  });
});
