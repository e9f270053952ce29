import { ProbelabError } from "../../base/error.js";

/** A horizontal axis cut into pixel columns of equal width. */
export interface PixelAxis {
  /** x at the left edge of column 0. */
  readonly start: number;
  /** Columns per unit of x; 0 where all x are equal. */
  readonly scale: number;
  /** How many columns; an x at the very end of the axis lies in one further column. */
  readonly columns: number;
}

/**
 * The axis from `start` to `end` as `columns` pixel columns.
 *
 * @throws ProbelabError where the bounds are not finite or further apart than a number can hold.
 */
export function pixelAxis(start: number, end: number, columns: number): PixelAxis {
  const span = end - start;
  if (!Number.isFinite(span)) {
    throw new ProbelabError(
      `Can't cut an axis from ${start} to ${end} into pixel columns: leave out the rows with such an x.`,
    );
  }
  const scale = span > 0 ? Math.min(columns / span, Number.MAX_VALUE) : 0;
  return { start, scale, columns };
}

/**
 * The pixel column of an x: `floor((x − start) × scale)`, at least 0, at most `columns`.
 *
 * ClickHouse computes the same expression in sql/m4-sql.ts; keep the two in the same order of
 * operations, so that they round alike.
 */
export function columnOf(x: number, axis: PixelAxis): number {
  const column = Math.floor((x - axis.start) * axis.scale);
  return column < 0 ? 0 : column > axis.columns ? axis.columns : column;
}

/** The first row after `from` whose x lies right of the column of `x[from]`; x is ascending. */
export function nextColumn(x: Float64Array, from: number, axis: PixelAxis, guess: number): number {
  const end = x.length;
  const column = columnOf(x[from]!, axis);
  // Columns hold about as many rows as the one before: look there, then double the step.
  let low = from;
  let step = Math.max(1, guess);
  let high = from + step;
  while (high < end && columnOf(x[high]!, axis) <= column) {
    low = high;
    step *= 2;
    high += step;
  }
  if (high > end) high = end;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (columnOf(x[middle]!, axis) <= column) low = middle;
    else high = middle;
  }
  return high;
}
