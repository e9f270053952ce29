/**
 * How far the reduced line's picture is from that of all points: 1M points (POINTS) of five shapes in
 * 1, 3, 6 and 20 series, at 1000 × 400 pixels and at most 4,999 rows; each method with the same rows.
 * Both pictures are drawn without anti-aliasing (Bresenham) and with it (resvg; SMOOTH=0 skips it).
 */
import { Resvg } from "@resvg/resvg-js";
import { table, type ColumnTable } from "arquero";
import { downsample } from "../src/downsample/downsample.js";
import { PEERS } from "./downsample/kernels.js";
import { differing, rasterise, type PixelLine } from "./downsample/raster.js";
import { makeShape, SHAPES, type Points } from "./downsample/shapes.js";
import { report } from "./support/report.js";

const [WIDTH, HEIGHT] = [1_000, 400];
const total = Number(process.env["POINTS"] ?? 1_000_000);
const withSmooth = process.env["SMOOTH"] !== "0";
const MOST_ROWS = 4_999;
const COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2"];

const rows: Record<string, string | number>[] = [];
let worstExact = 0;
let losses = 0;
let smoothLosses = 0;
let spikesLost = 0;
for (const shape of SHAPES) {
  for (const count of [1, 3, 6, 20]) {
    const series = Array.from({ length: count }, (_, i) =>
      makeShape(shape, Math.floor(total / count), i + 1),
    );
    const toPixels = scales(series);
    const data = asTable(series);
    const all = toPixels(data, count);
    const full = rasterise(all, WIDTH, HEIGHT);
    const smooth = withSmooth ? antiAliased(all) : undefined;
    const lit = full.reduce((sum, pixel) => sum + (pixel > 0 ? 1 : 0), 0);
    const litSmooth = smooth
      ? smooth.reduce((n, v, i) => n + (i % 4 === 3 && v > 0 ? 1 : 0), 0)
      : 1;
    const line: Record<string, string | number> = { shape, series: count };
    const compare = (fewer: ColumnTable): [pixels: number, smooth: number] => {
      const drawn = toPixels(fewer, count);
      const pixels = differing(full, rasterise(drawn, WIDTH, HEIGHT));
      return [pixels, smooth ? differing(smooth, antiAliased(drawn), 4) : 0];
    };
    const small = downsample(data, { x: "x", y: "y", series: "s", width: WIDTH });
    const [pixels, smoothly] = compare(small);
    const kept = new Set(small.array("row") as number[]);
    spikesLost += spikeRows(series).filter((row) => !kept.has(row)).length;
    line["rows"] = kept.size;
    line["auto %"] = percent(pixels, lit);
    if (withSmooth) line["auto, aa %"] = percent(smoothly, litSmooth);
    const exact = count * WIDTH * 4 < 5_000;
    if (exact) worstExact = Math.max(worstExact, pixels);
    for (const [peer, kernel] of Object.entries(PEERS)) {
      const share = Math.floor(MOST_ROWS / count);
      const picked = series.map(({ x, y }): Points => {
        const rows = kernel(x, y, share);
        const take = (values: Float64Array) => Float64Array.from(rows, (row) => values[row]!);
        return { x: take(x), y: take(y), spikes: [] };
      });
      const [theirPixels, theirSmooth] = compare(asTable(picked));
      line[`${peer} %`] = percent(theirPixels, lit);
      if (withSmooth) line[`${peer}, aa %`] = percent(theirSmooth, litSmooth);
      if (!exact && theirPixels <= pixels && pixels > 0) losses++;
      if (!exact && withSmooth && theirSmooth <= smoothly) smoothLosses++;
    }
    rows.push(line);
    console.error(Object.values(line).join("  "));
  }
}
report("downsample-fidelity", rows, {
  worst_exact_pixels: worstExact,
  losses_to_peers: losses,
  smooth_losses_to_peers: smoothLosses,
  spikes_lost: spikesLost,
});

function asTable(series: readonly Points[]): ColumnTable {
  const length = series.reduce((sum, { x }) => sum + x.length, 0);
  const columns = {
    row: Int32Array.from({ length }, (_, row) => row),
    x: new Float64Array(length),
    y: new Float64Array(length),
    s: new Int32Array(length),
  };
  let start = 0;
  series.forEach(({ x, y }, number) => {
    columns.x.set(x, start);
    columns.y.set(y, start);
    columns.s.fill(number, start, start + x.length);
    start += x.length;
  });
  return table(columns);
}

function spikeRows(series: readonly Points[]): number[] {
  let start = 0;
  return series.flatMap(({ x, spikes }) => {
    const from = start;
    start += x.length;
    return spikes.map((place) => from + place);
  });
}

/** The corners in pixels of each series of a table. */
function scales(series: readonly Points[]): (data: ColumnTable, count: number) => PixelLine[] {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of series) {
    left = Math.min(left, x[0]!);
    right = Math.max(right, x.at(-1)!);
    for (const value of y) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return (data, count) => {
    const lines = Array.from({ length: count }, () => ({ x: [] as number[], y: [] as number[] }));
    const [x, y, s] = ["x", "y", "s"].map((name) => data.column(name) as unknown as Float64Array);
    for (let row = 0; row < data.numRows(); row++) {
      const line = lines[s![row]!]!;
      line.x.push((x![row]! - left) * (WIDTH / (right - left)));
      line.y.push(((high - y![row]!) / (high - low)) * HEIGHT);
    }
    return lines.map((line) => ({ x: Float64Array.from(line.x), y: Float64Array.from(line.y) }));
  };
}

function antiAliased(lines: readonly PixelLine[]): Uint8Array {
  const paths = lines.map(({ x, y }, number) => {
    const parts: string[] = [];
    let pen = "M";
    for (let i = 0; i < x.length; i++) {
      if (Number.isFinite(y[i]!)) parts.push(`${pen}${x[i]!.toFixed(3)} ${y[i]!.toFixed(3)}`);
      pen = Number.isFinite(y[i]!) ? "L" : "M";
    }
    return `<path d="${parts.join("")}" fill="none" stroke="${COLOURS[number % 7]}" stroke-width="1.5" stroke-linejoin="round"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">${paths.join("")}</svg>`;
  return new Resvg(svg).render().pixels;
}

function percent(part: number, whole: number): number {
  return Number(((100 * part) / whole).toFixed(2));
}
