import type { TopLevelSpec } from "vega-lite";
import { loadVega } from "./vega.js";

/** A Vega-Lite spec as Vega's own, which draws without Vega-Lite: without origin and description. */
export async function compiledSpec(
  spec: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { vega, vegaLite } = await loadVega();
  const drawn = structuredClone(spec);
  delete drawn.usermeta;
  delete drawn.description;
  const compiled = vegaLite.compile(drawn as unknown as TopLevelSpec, {
    // What it says would be data on the console.
    logger: vega.logger(vega.None),
    config: { aria: false },
  });
  return compiled.spec as unknown as Record<string, unknown>;
}
