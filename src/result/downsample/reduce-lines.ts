import { ProbelabError } from "../../base/error.js";
import { grouped } from "../../base/text.js";
import { m4, pixelAxis } from "./m4.js";
import type { Line } from "./series.js";
import { pictureOf, thin, type Corners, type PlotSize } from "./thin.js";

/** The plot that lines are drawn in. */
export interface LinePlot {
  /** x at its left and right end. */
  readonly start: number;
  readonly end: number;
  /** Its width and height in pixels, the height 400 by default. */
  readonly width: number;
  readonly height?: number;
  /** Its vertical scale: from zero, or logarithmic. */
  readonly zero?: boolean;
  readonly log?: boolean;
  /** True if the lines are in panels of their own. */
  readonly apart?: boolean;
}

/** The rows that were kept of a line. */
export interface ReducedLine {
  /** The kept places in its rows, ascending. */
  readonly kept: Int32Array;
  /** Of each, the place of the highest row of the slice that it stands for, as its lowest; mostly itself. */
  readonly highest: Int32Array;
}

/** The rows that were kept of several lines. */
interface ReducedLines {
  readonly lines: readonly ReducedLine[];
  /** The part of the lines' pixels that have another colour than with all rows, from 0 to 1; 0 where the picture is the same (without anti-aliasing, but for gaps within a column). */
  readonly differs: number;
}

/** Finest part of a pixel that spare rows are spent on: it shows with anti-aliasing. */
const FINEST = 64;
/** Slices of a pixel whose rows lines are thinned from, and how many rows at most: beyond, those of pixels. */
const SLICES = 2;
const MOST_CANDIDATES = 100_000;
/** A spike sticks out by this part of the plot's height. */
const SPIKE = 16;

/**
 * Reduces lines to the first, last, lowest and highest row of each pixel column (M4), with which the
 * picture is the same as with all rows but for gaps within a column, or of finer parts of a pixel where
 * these fit; where they are more than `maxRows`, to those that are nearest to that picture. The lowest
 * and the highest row of each series always stay, and spikes and a row in each gap wider than a pixel,
 * unless these alone are too many.
 *
 * @param bands whether a row may stand for all values from its own to that of `highest`.
 * @throws ProbelabError for so many series that their lowest and highest rows don't fit.
 */
export function reduceLines(
  series: readonly Line[],
  plot: LinePlot,
  maxRows: number,
  bands = false,
): ReducedLines {
  const { start, end, width } = plot;
  const pick = ({ x, y }: Line, parts: number): Int32Array =>
    m4(x, y, pixelAxis(start, end, width * parts));
  // Columns of whole pixels are made of finer ones: all rows are read once.
  const fine = series.map((each) => {
    const rows = pick(each, 2 * SLICES);
    return { key: each.key, rows, x: at(each.x, rows), y: at(each.y, rows) };
  });
  const chosen = (parts: number): Int32Array[] =>
    series.map((each, i) => {
      if (parts > 2 * SLICES) return withoutRepeats(pick(each, parts), each.y);
      const own = fine[i]!;
      return withoutRepeats(pick(own, parts), own.y).map((place) => own.rows[place]!);
    });
  const total = (places: readonly Int32Array[]): number =>
    places.reduce((sum, { length }) => sum + length, 0);
  const toPixels = pixels(fine, plot);
  let fits: readonly Int32Array[] | undefined;
  for (let parts = 1; parts <= FINEST; parts *= 2) {
    const places = chosen(parts);
    if (total(places) <= maxRows) fits = places;
    else if (fits === undefined) break;
    else {
      // Rows to spare go to what shows with anti-aliasing.
      const spent = nearest(series, plot, toPixels, places, places, maxRows, false, fits);
      fits = spent?.lines.map(({ kept }) => kept) ?? fits;
      break;
    }
  }
  if (fits) return { lines: fits.map((kept) => ({ kept, highest: kept })), differs: 0 };
  const exact = chosen(2 * SLICES);
  const half = chosen(SLICES);
  const candidates = total(half) > MOST_CANDIDATES ? chosen(1) : half;
  const thinned = nearest(series, plot, toPixels, exact, candidates, maxRows, bands);
  if (thinned) return thinned;
  throw new ProbelabError(
    `Can't draw ${grouped(series.length)} lines in ${grouped(maxRows)} rows and keep the lowest and the highest value of each: draw fewer series (top) or filter them.`,
  );
}

