const cssPixelsPerMetre = 96 / 0.0254;

/**
 * The size in CSS pixels at which a PNG of a known density (its pHYs chunk) is to be shown; frontends
 * don't look for it and show each of its pixels as one. Undefined where the density isn't known.
 */
export function pngSize(base64: string): { width: number; height: number } | undefined {
  // pHYs stands before the pixels, which may be long.
  const png = Buffer.from(base64.slice(0, 4096), "base64");
  if (png.length < 33 || png.toString("latin1", 1, 4) !== "PNG") return undefined;
  for (let at = 8; at + 21 <= png.length; at += png.readUInt32BE(at) + 12) {
    const type = png.toString("latin1", at + 4, at + 8);
    if (type === "IDAT") return undefined;
    if (type !== "pHYs" || png[at + 16] !== 1) continue;
    const scale = png.readUInt32BE(at + 8) / cssPixelsPerMetre;
    if (!(scale > 0)) return undefined;
    return {
      width: Math.round(png.readUInt32BE(16) / scale),
      height: Math.round(png.readUInt32BE(20) / scale),
    };
  }
  return undefined;
}
