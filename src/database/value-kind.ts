import type { ValueKind } from "../result/origin.js";
import { plainType } from "./time-column.js";

/** What the values of a column of that ClickHouse type are in a Result; other objects count as text. */
export function valueKind(type: string): ValueKind {
  const plain = plainType(type);
  if (/^(?:U?Int(?:8|16|32|64)|Float(?:32|64)|Decimal\(.*\))$/.test(plain)) return "number";
  return /^Date(?:32$|Time|$)/.test(plain) ? "time" : "text";
}
