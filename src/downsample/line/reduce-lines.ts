import { ProbelabError } from "../../base/error.js";
import { m4 } from "../kernels/m4.js";
import { pixelAxis, type PixelAxis } from "../kernels/pixel-axis.js";
import type { SeriesRows } from "../split-series.js";
import { exactLine } from "./exact-line.js";
import { extremeRows } from "./extreme-rows.js";
import { lineCorners, pixelHeight } from "./line-corners.js";
import { simplifyLines } from "./simplify-lines.js";

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
  const exact = series.map((one) => exactLine(one.x, one.y, full));
  if (total(exact) <= maxRows) {
    // Rows to spare go to what anti-aliasing shows; with all of `exact` no whole pixel changes.
    const few = series.length * picture.width <= MOST_CORNERS;
    const finer = few ? simplified(series, exact, full, height, maxRows, exact) : undefined;
    return { kept: finer ?? exact, columns: picture.width, exact: true };
  }
  const most = Math.max(1, Math.floor(MOST_CORNERS / 4 / series.length));
  for (let columns = Math.min(picture.width, most); columns >= 1; columns = columns >> 1) {
    const axis = pixelAxis(picture.start, picture.end, columns);
    const chosen = series.map((one) => oneRowAGap(m4(one.x, one.y, axis), one.y));
    const kept = simplified(series, chosen, axis, height, maxRows);
    if (kept !== undefined) return { kept, columns, exact: false };
  }
  const extremes = series.map((one) => extremeRows(one.y));
  if (total(extremes) <= maxRows) return { kept: extremes, columns: 1, exact: false };
  throw new ProbelabError(
    `Can't draw ${series.length.toLocaleString("en-US")} lines in ${maxRows.toLocaleString("en-US")} rows and keep the lowest and the highest value of each: draw fewer series (top) or filter them.`,
  );
}

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
  const both = new Int32Array(chosen.length + more.length);
  let size = 0;
  for (let i = 0, j = 0; i < chosen.length || j < more.length;) {
    const a = i < chosen.length ? chosen[i]! : Infinity;
    const b = j < more.length ? more[j]! : Infinity;
    if (a <= b) i++;
    if (b <= a) j++;
    if (a <= b || Number.isFinite(y[b]!)) both[size++] = Math.min(a, b);
  }
  return both.subarray(0, size);
}

/** Leaves out the rows of a gap after its first one: they say the same. */
function oneRowAGap(places: Int32Array, y: Float64Array): Int32Array {
  return places.filter(
    (place, i) => i === 0 || Number.isFinite(y[place]!) || Number.isFinite(y[places[i - 1]!]!),
  );
}

function total(parts: readonly Int32Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
