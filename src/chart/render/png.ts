import type * as Resvg from "@resvg/resvg-js";
import { promisify } from "node:util";
import { crc32, deflate, deflateSync } from "node:zlib";
import { ProbelabError } from "../../base/error.js";
import { collectAfter } from "../../base/collect-after.js";
import { fontOptions } from "./fonts/shipped-font.js";
import { PNG_SIGNATURE } from "./origin.js";
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
  return pngOf(image, originJson(spec), scale, titleText(spec.title));
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

const BITS = 8;
const RGBA = 6;

/**
 * A PNG with the origin (a compressed iTXt chunk), its resolution (pHYs) and, where it has one, its
 * title after the header. zlib makes areas of one colour smaller than resvg's own encoder, in half its time.
 *
 * Source: https://www.w3.org/TR/png-3/
 */
async function pngOf(
  image: Resvg.RenderedImage,
  origin: string,
  scale: number,
  title: string,
): Promise<Buffer> {
  const { width, height } = image;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([BITS, RGBA], 8);
  const resolution = Buffer.alloc(9);
  const dots = Math.round(DOTS_PER_METRE * scale);
  resolution.writeUInt32BE(dots, 0);
  resolution.writeUInt32BE(dots, 4);
  resolution[8] = 1; // the unit is the metre
  const head = Buffer.from("probelab\0\x01\0\0\0", "latin1"); // compressed, no language, no translation
  return Buffer.concat([
    Buffer.from(PNG_SIGNATURE, "latin1"),
    chunk("IHDR", header),
    chunk("pHYs", resolution),
    chunk("iTXt", Buffer.concat([head, deflateSync(origin)])),
    ...(title === "" ? [] : [chunk("iTXt", Buffer.from(`Title\0\0\0\0\0${title}`, "utf8"))]),
    chunk("IDAT", await promisify(deflate)(scanlines(image.pixels, width * 4))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Rows of pixels, each after its filter (0: none), with colours that aren't multiplied by their opacity. */
function scanlines(pixels: Buffer, row: number): Buffer {
  for (let at = 3; at < pixels.length; at += 4) {
    const opacity = pixels[at]!;
    if (opacity === 0 || opacity === 255) continue;
    for (let of = at - 3; of < at; of++) pixels[of] = Math.round((pixels[of]! * 255) / opacity);
  }
  const height = pixels.length / row;
  const lines = Buffer.alloc((row + 1) * height);
  for (let line = 0; line < height; line++) {
    pixels.copy(lines, line * (row + 1) + 1, line * row, (line + 1) * row);
  }
  return lines;
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
