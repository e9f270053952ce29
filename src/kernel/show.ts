import type { ColumnTable } from "arquero";
import { createRequire } from "node:module";
import { inspect } from "node:util";
import type { MimeBundle } from "../base/mime-bundle.js";
import { hideSecrets } from "../base/redact.js";
import { isFinding } from "../change/finding.js";
import { isArqueroTable } from "../result/arquero-table.js";
import type { Result } from "../result/result.js";
import { currentSink, type Frontend } from "./outputs.js";

const displaySymbol = Symbol.for("Jupyter.display");
const mimeType = /^[\w.+-]+\/[\w.+-]+$/;

/**
 * The forms of `value` that a frontend shows: those of its `Symbol.for("Jupyter.display")` method (Deno's
 * convention; it may be async), a table for a Result or an Arquero table, and inspected text for everything
 * else. A finding has two bundles, its chart, then its sentence and table: in one bundle the HTML would hide
 * the chart. A Promise is awaited. Known secrets are hidden.
 *
 * @param frontend is handed to the method, which may leave out what the frontend draws itself
 */
export async function mimeBundles(
  value: unknown,
  frontend: Frontend = {},
): Promise<readonly MimeBundle[]> {
  return (await bundlesOf(await value, frontend)).map(({ data, metadata }) => {
    const shown = Object.entries(data).map(([type, form]) => [type, redacted(type, form)]);
    return { data: Object.fromEntries(shown) as MimeBundle["data"], metadata };
  });
}

/** The last of the `mimeBundles` of `value`. */
export async function mimeBundle(value: unknown): Promise<MimeBundle> {
  return (await mimeBundles(value)).at(-1)!;
}

function redacted(type: string, value: unknown): unknown {
  if (typeof value === "string") {
    return /^image\/(?!svg)|pdf$/.test(type) ? value : hideSecrets(value);
  }
  const text = JSON.stringify(value) as string | undefined;
  const plain = hideSecrets(text ?? "");
  return text === undefined || plain === text ? value : (JSON.parse(plain) as unknown);
}

async function bundlesOf(settled: unknown, frontend: Frontend): Promise<readonly MimeBundle[]> {
  const bundle = await displayed(settled, frontend);
  if (bundle) return [bundle];
  if (isFinding(settled)) {
    const { findingBundles } = await import("../chart/page.js");
    return findingBundles(settled, (chart) => displayed(chart, frontend));
  }
  if (!isTable(settled)) return [{ data: { "text/plain": inspect(settled) }, metadata: {} }];
  // Loaded when it is needed: a kernel starts without the charts.
  const { resultHtml, resultOf } = await import("../chart/page.js");
  const result = resultOf(settled, "table");
  const data = { "text/html": resultHtml(result), "text/plain": result.toString() };
  return [{ data, metadata: {} }];
}

/** True for a value that shows as more than text. */
export function isRich(value: unknown): boolean {
  return displayMethod(value) !== undefined || isFinding(value) || isTable(value);
}

function displayMethod(value: unknown): ((frontend: Frontend) => unknown) | undefined {
  const method: unknown = (Object(value) as Record<symbol, unknown>)[displaySymbol];
  return typeof method === "function"
    ? (frontend) => Reflect.apply(method, value, [frontend]) as unknown
    : undefined;
}

/** The result of the value's own method: data by MIME type, or `{ data, metadata }`. */
async function displayed(value: unknown, frontend: Frontend): Promise<MimeBundle | undefined> {
  const shown = (await displayMethod(value)?.(frontend)) as Partial<MimeBundle> | null | undefined;
  if (typeof shown !== "object" || shown === null) return undefined;
  const { data, metadata } = shown;
  const isBundle = [data, metadata].every((part) => typeof part === "object" && part !== null);
  const forms = Object.entries(isBundle ? (data ?? {}) : shown)
    .filter(([type, form]) => mimeType.test(type) && form != null)
    .map(([type, form]) => [
      type,
      form instanceof Uint8Array ? Buffer.from(form).toString("base64") : form,
    ]);
  if (forms.length === 0) return undefined;
  const byType = Object.fromEntries(forms) as MimeBundle["data"];
  return { data: byType, metadata: isBundle ? (metadata ?? {}) : {} };
}

