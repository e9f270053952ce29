import { ProbelabError } from "../base/error.js";
import { columnOf, findExtremes, m4, noExtremes, pixelAxis, type PixelAxis } from "./m4.js";
import type { SeriesRows } from "./series.js";
import { simplifyLines, type LineCorners } from "./simplify-lines.js";

/** The picture that lines are drawn in. */
export interface LinePicture {
  /** x at its left and right edge. */
  readonly start: number;
  readonly end: number;
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly yScale: "linear" | "log";
}

/** What was kept of several lines. */
export interface ReducedLines {
  /** For each series, the kept places in its rows, ascending. */
  readonly kept: readonly Int32Array[];
  /** Pixel columns that the rows were chosen by: the width, or fewer. */
  readonly columns: number;
  /** True where the picture is the same as with all rows (without anti-aliasing). */
  readonly exact: boolean;
}

/** More corners than these are not weighed one by one: the columns are made wider first. */
const MOST_CORNERS = 200_000;

/** Finest part of a pixel that rows to spare are spent on. */
const FINEST = 4;

/** Columns to each side that a spike must stand out from. */
const REACH = 4;

/**
 * The rows of several lines that draw the same picture or, where these are more than `maxRows`, the
 * picture that differs in the fewest pixels: the budget goes where it changes most.
 *
 * Always kept: the lowest and the highest row of each series; as long as rows last, both ends of
 * each stretch between gaps, a row of each gap (those within one column are closed), and spikes.
 *
 * @throws ProbelabError when there are too many series to keep the extremes of each.
 */
export function reduceLines(
  series: readonly SeriesRows[],
  picture: LinePicture,
  maxRows: number,
): ReducedLines {
  const full = pixelAxis(picture.start, picture.end, picture.width);
  const height = pixelHeight(series, picture.height, picture.yScale);
  const exact = series.map(({ x, y }) => m4(x, y, full, true));
  if (total(exact) <= maxRows) {
    // Rows to spare go to what anti-aliasing shows; with all of `exact` no whole pixel changes.
    const few = series.length * picture.width <= MOST_CORNERS;
    const finer = few ? simplified(series, exact, full, height, maxRows, exact) : undefined;
    return { kept: finer ?? exact, columns: picture.width, exact: true };
  }
  const most = Math.max(1, Math.floor(MOST_CORNERS / 4 / series.length));
  for (let columns = Math.min(picture.width, most); columns >= 1; columns = columns >> 1) {
    const axis = pixelAxis(picture.start, picture.end, columns);
    const chosen = series.map(({ x, y }) => oneRowAGap(m4(x, y, axis), y));
    const kept = simplified(series, chosen, axis, height, maxRows);
    if (kept !== undefined) return { kept, columns, exact: false };
  }
  const extremes = series.map(({ y }) => extremeRows(y));
  if (total(extremes) <= maxRows) return { kept: extremes, columns: 1, exact: false };
  throw new ProbelabError(
    `Can't draw ${series.length.toLocaleString("en-US")} lines in ${maxRows.toLocaleString("en-US")} rows and keep the lowest and the highest value of each: draw fewer series (top) or filter them.`,
  );
}

/** The places of `chosen` and finer ones, simplified to the budget; undefined where too many must stay. */
function simplified(
  series: readonly SeriesRows[],
  chosen: readonly Int32Array[],
  axis: PixelAxis,
  height: (y: number) => number,
  maxRows: number,
  stay?: readonly Int32Array[],
): Int32Array[] | undefined {
  const detail = Math.max(1, Math.min(FINEST, Math.floor(MOST_CORNERS / (total(chosen) + 1))));
  const fine = { ...axis, columns: axis.columns * detail, scale: axis.scale * detail };
  const places = series.map(({ x, y }, i) => {
    const finer = union(chosen[i]!, m4(x, y, fine), y);
    return union(finer, beforeJumps(finer, y, height), y);
  });
  const spikes = Math.floor(maxRows / 4 / series.length);
  const corners = series.map((one, i) =>
    lineCorners(one, places[i]!, axis, height, spikes, stay?.[i]),
  );
  const gaps = total(places) - corners.reduce((sum, { x }) => sum + x.length, 0);
  const fixed = corners.reduce((sum, line) => line.fixed.reduce((a, b) => a + b, sum), 0);
  if (fixed + gaps > maxRows) return undefined;
  const stays = simplifyLines(corners, axis.columns, maxRows - gaps);
  return places.map((some, i) => {
    let corner = 0;
    const { y } = series[i]!;
    return some.filter((place) => !Number.isFinite(y[place]!) || stays[i]![corner++] === 1);
  });
}

