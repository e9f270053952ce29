import { parquet } from "../result/parquet-write.js";
import type { Chart } from "./chart-value.js";

/** The rows that a chart draws as Parquet, with its origin in the metadata `probelab.origin`. */
export function parquetRows(chart: Chart): Buffer {
  const usermeta = chart.spec.usermeta as { probelab?: unknown } | undefined;
  return parquet(chart.data.names, chart.data.rows, {
    "probelab.origin": JSON.stringify(usermeta?.probelab ?? null),
  });
}
