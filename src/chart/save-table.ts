import { untilDone } from "../base/pending-work.js";
import { writeWhole } from "../files/write-whole.js";
import { csv } from "./csv.js";
import { chartPage } from "./page/chart-page.js";
import { savePath } from "./save-path.js";
import type { Table } from "./table.js";

const FORMATS: Record<string, (table: Table) => string | Promise<string | Buffer>> = {
  ".html": (table) => chartPage([table]),
  ".md": (table) => table.markdown,
  ".csv": ({ data }) => csv(data.names, data.rows),
  // Loaded when it is needed: every kernel would wait for it at its start.
  ".parquet": async (table) => (await import("./parquet-rows.js")).parquetOfTable(table),
};

/** Writes a table in the format of the path's extension; see `Table.save`. */
export async function saveTable(table: Table, target: string | URL): Promise<string> {
  const { path, extension } = savePath(target, "table", Object.keys(FORMATS));
  return untilDone(async () => writeWhole(path, (await FORMATS[extension]?.(table)) ?? ""));
}