/** By its shape: a notebook may import another copy of probelab, whose class is another one. */
function isTable(value: unknown): value is Result | ColumnTable {
  if (typeof value !== "object" || value === null) return false;
  if (isArqueroTable(value)) return true;
  return value.constructor?.name === "Result" && "origin" in value && "table" in value;
}

/**
 * Shows a value in the middle of a cell, as the last expression of a cell is shown: a chart, a finding, a
 * Result and anything with a `Symbol.for("Jupyter.display")` method in its own forms, the rest as inspected
 * text. Await it, so that outputs keep their order. Outside of a notebook it prints the text; of a finding
 * also the table.
 *
 * @example
 * await show(chart.area(counts));
 * await show(counts);
 */
export async function show(value: unknown): Promise<void> {
  const sink = currentSink();
  const settled = await value;
  const bundles = await mimeBundles(settled, sink);
  const write = sink ? undefined : stockWriter();
  for (const bundle of bundles) {
    if (sink) sink({ output_type: "display_data", ...bundle });
    else write?.({ ...bundle, transient: {} }, false);
  }
  if (sink || write) return;
  if (isFinding(settled)) {
    console.log(settled.sentence);
    console.log(settled.result.toString());
    return;
  }
  const { data } = bundles.at(-1)!;
  const text = data["text/plain"];
  console.log(typeof text === "string" ? text : Object.keys(data).join(", "));
}

/** Displays data by MIME type in tslab's own kernel. */
type StockWriter = (message: MimeBundle & { readonly transient: object }, update: boolean) => void;

joinStockTslab();

/**
 * Mends two things in tslab's own kernel; elsewhere it does nothing. tslab prints the last expression of
 * a cell as text: a chart or a Result is shown instead. And, from the cell after the import of probelab on,
 * tslab compiles `{ range }`, with a name of an earlier cell, to a `range` that is nowhere: such names become
 * globals.
 */
function joinStockTslab(): void {
  const stock = (globalThis as { __tslab__?: { exports: Record<string, unknown> } }).__tslab__;
  if (!stock || "__probelab__" in globalThis || !stockWriter()) return;
  const variables = stock.exports;
  const makeGlobal = (name: string) => {
    if (name in globalThis) return;
    const get = () => variables[name];
    Object.defineProperty(globalThis, name, { get, configurable: true });
  };
  // The cell that imports probelab writes to the object itself: what that lacks is set by its prototype.
  const isLast = (name: string | symbol): boolean => /^tsLastExpr\d*$/.test(String(name));
  for (const name of Object.keys(variables).filter(isLast)) Reflect.deleteProperty(variables, name);
  const isShown = (name: string | symbol, value: unknown): boolean => {
    if (!isLast(name) || !isRich(value)) return false;
    // Taken now: when the picture is ready, the next cell may have begun.
    const write = stockWriter();
    mimeBundles(value).then(
      (bundles) => bundles.forEach((bundle) => write?.({ ...bundle, transient: {} }, false)),
      (error: unknown) => console.error(error),
    );
    return true;
  };
  const first = new Proxy(Object.prototype, {
    set(_, name, value: unknown, receiver: object) {
      // A cell begins by making it undefined.
      if ((isLast(name) && value === undefined) || isShown(name, value)) return true;
      const open = { writable: true, enumerable: true, configurable: true };
      return Reflect.defineProperty(receiver, name, { value, ...open });
    },
  });
  Object.setPrototypeOf(variables, first);
  stock.exports = new Proxy(variables, {
    set(target, name, value: unknown) {
      return isShown(name, value) || Reflect.set(target, name, value);
    },
    // The first thing that each cell does is to define `__esModule`.
    defineProperty(target, name, descriptor) {
      if (name === "__esModule") Object.keys(variables).forEach(makeGlobal);
      return Reflect.defineProperty(target, name, descriptor);
    },
  });
}

function stockWriter(): StockWriter | undefined {
  const cache = createRequire(import.meta.url).cache;
  const path = Object.keys(cache).find((file) => /[\\/]tslab[\\/]dist[\\/]jupyter\.js$/.test(file));
  const part = path ? (cache[path]?.exports as { lastWriteDisplayData?: StockWriter }) : undefined;
  return part?.lastWriteDisplayData ?? undefined;
}
