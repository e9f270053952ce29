import { ProbelabError } from "../../base/error.js";
import { readParquetMetadata } from "../../result/parquet-read.js";
import { damagedFile, foundOrigin, type FoundOrigin } from "./found-origin.js";
import { jsonOrigins } from "./json-origins.js";
import { htmlOrigins, svgOrigins } from "./markup-origins.js";
import { pdfOrigins } from "./pdf-origins.js";
import { pngOrigins } from "./png-origins.js";

/**
 * Where the charts of an exported file come from: of an SVG, PNG, PDF, HTML page, chart spec,
 * Jupyter notebook or Parquet file, told by its content. None of it is run or fetched.
 *
 * @returns one for each chart, at least one.
 * @throws ProbelabError for another file, a damaged one, and one without an origin; the message
 *   goes on after the file's name.
 * @example
 * const [first] = readOrigins(await readFile("out/run-durations.svg"));
 * first?.origin.sql;
 */
export function readOrigins(bytes: Buffer): FoundOrigin[] {
  let found: FoundOrigin[];
  try {
    found = originsByContent(bytes);
  } catch (error) {
    if (error instanceof ProbelabError) throw error;
    throw damagedFile("a file of its kind", "can't be read", error);
  }
  if (found.length > 0) return found;
  throw new ProbelabError(
    "no origin in it: was it exported by probelab, or re-saved by a tool that strips metadata? Take the file that chart.save wrote.",
  );
}

function originsByContent(bytes: Buffer): FoundOrigin[] {
  const head = bytes.toString("latin1", 0, 1024);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return pngOrigins(bytes);
  if (head.startsWith("PAR1")) return parquetOrigins(bytes);
  if (head.includes("%PDF-")) return pdfOrigins(bytes.toString("latin1"));
  const text = decoded(bytes);
  const begin = /^[\s\uFEFF]*(.?)/.exec(text)?.[1];
  if (begin === "{" || begin === "[") return jsonOrigins(text.trim());
  if (begin === "<") {
    const root = /<(?!!--|\?|!doctype)(?:[\w.-]+:)?([\w-]+)/i.exec(withoutComments(text));
    if (root?.[1]?.toLowerCase() === "svg") return svgOrigins(text);
    if (root?.[1]?.toLowerCase() === "html" || /<!doctype html/i.test(text.slice(0, 1024))) {
      return htmlOrigins(text);
    }
  }
  throw new ProbelabError(unknownFormat(bytes, text));
}

/** The origin in a Parquet file's metadata `probelab.origin`, whoever wrote the file last. */
function parquetOrigins(bytes: Buffer): FoundOrigin[] {
  let metadata: Record<string, string>;
  try {
    metadata = readParquetMetadata(bytes);
  } catch (error) {
    throw damagedFile("Parquet", "its footer can't be read", error);
  }
  const { "probelab.origin": text, "probelab.title": title } = metadata;
  return text === undefined ? [] : [foundOrigin(text, title)].flatMap((origin) => origin ?? []);
}

function unknownFormat(bytes: Buffer, text: string): string {
  if (bytes.length === 0) return "it is empty.";
  const line = /^[^\r\n]*/.exec(text)?.[0] ?? "";
  if (line.includes(",") && !/[\0-\x08\ufffd]/.test(line)) {
    return "it looks like CSV, which has no place for an origin: save the chart as .parquet, .svg, .png, .pdf, .html or .json too.";
  }
  return "its format isn't known: give an SVG, PNG, PDF, HTML, JSON, Parquet or notebook file that probelab wrote.";
}

/** The beginning without comments: where the root element stands. */
function withoutComments(text: string): string {
  return text.slice(0, 65_536).replace(/<!--[^]*?(?:-->|$)/g, "");
}

/** UTF-8, or UTF-16 by its mark. */
function decoded(bytes: Buffer): string {
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return bytes.toString(utf16 ? "utf16le" : "utf8");
}
