import type { ColumnTable } from "arquero";
import { inspect } from "node:util";
import { hideSecrets } from "../base/redact.js";
import type { MimeBundle } from "../base/mime-bundle.js";
import { isFinding } from "../change/finding.js";
import { isArqueroTable } from "../result/arquero-table.js";
import type { Result } from "../result/result.js";

const displaySymbol = Symbol.for("Jupyter.display");
const cssPixelsPerMetre = 96 / 0.0254;
const mimeType = /^[\w.+-]+\/[\w.+-]+$/;

/**
 * What a frontend shows of `value`, each in several forms: what its `Symbol.for("Jupyter.display")` method
 * gives (Deno's convention; it may be async), a table for a Result or an Arquero table, and inspected text
 * for everything else. Of a finding it is two: its chart, then its sentence and table, as HTML beside a
 * chart would win over it. A Promise is awaited. Without secrets.
 */
export async function mimeBundles(value: unknown): Promise<readonly MimeBundle[]> {
  return (await bundlesOf(await value)).map(({ data, metadata }) => {
    const shown = Object.entries(data).map(([type, one]) => [type, withoutSecrets(type, one)]);
    return { data: Object.fromEntries(shown) as MimeBundle["data"], metadata };
  });
}

/** The last of what a frontend shows of `value`: all of it, but of a finding its sentence and table. */
export async function mimeBundle(value: unknown): Promise<MimeBundle> {
  return (await mimeBundles(value)).at(-1)!;
}

/** Credentials that were read show in no output. */
function withoutSecrets(type: string, value: unknown): unknown {
  if (typeof value === "string") {
    return /^image\/(?!svg)|pdf$/.test(type) ? value : hideSecrets(value);
  }
  const text = JSON.stringify(value) as string | undefined;
  const plain = hideSecrets(text ?? "");
  return text === undefined || plain === text ? value : (JSON.parse(plain) as unknown);
}

async function bundlesOf(settled: unknown): Promise<readonly MimeBundle[]> {
  const own = await displayed(settled);
  if (own) return [own];
  if (isFinding(settled)) {
    const { findingBundles } = await import("../chart/change/display.js");
    return findingBundles(settled, displayed);
  }
  if (!isTable(settled)) return [{ data: { "text/plain": inspect(settled) }, metadata: {} }];
  // Loaded when it is needed: a kernel starts without the charts.
  const { resultOf } = await import("../chart/check-result.js");
  const { resultHtml } = await import("../chart/table.js");
  const result = resultOf(settled, "table");
  const data = { "text/html": resultHtml(result), "text/plain": result.toString() };
  return [{ data, metadata: {} }];
}

/** True for what shows as more than text. */
export function isRich(value: unknown): boolean {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return (
    typeof (value as Record<symbol, unknown>)[displaySymbol] === "function" ||
    isFinding(value) ||
    isTable(value)
  );
}

async function displayed(value: unknown): Promise<MimeBundle | undefined> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    return undefined;
  const method: unknown = (value as Record<symbol, unknown>)[displaySymbol];
  if (typeof method !== "function") return undefined;
  const given: unknown = await (Reflect.apply(method, value, []) as unknown);
  if (typeof given !== "object" || given === null) return undefined;
  const { data, metadata } = isBundle(given)
    ? given
    : { data: given as MimeBundle["data"], metadata: {} };
  const usable = Object.entries(data).filter(([type, one]) => mimeType.test(type) && one != null);
  if (usable.length === 0) return undefined;
  const encodedData = Object.fromEntries(usable.map(([type, one]) => [type, encoded(one)]));
  return { data: encodedData, metadata: { ...pictureSize(encodedData), ...metadata } };
}

function pictureSize(data: MimeBundle["data"]): Record<string, unknown> {
  const png = data["image/png"];
  const size = typeof png === "string" ? pngSize(png) : undefined;
  return size ? { "image/png": size } : {};
}

/** The shape with metadata, such as the size of a picture. */
function isBundle(given: object): given is MimeBundle {
  return (
    "data" in given &&
    typeof given.data === "object" &&
    given.data !== null &&
    "metadata" in given &&
    typeof given.metadata === "object"
  );
}

function encoded(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

/** By its shape: a notebook may import another copy of probelab, whose class is another one. */
function isTable(value: unknown): value is Result | ColumnTable {
  if (typeof value !== "object" || value === null) return false;
  if (isArqueroTable(value)) return true;
  return value.constructor?.name === "Result" && "origin" in value && "table" in value;
}

/**
 * The size in CSS pixels at which a PNG of a known density (its pHYs chunk) is to be shown; frontends
 * don't look for it and show each of its pixels as one. Undefined where the density isn't known.
 */
function pngSize(base64: string): { width: number; height: number } | undefined {
  // pHYs stands before the pixels, which may be long.
  const png = Buffer.from(base64.slice(0, 4096), "base64");
  if (png.length < 33 || png.toString("latin1", 1, 4) !== "PNG") return undefined;
  for (let at = 8; at + 21 <= png.length; at += png.readUInt32BE(at) + 12) {
    const type = png.toString("latin1", at + 4, at + 8);
    if (type === "IDAT") return undefined;
    if (type !== "pHYs" || png[at + 16] !== 1) continue;
    const scale = png.readUInt32BE(at + 8) / cssPixelsPerMetre;
    if (!(scale > 0)) return undefined;
    return {
      width: Math.round(png.readUInt32BE(16) / scale),
      height: Math.round(png.readUInt32BE(20) / scale),
    };
  }
  return undefined;
}
