import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import { m4, pixelAxis } from "./m4.js";
import type { SeriesRows } from "./series.js";

/** The axis that lines are drawn along. */
export interface LineAxis {
  /** x at its left and right end. */
  readonly start: number;
  readonly end: number;
  /** Its length in pixels. */
  readonly width: number;
}

/** The rows that were kept of several lines. */
export interface ReducedLines {
  /** For each series, the kept places in its rows, ascending. */
  readonly kept: readonly Int32Array[];
  /** Equal slices of the axis; at least as many as it has pixels where the picture is that of all rows (without anti-aliasing, but for gaps within a column). */
  readonly slices: number;
}

/** Finest part of a pixel that spare rows are spent on: it shows with anti-aliasing. */
const FINEST = 4;

/**
 * Reduces lines to the first, last, lowest and highest row of each pixel column (M4), with which the
 * picture is the same as with all rows but for gaps within a column; where these are more than `maxRows`,
 * to those of as many wider slices as fit. The lowest and the highest row of each series always stay.
 *
 * @throws ProbelabError for so many series that not even one slice of each fits.
 */
export function reduceLines(
  series: readonly SeriesRows[],
  { start, end, width }: LineAxis,
  maxRows: number,
): ReducedLines {
  const chosen = (slices: number): Int32Array[] =>
    series.map(({ x, y }) => withoutRepeats(m4(x, y, pixelAxis(start, end, slices)), y));
  let slices = width * FINEST;
  while (slices >= 1) {
    const kept = chosen(slices);
    const rows = kept.reduce((sum, { length }) => sum + length, 0);
    if (rows <= maxRows) return { kept, slices };
    // Finer than a pixel by whole parts; then as many as the rows that there are speak for.
    slices =
      slices > width ? slices - width : Math.min(slices - 1, Math.floor((slices * maxRows) / rows));
  }
  throw new ProbelabError(
    `Can't draw ${grouped(series.length)} lines in ${grouped(maxRows)} rows and keep the lowest and the highest value of each: draw fewer series (top) or filter them.`,
  );
}

/** Leaves out rows between two of the same height, through which a level line runs, and all but the first of a gap. */
function withoutRepeats(places: Int32Array, y: Float64Array): Int32Array {
  const height = (i: number): number | undefined => y[places[i] ?? -1];
  return places.filter((_, i) => {
    const [before, own, after] = [height(i - 1), height(i), height(i + 1)];
    if (!Number.isFinite(own)) return i === 0 || Number.isFinite(before);
    return own !== before || own !== after;
  });
}
