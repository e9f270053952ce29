import type * as Resvg from "@resvg/resvg-js";
import { promisify } from "node:util";
import { crc32, deflate, deflateSync } from "node:zlib";
import { ProbelabError } from "../base/error.js";
import { collectAfter } from "../base/collect-after.js";
import { fontOptions } from "../fonts/shipped-font.js";
import { layOut, originJson, shownText, svgSize, titleText } from "./svg.js";

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
  if (!(scale > 0) || svgSize(svg).width * scale > MOST_PIXELS) {
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

/**
 * Pixels as a PNG with the origin as compressed text (an iTXt chunk), its resolution (pHYs) and, where it
 * has one, its title. Deflated at a low level: the renderer's own encoder takes twice the time for a file of
 * the same size.
 *
 * Source: https://www.w3.org/TR/png-3/
 */
async function pngOf(
  { width, height, pixels }: Resvg.RenderedImage,
  origin: string,
  scale: number,
  title: string,
): Promise<Buffer> {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0]); // 8 bits of each of RGBA
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const resolution = Buffer.alloc(9);
  const dots = Math.round(DOTS_PER_METRE * scale);
  resolution.writeUInt32BE(dots, 0);
  resolution.writeUInt32BE(dots, 4);
  resolution[8] = 1; // the unit is the metre
  // The renderer multiplies colours by their opacity.
  for (let at = 3; at < pixels.length; at += 4) {
    const alpha = pixels[at]!;
    if (alpha === 255 || alpha === 0) continue;
    for (let c = at - 3; c < at; c++) pixels[c] = Math.round((pixels[c]! * 255) / alpha);
  }
  const row = width * 4;
  const rows = Buffer.alloc((row + 1) * height); // a 0, no filter, before each row
  for (let y = 0; y < height; y++) pixels.copy(rows, y * (row + 1) + 1, y * row, (y + 1) * row);
  const head = Buffer.from("probelab\0\x01\0\0\0", "latin1"); // compressed, no language, no translation
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("pHYs", resolution),
    chunk("iTXt", Buffer.concat([head, deflateSync(origin)])),
    ...(title === "" ? [] : [chunk("iTXt", Buffer.from(`Title\0\0\0\0\0${title}`, "utf8"))]),
    chunk("IDAT", await promisify(deflate)(rows, { level: 3 })),
    chunk("IEND", Buffer.alloc(0)),
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
