import type { Value } from "../../../result/result.js";
import { contentKey, isSame, shapeKey, tolerance } from "./same-value.js";

type Row = readonly Value[];

/**
 * The rows of each answer that the other hasn't got, where nothing names a row: each row of one is
 * matched with one row of the other whose values are all the same, in whatever order they come. Of
 * equal rows the number counts.
 */
export function unmatchedRows(
  before: readonly Row[],
  now: readonly Row[],
): { readonly gone: readonly Row[]; readonly come: readonly Row[] } {
  const rest = without(before, now, contentKey);
  // What is left differs, or is the same but for the last digits of its numbers.
  const groups = new Map<string, NumberedRows>();
  const come = new Set(rest.come);
  for (const row of rest.come) {
    const key = shapeKey(row);
    const group = groups.get(key) ?? new NumberedRows();
    groups.set(key, group);
    group.add(row);
  }
  const gone = rest.gone.filter((row) => {
    const match = groups.get(shapeKey(row))?.take(row);
    if (match !== undefined) come.delete(match);
    return match === undefined;
  });
  return { gone, come: [...come] };
}

function without(before: readonly Row[], now: readonly Row[], keyOf: (row: Row) => string) {
  const left = new Map<string, Row[]>();
  for (const row of now) {
    const key = keyOf(row);
    const same = left.get(key);
    if (same === undefined) left.set(key, [row]);
    else same.push(row);
  }
  const gone = before.filter((row) => left.get(keyOf(row))?.pop() === undefined);
  return { gone, come: [...left.values()].flat() };
}

/** Rows that differ in numbers only, found by the column in which they differ most. */
class NumberedRows {
  readonly #rows: Row[] = [];
  #column: number | undefined;
  #sorted = false;

  add(row: Row): void {
    this.#rows.push(row);
  }

  /** A row with the same values, which is no longer there then. */
  take(row: Row): Row | undefined {
    if (!this.#sorted) this.#sort();
    const wanted = this.#column === undefined ? 0 : Number(row[this.#column]);
    const most = wanted + tolerance(wanted);
    for (let at = this.#firstFrom(wanted - tolerance(wanted)); at < this.#rows.length; at++) {
      const other = this.#rows[at] ?? [];
      if (this.#numberOf(other) > most) return undefined;
      if (!row.every((value, column) => isSame(value, other[column]))) continue;
      this.#rows.splice(at, 1);
      return other;
    }
    return undefined;
  }

  #sort(): void {
    const columns = [...(this.#rows[0] ?? []).keys()].filter((column) =>
      this.#rows.every((row) => typeof row[column] === "number" && Number.isFinite(row[column])),
    );
    const kinds = columns.map((column) => new Set(this.#rows.map((row) => row[column])).size);
    this.#column = columns[kinds.indexOf(Math.max(...kinds))];
    this.#rows.sort((a, b) => this.#numberOf(a) - this.#numberOf(b));
    this.#sorted = true;
  }

  #firstFrom(least: number): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#numberOf(this.#rows[middle] ?? []) < least) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #numberOf(row: Row): number {
    return this.#column === undefined ? 0 : Number(row[this.#column]);
  }
}
