import { None, parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { expect, test } from "vitest";
import { type Chart, chart } from "../../src/index.js";
import { mimeBundle } from "../../src/kernel/show.js";
import { PICTURES } from "./support/pictures.js";
import { weeklyCounts } from "./support/sample-results.js";

// What vega-embed puts below a chart's own config in a dark and in a light notebook. Source: vega-themes, dark.ts.
const FRONTENDS: Record<string, object> = {
  light: {},
  dark: {
    background: "#333",
    view: { stroke: "#888" },
    title: { color: "#fff", subtitleColor: "#fff" },
    style: { "guide-label": { fill: "#fff" }, "guide-title": { fill: "#fff" } },
    axis: { domainColor: "#fff", gridColor: "#888", tickColor: "#fff" },
  },
};

const CHARTS: Record<string, Chart> = {
  ...PICTURES,
  "a spec of one's own": chart.vegaLite(weeklyCounts(), {
    title: "Weeks",
    mark: "bar",
    encoding: {
      x: { field: "t", type: "temporal", title: "Week" },
      y: { field: "measurements", aggregate: "sum" },
      row: { field: "software_version" },
    },
  }),
};

test.each(
  Object.keys(FRONTENDS).flatMap((theme) => Object.keys(CHARTS).map((name) => [theme, name])),
)("in a %s notebook every text of %s can be read", async (theme, name) => {
  const { data } = await mimeBundle(CHARTS[name]);
  const spec = data["application/vnd.vegalite.v5+json"] as TopLevelSpec;
  const compiled = compile(spec, { config: FRONTENDS[theme] ?? {} }).spec;
  const view = new View(parse(compiled), { renderer: "none" }).logLevel(None);
  await view.runAsync();
  const background = luminance(view.background());
  const texts = textsOf((view.scenegraph() as unknown as { root: Part }).root);
  view.finalize();
  const faint = texts.filter(({ fill }) => contrast(luminance(fill), background) < 3);
  expect(texts.length).toBeGreaterThan(2);
  expect(faint).toEqual([]);
});

interface Part {
  readonly marktype?: string;
  readonly items?: readonly Part[];
  readonly text?: string | readonly string[];
  readonly fill?: string;
  readonly opacity?: number;
}

/** The texts of a scene that are seen, with their colors. */
function textsOf({ marktype, items = [] }: Part): { text: string; fill: string }[] {
  return items.flatMap((item) => {
    const text = [item.text ?? ""].flat().join(" ").trim();
    const seen = marktype === "text" && text !== "" && item.opacity !== 0;
    return seen ? [{ text, fill: item.fill ?? "#000000" }] : textsOf(item);
  });
}

/** The relative luminance of a color. Source: WCAG 2.1. */
function luminance(given: string): number {
  const color = given.length === 4 ? given.replace(/[^#]/g, "$&$&") : given;
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrast = (a: number, b: number): number =>
  (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
