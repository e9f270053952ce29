import type { Result } from "../result/result.js";
import type { Reduced } from "./chart-plan.js";
import { counted } from "./counted.js";
import { checkCount, MOST_ROWS } from "./limits.js";

/**
 * The first rows of a Result, for a table to read, and how many are left out.
 *
 * @param maxRows 1 to 4,999, the default.
 */
export function firstRows(result: Result, maxRows: number = MOST_ROWS): Reduced {
  const most = checkCount(maxRows, "maxRows", MOST_ROWS);
  const { numRows, origin } = result;
  if (numRows <= most) return { table: result.table, sentences: [], result };
  const table = result.table.ungroup().slice(0, most).reify();
  const sentences = [
    `The first ${most.toLocaleString("en-US")} of ${counted(numRows, "row")}; ${(numRows - most).toLocaleString("en-US")} are left out.`,
  ];
  const reductions = [...origin.reductions, ...sentences];
  return { table, sentences, result: result.with(table, { reductions }) };
}
