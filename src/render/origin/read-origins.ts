import { inflateSync } from "node:zlib";
import { ProbelabError } from "../../base/error.js";
import { unescapeXml } from "../../base/xml.js";
import type { Json } from "../../result/json.js";
import { redactedJson } from "./origin-record.js";

/** An origin as it was found in a file. */
export interface FoundOrigin {
  /** The chart's title, where the file has it. */
  readonly title?: string;
  /** The record that `originRecord` made, without credentials even where a foreign one had some. */
  readonly origin: Readonly<Record<string, Json>>;
}

/** A record of more bytes is none; a text may unpack to anything. */
const MOST_BYTES = 16 * 1024 * 1024;
const LONGEST_TAG = 10_000;

/**
 * The origins of the charts in an SVG, a PNG or an HTML page, recognized by its content.
 *
 * @returns one for each chart, at least one.
 * @throws ProbelabError for another file, a damaged one, and one without an origin; the message
 *   follows the file's name.
 * @example
 * const [first] = readOrigins(await readFile("out/run-durations.svg"));
 * first?.origin.sql;
 */
export function readOrigins(bytes: Buffer): FoundOrigin[] {
  const text = bytes.toString("utf8");
  const start = text.slice(0, 65_536).replace(/<!--[^]*?(?:-->|$)/g, "");
  const root = /<(?!\?|!doctype)(?:[\w.-]+:)?([\w-]+)/i.exec(start)?.[1]?.toLowerCase();
  let found: FoundOrigin[];
  if (bytes.toString("latin1", 0, 8) === "\x89PNG\r\n\x1a\n") found = pngOrigins(bytes);
  else if (root === "svg") found = svgOrigins(text);
  else if (root === "html") found = htmlOrigins(text);
  else {
    throw new ProbelabError(
      "it is no SVG, PNG or HTML page, of which origins are read. In a PDF see its attachment origin.json, in Parquet the metadata probelab.origin, in a spec usermeta.probelab.",
    );
  }
  if (found.length > 0) return found;
  throw new ProbelabError(
    "no origin in it: was it exported by probelab, or saved again by a tool that strips metadata? Take the file that chart.save wrote.",
  );
}

/** The iTXt chunks `probelab`. Source: https://www.w3.org/TR/png-3/#11iTXt */
function pngOrigins(bytes: Buffer): FoundOrigin[] {
  const records: string[] = [];
  let title: string | undefined;
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const data = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
    if (bytes.toString("latin1", at + 4, at + 8) !== "iTXt") continue;
    const [keyword = ""] = data.toString("latin1", 0, 80).split("\0");
    const language = data.indexOf(0, keyword.length + 3);
    const text = data.subarray(data.indexOf(0, language + 1) + 1);
    if (keyword === "Title") title ??= text.toString("utf8");
    if (keyword !== "probelab") continue;
    try {
      const isPacked = data[keyword.length + 1] === 1;
      const json = isPacked ? inflateSync(text, { maxOutputLength: MOST_BYTES }) : text;
      records.push(json.toString("utf8"));
    } catch (error) {
      throw broken(error);
    }
  }
  return records.flatMap((json) => recordOf(json, title));
}

/** The elements `origin`, with the titles of the `<svg>` that they stand in. */
function svgOrigins(text: string): FoundOrigin[] {
  return text.split(/<svg\b/).flatMap((picture) => {
    const title = /<title>([^<]*)<\/title>/.exec(picture)?.[1];
    const found = picture.matchAll(/<origin xmlns="urn:probelab:origin">([^<]*)<\/origin>/g);
    return [...found].flatMap(([, json = ""]) =>
      recordOf(unescapeXml(json), title && unescapeXml(title)),
    );
  });
}

/** The scripts `probelab-origin`, with the names of their `<figure>`. */
function htmlOrigins(page: string): FoundOrigin[] {
  const scripts = /<script type="application\/json" class="probelab-origin">([^<]*)<\/script>/g;
  let before = 0;
  return [...page.matchAll(scripts)].flatMap(({ 1: json = "", index }) => {
    const between = page.slice(before, index);
    before = index;
    const start = between.lastIndexOf("<figure");
    const [tag = ""] = start < 0 ? [] : between.slice(start, start + LONGEST_TAG).split(">");
    const name = / aria-label="([^"]*)"/.exec(tag)?.[1];
    return recordOf(json, name && unescapeXml(name));
  });
}

/** A record of its JSON; none for null, which a chart without an origin has. */
function recordOf(json: string, title?: string): FoundOrigin[] {
  try {
    const value = JSON.parse(json) as Json;
    if (value === null || Object.keys(value).length === 0) return [];
    if (typeof value !== "object" || Array.isArray(value)) throw new TypeError("no record");
    const named = title?.trim() ? { title } : {};
    return [{ ...named, origin: redactedJson(value) as Record<string, Json> }];
  } catch (error) {
    throw broken(error);
  }
}

function broken(cause: unknown): ProbelabError {
  return new ProbelabError(
    "its origin isn't a record as probelab writes it: it was changed or damaged; export the chart again.",
    { cause },
  );
}
