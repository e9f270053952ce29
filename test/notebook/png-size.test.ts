import { Resvg } from "@resvg/resvg-js";
import { expect, test } from "vitest";
import { pngWithText } from "../../src/chart/render/png.js";
import { pngSize } from "../../src/notebook/png-size.js";

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="30"/>';

test("pngSize(base64) is the size in CSS pixels of a picture with a density", () => {
  const png = new Resvg(svg, { fitTo: { mode: "zoom", value: 2 } }).render().asPng();
  const dense = pngWithText(png, "probelab", "x".repeat(500), 2);
  expect(pngSize(dense.toString("base64"))).toEqual({ width: 100, height: 30 });
});

test("pngSize(base64) is undefined without a density, and for what is no PNG", () => {
  const png = new Resvg(svg).render().asPng();
  expect(pngSize(png.toString("base64"))).toBeUndefined();
  expect(pngSize("AQID")).toBeUndefined();
});
