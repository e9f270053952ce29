import { ProbelabError } from "../../base/error.js";
import type { Json } from "../../result/json.js";
import { readParquetMetadata } from "../../result/parquet-read.js";
import { redactedJson } from "./origin-record.js";
import { titleText } from "../svg.js";
import { damagedFile, pdfOrigins, pngOrigins, type OriginText } from "./binary-origins.js";
import { htmlOrigins, svgOrigins } from "./markup-origins.js";

/** Where a chart comes from, as it was found in a file. */
export interface FoundOrigin {
  /** The chart's title, where the file tells it. */
  readonly title?: string;
  /** The record that `originRecord` made, without credentials even where a foreign one had some. */
  readonly origin: Readonly<Record<string, Json>>;
}

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
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return parsed(pngOrigins(bytes));
  if (head.startsWith("PAR1")) return parquetOrigins(bytes);
  if (head.includes("%PDF-")) return parsed(pdfOrigins(bytes.toString("latin1")));
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = bytes.toString(utf16 ? "utf16le" : "utf8");
  const begin = /^[\s\uFEFF]*(.?)/.exec(text)?.[1];
  if (begin === "{" || begin === "[") return jsonOrigins(text.trim());
  if (begin === "<") {
    const start = text.slice(0, 65_536).replace(/<!--[^]*?(?:-->|$)/g, "");
    const root = /<(?!!--|\?|!doctype)(?:[\w.-]+:)?([\w-]+)/i.exec(start)?.[1]?.toLowerCase();
    if (root === "svg") return parsed(svgOrigins(text));
    if (root === "html" || /<!doctype html/i.test(start)) return parsed(htmlOrigins(text));
  }
  throw new ProbelabError(unknownFormat(bytes, text));
}

function unknownFormat(bytes: Buffer, text: string): string {
  if (bytes.length === 0) return "it is empty.";
  const line = /^[^\r\n]*/.exec(text)?.[0] ?? "";
  if (line.includes(",") && !/[\0-\x08\ufffd]/.test(line)) {
    return "it looks like CSV, which has no place for an origin: save the chart as .parquet, .svg, .png, .pdf, .html or .json too.";
  }
  return "its format isn't known: give an SVG, PNG, PDF, HTML, JSON, Parquet or notebook file that probelab wrote.";
}

/** The origin in a Parquet file's metadata `probelab.origin`, whoever wrote the file last. */
function parquetOrigins(bytes: Buffer): FoundOrigin[] {
  let metadata: Record<string, string>;
  try {
    metadata = readParquetMetadata(bytes);
  } catch (error) {
    throw damagedFile("Parquet", "its footer can't be read", error);
  }
  const { "probelab.origin": json, "probelab.title": title } = metadata;
  return json === undefined ? [] : parsed([{ json, title }]);
}

const VEGA_LITE = /^application\/vnd\.vegalite\.v\d+(\+json|\.json)$/;

/** Characters; parsed JSON may take thirty times as much memory. */
const LARGEST = 64 * 1024 * 1024;

// The origins in JSON: of a chart's spec, or of the charts in the outputs of a Jupyter notebook
// (their Vega-Lite, else their PNG).
function jsonOrigins(text: string): FoundOrigin[] {
  if (text.length > LARGEST) throw damagedFile("JSON", "is larger than any chart or notebook");
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw damagedFile("JSON", "isn't JSON to its end", error);
  }
  if (member(value, "nbformat") === undefined) return specOrigins(value);
  const listed = (list: Json | undefined): readonly Json[] =>
    Array.isArray(list) ? (list as readonly Json[]) : [];
  return listed(member(value, "cells")).flatMap((cell) =>
    listed(member(cell, "outputs")).flatMap((output) => bundleOrigins(member(output, "data"))),
  );
}

function specOrigins(spec: Json | undefined): FoundOrigin[] {
  const usermeta = member(spec, "usermeta");
  // The title of one that screens draw follows its width; it stands there as it is.
  const title = member(usermeta, "title") ?? member(spec, "title");
  return foundOrigin(member(usermeta, "probelab"), titleText(title));
}

/** One chart's, in whichever of its MIME types it stands. */
function bundleOrigins(data: Json | undefined): FoundOrigin[] {
  for (const [mime, content] of Object.entries(data ?? {})) {
    const found = VEGA_LITE.test(mime) ? specOrigins(content as Json) : [];
    if (found.length > 0) return found;
  }
  const png = member(data, "image/png");
  const base64 = Array.isArray(png) ? png.join("") : png;
  const bytes = Buffer.from(typeof base64 === "string" ? base64 : "", "base64");
  return bytes.toString("latin1", 1, 4) === "PNG" ? parsed(pngOrigins(bytes)) : [];
}

function member(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, Json>>)[name] : undefined;
}

function parsed(texts: readonly OriginText[]): FoundOrigin[] {
  return texts.flatMap(({ json, title }) => {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (error) {
      throw brokenOrigin(error);
    }
    return foundOrigin(value, title);
  });
}

/** A record of a file; none for null, which a chart without an origin has. */
function foundOrigin(value: unknown, title?: string): FoundOrigin[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object" || Array.isArray(value)) throw brokenOrigin();
  if (Object.keys(value).length === 0) return [];
  if (!["sql", "range", "source"].some((name) => Object.hasOwn(value, name))) throw brokenOrigin();
  const named = title === undefined || title.trim() === "" ? {} : { title };
  try {
    return [{ ...named, origin: redactedJson(value) as Record<string, Json> }];
  } catch (error) {
    throw brokenOrigin(error);
  }
}

function brokenOrigin(cause?: unknown): ProbelabError {
  return new ProbelabError(
    "its origin isn't a record as probelab writes it: it was changed or damaged; export the chart again.",
    { cause },
  );
}
