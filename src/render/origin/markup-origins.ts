import { unescapeXml } from "../../base/xml.js";
import type { OriginText } from "./binary-origins.js";

const LONGEST_TAG = 10_000;

/** The origins in a page: its scripts `probelab-origin`, with the names of their `<figure>`. */
export function htmlOrigins(page: string): OriginText[] {
  const scripts = /<script type="application\/json" class="probelab-origin">([^<]*)<\/script>/g;
  let before = 0;
  return [...page.matchAll(scripts)].map(({ 1: json = "", index }) => {
    const between = page.slice(before, index);
    before = index;
    const start = between.lastIndexOf("<figure");
    const [tag = ""] = start < 0 ? [] : between.slice(start, start + LONGEST_TAG).split(">");
    const name = / aria-label="([^"]*)"/.exec(tag)?.[1];
    return { json, title: name && unescapeXml(name) };
  });
}

/** The origins in an SVG: its elements `origin`, with the titles of the `<svg>` that they stand in. */
export function svgOrigins(text: string): OriginText[] {
  return text.split(/<svg\b/).flatMap((picture) => {
    const title = /<title>([^<]*)<\/title>/.exec(picture)?.[1];
    const found = picture.matchAll(/<origin xmlns="urn:probelab:origin">([^<]*)<\/origin>/g);
    return [...found].map(([, json = ""]) => ({
      json: unescapeXml(json),
      title: title && unescapeXml(title),
    }));
  });
}
