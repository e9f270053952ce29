import { compareVersions } from "./version-order.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { isVersionColumn } from "./origin.js";
import type { Value } from "./result.js";

/** @throws RangeError for a name that is none of the columns, with the nearest one. */
export function checkColumns(names: readonly string[], wanted: readonly string[]): void {
  const name = wanted.find((each) => !names.includes(each));
  if (name === undefined) return;
  const near = nearName(String(name), names);
  const known = names.length === 0 ? "it has none" : `its columns are ${names.join(", ")}`;
  throw new RangeError(
    `Can't take the column ${JSON.stringify(name)} of a Result: ${near === undefined ? known : `did you mean ${near}? ${known[0]?.toUpperCase()}${known.slice(1)}`}.`,
  );
}

/** @throws ProbelabError for what is no function of a row, as plain JavaScript allows. */
export function checkFunction(value: unknown, verb: string, example: string): void {
  if (typeof value === "function") return;
  throw new ProbelabError(
    `Can't ${verb} by ${JSON.stringify(value) ?? String(value)}: pass a function of a row, ${example}.`,
  );
}

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
