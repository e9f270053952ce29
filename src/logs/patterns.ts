import { refuseUnknown } from "../base/check-options.js";
import type { Database } from "../database/database.js";
import { Result, type Value } from "../result/result.js";
import { askLogs, checkLimit, checkLogQuestion, type LogOptions } from "./log-question.js";
import { columnOf, LOG_OPTIONS } from "./log-table.js";
import { maskAddresses } from "../mask/addresses.js";
import { messageShapeSql } from "./message-shape.js";
import { whyNoLines } from "./why-no-lines.js";

/** What patterns take besides. */
export interface PatternOptions extends LogOptions {
  /** Most patterns, the commonest first; default 100, Infinity for all. */
  readonly limit?: number;
  /** True hides e-mail and IP addresses in the examples (default false). */
  readonly mask?: boolean;
}

const OPTIONS = [...LOG_OPTIONS, "limit", "mask"];

/** `lab.logs.patterns`: see {@link Logs.patterns}. */
export async function patterns(database: Database, options: PatternOptions): Promise<Result> {
  refuseUnknown(options, OPTIONS, "group the log messages");
  const asked = await checkLogQuestion(database, options, "group the log messages");
  const limit = checkLimit(options.limit ?? 100);
  const { table, source } = asked;
  // A message that is NULL is grouped with the empty ones.
  const message = `ifNull(toString(${table.column(columnOf("message", table))}), '')`;
  const program = table.column(columnOf("identifier", table));
  const shape = messageShapeSql(message);
  const instant = (raw: string) => `toDateTime64(${table.time.dateTime(raw)}, 3, 'UTC')`;
  const time = table.time.sql;
  const sql = `SELECT *, count() OVER () AS _patterns, sum(_n) OVER () AS _messages
FROM (
  SELECT toString(${program}) AS _program, ${shape.sql} AS _shape, count() AS _n,
    ${instant(`min(${time})`)} AS _first, ${instant(`max(${time})`)} AS _last,
    argMin(${message}, (${time}, ${message})) AS _example
  ${source.sql.replace("\n", "\n  ")}
  GROUP BY _program, _shape
)
ORDER BY _n DESC, _program, _shape${limit === Infinity ? "" : "\nLIMIT {limit:UInt64}"}`;
  const parameters = {
    ...source.parameters,
    ...shape.parameters,
    ...(limit !== Infinity && { limit }),
  };
  const { table: found, origin } = await askLogs(database, asked, { sql, parameters });
  const column = (name: string): Value[] => {
    const get = found.getter(name);
    return Array.from({ length: found.numRows() }, (_, row) => get(row) as Value);
  };
  const examples = column("_example") as string[];
  const aq = await import("arquero");
  const columns: Record<string, Value[]> = {
    identifier: column("_program"),
    pattern: column("_shape"),
    messages: column("_n").map(Number),
    first: column("_first"),
    last: column("_last"),
    example: options.mask ? examples.map(maskAddresses) : examples,
  };
  const total = Number(column("_patterns")[0] ?? 0);
  const messages = Number(column("_messages")[0] ?? 0);
  const shown = (columns["messages"] as number[]).reduce((sum, n) => sum + n, 0);
  const notes = total === 0 ? [await whyNoLines(database, asked)] : [];
  if (options.mask) notes.push("E-mail and IP addresses in the examples are masked.");
  return new Result(aq.table(columns as Record<string, unknown[]>), {
    ...origin,
    columns: {
      dimensions: [
        { name: "identifier", order: [...new Set(columns["identifier"] as (string | null)[])] },
        { name: "pattern", order: [...new Set(columns["pattern"] as string[])] },
      ],
      measures: [
        { name: "messages", label: "Messages", unit: "messages", additive: true, missing: "zero" },
      ],
    },
    reductions:
      total > found.numRows()
        ? [
            `The ${found.numRows()} commonest of ${total.toLocaleString("en-US")} patterns; they hold ${shown.toLocaleString("en-US")} of ${messages.toLocaleString("en-US")} messages.`,
          ]
        : [],
    notes: [...notes, ...origin.notes],
  });
}
