/**
 * The questions of "what changed?": public cases with known answers (PROBELAB_BENCHMARKS names their
 * folder), and seeded incidents on the synthetic service in ClickHouse (SEEDS incidents of the
 * reported seeds; TUNE=1 takes the others). ONLY names some parts: public, points, drops, incidents, scan.
 */
import { changePointMetrics } from "./change/change-points.js";
import { drops } from "./change/drops.js";
import { explainPublic } from "./change/explain-public.js";
import { incidents } from "./change/incidents.js";
import { scanRatios } from "./change/scan-ratios.js";
import { report } from "./support/report.js";

const parts: Record<string, () => Record<string, number> | Promise<Record<string, number>>> = {
  public: explainPublic,
  points: changePointMetrics,
  drops,
  // What is asked of the service in ClickHouse stands for what is asked of series made here.
  incidents,
  scan: scanRatios,
};
const only = process.env["ONLY"]?.split(",") ?? Object.keys(parts);
const metrics: Record<string, number> = {};
for (const [name, measure] of Object.entries(parts)) {
  if (!only.includes(name)) continue;
  for (const [metric, value] of Object.entries(await measure())) {
    if (Number.isFinite(value)) metrics[metric] = value;
  }
}
report("change", [], metrics);
