import { Resvg } from "@resvg/resvg-js";
import { expect, test } from "vitest";
import { pngWithText } from "../../src/render/png.js";
import { mimeBundle } from "../../src/notebook/mime-bundle.js";

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="30"/>';

async function metadataOf(png: Uint8Array): Promise<unknown> {
  const shown = { [Symbol.for("Jupyter.display")]: () => ({ "image/png": png }) };
  return (await mimeBundle(shown)).metadata;
}

test("mimeBundle(value) says the size in CSS pixels of a picture with a density", async () => {
  const png = new Resvg(svg, { fitTo: { mode: "zoom", value: 2 } }).render().asPng();
  const dense = pngWithText(png, "probelab", "x".repeat(500), 2);
  expect(await metadataOf(dense)).toEqual({ "image/png": { width: 100, height: 30 } });
});

test("mimeBundle(value) says no size of a picture without a density, and of what is no PNG", async () => {
  expect(await metadataOf(new Resvg(svg).render().asPng())).toEqual({});
  expect(await metadataOf(new Uint8Array([1, 2, 3]))).toEqual({});
});
