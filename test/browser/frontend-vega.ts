import { parse, type Spec, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { Handler } from "vega-tooltip";

/**
 * What a notebook frontend does with a chart: Vega-Lite compiled in the browser, Vega as it is, expressions
 * run as code, Vega's own loader, vega-tooltip's HTML. Bundled into a page by the tests.
 */
async function drawSpecs(specs: readonly object[]): Promise<void> {
  const tooltip = new Handler();
  for (const [index, spec] of specs.entries()) {
    const compiled = "marks" in spec ? (spec as Spec) : compile(spec as TopLevelSpec).spec;
    const view = new View(parse(compiled), {
      renderer: "svg",
      hover: true,
      tooltip: (handler, event, item, value) => tooltip.call(handler, event, item, value),
    });
    await view.initialize(`#chart-${index}`).runAsync();
  }
}

Object.assign(globalThis, { drawSpecs });
