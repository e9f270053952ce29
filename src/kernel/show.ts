import { createRequire } from "node:module";
import type { MimeBundle } from "../base/mime-bundle.js";
import { isFinding } from "../change/finding.js";
import { isRich, mimeBundles } from "./mime-bundle.js";
import { currentSink } from "./outputs.js";

joinStockTslab();

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
    if (sink) sink({ type: "display", bundle });
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

/**
 * Mends two things in tslab's own kernel, from the cell after the import of probelab on; elsewhere it does
 * nothing. tslab prints the last expression of a cell as text: a chart or a Result is shown instead. And
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
  stock.exports = new Proxy(variables, {
    set(target, name, value: unknown) {
      if (!/^tsLastExpr\d*$/.test(String(name)) || !isRich(value)) {
        return Reflect.set(target, name, value);
      }
      // Taken now: when the picture is ready, the next cell may have begun.
      const write = stockWriter();
      mimeBundles(value).then(
        (bundles) => bundles.forEach((bundle) => write?.({ ...bundle, transient: {} }, false)),
        (error: unknown) => console.error(error),
      );
      return true;
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
