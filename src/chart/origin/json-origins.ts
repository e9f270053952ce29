import type { Json } from "../../result/json.js";
import { titleText } from "../render/svg.js";
import { damagedFile, originOf, type FoundOrigin } from "./found-origin.js";
import { pngOrigins } from "./png-origins.js";

const VEGA_LITE = /^application\/vnd\.vegalite\.v\d+(\+json|\.json)$/;

/** Characters; parsed JSON may take thirty times as much memory. */
const LARGEST = 64 * 1024 * 1024;
/** From here on it is looked first whether parsing can find anything. */
const LARGE = 1024 * 1024;

/**
 * The origins in JSON: of a chart's spec, or of the charts in the outputs of a Jupyter notebook
 * (their Vega-Lite, else their PNG).
 */
export function jsonOrigins(text: string): FoundOrigin[] {
  if (text.length > LARGE && !/"probelab"|vegalite|image\/png/.test(text)) return [];
  if (text.length > LARGEST) throw damagedFile("JSON", "is larger than any chart or notebook");
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw damagedFile("JSON", "isn't JSON to its end", error);
  }
  const cells = member(value, "cells");
  if (Array.isArray(cells) && member(value, "nbformat") !== undefined) {
    return (cells as readonly Json[]).flatMap((cell) =>
      elements(member(cell, "outputs")).flatMap((output) => bundleOrigins(member(output, "data"))),
    );
  }
  return specOrigins(value);
}

function specOrigins(spec: Json | undefined): FoundOrigin[] {
  const record = member(member(spec, "usermeta"), "probelab");
  return [originOf(record, titleText(member(spec, "title")))].flatMap((origin) => origin ?? []);
}

/** One chart's, in whichever of its MIME types it stands. */
function bundleOrigins(data: Json | undefined): FoundOrigin[] {
  const bundle = isObject(data) ? Object.entries(data) : [];
  for (const [mime, content] of bundle) {
    if (!VEGA_LITE.test(mime)) continue;
    const found = specOrigins(content);
    if (found.length > 0) return found;
  }
  const png = member(data, "image/png");
  const base64 = Array.isArray(png) ? png.join("") : png;
  if (typeof base64 !== "string") return [];
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("latin1", 1, 4) === "PNG" ? pngOrigins(bytes) : [];
}

function elements(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
