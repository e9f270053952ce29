const ADDRESS = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/;
const MOST_PIXELS = 4_000;
const SHARPNESS = 2;

/**
 * Draws a picture of an SVG anew, as a PNG: bytes from the data that are no picture would end the
 * process in pdfkit, which inflates them in the background. Anything else than a picture inside the
 * SVG is left out.
 */
export async function safePicture(): Promise<
  (attributes: ReadonlyMap<string, string>) => string | undefined
> {
  const { Resvg } = await import("@resvg/resvg-js");
  return (attributes) => {
    const address = attributes.get("xlink:href") ?? attributes.get("href") ?? "";
    const [width, height] = ["width", "height"].map((name) => Number(attributes.get(name)));
    if (!ADDRESS.test(address) || !(width && width > 0) || !(height && height > 0))
      return undefined;
    if (Math.max(width, height) > MOST_PIXELS) return undefined;
    const how = attributes.get("preserveAspectRatio");
    const fit = how === undefined ? "" : ` preserveAspectRatio="${how}"`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" height="${height}"${fit} href="${address}"/></svg>`;
    try {
      const drawn = new Resvg(svg, {
        fitTo: { mode: "zoom", value: SHARPNESS },
        font: { loadSystemFonts: false },
        logLevel: "off",
      }).render();
      return `data:image/png;base64,${drawn.asPng().toString("base64")}`;
    } catch {
      return undefined;
    }
  };
}
