import type { Origin } from "../result/origin.js";
import type { TimeRange } from "../time/time-range.js";
import type { Answer, Database, Question } from "./database.js";

/** The part of an origin that the asking itself tells: what was asked of whom, and what it cost. */
export function answerOrigin(
  database: Database,
  { sql, parameters }: Pick<Question, "sql" | "parameters">,
  range: TimeRange,
  { rowsRead, bytesRead, seconds, askedAt }: Answer,
): Omit<Origin, "columns" | "reductions" | "notes"> {
  return {
    sql,
    parameters,
    range,
    source: database.source,
    server: database.version,
    rowsRead,
    bytesRead,
    seconds,
    askedAt,
  };
}
