import { chart } from "../../src/index.js";
import { exploreCells } from "../chart/support/explore-cells.js";
import { versionSummary, weeklyCounts } from "../chart/support/sample-results.js";

/** Charts whose widths follow their place: one plot, panels, linked views, a few bars. */
export const CHARTS = [
  chart.area(weeklyCounts()),
  chart.line(weeklyCounts(), { facet: "software_version" }),
  chart.bar(weeklyCounts(), { facet: "software_version", scales: "own" }),
  chart.explore(exploreCells()),
  chart.bar(versionSummary()),
];
