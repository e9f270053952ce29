import type { ColumnTable } from "arquero";
import { refuseUnknown } from "../base/check-options.js";
import type { Database } from "../database/database.js";
import type { DimensionColumn } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { askLogs, checkLimit, checkLogQuestion, type LogOptions } from "./log-question.js";
import { columnOf, fieldsOf, LOG_OPTIONS } from "./log-table.js";
import { maskAddresses } from "../mask/addresses.js";
import { whyNoLines } from "./why-no-lines.js";

/** What a search takes besides. */
export interface SearchOptions extends LogOptions {
  /** Most lines; default 100, Infinity for all. */
  readonly limit?: number;
  /** False gives the oldest lines of the range, oldest first (default true: the newest, newest first). */
  readonly newestFirst?: boolean;
  /** True hides e-mail and IP addresses in the messages (default false). */
  readonly mask?: boolean;
}

const OPTIONS = [...LOG_OPTIONS, "limit", "newestFirst", "mask"];

/** `lab.logs.search`: see {@link Logs.search}. */
export async function search(database: Database, options: SearchOptions): Promise<Result> {
  refuseUnknown(options, OPTIONS, "search the logs");
  const asked = await checkLogQuestion(database, options, "search the logs");
  const limit = checkLimit(options.limit ?? 100);
  const newestFirst = options.newestFirst ?? true;
  const { table, source } = asked;
  const fields = fieldsOf(table);
  const columns = fields.map((field) => {
    return `toString(${table.column(columnOf(field, table))}) AS _${field}`;
  });
  // Ordered by the raw column: the engine then reads only until it has enough lines.
  const sql = `SELECT toDateTime64(${table.time.dateTime(table.time.sql)}, 3, 'UTC') AS _t, ${columns.join(", ")}
${source.sql}
ORDER BY ${table.time.sql}${newestFirst ? " DESC" : ""}${limit === Infinity ? "" : "\nLIMIT {limit:UInt64}"}`;
  // One line more tells whether there are more.
  const parameters = { ...source.parameters, ...(limit !== Infinity && { limit: limit + 1 }) };
  const { table: found, origin } = await askLogs(database, asked, { sql, parameters });
  const kept = Math.min(found.numRows(), limit);
  const rows = await lines(found, ["t", ...fields], kept, options.mask ?? false);
  const reductions = kept < found.numRows() ? [moreSentence(kept, newestFirst)] : [];
  const notes = kept === 0 ? [await whyNoLines(database, asked)] : [];
  if (options.mask) notes.push("E-mail and IP addresses in the messages are masked.");
  const dimensions = fields
    .filter((field) => field !== "message")
    .map((field): DimensionColumn => ({ name: field, order: bySize(rows, field) }));
  return new Result(rows, {
    ...origin,
    columns: { dimensions, measures: [] },
    reductions,
    notes: [...notes, ...origin.notes],
  });
}

async function lines(
  found: ColumnTable,
  names: readonly string[],
  kept: number,
  masked: boolean,
): Promise<ColumnTable> {
  const aq = await import("arquero");
  const columns = names.map((name): [string, Value[]] => {
    const get = found.getter(`_${name}`);
    const values = Array.from({ length: kept }, (_, row) => get(row) as Value);
    const mask = masked && name === "message";
    return [
      name,
      mask
        ? values.map((value) => (value === null ? null : maskAddresses(value as string)))
        : values,
    ];
  });
  return aq.table(columns as [string, unknown[]][]);
}

function moreSentence(kept: number, newestFirst: boolean): string {
  return `The ${newestFirst ? "newest" : "oldest"} ${kept.toLocaleString("en-US")} lines; the range holds more that match. Pass a larger limit for them.`;
}

function bySize(table: ColumnTable, name: string): (string | null)[] {
  const get = table.getter(name);
  const sizes = new Map<string | null, number>();
  for (let row = 0; row < table.numRows(); row++) {
    const value = (get(row) as string | null) ?? null;
    sizes.set(value, (sizes.get(value) ?? 0) + 1);
  }
  return [...sizes].sort((a, b) => b[1] - a[1]).map(([value]) => value);
}
