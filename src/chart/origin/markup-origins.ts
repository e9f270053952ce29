import { unescapeXml } from "../../base/xml.js";
import type { OriginText } from "./binary-origins.js";

const NAMESPACE = "urn:probelab:origin";
const LONGEST_TAG = 10_000;

/** The origins in a page: its scripts `probelab-origin`, with the names of their `<figure>`. */
export function htmlOrigins(page: string): OriginText[] {
  let before = 0;
  return elements(page, "script", "gi").flatMap(({ tag, content, at }) => {
    const isOrigin = /\bclass\s*=\s*["']?[^"'>]*\bprobelab-origin\b/i.test(tag);
    if (!isOrigin || !/application\/json/i.test(tag)) return [];
    const between = page.slice(before, at);
    const start = between.lastIndexOf("<figure");
    const figure = start < 0 ? "" : between.slice(start, start + LONGEST_TAG).split(">")[0];
    const [, name] = /\saria-label="([^"]*)"/.exec(figure ?? "") ?? [];
    before = at;
    return [{ json: content, title: name && unescapeXml(name) }];
  });
}

/** The origins in an SVG: its elements `origin` of our namespace, with the titles of their `<svg>`. */
export function svgOrigins(text: string): OriginText[] {
  const declared = text.matchAll(/xmlns:([\w.-]{1,99})\s*=\s*["']urn:probelab:origin["']/g);
  const tags = new Set([...declared].map(([, prefix = ""]) => `<${prefix}:origin`));
  return text.split(/<(?:[\w.-]{1,99}:)?svg\b/).flatMap((picture) => {
    const found = elements(picture, "(?:[\\w.-]{1,99}:)?origin", "g").filter(
      ({ tag }) => tag.includes(NAMESPACE) || tags.has(/^<[\w:.-]+/.exec(tag)?.[0] ?? ""),
    );
    if (found.length === 0) return [];
    const [title] = elements(picture, "(?:[\\w.-]{1,99}:)?title", "g");
    return found.map(({ content }) => ({
      json: plainText(content),
      title: title && plainText(title.content),
    }));
  });
}

/** Elements with their opening tags and what stands up to the closing ones, in one pass. */
function elements(
  text: string,
  name: string,
  flags: string,
): { readonly tag: string; readonly content: string; readonly at: number }[] {
  const [opening, closing] = [new RegExp(`<${name}\\b`, flags), new RegExp(`</${name}`, flags)];
  const found = [];
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const body = text.indexOf(">", match.index) + 1;
    closing.lastIndex = body;
    const end = body === 0 ? null : closing.exec(text);
    if (end === null) break;
    const tag = text.slice(match.index, Math.min(body, match.index + LONGEST_TAG));
    found.push({ tag, content: text.slice(body, end.index), at: match.index });
    opening.lastIndex = end.index;
  }
  return found;
}

/** The text of markup without elements; what stands in CDATA stands as it is. */
function plainText(markup: string): string {
  return markup.replace(/<!\[CDATA\[([^]*?)\]\]>|[^<]+/g, (text, raw: string | undefined) =>
    raw === undefined ? unescapeXml(text) : raw,
  );
}
