import type * as Resvg from "@resvg/resvg-js";
import { crc32, deflateSync } from "node:zlib";
import { ProbelabError } from "../../base/error.js";
import { collectAfter } from "../../base/collect-after.js";
import { fontOptions } from "./fonts/shipped-font.js";
import { layOut, originJson, shownText, svgWidth, titleText } from "./svg.js";

const MOST_PIXELS = 16_000;
const DOTS_PER_METRE = 96 / 0.0254;

/**
 * A Vega-Lite spec as a PNG picture, drawn with the shipped font: a machine without fonts gives the
 * same pixels. Scripts that it doesn't cover are drawn with the machine's fonts, or as boxes.
 *
 * @param scale pixels per CSS pixel.
 */
export async function pngPicture(spec: Record<string, unknown>, scale: number): Promise<Buffer> {
  const svg = await layOut(spec);
  if (!(scale > 0) || svgWidth(svg) * scale > MOST_PIXELS) {
    throw new ProbelabError(
      `Can't draw a PNG with scale: ${scale}: pass a number above 0 that keeps the picture under ${MOST_PIXELS} pixels wide.`,
    );
  }
  const { renderAsync } = await resvg();
  const image = await renderAsync(svg, {
    fitTo: { mode: "zoom", value: scale },
    font: fontOptions(shownText(svg)),
    logLevel: "off",
  });
  collectAfter(image.width * image.height * 4);
  return withTexts(image.asPng(), originJson(spec), scale, titleText(spec.title));
}

/** The renderer of pixels, an optional package for each platform. @throws ProbelabError where it is missing */
export async function resvg(): Promise<typeof Resvg> {
  try {
    return await import("@resvg/resvg-js");
  } catch (cause) {
    const missing = /@resvg\/resvg-js-[\w-]+/.exec(String(cause))?.[0] ?? "@resvg/resvg-js";
    throw new ProbelabError(
      `Can't draw a picture of pixels: ${missing} isn't installed. Install it with npm install ${missing} (--omit=optional leaves it out), or save .svg or .html.`,
      { cause },
    );
  }
}

/** Bytes of a PNG's signature and its header, the first chunk. */
const HEAD = 8 + 25;

/**
 * A PNG with its resolution (pHYs), the origin (a compressed iTXt chunk) and, where it has one, its
 * title after the header.
 *
 * Source: https://www.w3.org/TR/png-3/
 */
function withTexts(png: Buffer, origin: string, scale: number, title: string): Buffer {
  const resolution = Buffer.alloc(9);
  const dots = Math.round(DOTS_PER_METRE * scale);
  resolution.writeUInt32BE(dots, 0);
  resolution.writeUInt32BE(dots, 4);
  resolution[8] = 1; // the unit is the metre
  const head = Buffer.from("probelab\0\x01\0\0\0", "latin1"); // compressed, no language, no translation
  return Buffer.concat([
    png.subarray(0, HEAD),
    chunk("pHYs", resolution),
    chunk("iTXt", Buffer.concat([head, deflateSync(origin)])),
    ...(title === "" ? [] : [chunk("iTXt", Buffer.from(`Title\0\0\0\0\0${title}`, "utf8"))]),
    png.subarray(HEAD),
  ]);
}

/** Width and height of a PNG of this scale, in CSS pixels. */
export function pngSize(png: Buffer, scale: number): { width: number; height: number } {
  const size = (at: number): number => Math.round(png.readUInt32BE(at) / scale);
  return { width: size(16), height: size(20) };
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const result = Buffer.alloc(typed.length + 8);
  result.writeUInt32BE(data.length, 0);
  typed.copy(result, 4);
  result.writeUInt32BE(crc32(typed), typed.length + 4);
  return result;
}
