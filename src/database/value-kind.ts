import type { ValueKind } from "../result/origin.js";
import { scalarType } from "./column-type.js";

const NUMBER = /^(?:U?Int(?:8|16|32|64|128|256)|B?Float(?:16|32|64)|Decimal\(.*\)|Interval\w+)$/;

/** What the values of a column of that ClickHouse type are in a Result; other objects count as text. */
export function valueKind(type: string): ValueKind {
  const scalar = scalarType(type);
  if (NUMBER.test(scalar)) return "number";
  return /^Date(?:32$|Time|$)/.test(scalar) ? "time" : "text";
}