/** The rows just before those that leave a level: with them a step stays upright. */
function beforeJumps(
  places: Int32Array,
  y: Float64Array,
  height: (y: number) => number,
): Int32Array {
  return places
    .map((place, i) => {
      const before = i > 0 ? places[i - 1]! : place;
      if (place - before < 2 || Math.abs(height(y[place]!) - height(y[place - 1]!)) < 1) return -1;
      return Math.abs(height(y[place - 1]!) - height(y[before]!)) < 0.5 ? place - 1 : -1;
    })
    .filter((place) => place >= 0);
}

/** The places of `chosen` and those of `more` that are no gaps, ascending. */
function union(chosen: Int32Array, more: Int32Array, y: Float64Array): Int32Array {
  const drawn = more.filter((place) => Number.isFinite(y[place]!));
  return Int32Array.from(new Set([...chosen, ...drawn])).sort();
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

// The rows at `places` of a series as corners in pixels; one without a finite y is a gap, not a
// corner. Fixed are its lowest and highest row, both ends of each stretch between gaps, what stands
// out as a spike (at most `spikes` of them), and the places that `stay`.
function lineCorners(
  { x, y }: SeriesRows,
  places: Int32Array,
  axis: PixelAxis,
  height: (y: number) => number,
  spikes: number,
  stay: Int32Array = new Int32Array(0),
): LineCorners {
  const finite = places.filter((place) => Number.isFinite(y[place]!));
  const breaks = new Uint8Array(finite.length);
  const fixed = new Uint8Array(finite.length);
  const columns = new Int32Array(finite.length);
  const px = new Float64Array(finite.length);
  const py = new Float64Array(finite.length);
  for (let i = 0; i < finite.length; i++) {
    const at = x[finite[i]!]!;
    const column = columnOf(at, axis);
    columns[i] = column;
    px[i] = Math.min(Math.max((at - axis.start) * axis.scale, column), column + 0.999_999);
    py[i] = height(y[finite[i]!]!);
  }
  for (const corner of spikeCorners(columns, py, spikes)) fixed[corner] = 1;
  for (let i = 0, j = 0; i < finite.length && j < stay.length; i++) {
    while (j < stay.length && stay[j]! < finite[i]!) j++;
    if (stay[j] === finite[i]) fixed[i] = 1;
  }
  if (finite.length === 0) return { x: px, y: py, breaks, fixed };
  let [lowest, highest, corner] = [0, 0, -1];
  for (const place of places) {
    if (Number.isFinite(y[place]!)) {
      corner++;
      if (corner === 0 || breaks[corner - 1] === 1) fixed[corner] = 1;
      if (y[place]! < y[finite[lowest]!]!) lowest = corner;
      if (y[place]! > y[finite[highest]!]!) highest = corner;
    } else if (corner >= 0) breaks[corner] = fixed[corner] = 1;
  }
  fixed[lowest] = fixed[highest] = fixed[finite.length - 1] = 1;
  return { x: px, y: py, breaks, fixed };
}

// The corners that stand out: above or below all that the line does in the columns beside them, by
// more than half the height it covers there and at least 2 pixels. Highest first, at most `most`.
function spikeCorners(columns: Int32Array, y: Float64Array, most: number): number[] {
  /** The lowest and the highest corner of each occupied column. */
  const groups: { lowest: number; highest: number }[] = [];
  for (let i = 0; i < columns.length; i++) {
    const group = groups.at(-1);
    if (i === 0 || columns[i] !== columns[i - 1]) groups.push({ lowest: i, highest: i });
    else if (group && y[i]! < y[group.lowest]!) group.lowest = i;
    else if (group && y[i]! > y[group.highest]!) group.highest = i;
  }
  const found: { corner: number; height: number }[] = [];
  groups.forEach(({ lowest, highest }, at) => {
    let [low, high] = [Infinity, -Infinity];
    for (let other = Math.max(0, at - REACH); other <= at + REACH; other++) {
      const beside = groups[other];
      if (other === at || beside === undefined) continue;
      low = Math.min(low, y[beside.lowest]!);
      high = Math.max(high, y[beside.highest]!);
    }
    const enough = Math.max(2, (high - low) / 2);
    const above = y[highest]! - high;
    const below = low - y[lowest]!;
    if (above > enough) found.push({ corner: highest, height: above });
    if (below > enough) found.push({ corner: lowest, height: below });
  });
  found.sort((a, b) => b.height - a.height || a.corner - b.corner);
  return found.slice(0, most).map(({ corner }) => corner);
}

/** From a value to pixels from the top, for all finite values of the series. */
function pixelHeight(
  series: readonly SeriesRows[],
  height: number,
  yScale: "linear" | "log",
): (y: number) => number {
  const shown = yScale === "log" ? Math.log : (y: number) => y;
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
