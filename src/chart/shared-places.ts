import { ProbelabError } from "../base/error.js";
import type { Result, Value } from "../result/result.js";
import { formatInstantIso } from "./instant.js";
import { label, textOf } from "./label.js";
import type { MarkType, Roles } from "./roles.js";
import { MOST_SERIES } from "./series.js";

/** How many rows share their place with another, and the first such place. */
interface Shared {
  readonly rows: number;
  readonly first: Value;
}

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
  mark: MarkType,
  series: string | undefined,
): string[] {
  if (roles.measure !== undefined) return [];
  const { x, y } = roles;
  const columns = [x, ...(series === undefined ? [] : [series]), ...(mark === "points" ? [y] : [])];
  const drawn = drawnRows(result, roles);
  const { rows, first } = countShared(result, columns, drawn);
  if (rows === 0) return [];
  const number = `${rows.toLocaleString("en-US")} rows share a place`;
  if (mark === "points") return [`${number}: points that hide each other.`];
  if (mark === "line") {
    const same = columns.map((name) => label(name)).join(" and ");
    return [`${number}: the line runs through several values of ${label(y)} at the same ${same}.`];
  }
  const shown = first instanceof Date ? formatInstantIso(first.getTime()) : label(first);
  throw new ProbelabError(
    `Can't draw ${mark === "bar" ? "bars" : "an area"} of ${quoted(y)}: ${number} (the same ${columns.map(quoted).join(" and ")}, first at ${shown}) and would hide each other; ${remedy(result, roles, columns, drawn)}.`,
  );
}

/** Rows with a place along x and a value: the others hide nothing. */
function drawnRows(result: Result, { x, y, xKind }: Roles): number[] {
  const xs = result.column(x);
  const ys = result.column(y);
  const isNumber = (value: Value): boolean =>
    value !== null && value !== undefined && Number.isFinite(Number(value));
  return Array.from({ length: result.numRows }, (_, row) => row).filter(
    (row) => isNumber(ys[row]) && (xKind === "category" || isNumber(xs[row])),
  );
}

function countShared(result: Result, columns: readonly string[], drawn: readonly number[]): Shared {
  const codes = new Float64Array(drawn.length);
  let places = 1;
  for (const name of columns) {
    // Pairs of the place so far and this column's value, numbered as they come.
    const values = result.column(name);
    const seen = new Map<Value, number>();
    const pairs = new Map<number, number>();
    drawn.forEach((row, index) => {
      const code = numbered(seen, plain(values[row]));
      codes[index] = places === 1 ? code : numbered(pairs, (codes[index] ?? 0) + code * places);
    });
    places = Math.max(1, places === 1 ? seen.size : pairs.size);
  }
  const counts = new Uint32Array(places);
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  const isShared = (code: number): boolean => (counts[code] ?? 0) > 1;
  const at = drawn[codes.findIndex(isShared)];
  const name = columns[0];
  return {
    rows: codes.filter(isShared).length,
    first: at === undefined || name === undefined ? null : result.column(name)[at],
  };
}

/** The number of a key: the next one where it is new. */
function numbered<Key>(numbers: Map<Key, number>, key: Key): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

/** Names a column that tells the rows apart, where there is one with values few enough. */
function remedy(
  result: Result,
  { x, y }: Roles,
  columns: readonly string[],
  drawn: readonly number[],
): string {
  const aggregate = `aggregate in SQL, one row for each ${columns.map(quoted).join(" and ")}`;
  const others = result.columnNames.filter((name) => name !== x);
  const apart = others
    .map((name) => ({ name, size: new Set(result.column(name).map(plain)).size }))
    .filter(({ size }) => size <= MOST_SERIES)
    .sort((a, b) => a.size - b.size)
    .find(({ name }) => countShared(result, [x, name], drawn).rows === 0)?.name;
  // It may have been taken for what is measured, as flags of 0 and 1 are numbers.
  const measured =
    apart !== y ? y : others.find((name) => name !== apart && isNumeric(result, name));
  if (apart === undefined || measured === undefined) return aggregate;
  const options = `${measured === y ? "" : `y: ${quoted(measured)}, `}colour: ${quoted(apart)}`;
  return `${aggregate}, or tell them apart with { ${options} }`;
}

function isNumeric(result: Result, name: string): boolean {
  return result
    .column(name)
    .some((value) => typeof value === "number" || typeof value === "bigint");
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

/** Equal for equal values; text apart from numbers and from lists. */
function plain(value: Value): Value {
  if (value instanceof Date) return value.getTime();
  return typeof value === "object" && value !== null ? `json ${textOf(value)}` : (value ?? null);
}
