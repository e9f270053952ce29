import { columnOf, type PixelAxis } from "../kernels/pixel-axis.js";
import type { SeriesRows } from "../split-series.js";
import { markSpikes } from "./mark-spikes.js";
import type { LineCorners } from "./simplify-lines.js";

/**
 * The rows at `places` of a series as corners in pixels. Fixed are its lowest and highest row, both
 * ends of each stretch between gaps, and what stands out as a spike (at most `spikes` of them).
 *
 * @param places places in the series, ascending; one without a finite y is a gap, not a corner.
 * @param height from a value to pixels.
 * @param stay places that must stay, ascending.
 */
export function lineCorners(
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
  markSpikes(columns, py, spikes, fixed);
  fixStretches(places, finite, y, breaks, fixed);
  for (let i = 0, j = 0; i < finite.length && j < stay.length; i++) {
    while (j < stay.length && stay[j]! < finite[i]!) j++;
    if (stay[j] === finite[i]) fixed[i] = 1;
  }
  return { x: px, y: py, breaks, fixed };
}

function fixStretches(
  places: Int32Array,
  finite: Int32Array,
  y: Float64Array,
  breaks: Uint8Array,
  fixed: Uint8Array,
): void {
  if (finite.length === 0) return;
  let lowest = 0;
  let highest = 0;
  let corner = -1;
  for (const place of places) {
    if (Number.isFinite(y[place]!)) {
      corner++;
      if (corner === 0 || breaks[corner - 1] === 1) fixed[corner] = 1;
      if (y[place]! < y[finite[lowest]!]!) lowest = corner;
      if (y[place]! > y[finite[highest]!]!) highest = corner;
    } else if (corner >= 0) breaks[corner] = fixed[corner] = 1;
  }
  fixed[lowest] = fixed[highest] = fixed[finite.length - 1] = 1;
}

/** From a value to pixels from the top, for all finite values of the series. */
export function pixelHeight(
  series: readonly SeriesRows[],
  height: number,
  yScale: "linear" | "log",
): (y: number) => number {
  const shown = yScale === "log" ? Math.log : (y: number) => y;
  let low = Infinity;
  let high = -Infinity;
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
