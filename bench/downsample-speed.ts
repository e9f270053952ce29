/**
 * The kernels over typed arrays, 10M points (POINTS) to 4,000, against sums over the same arrays
 * and against the npm packages, in turn in one run. M4 finds its columns in x by bisection and reads y alone,
 * so it is held against sum(y), the others against sum(x) + sum(y).
 */
import {
  dictionary,
  float64,
  tableFromArrays,
  tableToIPC,
  timestamp,
  utf8,
} from "@uwdata/flechette";
import { fromArrow, table } from "arquero";
import { downsample } from "../src/result/downsample/downsample.js";
import { m4, pixelAxis } from "../src/result/downsample/m4.js";
import { lttb, minMax, minMaxLttb } from "./downsample/kernels.js";
import { peers, type Pair } from "./downsample/peers.js";
import { makeShape } from "./downsample/shapes.js";
import { report } from "./support/report.js";
import { ownCpu, sideBySide } from "./support/side-by-side.js";

const length = Number(process.env["POINTS"] ?? 10_000_000);
const COUNT = 4_000;
const { x, y } = makeShape("random walk", length, 1);
for (let i = 0; i < length; i++) x[i] = 1.7e12 + 1_000 * x[i]!;

/**
 * Four sums at once: one alone would wait for each addition to end, not for the memory. No loop for up
 * to three last values: V8 optimises one that never runs badly, at six times the time of the whole.
 */
function sum(values: Float64Array): number {
  const n = values.length;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let i = 0; i + 3 < n; i += 4) {
    a += values[i]!;
    b += values[i + 1]!;
    c += values[i + 2]!;
    d += values[i + 3]!;
  }
  return a + b + c + d;
}

const axis = pixelAxis(x[0]!, x.at(-1)!, COUNT / 4);
const data = table({ x, y });
let sink = 0;
const run = (task: () => number) => () => Promise.resolve((sink += task()));
const ours = {
  "sum(y)": run(() => sum(y)),
  "sum(x) + sum(y)": run(() => sum(x) + sum(y)),
  m4: run(() => m4(x, y, axis).length),
  minMax: run(() => minMax(y, COUNT).length),
  minMaxLttb: run(() => minMaxLttb(x, y, COUNT).length),
  lttb: run(() => lttb(x, y, COUNT).length),
};
const times = await sideBySide(ours, 15, ownCpu);
const types = { t: timestamp(1), y: float64() };
const times64 = fromArrow(tableToIPC(tableFromArrays({ t: x, y }, { types }), {})!);
// A null in 50, and 6 series whose rows are mixed.
const NAMES = ["IR", "US", "DE", "IT", "BR", "IN"];
const dirty = {
  t: x,
  y: Array.from(y, (value, i) => (i % 50 === 7 ? null : value)),
  s: Array.from(y, (_, i) => NAMES[(i * 7919) % 6]!),
};
const plain = table({ ...dirty });
const mixed = fromArrow(
  tableToIPC(tableFromArrays(dirty, { types: { ...types, s: dictionary(utf8()) } }), {})!,
);
const whole = await sideBySide(
  {
    "downsample(table)": run(() => downsample(data, { x: "x", y: "y", width: 1_000 }).numRows()),
    "downsample(Arrow table of times)": run(() =>
      downsample(times64, { x: "t", y: "y", width: 1_000 }).numRows(),
    ),
    "downsample(Arrow table), nulls and 6 series": run(() =>
      downsample(mixed, { x: "t", y: "y", series: "s", width: 1_000 }).numRows(),
    ),
    "downsample(plain arrays), nulls and 6 series": run(() =>
      downsample(plain, { x: "t", y: "y", series: "s", width: 1_000 }).numRows(),
    ),
  },
  5,
  ownCpu,
);
const started = ownCpu();
const pairs = Array.from({ length }, (_, i): Pair => [x[i]!, y[i]!]);
const building = ownCpu() - started;
const others = await peers();
const theirs = await sideBySide(
  Object.fromEntries(
    Object.entries(others).map(([name, sample]) => [
      name,
      run(() => (sample(pairs, COUNT) as Pair[]).length),
    ]),
  ),
  2,
  ownCpu,
);

const base = times["sum(x) + sum(y)"]!;
const baseY = times["sum(y)"]!;
const row = (name: string, ms: number): Record<string, string | number> => ({
  name,
  "ns of CPU a point": Number(((ms / length) * 1e6).toFixed(2)),
  "times sum(y)": Number((ms / baseY).toFixed(2)),
  "times sum(x) + sum(y)": Number((ms / base).toFixed(2)),
});
const slowest = Math.max(times["m4"]!, times["minMaxLttb"]!, times["lttb"]!);
report(
  "downsample-speed",
  [
    ...Object.entries(times).map(([name, ms]) => row(name, ms)),
    ...Object.entries(whole).map(([name, ms]) => row(name, ms)),
    ...Object.entries(theirs).map(([name, ms]) => row(`npm ${name}`, ms)),
    row("(building [[x, y]] for the npm packages)", building),
  ],
  {
    m4_ratio: times["m4"]! / baseY,
    minmaxlttb_ratio: times["minMaxLttb"]! / base,
    lttb_ratio: times["lttb"]! / base,
    slowest_against_npm: slowest / Math.min(...Object.values(theirs)),
    downsample_ns: (whole["downsample(table)"]! / length) * 1e6,
    downsample_times_ns: (whole["downsample(Arrow table of times)"]! / length) * 1e6,
    downsample_nulls_series_ns:
      (whole["downsample(Arrow table), nulls and 6 series"]! / length) * 1e6,
    points: length,
  },
);
if (Number.isNaN(sink)) throw new Error("the sums are no numbers");
