import { foundOrigin, type FoundOrigin } from "./found-origin.js";

const NAMESPACE = "urn:probelab:origin";
const LONGEST_TAG = 10_000;

/**
 * The origins in an HTML page: its data blocks `script.probelab-origin` of JSON, each with the
 * name of the `<figure>` around it. Nothing of it is run.
 */
export function htmlOrigins(page: string): FoundOrigin[] {
  let before = 0;
  return elements(page, /<script\b/gi, /<\/script/gi).flatMap(({ tag, content, at }) => {
    const isOrigin = /\bclass\s*=\s*["']?[^"'>]*\bprobelab-origin\b/i.test(tag);
    if (!isOrigin || !/application\/json/i.test(tag)) return [];
    const start = page.lastIndexOf("<figure", at);
    const figure = start < before ? "" : page.slice(start, page.indexOf(">", start));
    const [, name] = /\saria-label="([^"]*)"/.exec(figure.slice(0, LONGEST_TAG)) ?? [];
    before = at;
    return foundOrigin(content, name === undefined ? undefined : plainText(name)) ?? [];
  });
}

/**
 * The origins in an SVG: its elements `origin` of the namespace `urn:probelab:origin`, under
 * whatever prefix, each with the title of the `<svg>` that it stands in.
 */
export function svgOrigins(text: string): FoundOrigin[] {
  const declared = text.matchAll(/xmlns:([\w.-]{1,99})\s*=\s*["']urn:probelab:origin["']/g);
  const tags = new Set([...declared].map(([, prefix = ""]) => `<${prefix}:origin`));
  return text.split(/<(?:[\w.-]{1,99}:)?svg\b/).flatMap((picture) => {
    const found = elements(
      picture,
      /<(?:[\w.-]{1,99}:)?origin\b/g,
      /<\/(?:[\w.-]{1,99}:)?origin/g,
    ).filter(({ tag }) => tag.includes(NAMESPACE) || tags.has(/^<[\w:.-]+/.exec(tag)?.[0] ?? ""));
    if (found.length === 0) return [];
    const [title] = elements(picture, /<(?:[\w.-]{1,99}:)?title\b/g, /<\/(?:[\w.-]{1,99}:)?title/g);
    return found.flatMap(
      ({ content }) => foundOrigin(plainText(content), title && plainText(title.content)) ?? [],
    );
  });
}

/** Elements with their opening tags and what stands up to the closing ones, in one pass. */
function elements(
  text: string,
  opening: RegExp,
  closing: RegExp,
): { readonly tag: string; readonly content: string; readonly at: number }[] {
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

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** The text of markup without elements; what stands in CDATA stands as it is. */
function plainText(markup: string): string {
  const token = /<!\[CDATA\[([^]*?)\]\]>|&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
  return markup.replace(token, (...parts) => {
    const [all, raw, decimal, hexadecimal, name] = parts as (string | undefined)[];
    if (raw !== undefined) return raw;
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? "";
    const code = decimal === undefined ? parseInt(hexadecimal ?? "", 16) : Number(decimal);
    return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : (all ?? "");
  });
}
