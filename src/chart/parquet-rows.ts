import { parquet } from "../result/parquet-write.js";
import type { Chart, ChartRows } from "./chart-value.js";
import { originRecord } from "./origin-record.js";
import { titleText } from "./render/svg.js";
import type { Table } from "./table.js";

/** The rows that a chart draws as Parquet, its origin and title in `probelab.origin` and `probelab.title`. */
export function parquetOfChart({ data, spec }: Chart): Buffer {
  const usermeta = spec.usermeta as { probelab?: unknown } | undefined;
  return titledParquet(data, usermeta?.probelab ?? null, titleText(spec.title));
}

/** The rows that a table shows, in the same way. */
export function parquetOfTable({ data, origin, model }: Table): Buffer {
  return titledParquet(data, originRecord(origin), model.caption);
}

function titledParquet({ names, rows }: ChartRows, origin: unknown, title: string): Buffer {
  return parquet(names, rows, {
    "probelab.origin": JSON.stringify(origin),
    ...(title !== "" && { "probelab.title": title }),
  });
}
