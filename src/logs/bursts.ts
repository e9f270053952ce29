import type { Database } from "../database/database.js";
import { ProbelabError } from "../base/error.js";
import { asText } from "../query/dimension.js";
import { print, raw } from "../query/sql.js";
import { Result, type Value } from "../result/result.js";
import { askLogs, checkLimit, checkLogQuestion, type LogOptions } from "./log-question.js";
import { columnOf } from "./log-table.js";
import type { LogColumn } from "./log-filter.js";
import { whyNoLines } from "./why-no-lines.js";

/** What bursts take besides. */
export interface BurstOptions extends LogOptions {
  /** Whose usual rate a minute is compared with; default `"identifier"`, the program. */
  readonly by?: LogColumn | readonly LogColumn[];
  /** How many spreads above the usual rate a minute stands out; default 6. */
  readonly threshold?: number;
  /** Minutes with fewer messages are never a burst; default 5. */
  readonly atLeast?: number;
  /** Most minutes, those that stand out most; default 1,000. */
  readonly limit?: number;
}

const MINUTE = 60_000;

/** `lab.logs.bursts`: see {@link Logs.bursts}. */
export async function bursts(database: Database, options: BurstOptions): Promise<Result> {
  const logs = await checkLogQuestion(database, options, "find bursts of log messages");
  const limit = checkLimit(options.limit ?? 1000);
  const threshold = positive(options.threshold ?? 6, "threshold");
  const least = positive(options.atLeast ?? 5, "atLeast");
  const wanted = options.by ?? "identifier";
  const by: readonly string[] = typeof wanted === "string" ? [wanted] : wanted;
  const { table, range, source } = logs;
  const names = by.map((_, index) => `_d${index}`);
  const groups = by.map((name, index) => {
    const text = asText(raw(table.column(columnOf(name, table))));
    return `${print(text).sql} AS ${names[index]}`;
  });
  const minute = `toStartOfMinute(toDateTime64(${table.time.dateTime(table.time.sql)}, 3, 'UTC'))`;
  const keys = names.map((name) => `${name}, `).join("");
  const sql = `SELECT ${keys}toDateTime64(_cell.1, 3, 'UTC') AS _t, _cell.2 AS _n, _usual,
  (_n - _usual) / _spread AS _score, count() OVER () AS _found
FROM (
  SELECT ${keys}groupArray((_m, _n)) AS _cells,
    arrayConcat(groupArray(toFloat64(_n)), arrayWithConstant({minutes:UInt64} - count(), 0.)) AS _all,
    arrayReduce('quantileExactInclusive(0.5)', _all) AS _usual,
    arrayReduce('quantileExactInclusive(0.5)', arrayMap(n -> abs(n - _usual), _all)) AS _deviation,
    greatest(1.4826 * _deviation, sqrt(_usual), 1) AS _spread
  FROM (
    SELECT ${groups.map((group) => `${group}, `).join("")}${minute} AS _m, count() AS _n
    ${source.sql.replace("\n", "\n    ")}
    GROUP BY ${keys}_m
  )${names.length > 0 ? `\n  GROUP BY ${names.join(", ")}` : ""}
) ARRAY JOIN _cells AS _cell
WHERE _score >= {threshold:Float64} AND _n >= {least:Float64}
ORDER BY _score DESC, _t, ${keys}_n${limit === Infinity ? "" : "\nLIMIT {limit:UInt64}"}`;
  const from = Math.floor(range.start.getTime() / MINUTE);
  const minutes = Math.ceil(range.end.getTime() / MINUTE) - from;
  const parameters = {
    ...source.parameters,
    minutes,
    threshold,
    least,
    ...(limit !== Infinity && { limit }),
  };
  const { table: answer, origin } = await askLogs(database, logs, { sql, parameters });
  const rows = (answer.objects() as Record<string, Value>[]).sort(
    (a, b) => Number(a["_t"]) - Number(b["_t"]),
  );
  const total = Number(rows[0]?.["_found"] ?? 0);
  const columns: Record<string, Value[]> = { t: rows.map((row) => row["_t"]) };
  by.forEach((name, index) => {
    columns[name] = rows.map((row) => row[`_d${index}`] ?? null);
  });
  columns["messages"] = rows.map((row) => Number(row["_n"]));
  columns["usual"] = rows.map((row) => Number(row["_usual"]));
  columns["score"] = rows.map((row) => Number(row["_score"]));
  const aq = await import("arquero");
  const edges = [range.start, range.end].filter((edge) => edge.getTime() % MINUTE !== 0);
  return new Result(aq.table(columns as Record<string, unknown[]>), {
    ...origin,
    columns: {
      time: {
        name: "t",
        every: "minute",
        incomplete: edges.map((edge) => new Date(Math.floor(edge.getTime() / MINUTE) * MINUTE)),
      },
      dimensions: by.map((name) => ({
        name,
        order: [...new Set(columns[name] as (string | null)[])],
      })),
      measures: [
        measure("messages", "Messages in the minute", "messages"),
        measure("usual", "Usual messages a minute", "messages"),
        measure("score", "Spreads above the usual rate", "spreads"),
      ],
    },
    reductions:
      total > rows.length
        ? [`The ${rows.length} minutes that stand out most, of ${total.toLocaleString("en-US")}.`]
        : [],
    notes: [...(rows.length > 0 ? [] : [await noBurst()]), ...origin.notes],
  });

  async function noBurst(): Promise<string> {
    const [any] = await database.rows(`SELECT 1 ${source.sql} LIMIT 1`, source.parameters);
    if (any === undefined) return whyNoLines(database, logs);
    return `No minute stands out by ${threshold} spreads from the usual rate.`;
  }
}

function measure(name: string, label: string, unit: string) {
  return { name, label, unit, additive: false, missing: "gap" as const };
}

function positive(value: number, option: string): number {
  if (Number.isFinite(value) && value > 0) return value;
  throw new ProbelabError(
    `Can't find bursts with ${option}: ${String(value)}: pass a number above 0, or leave it out.`,
  );
}
