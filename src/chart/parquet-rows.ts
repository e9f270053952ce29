import { parquet } from "../result/parquet-write.js";
import type { Chart } from "./chart-value.js";
import { titleText } from "./render/svg.js";

/** The rows that a chart draws as Parquet, its origin and title in `probelab.origin` and `probelab.title`. */
export function parquetRows(chart: Chart): Buffer {
  const usermeta = chart.spec.usermeta as { probelab?: unknown } | undefined;
  const title = titleText(chart.spec.title);
  return parquet(chart.data.names, chart.data.rows, {
    "probelab.origin": JSON.stringify(usermeta?.probelab ?? null),
    ...(title !== "" && { "probelab.title": title }),
  });
}
