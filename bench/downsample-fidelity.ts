/**
 * How far the reduced line's picture is from that of all points: 1M points (POINTS) of five shapes in
 * 1, 3, 6 and 20 series, at 1000 × 400 pixels and at most 4,999 rows; each method with the same rows.
 * `rows` are those of downsample(table); `chart` has bands where values are dense, as chart.line draws them.
 *
 * Pictures are drawn without anti-aliasing (Bresenham) and with it (resvg, stroke 1.5). Of each: percent of
 * the lit pixels that differ without / with it; ink, the colour difference in percent of the ink; and of
 * Van Der Donckt and others (arXiv 2304.00900) DSSIM × 1000 (grey, windows of 8 × 8) and PEM, percent of the
 * lit pixels whose grey differs by more than 20 of 255.
 */
import { Resvg } from "@resvg/resvg-js";
import { writeFileSync } from "node:fs";
import { reduceLines } from "../src/result/downsample/reduce-lines.js";
import { PEERS } from "./downsample/kernels.js";
import { differing, rasterise, type PixelLine } from "../test/support/raster.js";
import { makeShape, SHAPES, type Points } from "./downsample/shapes.js";
import { report } from "./support/report.js";

const [WIDTH, HEIGHT] = [1_000, 400];
const total = Number(process.env["POINTS"] ?? 1_000_000);
/** A folder for the pictures. */
const folder = process.env["PICTURES"];
const MOST_ROWS = 4_999;
const COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2"];
const COUNTS = [1, 3, 6, 20];

type Measure = "pixels" | "aa" | "ink" | "dssim" | "pem";
type Measured = Record<Measure, number>;
const rows: Record<string, string | number>[] = [];
const means = new Map<string, number[]>();
let [worstExact, losses, smoothLosses, chartLosses, spikesLost] = [0, 0, 0, 0, 0];
/** Some of the shapes (a part of their names). */
const some = process.env["SHAPE"] ?? "";
for (const shape of SHAPES.filter((shape) => shape.includes(some))) {
  for (const count of COUNTS) {
    const series = Array.from({ length: count }, (_, i) =>
      makeShape(shape, Math.floor(total / count), i + 1),
    );
    const toPixels = scales(series);
    const all = series.map(({ x, y }) => toPixels(x, y));
    const full = rasterise(all, WIDTH, HEIGHT);
    const smooth = antiAliased(all);
    save(`${shape} ${count} all`, all);
    const start = Math.min(...series.map(({ x }) => x[0]!));
    const end = Math.max(...series.map(({ x }) => x.at(-1)!));
    const measure = (name: string, lines: readonly PixelLine[]): Measured => {
      save(`${shape} ${count} ${name}`, lines);
      const found = {
        pixels: percent(differing(full, rasterise(lines, WIDTH, HEIGHT)), lit(full, 1)),
        ...compare(smooth, antiAliased(lines)),
      };
      const key = `${count} ${name}`;
      means.set(key, [...(means.get(key) ?? []), found.ink]);
      return found;
    };
    const row: Record<string, string | number> = { shape, series: count };
    const put = (name: string, { pixels, aa, ink, dssim, pem }: Measured): void => {
      const shown = [pixels, aa, ink, dssim, pem].map((value) => value.toFixed(1)).join(" / ");
      row[name] = shown;
    };
    const given = series.map(({ x, y }) => ({ key: "", rows: new Int32Array(0), x, y }));
    const reduced = (bands: boolean) => {
      const { lines, differs } = reduceLines(given, { start, end, width: WIDTH }, MOST_ROWS, bands);
      const drawn = lines.map(({ kept, highest }, i): PixelLine => {
        const { x, y } = series[i]!;
        const low = toPixels(x, y, kept);
        return bands ? { ...low, top: toPixels(x, y, highest).y } : low;
      });
      return { lines, drawn, differs };
    };
    const picked = reduced(false);
    const ours = measure("rows", picked.drawn);
    series.forEach(({ spikes }, i) => {
      const kept = new Set(picked.lines[i]!.kept);
      spikesLost += spikes.filter((place) => !kept.has(place)).length;
    });
    put("rows", ours);
    const banded = reduced(true);
    const chart = measure("chart", banded.drawn);
    put("chart", chart);
    row["chart says %"] = (100 * banded.differs).toFixed(1);
    const exact = count * WIDTH * 4 < 5_000;
    if (exact) worstExact = Math.max(worstExact, ours.pixels, chart.pixels);
    for (const [peer, kernel] of Object.entries(PEERS)) {
      const share = Math.floor(MOST_ROWS / count);
      const theirs = measure(
        peer,
        series.map(({ x, y }) => toPixels(x, y, kernel(x, y, share))),
      );
      put(peer, theirs);
      if (exact) continue;
      if (theirs.pixels <= ours.pixels && ours.pixels > 0) losses++;
      if (theirs.aa <= ours.aa) smoothLosses++;
      if (theirs.ink <= chart.ink) chartLosses++;
    }
    rows.push(row);
    console.error(Object.values(row).join("  "));
  }
}
const ink = Object.fromEntries(
  COUNTS.flatMap((count) =>
    ["rows", "chart"].map((name): [string, number] => {
      const all = means.get(`${count} ${name}`)!;
      return [
        `ink_${name}_${count}`,
        Number((all.reduce((a, b) => a + b) / all.length).toFixed(2)),
      ];
    }),
  ),
);
report("downsample-fidelity", rows, {
  worst_exact_pixels: worstExact,
  losses_to_peers: losses,
  smooth_losses_to_peers: smoothLosses,
  chart_ink_losses_to_peers: chartLosses,
  spikes_lost: spikesLost,
  ...ink,
});

