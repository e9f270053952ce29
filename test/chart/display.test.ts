import { describe, expect, test } from "vitest";
import { chart } from "../../src/index.js";
import type { MimeBundle } from "../../src/base/mime-bundle.js";
import { weeklyCounts } from "./support/sample-results.js";

/** What a notebook gets from a chart. */
const show = (value: object): Promise<MimeBundle> =>
  Reflect.apply(Reflect.get(value, Symbol.for("Jupyter.display")) as never, value, []);

const drawn = chart.area(weeklyCounts(), { width: 300, height: 100 });

describe("what a notebook shows of a chart", () => {
  test("is Vega-Lite, a PNG and a text; no HTML, which would win over Vega-Lite", async () => {
    const { data } = await show(drawn);
    expect(Object.keys(data)).toEqual([
      "application/vnd.vegalite.v5+json",
      "image/png",
      "text/plain",
    ]);
    expect(data["application/vnd.vegalite.v5+json"]).toEqual(await drawn.screenSpec());
    expect(data["text/plain"]).toBe(drawn.spec.description);
  });

  test("is Vega too of views beside each other, whose widths Vega-Lite can't let follow the place", async () => {
    for (const one of [
      chart.explore(weeklyCounts()),
      chart.line(weeklyCounts(), { facet: "software_version" }),
    ]) {
      const { data } = await show(one);
      expect(Object.keys(data)[0]).toBe("application/vnd.vega.v5+json");
    }
    const chosen = chart.line(weeklyCounts(), { facet: "software_version", width: 500 });
    const { data } = await show(chosen);
    expect(Object.keys(data)[0]).toBe("application/vnd.vegalite.v5+json");
  });

  test("says how large the PNG is meant to be", async () => {
    const { data, metadata } = await show(drawn);
    const png = Buffer.from(data["image/png"] as string, "base64");
    const [width, height] = [16, 20].map((at) => png.readUInt32BE(at) / 2);
    expect(metadata["image/png"]).toEqual({ width, height });
  });
});
