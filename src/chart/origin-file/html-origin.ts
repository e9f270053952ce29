import { foundOrigin, type FoundOrigin } from "./found-origin.js";

const LONGEST_TAG = 1_000;

/**
 * The origins in an HTML page: its data blocks `script.probelab-origin` of JSON, each with the
 * name of the `<figure>` around it. Linear in the page's size; nothing of it is run.
 */
export function htmlOrigins(page: string): FoundOrigin[] {
  const found: FoundOrigin[] = [];
  const opening = /<script\b/gi;
  const closing = /<\/script/gi;
  let before = 0;
  for (let match = opening.exec(page); match !== null; match = opening.exec(page)) {
    const body = page.indexOf(">", match.index) + 1;
    closing.lastIndex = body;
    const end = body === 0 ? null : closing.exec(page);
    if (end === null) break;
    const tag = page.slice(match.index, Math.min(body, match.index + LONGEST_TAG));
    if (
      /\bclass\s*=\s*["']?[^"'>]*\bprobelab-origin\b/i.test(tag) &&
      /application\/json/i.test(tag)
    ) {
      const origin = foundOrigin(
        page.slice(body, end.index),
        figureName(page, before, match.index),
      );
      if (origin) found.push(origin);
      before = end.index;
    }
    opening.lastIndex = end.index;
  }
  return found;
}

/** The name of the last figure that begins between the two places. */
function figureName(page: string, from: number, to: number): string | undefined {
  const start = page.lastIndexOf("<figure", to);
  if (start < from) return undefined;
  const tag = page.slice(start, page.indexOf(">", start));
  const [, name] = /\saria-label="([^"]*)"/.exec(tag.slice(0, 10_000)) ?? [];
  return name === undefined ? undefined : plainText(name);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function plainText(html: string): string {
  return html.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (...parts) => {
    const [all, decimal, hexadecimal, name] = parts as (string | undefined)[];
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? "";
    const code = decimal === undefined ? parseInt(hexadecimal ?? "", 16) : Number(decimal);
    return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : (all ?? "");
  });
}
