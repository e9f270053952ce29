import type { ValueKind } from "../result/origin.js";

/** A ClickHouse type taken apart: `Map(String, Array(UUID))` is Map of `String` and `Array(UUID)`. */
interface ColumnType {
  readonly name: string;
  /** The arguments in its brackets: types, elements of a tuple, numbers, enum values. */
  readonly parts: readonly string[];
}

// Quoted text, names in backquotes, brackets, commas; whatever else stands for itself.
const TOKEN = /'(?:[^'\\]|\\[^])*'|`(?:[^`\\]|\\[^])*`|[(),]|[^'`(),]+/g;

/** Takes a type apart, as the server writes it, on one line or on several. */
function parseType(type: string): ColumnType {
  const open = type.indexOf("(");
  if (open < 0) return { name: type.trim(), parts: [] };
  const parts: string[] = [];
  let part = "";
  let depth = 0;
  for (const [token] of type.slice(open + 1, type.lastIndexOf(")")).matchAll(TOKEN)) {
    if (token === "(") depth++;
    if (token === ")") depth--;
    if (token === "," && depth === 0) {
      parts.push(part.trim());
      part = "";
    } else {
      part += token;
    }
  }
  if (parts.length > 0 || part.trim() !== "") parts.push(part.trim());
  return { name: type.slice(0, open).trim(), parts };
}

/** The type of a column's values, without what says that they may be null or how they are stored. */
export function plainType(type: string): string {
  const { name, parts } = parseType(type);
  const inner =
    name === "SimpleAggregateFunction"
      ? parts[1]
      : name === "Nullable" || name === "LowCardinality"
        ? parts[0]
        : undefined;
  return inner === undefined ? type : plainType(inner);
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