function at(values: Float64Array, places: Int32Array): Float64Array {
  return Float64Array.from(places, (place) => values[place]!);
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

/** The corners of lines in pixels, and what they are of their series. */
interface Placed extends Corners {
  /** The place of each in its series, and those of the rows that stand for gaps. */
  readonly places: Int32Array;
  readonly gaps: readonly (readonly number[])[];
  /** 1 for the first and last corner of each piece between gaps. */
  readonly bounds: Uint8Array;
  /** 1 for the lowest and the highest corner of each series. */
  readonly extremes: Uint8Array;
}

/** The rows nearest to the picture of `exact` of `candidates`, `kept` among them; undefined where those that must stay are too many. */
function nearest(
  series: readonly Line[],
  plot: LinePlot,
  toPixels: ToPixels,
  exact: readonly Int32Array[],
  candidates: readonly Int32Array[],
  maxRows: number,
  bands: boolean,
  kept?: readonly Int32Array[],
): ReducedLines | undefined {
  const { width, height = 400, apart = false } = plot;
  const size: PlotSize = { width, height, apart };
  const picture = pictureOf(cornersOf(series, exact, toPixels, 0), series.length, size);
  const tall = height / SPIKE;
  // Where too many gaps are wider than a pixel, the narrower ones are closed; at last all are.
  for (const gap of [1, 2, 4, 8, 16, 32, 64, 128, Infinity]) {
    const placed = cornersOf(series, candidates, toPixels, gap);
    const pinned = Uint8Array.from(placed.extremes, (extreme, i) =>
      extreme || (gap < Infinity && placed.bounds[i]) ? 1 : 0,
    );
    if (kept) pin(pinned, placed, kept);
    const spikes = spikesOf(placed, tall);
    if (spikes.length <= maxRows / 4) for (const corner of spikes) pinned[corner] = 1;
    const most = maxRows - placed.gaps.reduce((sum, { length }) => sum + length, 0);
    if (pinned.reduce((sum, stays) => sum + stays, 0) > most) continue;
    const thinned = thin(placed, picture, pinned, most, size, bands);
    const found = series.map((_, number) => placed.gaps[number]!.map((place) => [place, place]));
    thinned.kept.forEach((corner, i) => {
      const highest = placed.places[thinned.highest[i]!]!;
      found[placed.line[corner]!]!.push([placed.places[corner]!, highest]);
    });
    const lines = found.map((own): ReducedLine => {
      own.sort(([a], [b]) => a! - b!);
      const column = (at: 0 | 1): Int32Array => Int32Array.from(own, (places) => places[at]!);
      return { kept: column(0), highest: column(1) };
    });
    return { lines, differs: thinned.differs };
  }
  return undefined;
}

/** Pins the corners at the `kept` places of each series. */
function pin(pinned: Uint8Array, { line, places }: Placed, kept: readonly Int32Array[]): void {
  const stay = kept.map((own) => new Set(own));
  places.forEach((place, i) => {
    if (stay[line[i]!]!.has(place)) pinned[i] = 1;
  });
}

/** Corners that are by `tall` above, or below, all of the pixel columns before and after theirs. */
function spikesOf({ line, x, y }: Corners, tall: number): number[] {
  const columns: { line: number; column: number; lowest: number; highest: number }[] = [];
  for (let i = 0; i < x.length; i++) {
    const column = Math.floor(x[i]!);
    const own = columns.at(-1);
    if (own?.line !== line[i] || own?.column !== column) {
      columns.push({ line: line[i]!, column, lowest: i, highest: i });
      continue;
    }
    if (y[i]! < y[own.lowest]!) own.lowest = i;
    if (y[i]! > y[own.highest]!) own.highest = i;
  }
  return columns.flatMap((own, i) => {
    const beside = [columns[i - 1], columns[i + 1]].filter((other) => other?.line === own.line);
    if (beside.length < 2) return [];
    const above = beside.every((other) => y[own.highest]! - y[other!.highest]! > tall);
    const below = beside.every((other) => y[other!.lowest]! - y[own.lowest]! > tall);
    return [...(above ? [own.highest] : []), ...(below ? [own.lowest] : [])];
  });
}

/** Where a row is in the plot, in pixels from its lower left corner. */
type ToPixels = (x: number, y: number) => [x: number, y: number];

function pixels(
  series: readonly Line[],
  { start, end, width, height = 400, zero = false, log = false }: LinePlot,
): ToPixels {
  const scaled = (y: number): number => (log ? Math.log10(y) : y);
  let [low, high] = zero && !log ? [0, 0] : [Infinity, -Infinity];
  for (const { y } of series) {
    for (const value of y) {
      if (value - value !== 0) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  const across = end > start ? width / (end - start) : 0;
  const bottom = scaled(low);
  const up = high > low ? height / (scaled(high) - bottom) : 0;
  return (x, y) => [(x - start) * across, (scaled(y) - bottom) * up];
}

/** The corners of the rows at `places` of each series; a gap of at most `widest` pixels is closed. */
function cornersOf(
  series: readonly Line[],
  places: readonly Int32Array[],
  toPixels: ToPixels,
  widest: number,
): Placed {
  const size = places.reduce((sum, { length }) => sum + length, 0);
  const [line, own] = [new Int32Array(size), new Int32Array(size)];
  const [xs, ys] = [new Float64Array(size), new Float64Array(size)];
  const [ends, bounds, extremes] = [0, 1, 2].map(() => new Uint8Array(size)) as Uint8Array[];
  const gaps = series.map(() => [] as number[]);
  let count = 0;
  series.forEach(({ x, y }, number) => {
    const begin = count;
    let [lowest, highest, missing] = [begin, begin, -1];
    const close = (until: number): void => {
      if (missing < 0) return;
      const from = count > begin ? xs[count - 1]! : toPixels(x[missing]!, 0)[0];
      if (until - from > widest || (count === begin && until === Infinity)) {
        gaps[number]!.push(missing);
        if (count > begin) ends![count - 1] = bounds![count - 1] = 1;
        if (until < Infinity) bounds![count] = 1;
      }
      missing = -1;
    };
    for (const place of places[number]!) {
      if (!Number.isFinite(y[place])) {
        if (missing < 0) missing = place;
        continue;
      }
      const [left, up] = toPixels(x[place]!, y[place]!);
      close(left);
      [line[count], own[count], xs[count], ys[count]] = [number, place, left, up];
      if (up < ys[lowest]!) lowest = count;
      if (up > ys[highest]!) highest = count;
      count++;
    }
    if (missing >= 0) close(widest === Infinity && count > begin ? -Infinity : Infinity);
    if (count === begin) return;
    bounds![begin] = bounds![count - 1] = extremes![lowest] = extremes![highest] = 1;
  });
  const cut = <Values extends Int32Array | Float64Array | Uint8Array>(values: Values): Values =>
    values.subarray(0, count) as Values;
  return {
    line: cut(line),
    places: cut(own),
    x: cut(xs),
    y: cut(ys),
    ends: cut(ends!),
    bounds: cut(bounds!),
    extremes: cut(extremes!),
    gaps,
  };
}
