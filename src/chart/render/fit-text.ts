import { FONT_FAMILY, needsOtherFont, textWidth } from "./font.js";

const TEXT = /<text((?: [\w:-]+="[^"]*")*)>(.*?)<\/text>/gs;
const LINE = /<tspan(?: x="0" dy="([^"]*)")?>(.*?)<\/tspan>/gs;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * A picture of Vega's whose texts are as wide as they were laid out, in whatever font: with a wider
 * one than the shipped they would run over the legend and the edge. Each line becomes a text of its
 * own, as Firefox knows the length of no part of one.
 */
export function fitText(svg: string): string {
  return svg.replace(TEXT, (whole, attributes: string, content: string) => {
    if (attribute(attributes, "font-family") !== FONT_FAMILY) return whole;
    const size = Number.parseFloat(attribute(attributes, "font-size") ?? "");
    const weight = attribute(attributes, "font-weight") ?? "";
    const bold = weight === "bold" || weight === "bolder" || Number(weight) >= 600;
    if (!(size > 0)) return whole;
    const lines = [...content.matchAll(LINE)];
    if (lines.length === 0) return text(attributes, content, size, bold);
    let down = 0;
    return lines
      .map(([, dy = "0", line = ""]) => {
        down += Number(dy);
        return text(moved(attributes, down), line, size, bold);
      })
      .join("");
  });
}

/** The element; its length is left open where it can't be measured. */
function text(attributes: string, content: string, size: number, bold: boolean): string {
  const shown = content
    .replace(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replace(/\s+/g, " ")
    .trim();
  const width = Math.round(textWidth(shown, size, bold ? 700 : 400) * 100) / 100;
  const fixed = shown.length > 1 && width > 0 && !needsOtherFont(shown);
  const length = fixed ? ` textLength="${width}" lengthAdjust="spacingAndGlyphs"` : "";
  return `<text${attributes}${length}>${content}</text>`;
}

function moved(attributes: string, down: number): string {
  if (down === 0) return attributes;
  return attribute(attributes, "transform") === undefined
    ? `${attributes} transform="translate(0,${down})"`
    : attributes.replace(/( transform="[^"]*)"/, `$1 translate(0,${down})"`);
}

function attribute(attributes: string, name: string): string | undefined {
  return new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
}
