import type { VegaLiteSpec } from "./frame.js";

/** A chart as far as showing it goes. */
interface Showable {
  readonly spec: VegaLiteSpec;
  png(options?: { scale?: number }): Promise<Buffer>;
}

/** The content of a Jupyter `display_data` message. */
export interface MimeBundle {
  readonly data: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
}

const SCALE = 2;

/**
 * A chart for every frontend: Vega-Lite for JupyterLab, Notebook 7 and VS Code, which draw it
 * themselves, offline; a PNG for the classic notebook, nbconvert and GitHub. No text/html: where
 * both are there it wins over Vega-Lite, and untrusted notebooks strip its scripts.
 */
export async function displayBundle(chart: Showable): Promise<MimeBundle> {
  const png = await chart.png({ scale: SCALE });
  return {
    data: {
      "application/vnd.vegalite.v5+json": chart.spec,
      "image/png": png.toString("base64"),
      "text/plain": typeof chart.spec.description === "string" ? chart.spec.description : "Chart",
    },
    metadata: {
      // Width and height stand at bytes 16 and 20 of a PNG.
      "image/png": {
        width: Math.round(png.readUInt32BE(16) / SCALE),
        height: Math.round(png.readUInt32BE(20) / SCALE),
      },
    },
  };
}