type ToPixels = (x: Float64Array, y: Float64Array, places?: Int32Array) => PixelLine;

/** Points in pixels, by the extents of all series. */
function scales(series: readonly Points[]): ToPixels {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of series) {
    left = Math.min(left, x[0]!);
    right = Math.max(right, x.at(-1)!);
    for (const value of y) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return (x, y, places = Int32Array.from(x.keys())) => ({
    x: Float64Array.from(places, (place) => (x[place]! - left) * (WIDTH / (right - left))),
    y: Float64Array.from(places, (place) => ((high - y[place]!) / (high - low)) * HEIGHT),
  });
}

function svgOf(lines: readonly PixelLine[], background = ""): string {
  const paths = lines.map(({ x, y, top = y }, number) => {
    const parts: string[] = [];
    for (let from = 0; from < x.length; from++) {
      if (!Number.isFinite(y[from]!)) continue;
      let to = from;
      while (to + 1 < x.length && Number.isFinite(y[to + 1]!)) to++;
      const corners: string[] = [];
      for (let i = from; i <= to; i++) corners.push(`${x[i]!.toFixed(3)} ${top[i]!.toFixed(3)}`);
      if (top !== y) {
        for (let i = to; i >= from; i--) corners.push(`${x[i]!.toFixed(3)} ${y[i]!.toFixed(3)}`);
      }
      parts.push(`M${corners.join("L")}${top === y ? "" : "Z"}`);
      from = to;
    }
    const colour = COLOURS[number % 7];
    return `<path d="${parts.join("")}" fill="${top === y ? "none" : colour}" stroke="${colour}" stroke-width="1.5" stroke-linejoin="round"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">${background}${paths.join("")}</svg>`;
}

function antiAliased(lines: readonly PixelLine[]): Uint8Array {
  return new Resvg(svgOf(lines)).render().pixels;
}

function save(name: string, lines: readonly PixelLine[]): void {
  if (folder === undefined) return;
  const white = `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`;
  const png = new Resvg(svgOf(lines, white)).render().asPng();
  writeFileSync(`${folder}/${name.replaceAll(" ", "-")}.png`, png);
}

function lit(pixels: Uint8Array, bytes: number): number {
  let count = 0;
  for (let i = bytes - 1; i < pixels.length; i += bytes) if (pixels[i]! > 0) count++;
  return count;
}

/** Measures of two pictures with anti-aliasing, on white. */
function compare(a: Uint8Array, b: Uint8Array): Omit<Measured, "pixels"> {
  const on = (pixels: Uint8Array, i: number, channel: number): number =>
    // Colours are premultiplied.
    pixels[i + channel]! + 255 - pixels[i + 3]!;
  const grey = (pixels: Uint8Array, i: number): number =>
    0.299 * on(pixels, i, 0) + 0.587 * on(pixels, i, 1) + 0.114 * on(pixels, i, 2);
  const [greyA, greyB] = [new Float64Array(WIDTH * HEIGHT), new Float64Array(WIDTH * HEIGHT)];
  let [ink, off, beyond] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 4) {
    for (let channel = 0; channel < 3; channel++) {
      ink += 255 - on(a, i, channel);
      off += Math.abs(on(a, i, channel) - on(b, i, channel));
    }
    [greyA[i / 4], greyB[i / 4]] = [grey(a, i), grey(b, i)];
    if (Math.abs(greyA[i / 4]! - greyB[i / 4]!) > 20) beyond++;
  }
  const all = lit(a, 4);
  return {
    aa: percent(differing(a, b, 4), all),
    ink: percent(off, ink),
    dssim: 1_000 * dssim(greyA, greyB),
    pem: percent(beyond, all),
  };
}

/** (1 − SSIM) / 2 over windows of 8 × 8 pixels. Source: Wang and others, Image Quality Assessment, 2004. */
function dssim(a: Float64Array, b: Float64Array): number {
  const size = 8;
  const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
  let [sum, windows] = [0, 0];
  for (let top = 0; top + size <= HEIGHT; top += 4) {
    for (let left = 0; left + size <= WIDTH; left += 4) {
      let [sumA, sumB, squareA, squareB, both] = [0, 0, 0, 0, 0];
      for (let row = top; row < top + size; row++) {
        for (let i = row * WIDTH + left; i < row * WIDTH + left + size; i++) {
          sumA += a[i]!;
          sumB += b[i]!;
          squareA += a[i]! * a[i]!;
          squareB += b[i]! * b[i]!;
          both += a[i]! * b[i]!;
        }
      }
      const n = size * size;
      const [meanA, meanB] = [sumA / n, sumB / n];
      const variances = squareA / n - meanA ** 2 + squareB / n - meanB ** 2;
      const covariance = both / n - meanA * meanB;
      sum +=
        ((2 * meanA * meanB + c1) * (2 * covariance + c2)) /
        ((meanA ** 2 + meanB ** 2 + c1) * (variances + c2));
      windows++;
    }
  }
  return (1 - sum / windows) / 2;
}

function percent(part: number, whole: number): number {
  return (100 * part) / whole;
}
