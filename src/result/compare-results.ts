import type { Origin } from "./origin.js";
import type { Result, Value } from "./result.js";

/** A number, or another value, that is not what it was. */
export interface ChangedValue {
  /** What names the row; nothing where each answer has one row that nothing names. */
  readonly row: readonly Value[];
  readonly column: string;
  readonly before: Value;
  readonly now: Value;
}

/** What differs between two answers to one question. */
export interface Differences {
  /** Columns that name a row; empty where nothing does, and rows are compared whole. */
  readonly keys: readonly string[];
  readonly rows: number;
  readonly changed: readonly ChangedValue[];
  /** Rows that only the earlier answer has: by their keys, or whole. */
  readonly gone: readonly (readonly Value[])[];
  /** Rows that only the later answer has. */
  readonly come: readonly (readonly Value[])[];
  /** Columns that only one of them has. */
  readonly columns: readonly string[];
}

/**
 * Compares two answers row by row. What names a row is its bucket and dimensions, else (as with free
 * SQL, whose columns nobody named) all its texts and times, where no two rows of an answer have the
 * same. Where nothing names the rows, an answer of one row is compared with the other's one row, and
 * more rows are compared whole: how many are no more, how many are new.
 *
 * The order of the rows is never compared: without ORDER BY a server gives them in any, and with one
 * it follows from the values, which are compared; rows that are equal in it come in any order again.
 */
export function compareResults(before: Result, now: Result): Differences {
  const shared = before.columnNames.filter((name) => now.columnNames.includes(name));
  const columns = [before, now].flatMap(({ columnNames }) =>
    columnNames.filter((name) => !shared.includes(name)),
  );
  const names = namingColumns(before, now, shared);
  const about = { rows: before.numRows, columns };
  if (names === undefined && (before.numRows > 1 || now.numRows > 1)) {
    const { gone, come } = unmatchedRows(valuesOf(before, shared), valuesOf(now, shared));
    return { ...about, keys: [], changed: [], gone, come };
  }
  const keys = names ?? [];
  const values = shared.filter((name) => !keys.includes(name));
  const [then, later] = [rowsByKey(before, keys), rowsByKey(now, keys)];
  const changed = [...then].flatMap(([key, { name, row }]): ChangedValue[] => {
    const other = later.get(key)?.row;
    if (other === undefined) return [];
    return values
      .filter((column) => !isSame(row[column], other[column]))
      .map((column) => ({ row: name, column, before: row[column], now: other[column] }));
  });
  const only = (one: typeof then, other: typeof then) =>
    [...one].filter(([key]) => !other.has(key)).map(([, { name }]) => name);
  return { ...about, keys, changed, gone: only(then, later), come: only(later, then) };
}

/** The columns that name the rows of both answers; undefined where none do. */
function namingColumns(
  before: Result,
  now: Result,
  shared: readonly string[],
): readonly string[] | undefined {
  const meant = ({ columns }: Origin): string[] => [
    ...(columns.time ? [columns.time.name] : []),
    ...columns.dimensions.map(({ name }) => name),
  ];
  const other = meant(now.origin);
  const known = meant(before.origin).filter((name) => other.includes(name));
  const words = shared.filter((name) => !isMeasured(before, name) && !isMeasured(now, name));
  return [known.filter((name) => shared.includes(name)), words].find(
    (keys) => keys.length > 0 && isUnique(before, keys) && isUnique(now, keys),
  );
}

/** True for a column that holds what was measured: its values can change, and name no row. */
function isMeasured(result: Result, name: string): boolean {
  const { measures, kinds } = result.origin.columns;
  if (measures.some((measure) => measure.name === name)) return true;
  // An empty column can't tell; what the server calls a text may be an array of numbers.
  if (kinds && Object.hasOwn(kinds, name) && kinds[name] === "number") return true;
  return result
    .column(name)
    .some((value) => [...leavesOf(value)].some(([, leaf]) => typeof leaf !== "string"));
}

function isUnique(result: Result, keys: readonly string[]): boolean {
  return rowsByKey(result, keys).size === result.numRows;
}

function rowsByKey(result: Result, keys: readonly string[]) {
  return new Map(
    result.rows().map((row) => {
      const name = keys.map((key) => row[key]);
      return [contentKey(name), { name, row }] as const;
    }),
  );
}

function valuesOf(result: Result, names: readonly string[]): Value[][] {
  return result.rows().map((row) => names.map((name) => row[name]));
}

