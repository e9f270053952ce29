import { expect } from "vitest";
import { xmlElements, type Element } from "./xml-tree.js";

const SVG = new Set(
  "svg g path rect line text tspan title desc metadata origin defs clipPath linearGradient stop a image".split(
    " ",
  ),
);
const HTML = new Set("root table caption thead tbody tr th td img p small br span".split(" "));

/** The elements of an SVG document, which holds nothing that runs or loads. */
export function inertSvg(svg: string): Element[] {
  return inert(svg, SVG);
}

/** The elements of an HTML fragment, which holds nothing that runs or loads. */
export function inertHtml(html: string): Element[] {
  return inert(`<root>${html}</root>`, HTML);
}

function inert(document: string, allowed: ReadonlySet<string>): Element[] {
  const elements = xmlElements(document);
  expect(elements.map(({ name }) => name).filter((name) => !allowed.has(name))).toEqual([]);
  for (const { name, attributes } of elements) {
    for (const [attribute, value] of Object.entries(attributes)) {
      expect(attribute).not.toMatch(/^(on|srcdoc|formaction|action|background)/i);
      if (attribute.toLowerCase() === "style") expect(value).toBe("text-align:left");
      if (/^(xlink:)?href$|^src$/.test(attribute)) {
        if (name === "img")
          expect(
            /^data:image\/(svg\+xml,%3Csvg xmlns='[^<>"]*%3E|png;base64,[\w+/=]*)$/.test(value),
            value.slice(0, 200),
          ).toBe(true);
        else if (name === "image") expect(value).toMatch(/^(data:image\/(png|gif);base64,.*)?$/);
        else expect(value).toMatch(/^https?:\/\/[^\s"'<>]+$/);
      }
      if (value.includes("url(") && attribute !== "aria-label")
        expect(value).toMatch(/^url\(#[\w-]+\)$/);
    }
  }
  return elements;
}
