import { ProbelabError } from "../../base/error.js";
import { fallbackFonts } from "./fallback-fonts.js";
import { fontPaths } from "./font-directory.js";
import { collectAfter } from "../../base/collect-after.js";
import { warnOfMissing } from "./missing-characters.js";
import { pngWithText } from "./png-text.js";
import { svgPicture, titleText } from "./svg.js";

const MOST_PIXELS = 16_000;

/**
 * A Vega-Lite spec as a PNG picture, drawn with the shipped font: a machine without fonts gives the
 * same pixels. Scripts that it doesn't cover are drawn with the machine's fonts; where there are none,
 * a warning says so.
 *
 * @param scale pixels per CSS pixel.
 */
export async function pngPicture(spec: Record<string, unknown>, scale: number): Promise<Buffer> {
  const svg = await svgPicture(spec);
  const size = Number(/<svg[^>]* width="([\d.]+)"/.exec(svg)?.[1] ?? 0) * scale;
  if (!(scale > 0) || size > MOST_PIXELS) {
    throw new ProbelabError(
      `Can't draw a PNG with scale: ${scale}: pass a number above 0 that keeps the picture under ${MOST_PIXELS} pixels wide.`,
    );
  }
  const { faces, missing } = fallbackFonts(svg, { outlines: false });
  warnOfMissing(missing, "PNG");
  const { renderAsync } = await import("@resvg/resvg-js");
  const image = await renderAsync(svg, {
    fitTo: { mode: "zoom", value: scale },
    font: {
      fontFiles: [...fontPaths(), ...faces.map(({ path }) => path)],
      loadSystemFonts: false,
      defaultFontFamily: "Arimo",
      sansSerifFamily: "Arimo",
    },
    logLevel: "off",
  });
  collectAfter(image.width * image.height * 4);
  const usermeta = spec.usermeta as { probelab?: unknown } | undefined;
  const origin = JSON.stringify(usermeta?.probelab ?? null);
  return pngWithText(image.asPng(), "probelab", origin, scale, titleText(spec.title));
}