/**
 * The rows of each answer that the other hasn't got, where nothing names a row: each row of one is
 * matched with one row of the other whose values are all the same, in whatever order they come. Of
 * equal rows the number counts.
 */
function unmatchedRows(before: readonly Value[][], now: readonly Value[][]) {
  const exact = matched(before, now, contentKey, () => true);
  // What is left differs, or is the same but for the last digits of its numbers.
  return matched(exact.gone, exact.come, shapeKey, isSame);
}

/** Matches rows of one key, the first that fits. */
function matched(
  before: readonly Value[][],
  now: readonly Value[][],
  keyOf: (row: Value[]) => string,
  fits: (row: Value[], other: Value[]) => boolean,
): { readonly gone: Value[][]; readonly come: Value[][] } {
  const left = new Map<string, Value[][]>();
  for (const row of now) {
    const key = keyOf(row);
    const same = left.get(key);
    if (same === undefined) left.set(key, [row]);
    else same.push(row);
  }
  const gone = before.filter((row) => {
    const rows = left.get(keyOf(row)) ?? [];
    const at = rows.findIndex((other) => fits(row, other));
    if (at >= 0) rows.splice(at, 1);
    return at < 0;
  });
  return { gone, come: [...left.values()].flat() };
}

// Sums of fractions depend on the order in which the server's threads add them up.
const SAME_NUMBER = 1e-9;

/**
 * True where two values hold the same: numbers within a billionth of their size, also inside arrays
 * and objects; arrays and typed arrays by their members, maps and objects by their entries, integers
 * also where one of them is a bigint. Nothing (null, undefined, an invalid Date) is the same as nothing.
 */
export function isSame(one: Value, other: Value): boolean {
  const [mine, others] = [[...leavesOf(one)], [...leavesOf(other)]];
  return (
    mine.length === others.length &&
    mine.every(([place, leaf], at) => {
      const [otherPlace, otherLeaf] = others[at] ?? [];
      return place === otherPlace && (Object.is(leaf, otherLeaf) || isClose(leaf, otherLeaf));
    })
  );
}

/** A text that is the same for the same content; numbers must be exactly the same. */
export function contentKey(values: readonly Value[]): string {
  return Array.from(leavesOf(values), ([place, leaf]) => `${place} ${leaf}`).join("\n");
}

/** As `contentKey`, but the same whatever finite numbers the values hold. */
function shapeKey(values: readonly Value[]): string {
  return Array.from(
    leavesOf(values),
    ([place, leaf]) => `${place} ${Number.isFinite(leaf) ? "number" : leaf}`,
  ).join("\n");
}

type Leaf = number | bigint | string;

/** What a value holds, piece by piece with its place: the same for the file's form and the server's. */
function* leavesOf(value: unknown, place = ""): Generator<readonly [string, Leaf]> {
  if (value === undefined || value === null) yield [place, "nothing"];
  else if (typeof value === "number")
    yield [place, value + 0]; // -0 is 0
  else if (typeof value === "bigint") {
    yield [place, Number.isSafeInteger(Number(value)) ? Number(value) : value];
  } else if (value instanceof Date) {
    yield [place, Number.isNaN(value.getTime()) ? "nothing" : `at ${value.toISOString()}`];
  } else if (typeof value !== "object") yield [place, JSON.stringify(value)];
  else if (Array.isArray(value) || value instanceof Set || isTypedArray(value)) {
    const members = Array.from<unknown>(value as Iterable<unknown>);
    yield [place, `list of ${members.length}`];
    for (const [at, member] of members.entries()) yield* leavesOf(member, `${place}/${at}`);
  } else {
    const pairs = value instanceof Map ? [...(value as Map<Value, Value>)] : Object.entries(value);
    const entries = pairs.map(([key, inner]) => [contentKey([key]), inner] as const);
    yield [place, `object of ${entries.length}`];
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [key, inner] of entries) yield* leavesOf(inner, `${place}/${JSON.stringify(key)}`);
  }
}

function isTypedArray(value: object): boolean {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function isClose(one: Leaf, other: Leaf | undefined): boolean {
  if (typeof one === "bigint" && typeof other === "bigint") return false;
  if (typeof one === "string" || typeof other === "string") return false;
  const [a, b] = [Number(one), Number(other)];
  const isFinite = Number.isFinite(a) && Number.isFinite(b);
  return isFinite && Math.abs(a - b) <= SAME_NUMBER * Math.max(Math.abs(a), Math.abs(b));
}
