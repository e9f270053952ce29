import { refuseUnknown } from "../base/check-options.js";
import type { Database } from "../database/database.js";
import type { By } from "../query/ask.js";
import { count, quantile, share } from "../query/measure.js";
import { raw, sql } from "../query/sql.js";
import type { Result } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { askLog, GROUPED_OPTIONS, type LogGroup, type LogGroupOptions } from "./ask.js";
import { formSql, patternsOf, type LogForms } from "./forms.js";
import { messageText } from "./lines.js";

/** Options of `lab.logs.checkIn`. */
export interface CheckInOptions<
  B extends By<LogGroup | "urls"> = By<LogGroup | "urls">,
> extends Omit<LogGroupOptions, "by"> {
  /** The bucket of time, as for `rates`; default `"hour"`. */
  readonly every?: Bucket | "auto" | "all";
  /** Columns, or `"urls"`, the length of the list. */
  readonly by?: B;
}

/** `lab.logs.checkIn`: see {@link Logs.checkIn}. */
export async function checkIn(
  database: Database,
  options: CheckInOptions,
  forms: LogForms,
): Promise<Result> {
  const action = "count check-in lists";
  refuseUnknown(options, GROUPED_OPTIONS, action);
  const table = await database.table("logs");
  const form = formSql(patternsOf("checkIn", forms), raw(messageText(table)));
  const length = sql`toUInt32OrNull(${form.groups}[1])`;
  const urls = (level: number, label: string) =>
    quantile(level, "urls", { label: `URLs in a check-in list, ${label}` });
  const measures = {
    lists: count({ label: "Check-in lists", unit: "lists" }),
    hundred: share({ urls: 100 }, { label: "Share of lists with 100 URLs" }),
    fewest: urls(0, "fewest"),
    q10: urls(0.1, "10th percentile"),
    q50: urls(0.5, "median"),
    q90: urls(0.9, "90th percentile"),
    most: urls(1, "most"),
  };
  const column = { type: "UInt32", label: "URLs in a check-in list", unit: "URLs" };
  const result = await askLog(
    database,
    { ...options, every: options.every ?? "hour" },
    measures,
    action,
    {
      only: [form.is, sql`isNotNull(${length})`],
      computed: { urls: { ...column, sql: sql`assumeNotNull(${length})` } },
      many: "lists",
    },
  );
  if (result.numRows() > 0) return result;
  const note =
    "No line has a known form of a check-in list. If yours look otherwise, give their pattern in tables.logs.forms.checkIn.";
  return result.with(result.table, { notes: [...result.origin.notes, note] });
}
