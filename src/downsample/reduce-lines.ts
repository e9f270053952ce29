import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import { findExtremes, m4, noExtremes, pixelAxis } from "./m4.js";
import type { SeriesRows } from "./series.js";

/** The picture that lines are drawn in. */
export interface LinePicture {
  /** x at its left and right edge. */
  readonly start: number;
  readonly end: number;
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly yType: "linear" | "log";
}

/** The rows that were kept of several lines. */
export interface ReducedLines {
  /** For each series, the kept places in its rows, ascending. */
  readonly kept: readonly Int32Array[];
  /** Pixels by which a line may miss a row; 0 where the picture is the same as with all rows (without anti-aliasing). */
  readonly tolerance: number;
}

/** Finest part of a pixel that spare rows are spent on: it shows with anti-aliasing. */
const FINEST = 4;
/** Rows of pixel columns beyond which the columns are made wider first. */
const MOST_CORNERS = 200_000;
/** Halvings of the tolerance: they end within a thousandth of the height. */
const HALVINGS = 12;

/**
 * Reduces lines to the first, last, lowest and highest row of each pixel column (M4), with which the
 * picture is the same as with all rows. Where these are more than `maxRows`, only corners stay that the
 * line through the others would miss by more than a tolerance in pixels, the smallest that fits; the lowest
 * and highest row of each series and the ends of its gaps always stay.
 *
 * @throws ProbelabError for too many series to keep the lowest and the highest row of each.
 */
export function reduceLines(
  series: readonly SeriesRows[],
  { start, end, width, height, yType }: LinePicture,
  maxRows: number,
): ReducedLines {
  const most = Math.max(1, Math.floor(MOST_CORNERS / 4 / series.length));
  const columns = Math.min(width, most);
  const chosen = (columns: number): Int32Array[] =>
    series.map(({ x, y }) =>
      withoutLevels(m4(x, y, pixelAxis(start, end, columns), columns >= width), y),
    );
  for (let detail = FINEST; detail >= 1 && columns === width; detail--) {
    const kept = chosen(width * detail);
    if (total(kept) <= maxRows) return { kept, tolerance: 0 };
  }
  const corners = chosen(columns).map((places, at) => oneRowAGap(places, series[at]!.y));
  const toPixels = pixelHeight(series, height, yType);
  const scale = end > start ? width / (end - start) : 0;
  const lines = series.map(({ x, y }, at) => ({
    places: corners[at]!,
    x: Float64Array.from(corners[at]!, (place) => (x[place]! - start) * scale),
    y: Float64Array.from(corners[at]!, (place) => toPixels(y[place]!)),
    fixed: new Set(extremeRows(y)),
  }));
  let best: ReducedLines | undefined;
  for (let [low, high, turn] = [0, height, 0]; turn < HALVINGS; turn++) {
    // Small tolerances are searched more finely than large ones.
    const tolerance = turn === 0 ? high : (low + high) / (low === 0 ? 8 : 2);
    const kept = lines.map((line) => within(line, tolerance));
    if (total(kept) <= maxRows) {
      best = { kept, tolerance };
      high = tolerance;
    } else if (turn === 0) break;
    else low = tolerance;
  }
  if (best !== undefined) return best;
  const extremes = series.map(({ y }) => extremeRows(y));
  if (total(extremes) <= maxRows) return { kept: extremes, tolerance: height };
  throw new ProbelabError(
    `Can't draw ${grouped(series.length)} lines in ${grouped(maxRows)} rows and keep the lowest and the highest value of each: draw fewer series (top) or filter them.`,
  );
}

/** Corners of a line in pixels, at places of its rows; y is NaN in a gap. */
interface Corners {
  readonly places: Int32Array;
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Places that stay. */
  readonly fixed: ReadonlySet<number>;
}

/** Keeps the corners that a line through the kept ones would miss by more than the tolerance. */
function within({ places, x, y, fixed }: Corners, tolerance: number): Int32Array {
  const kept: number[] = [];
  let anchor = -1;
  // Slopes of lines from the anchor that pass all corners after it within the tolerance.
  let [least, most] = [-Infinity, Infinity];
  const keep = (i: number): void => {
    if (kept.at(-1) !== places[i]!) kept.push(places[i]!);
    anchor = Number.isFinite(y[i]!) ? i : -1;
    [least, most] = [-Infinity, Infinity];
  };
  for (let i = 0; i < places.length; i++) {
    const ends = !Number.isFinite(y[i]!) || !Number.isFinite(y[i + 1] ?? NaN);
    if (anchor >= 0 && Number.isFinite(y[i]!)) {
      const wide = x[i]! - x[anchor]!;
      const slope = (y[i]! - y[anchor]!) / wide;
      const misses =
        wide > 0 ? slope < least || slope > most : Math.abs(y[i]! - y[anchor]!) > tolerance;
      if (misses && i - 1 > anchor) keep(i - 1);
      const [across, up] = [x[i]! - x[anchor]!, y[i]! - y[anchor]!];
      if (across > 0) {
        least = Math.max(least, (up - tolerance) / across);
        most = Math.min(most, (up + tolerance) / across);
      }
    }
    if (anchor < 0 || ends || fixed.has(places[i]!)) keep(i);
  }
  return Int32Array.from(kept);
}

/** Leaves out rows between two of the same height: a level line runs through them. */
function withoutLevels(places: Int32Array, y: Float64Array): Int32Array {
  return places.filter(
    (place, i) =>
      i === 0 ||
      i === places.length - 1 ||
      y[place] !== y[places[i - 1]!] ||
      y[place] !== y[places[i + 1]!],
  );
}

/** Leaves out the rows of a gap after its first one: they say the same. */
function oneRowAGap(places: Int32Array, y: Float64Array): Int32Array {
  return places.filter(
    (place, i) => i === 0 || Number.isFinite(y[place]!) || Number.isFinite(y[places[i - 1]!]!),
  );
}

/** The lowest and the highest row of a series, or its first row where no y is finite. */
function extremeRows(y: Float64Array): Int32Array {
  if (y.length === 0) return new Int32Array(0);
  const found = noExtremes();
  findExtremes(y, 0, y.length, found);
  const { first, lowest, highest } = found;
  if (first < 0) return Int32Array.of(0);
  return Int32Array.from(new Set([lowest, highest])).sort();
}

/** From a value to pixels from the top, for all finite values of the series. */
function pixelHeight(
  series: readonly SeriesRows[],
  height: number,
  yType: "linear" | "log",
): (y: number) => number {
  const shown = yType === "log" ? Math.log : (y: number) => y;
  let [low, high] = [Infinity, -Infinity];
  for (const { y } of series) {
    for (let i = 0; i < y.length; i++) {
      const value = y[i]!;
      if (value - value !== 0) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  const top = shown(high) / 2;
  // Halved, so that the whole range of a double fits.
  const span = top - shown(low) / 2;
  if (!(span > 0)) return () => 0;
  return (y) => Math.min(height - 1e-6, ((top - shown(y) / 2) / span) * height);
}

function total(parts: readonly Int32Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
