import type { Chart } from "./chart-value.js";
import { csv } from "./csv.js";
import { untilDone } from "../base/pending-work.js";
import { savePath } from "./save-path.js";
import { writeWhole } from "../files/write-whole.js";

const FORMATS: Record<string, (chart: Chart) => Promise<string | Buffer>> = {
  ".svg": (chart) => chart.svg(),
  ".png": (chart) => chart.png(),
  ".pdf": (chart) => chart.pdf(),
  ".html": (chart) => chart.html(),
  ".json": (chart) => Promise.resolve(`${JSON.stringify(chart.spec, null, 1)}\n`),
  ".csv": (chart) => Promise.resolve(csv(chart.data.names, chart.data.rows)),
  // Loaded when it is needed: every kernel would wait for it at its start.
  ".parquet": async (chart) => (await import("./parquet-rows.js")).parquetOfChart(chart),
};

/** Writes a chart in the format of the path's extension; see `Chart.save`. */
export async function saveChart(chart: Chart, target: string | URL): Promise<string> {
  const { path, extension } = savePath(target, "chart", Object.keys(FORMATS));
  return untilDone(async () => writeWhole(path, (await FORMATS[extension]?.(chart)) ?? ""));
}
