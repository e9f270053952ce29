import { ProbelabError } from "../../base/error.js";
import { counted, grouped } from "../../base/text.js";
import type { Database } from "../../database/database.js";
import { bind, raw, sql } from "../../query/sql.js";
import { gapMeasure } from "../../result/origin.js";
import { Result } from "../../result/result.js";
import { MINUTE } from "../../time/span.js";
import { fieldText, instantSql, Lines, masked, type LogOptions } from "./lines.js";

/** Options of `lab.logs.bursts`. */
export interface BurstOptions extends LogOptions {
  /** Least score, in spreads above the usual rate. @default 6 */
  readonly threshold?: number;
}

/** Fewer messages in a minute are no burst. */
const LEAST = 5;
/** Most minutes of an answer. */
const MOST = 1_000;

/** `lab.logs.bursts`: see {@link Logs.bursts}. */
export async function bursts(database: Database, options: BurstOptions): Promise<Result> {
  const action = "find bursts of log messages";
  const lines = await Lines.checked(database, options, action, ["threshold"]);
  const { table, range } = lines;
  const { threshold = 6, signal } = options;
  if (!Number.isFinite(threshold) || threshold <= 0) {
    throw new ProbelabError(
      `Can't ${action} with threshold: ${String(threshold)}: pass a number above 0, or leave it out.`,
    );
  }
  const start = Math.floor(range.start.getTime() / MINUTE);
  const minutes = bind("minutes", "UInt64", Math.ceil(range.end.getTime() / MINUTE) - start);
  // The medians are over all minutes of the range: those without a message are zeros.
  const question = sql`SELECT toDateTime64(_cell.1, 3, 'UTC') AS _t, _program, _cell.2 AS _n, _usual,
  (_n - _usual) / _spread AS _score, count() OVER () AS _found
FROM (
  SELECT _program, groupArray((_m, _n)) AS _cells,
    arrayConcat(groupArray(toFloat64(_n)), arrayWithConstant(${minutes} - count(), 0.)) AS _all,
    arrayReduce('quantileExactInclusive(0.5)', _all) AS _usual,
    arrayReduce('quantileExactInclusive(0.5)', arrayMap(n -> abs(n - _usual), _all)) AS _deviation,
    greatest(1.4826 * _deviation, sqrt(_usual), 1) AS _spread
  FROM (
    SELECT ${raw(fieldText("identifier", table))} AS _program,
      toStartOfMinute(${raw(instantSql(table))}) AS _m, count() AS _n
    ${lines.from()}
    GROUP BY _program, _m
  )
  GROUP BY _program
) ARRAY JOIN _cells AS _cell
WHERE _score >= ${bind("threshold", "Float64", threshold)} AND _n >= ${raw(String(LEAST))}
ORDER BY _score DESC, _t, _program
LIMIT ${raw(String(MOST))}`;
  const { table: found, origin } = await lines.ask(question, action, signal);
  const rows = found
    .orderby("_t")
    .select({ _t: "t", _program: "identifier", _n: "messages", _usual: "usual", _score: "score" })
    .reify();
  const shown = found.numRows();
  const total = shown === 0 ? 0 : Number(found.get("_found", 0));
  const none = `No minute stands out by ${threshold} spreads from the usual rate.`;
  const edges = [range.start, range.end].map(Number).filter((edge) => edge % MINUTE !== 0);
  const incomplete = edges.map((edge) => new Date(edge - (edge % MINUTE)));
  const programs = [...new Set(rows.array("identifier") as (string | null)[])];
  const result = new Result(rows, {
    ...origin,
    columns: {
      time: { name: "t", every: "minute", incomplete },
      dimensions: [{ name: "identifier", order: programs }],
      measures: [
        gapMeasure("messages", "Messages in the minute", "messages"),
        gapMeasure("usual", "Usual messages a minute", "messages"),
        gapMeasure("score", "Spreads above the usual rate", "spreads"),
      ],
    },
    reductions:
      total > shown
        ? [`The ${counted(shown, "minute")} of the highest score, of ${grouped(total)}.`]
        : [],
    notes: [...(shown > 0 ? [] : [await lines.whyNone(none)]), ...origin.notes],
  });
  return masked(result, options);
}
