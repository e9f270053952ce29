import { ProbelabError } from "../base/error.js";
import type { VegaLiteSpec } from "./frame.js";
import { isPictureAddress } from "./render/inert-loader.js";

/**
 * The columns that a spec draws as pictures: of their values only those that hold the picture itself
 * (`data:image/…`) may stand in the data, as a notebook's own Vega loads any other.
 *
 * @throws ProbelabError where the spec would load a picture from an address, or where tooltips
 *   would take a column for the address of one.
 */
export function pictureColumns(spec: VegaLiteSpec, names: readonly string[]): Set<string> {
  const pictures = new Set<string>();
  const parts = specParts(spec);
  for (const [, url] of parts.filter(([name]) => name === "url")) {
    for (const [name, value] of [["value", url] as const, ...specParts(url)]) {
      if (name === "field" && typeof value === "string" && names.includes(value)) {
        pictures.add(value);
      } else if (/^(field|expr|signal)$/.test(name) || loads(name, value)) {
        throw new ProbelabError(
          `Can't draw a picture from ${JSON.stringify(value)?.slice(0, 200)}: only pictures that stand in a column of the Result are drawn, as "data:image/png;base64,…".`,
        );
      }
    }
  }
  // vega-tooltip shows what a tooltip calls "image" as a picture, which it loads.
  if (names.includes("image") && parts.some(([name]) => name === "tooltip")) {
    throw new ProbelabError(
      'Can\'t show the column "image" in tooltips: notebooks would load its values as pictures; name it otherwise in the query (image AS picture), or leave tooltip out.',
    );
  }
  return pictures;
}

function loads(name: string, value: unknown): boolean {
  return /^(value|datum)$/.test(name) && typeof value === "string" && !isPictureAddress(value);
}

/** All named parts of a spec, at whatever depth, without its rows. */
function specParts(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] =>
    /^(values|datasets|usermeta)$/.test(name) ? [] : [[name, inner], ...specParts(inner)],
  );
}
