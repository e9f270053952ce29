import { describe, expect, test } from "vitest";
import { chart } from "../../src/index.js";
import type { MimeBundle } from "../../src/base/mime-bundle.js";
import { weeklyCounts } from "./support/sample-results.js";

/** What a notebook gets from a chart. */
const show = (value: object, frontend?: { addsPng: boolean }): Promise<MimeBundle> =>
  Reflect.apply(Reflect.get(value, Symbol.for("Jupyter.display")) as never, value, [frontend]);

const drawn = chart.area(weeklyCounts(), { width: 300, height: 100 });

describe("what a notebook shows of a chart", () => {
  test.each([
    ["one plot", drawn],
    ["linked views", chart.explore(weeklyCounts())],
  ])("is of %s Vega-Lite, a PNG and a text; no HTML, which would win", async (_, one) => {
    const { data } = await show(one);
    expect(Object.keys(data)).toEqual([
      "application/vnd.vegalite.v5+json",
      "image/png",
      "text/plain",
    ]);
    expect(data["application/vnd.vegalite.v5+json"]).toEqual(await one.screenSpec());
    expect(data["text/plain"]).toBe(one.spec.description);
  });

  test("is for the notebook's width alone where the frontend draws it: no page is made of that", async () => {
    const one = chart.area(weeklyCounts());
    const { data } = await show(one, { addsPng: true });
    expect(Object.keys(data)).toEqual(["application/vnd.vegalite.v5+json", "text/plain"]);
    const spec = data["application/vnd.vegalite.v5+json"] as Record<string, unknown>;
    const { usermeta, ...whole } = await one.screenSpec();
    expect(Object.keys(usermeta as object)).toContain("screens");
    expect(spec["usermeta"]).not.toHaveProperty("screens");
    expect({ ...spec, usermeta: undefined }).toEqual({ ...whole, usermeta: undefined });
  });

  test("says how large the PNG is meant to be", async () => {
    const { data, metadata } = await show(drawn);
    const png = Buffer.from(data["image/png"] as string, "base64");
    const [width, height] = [16, 20].map((at) => png.readUInt32BE(at) / 2);
    expect(metadata["image/png"]).toEqual({ width, height });
  });
});
