import { nameOf, unescaped } from "./sql-text.js";
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
export function parseType(type: string): ColumnType {
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

/** An element of a tuple: its type, and its name where it has one. */
export function tupleElement(part: string): { readonly name?: string; readonly type: string } {
  const [, name, type] = /^(`(?:[^`\\]|\\[^])*`|[^\s(`]+)\s+([^]+)$/.exec(part) ?? [];
  if (name === undefined || type === undefined) return { type: part };
  return { name: nameOf(name), type };
}

/** The names of an enum's values: `'web' = 1`, `'it\'s' = 2`. */
export function enumNames(parts: readonly string[]): Map<number, string> {
  const names = new Map<number, string>();
  for (const part of parts) {
    const [, name = "", number] = /^'((?:[^'\\]|\\[^])*)' = (-?\d+)$/.exec(part) ?? [];
    names.set(Number(number), unescaped(name));
  }
  return names;
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

const NUMBER = /^(?:U?Int(?:8|16|32|64|128|256)|B?Float(?:16|32|64)|Decimal\(.*\)|Interval\w+)$/;

/** The kind of a column's values in a Result, by its ClickHouse type; other objects count as text. */
export function valueKind(type: string): ValueKind {
  const scalar = plainType(type);
  if (NUMBER.test(scalar)) return "number";
  return /^Date(?:32$|Time|$)/.test(scalar) ? "time" : "text";
}
