import type { Value } from "./json.js";
import { isVersionColumn } from "./origin.js";
import { compareVersions } from "./version-order.js";

/** Row numbers in the order of the values, one list per key; equal rows stay as they are. */
export function sortedRows(
  keys: readonly { readonly name?: string; readonly values: readonly Value[] }[],
  count: number,
  descending: boolean,
): number[] {
  const rows = Array.from({ length: count }, (_, row) => row);
  return rows.sort((a, b) => {
    for (const { name = "", values } of keys) {
      const order = compareValues(values[a], values[b], isVersionColumn(name), descending);
      if (order !== 0) return order;
    }
    return 0;
  });
}

/** Numbers and times by size, text by its characters or as versions; no value last in either order. */
function compareValues(a: Value, b: Value, versions: boolean, descending: boolean): number {
  const missing = Number(isMissing(a)) - Number(isMissing(b));
  if (missing !== 0 || isMissing(a)) return missing;
  const sign = descending ? -1 : 1;
  if (versions && typeof a === "string" && typeof b === "string") {
    return sign * compareVersions(a, b);
  }
  const [left, right] = [comparable(a), comparable(b)];
  // Numbers before text, whatever stands first.
  if (typeof left !== typeof right && (typeof left === "string" || typeof right === "string")) {
    return sign * (typeof left === "string" ? 1 : -1);
  }
  return left < right ? -sign : left > right ? sign : 0;
}

function comparable(value: Value): string | number | bigint {
  if (typeof value === "string" || typeof value === "bigint") return value;
  if (typeof value === "object" && !(value instanceof Date)) return JSON.stringify(value);
  return Number(value);
}

function isMissing(value: Value): boolean {
  return (
    value === null ||
    value === undefined ||
    (value instanceof Date && isNaN(+value)) ||
    value !== value
  );
}
