import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import type { MimeBundle } from "../base/mime-bundle.js";
import { isFinding } from "../change/finding.js";
import { isRich, mimeBundles } from "./mime-bundle.js";
import { currentSink, type OutputSink } from "./outputs.js";

/** What tslab's own kernel shows: data by MIME type, and metadata. */
type TslabDisplay = (message: MimeBundle & { readonly transient: object }, update: boolean) => void;

showLastInStock();

/**
 * Shows a value in the middle of a cell, as its last expression is shown: a chart, a finding, a Result,
 * or anything that has a `Symbol.for("Jupyter.display")` method as what they are, the rest as inspected
 * text. Await it, so that outputs keep their order. Outside of a notebook it prints the text, of a
 * finding its table too.
 *
 * @param options `replace`: a name; what the same cell shows next under it takes the place of this, in
 *   probelab's kernel and runs. Default: below.
 * @example
 * await show(chart.area(counts));
 * await show(counts);
 */
export async function show(value: unknown, options: { replace?: string } = {}): Promise<void> {
  const sink = currentSink();
  const { replace } = options;
  const settled = await value;
  const bundles = await mimeBundles(settled);
  const write = sink ? undefined : stockWriter();
  for (const [at, bundle] of bundles.entries()) {
    const place = sink && replace !== undefined ? placeOf(sink, `${at} ${replace}`) : {};
    if (sink) sink({ type: "display", bundle, ...place });
    else write?.({ ...bundle, transient: {} }, false);
  }
  if (sink || write) return;
  const { data } = bundles.at(-1)!;
  const text = data["text/plain"];
  console.log(typeof text === "string" ? text : Object.keys(data).join(", "));
  if (isFinding(settled)) console.log(settled.result.toString());
}

/** What a cell has shown under a name, by its sink. */
const places = new WeakMap<OutputSink, Map<string, string>>();

function placeOf(sink: OutputSink, name: string): { displayId: string; update: boolean } {
  const own = places.get(sink) ?? new Map<string, string>();
  places.set(sink, own);
  const known = own.get(name);
  const displayId = known ?? randomUUID();
  own.set(name, displayId);
  return { displayId, update: known !== undefined };
}

/**
 * In tslab's own kernel, which prints the last expression of a cell as text, shows a chart or a Result as
 * what it is: from the cell on that follows the import of probelab. Elsewhere it does nothing.
 */
function showLastInStock(): void {
  const stock = (globalThis as { __tslab__?: { exports: object } }).__tslab__;
  if (!stock || "__probelab__" in globalThis || !stockWriter()) return;
  stock.exports = new Proxy(stock.exports, {
    set(target, name, value: unknown) {
      if (!/^tsLastExpr\d*$/.test(String(name)) || !isRich(value)) {
        return Reflect.set(target, name, value);
      }
      // Taken when the cell runs: when the picture is ready, the next cell may have begun.
      const write = stockWriter();
      mimeBundles(value).then(
        (bundles) => bundles.forEach((bundle) => write?.({ ...bundle, transient: {} }, false)),
        (error: unknown) => console.error(error),
      );
      return true;
    },
  });
}

function stockWriter(): TslabDisplay | undefined {
  const cache = createRequire(import.meta.url).cache;
  const path = Object.keys(cache).find((file) => /[\\/]tslab[\\/]dist[\\/]jupyter\.js$/.test(file));
  const part = path ? (cache[path]?.exports as { lastWriteDisplayData?: TslabDisplay }) : undefined;
  return part?.lastWriteDisplayData ?? undefined;
}
