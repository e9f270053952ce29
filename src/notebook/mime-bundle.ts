import type { ColumnTable } from "arquero";
import { inspect } from "node:util";
import { isArqueroTable } from "../result/arquero-table.js";
import type { Result } from "../result/result.js";
import type { MimeBundle } from "../base/mime-bundle.js";
import type { MimeData } from "./cell-output.js";
import { pngSize } from "./png-size.js";

const displaySymbol = Symbol.for("Jupyter.display");
const mimeType = /^[\w.+-]+\/[\w.+-]+$/;

/**
 * The forms in which a frontend can show `value`: what its `Symbol.for("Jupyter.display")` method gives
 * (Deno's convention; it may be async), a table for a Result or an Arquero table, and inspected
 * text for everything else. A Promise is awaited.
 */
export async function mimeBundle(value: unknown): Promise<MimeBundle> {
  const settled = await value;
  const own = await displayed(settled);
  if (own) return own;
  if (!isTable(settled)) return { data: { "text/plain": inspect(settled) }, metadata: {} };
  // Loaded when it is needed: a kernel starts without the charts.
  const { resultOf } = await import("../chart/check-result.js");
  const { resultHtml } = await import("../chart/table.js");
  const result = resultOf(settled, "table");
  return {
    data: { "text/html": resultHtml(result), "text/plain": result.toString() },
    metadata: {},
  };
}

/** True for what shows as more than text. */
export function isRich(value: unknown): boolean {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return typeof (value as Record<symbol, unknown>)[displaySymbol] === "function" || isTable(value);
}

async function displayed(value: unknown): Promise<MimeBundle | undefined> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    return undefined;
  const method: unknown = (value as Record<symbol, unknown>)[displaySymbol];
  if (typeof method !== "function") return undefined;
  const given: unknown = await (Reflect.apply(method, value, []) as unknown);
  if (typeof given !== "object" || given === null) return undefined;
  const { data, metadata } = isBundle(given) ? given : { data: given as MimeData, metadata: {} };
  const usable = Object.entries(data).filter(([type, one]) => mimeType.test(type) && one != null);
  if (usable.length === 0) return undefined;
  const encodedData = Object.fromEntries(usable.map(([type, one]) => [type, encoded(one)]));
  return { data: encodedData, metadata: { ...pictureSize(encodedData), ...metadata } };
}

function pictureSize(data: MimeData): Record<string, unknown> {
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
