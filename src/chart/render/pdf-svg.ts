import { plainColour } from "./css-colour.js";

const TAG = /<([a-zA-Z][\w:.-]*)((?:\s+[\w:.-]+="[^"]*")*)\s*(\/?)>/g;
const ATTRIBUTE = /\s+([\w:.-]+)="([^"]*)"/g;
const COLOURS = new Set(["fill", "stroke", "stop-color", "color"]);

/**
 * An SVG as svg-to-pdfkit may get it: no size of its own, colours in its notations, no link but to
 * web pages, and no picture that `picture` doesn't give anew. svg-to-pdfkit would open any other
 * address of a picture as a file, and pass on any link.
 *
 * @param picture a safe picture for a picture's attributes, as a data address; undefined for none.
 */
export function svgForPdf(
  svg: string,
  picture: (attributes: ReadonlyMap<string, string>) => string | undefined,
): string {
  let root = true;
  return svg
    .replace(/<metadata>.*?<\/metadata>/s, "")
    .replace(TAG, (_, name: string, text: string, slash: string) => {
      const attributes = new Map(
        [...text.matchAll(ATTRIBUTE)].map(([, key = "", value = ""]) => [key, value]),
      );
      for (const [key, value] of attributes) {
        // It looks values up in plain objects, where "constructor" is always found.
        if (value in Object.prototype || key === "style") attributes.delete(key);
        else if (COLOURS.has(key)) replace(attributes, key, plainColour(value));
        else if (/^(xlink:)?href$/.test(key)) {
          const link = name === "a" && /^https?:\/\/[^\s"'<>]+$/i.test(value);
          if (!link && name !== "image") attributes.delete(key);
        }
      }
      if (name === "image") {
        const safe = picture(attributes);
        attributes.delete("xlink:href");
        attributes.delete("href");
        if (safe === undefined) return `<g${slash}>`;
        attributes.set("href", safe);
      }
      if (root) {
        attributes.delete("width");
        attributes.delete("height");
        root = false;
      }
      return `<${name}${[...attributes].map(([key, value]) => ` ${key}="${value}"`).join("")}${slash}>`;
    });
}

function replace(map: Map<string, string>, key: string, value: string | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
