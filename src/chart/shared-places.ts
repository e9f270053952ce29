import { ProbelabError } from "../base/error.js";
import type { Result, Value } from "../result/result.js";
import { textOf } from "../base/text.js";
import { formatInstantIso, label } from "./label.js";
import { list, type Kind, type Roles } from "./roles.js";

/**
 * What to say of rows that a chart draws in one place, where nothing tells what they measure: a bar
 * or an area has one value a place, a line one for each x. Points share a place where y is the same.
 *
 * @param series the column of the series, where there is one.
 * @throws ProbelabError for bars and areas, which would hide each other.
 */
export function sharedPlaces(
  result: Result,
  roles: Roles,
  kind: Kind,
  series: string | undefined,
): string[] {
  if (roles.measure !== undefined) return [];
  const { x, y } = roles;
  const points = kind.name === "points";
  const columns = [x, ...(series === undefined ? [] : [series]), ...(points ? [y] : [])];
  const drawn = drawnRows(result, roles);
  const shared = sharingRows(result, columns, drawn);
  if (shared.length === 0) return [];
  const number = `${shared.length.toLocaleString("en-US")} rows share a place`;
  if (points) return [`${number}: points that hide each other.`];
  if (!kind.sized) {
    const same = columns.map((name) => label(name)).join(" and ");
    return [`${number}: the line runs through several values of ${label(y)} at the same ${same}.`];
  }
  const first = result.column(x)[shared[0] ?? 0];
  const shown = first instanceof Date ? formatInstantIso(first.getTime()) : label(first);
  const same = columns.map((name) => JSON.stringify(name)).join(" and ");
  throw new ProbelabError(
    `Can't draw ${kind.drawn} of ${list([y])}: ${number} (the same ${same}, first at ${shown}) and would hide each other; aggregate in SQL, one row for each ${same}, or pass the column that tells them apart as colour.`,
  );
}

/** Rows with a place along x and a value: the others hide nothing. */
function drawnRows(result: Result, { x, y, xKind }: Roles): number[] {
  const xs = result.column(x);
  const ys = result.column(y);
  const isNumber = (value: Value): boolean =>
    value !== null && value !== undefined && Number.isFinite(Number(value));
  return Array.from(ys, (_, row) => row).filter(
    (row) => isNumber(ys[row]) && (xKind === "category" || isNumber(xs[row])),
  );
}

/** Those of the rows that have the same values in these columns as another one. */
function sharingRows(
  result: Result,
  columns: readonly string[],
  drawn: readonly number[],
): number[] {
  let places = new Uint32Array(drawn.length);
  let size = 1;
  for (const name of columns) {
    const values = result.column(name);
    const numbers = new Map<Value, number>();
    const pairs = new Map<number, number>();
    // Pairs of the place so far and this column's value, numbered as they come.
    places = places.map((place, index) =>
      numberOf(pairs, place + size * numberOf(numbers, comparable(values[drawn[index] ?? 0]))),
    );
    size = pairs.size;
  }
  const counts = new Uint32Array(size);
  for (const place of places) counts[place] = (counts[place] ?? 0) + 1;
  return drawn.filter((_, index) => (counts[places[index] ?? 0] ?? 0) > 1);
}

/** The number of a key: the next one where it is new. */
function numberOf<Key>(numbers: Map<Key, number>, key: Key): number {
  const known = numbers.get(key) ?? numbers.size;
  if (known === numbers.size) numbers.set(key, known);
  return known;
}

/** Equal for equal values; text apart from numbers and from lists. */
function comparable(value: Value): Value {
  if (value instanceof Date) return value.getTime();
  return typeof value === "object" && value !== null ? `json ${textOf(value)}` : (value ?? null);
}
