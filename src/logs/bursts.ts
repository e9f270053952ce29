import type { Database } from "../database/database.js";
import { ProbelabError } from "../base/error.js";
import { asText } from "../query/dimension.js";
import { print } from "../query/sql.js";
import { Result } from "../result/result.js";
import type { LogColumn } from "./log-filter.js";
import {
  askLogs,
  checkLogQuestion,
  limitSql,
  maskedLogs,
  whyNoLines,
  type LogOptions,
} from "./log-question.js";
import { instantSql, logColumn } from "./log-table.js";

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
  const action = "find bursts of log messages";
  const more = ["by", "threshold", "atLeast", "limit"];
  const asked = await checkLogQuestion(database, options, action, more);
  const most = limitSql(options.limit ?? 1000);
  const threshold = positive(options.threshold ?? 6, "threshold");
  const least = positive(options.atLeast ?? 5, "atLeast");
  const { by: wanted = "identifier" } = options;
  const by: readonly string[] = typeof wanted === "string" ? [wanted] : wanted;
  const { table, range, source } = asked;
  const names = by.map((_, index) => `_d${index}`);
  const groups = by.map((name, index) => {
    return `${print(asText(logColumn(name, table).sql)).sql} AS ${names[index]}, `;
  });
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
    SELECT ${groups.join("")}toStartOfMinute(${instantSql(table.time.sql, table)}) AS _m, count() AS _n
    ${source.sql.replace("\n", "\n    ")}
    GROUP BY ${keys}_m
  )${names.length > 0 ? `\n  GROUP BY ${names.join(", ")}` : ""}
) ARRAY JOIN _cells AS _cell
WHERE _score >= {threshold:Float64} AND _n >= {least:Float64}
ORDER BY _score DESC, _t, ${keys}_n${most.sql}`;
  const from = Math.floor(range.start.getTime() / MINUTE);
  const minutes = Math.ceil(range.end.getTime() / MINUTE) - from;
  const parameters = { ...source.parameters, minutes, threshold, least, ...most.parameters };
  const { table: found, origin } = await askLogs(database, asked, { sql, parameters });
  const shown = found.numRows();
  const total = shown === 0 ? 0 : Number(found.get("_found", 0));
  const rows = found
    .orderby("_t")
    .select({
      _t: "t",
      ...Object.fromEntries(by.map((name, index) => [`_d${index}`, name])),
      _n: "messages",
      _usual: "usual",
      _score: "score",
    })
    .reify();
  const edges = [range.start, range.end].filter((edge) => edge.getTime() % MINUTE !== 0);
  const result = new Result(rows, {
    ...origin,
    columns: {
      time: {
        name: "t",
        every: "minute",
        incomplete: edges.map((edge) => new Date(Math.floor(edge.getTime() / MINUTE) * MINUTE)),
      },
      dimensions: by.map((name) => ({
        name,
        order: [...new Set(rows.array(name) as (string | null)[])],
      })),
      measures: [
        measure("messages", "Messages in the minute", "messages"),
        measure("usual", "Usual messages a minute", "messages"),
        measure("score", "Spreads above the usual rate", "spreads"),
      ],
    },
    reductions:
      total > shown
        ? [`The ${shown} minutes that stand out most, of ${total.toLocaleString("en-US")}.`]
        : [],
    notes: [...(shown > 0 ? [] : [await noBurst()]), ...origin.notes],
  });
  return maskedLogs(result, options);

  async function noBurst(): Promise<string> {
    const [any] = await database.rows(`SELECT 1 ${source.sql} LIMIT 1`, source.parameters);
    if (any === undefined) return whyNoLines(database, asked);
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
