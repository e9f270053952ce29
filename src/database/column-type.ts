import type { ValueKind } from "../result/origin.js";

const WRAPPED = /^(?:(?:Nullable|LowCardinality)\(|SimpleAggregateFunction\([^,]+,)([^]*)\)$/;

/** The type of a column's values, without what says that they may be null or how they are stored. */
export function plainType(type: string): string {
  const inner = WRAPPED.exec(type)?.[1];
  return inner === undefined ? type : plainType(inner.trim());
}

// The name of a tuple's element (which a type or the next follows) is none of these.
const UNLIKE_ARROW =
  /`(?:[^`\\]|\\[^])*`|\b(?:Enum(?:8|16)\((?:'(?:[^'\\]|\\[^])*'|[^')])*\)|FixedString\(\d+\)|UUID|IPv[46]|Date|DateTime(?:\('[^']*'\))?)(?=\s*(?:[,)]|$))/g;

/**
 * The type to ask a column by: Arrow has bare numbers and bytes for enums, UUIDs, addresses and days,
 * also inside arrays, tuples and maps. What it has a form of stays.
 */
export function arrowType(type: string): string {
  const stored = /^SimpleAggregateFunction\(\w+, ([^]*)\)$/.exec(type)?.[1] ?? type;
  const asked = stored.replace(UNLIKE_ARROW, (found) => {
    if (found.startsWith("`")) return found;
    if (found === "Date") return "Date32";
    const [, zone] = /^DateTime(?:\((.*)\))?$/.exec(found) ?? [];
    if (found.startsWith("DateTime"))
      return `DateTime64(0${zone === undefined ? "" : `, ${zone}`})`;
    return "String";
  });
  return asked === stored ? type : asked;
}

const NUMBER = /^(?:U?Int(?:8|16|32|64|128|256)|B?Float(?:16|32|64)|Decimal\(.*\)|Interval\w+)$/;

/** The kind of a column's values in a Result, by its ClickHouse type; other objects count as text. */
export function valueKind(type: string): ValueKind {
  const scalar = plainType(type);
  if (NUMBER.test(scalar)) return "number";
  return /^Date(?:32$|Time|$)/.test(scalar) ? "time" : "text";
}
