import { mimeBundle } from "./mime-bundle.js";
import { currentSink } from "./output-context.js";
import { showLastInStock, stockDisplay } from "./stock-display.js";

showLastInStock();

/**
 * Shows a value in the middle of a cell, as its last expression is shown: a chart, a Result, or anything
 * that has a `Symbol.for("Jupyter.display")` method as what they are, the rest as inspected text. Await it,
 * so that outputs keep their order. Outside of a notebook it prints the text.
 *
 * @example
 * await show(chart.area(counts));
 * await show(counts);
 */
export async function show(value: unknown): Promise<void> {
  const sink = currentSink();
  const bundle = await mimeBundle(value);
  if (sink) return sink({ type: "display", bundle });
  if (stockDisplay(bundle)) return;
  const text = bundle.data["text/plain"];
  console.log(typeof text === "string" ? text : Object.keys(bundle.data).join(", "));
}
