import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { newTable } from "../result/arquero-table.js";
import type { Result } from "../result/result.js";
import type { ChartPlan, Reduced } from "./chart-plan.js";
import { heightColumn, numericColumn, seriesCodes } from "./series.js";

/** Finest size of a bin in pixels. */
const FINEST = 6;

/** An axis of the grid: the values along it, their lowest and their highest. */
interface GridAxis {
  readonly values: Float64Array;
  readonly low: number;
  readonly high: number;
}

/** The bins that hold points, in the order of their first one. */
interface Bins {
  readonly occupied: readonly { column: number; row: number; series: number }[];
  readonly counts: readonly number[];
  readonly columns: number;
  readonly rows: number;
}

/** Points: counted in the finest grid of square bins that fits (columns x, y, series and a count). */
export function reducePoints(result: Result, plan: ChartPlan, maxRows: number): Reduced {
  const { table, origin } = result;
  const log = plan.yType === "log";
  const x = numericColumn(table, plan.x);
  const y = heightColumn(table, plan.y, plan.yType);
  const { codes, keys } = seriesCodes(table, plan.series);
  const rows = codes
    .map((_, row) => row)
    .filter((row) => isFinite(x.values[row]!) && isFinite(y[row]!));
  const along = axisOf(Float64Array.from(rows, (row) => x.values[row]!));
  const up = axisOf(Float64Array.from(rows, (row) => (log ? Math.log(y[row]!) : y[row]!)));
  const series = rows.map((row) => codes[row]!);
  const { occupied, counts, ...grid } = finestBins(along, up, series, plan, maxRows, keys.length);
  const taken = [plan.x, plan.y, plan.series];
  const countColumn = ["count", "rows", "rows counted"].find((name) => !taken.includes(name))!;
  const middles = occupied.map(({ column }) => middle(column, along, grid.columns));
  const heights = occupied.map(({ row }) => middle(row, up, grid.rows));
  const bins = newTable(table, [
    [plan.x, x.dates ? middles.map((at) => new Date(at)) : middles],
    [plan.y, log ? heights.map(Math.exp) : heights],
    ...(plan.series === undefined
      ? []
      : [[plan.series, occupied.map((bin) => keys[bin.series])] as [string, unknown[]]]),
    [countColumn, counts],
  ]);
  const size = `${Math.round(plan.width / grid.columns)} by ${Math.round((plan.height ?? 400) / grid.rows)} pixels`;
  const left = result.numRows() - rows.length;
  const sentences = [
    `${counted(result.numRows(), "row")} counted in ${counted(occupied.length, "bin")} of ${size}.`,
    ...(left > 0
      ? [
          `${counted(left, "row")} without a finite ${plan.x} or ${plan.y}${log ? " above zero" : ""} left out.`,
        ]
      : []),
  ];
  const reductions = [...origin.reductions, ...sentences];
  return { table: bins, sentences, result: result.with(bins, { reductions }), countColumn };
}

function axisOf(values: Float64Array): GridAxis {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    low = Math.min(low, values[i]!);
    high = Math.max(high, values[i]!);
  }
  return { values, low, high };
}

function finestBins(
  x: GridAxis,
  y: GridAxis,
  series: Int32Array,
  plan: ChartPlan,
  maxRows: number,
  keys: number,
): Bins {
  for (let size = FINEST; ; size *= 1.25) {
    const columns = Math.max(1, Math.floor(plan.width / size));
    const rows = Math.max(1, Math.floor((plan.height ?? 400) / size));
    const bins = sortIntoBins(x, y, series, columns, rows);
    if (bins.counts.length <= maxRows) return bins;
    if (columns === 1 && rows === 1) break;
  }
  throw new ProbelabError(
    `Can't draw points of ${counted(keys, "series", "series")} in ${counted(maxRows, "row")}: draw them as one series, or fewer of them (top).`,
  );
}

function sortIntoBins(
  x: GridAxis,
  y: GridAxis,
  codes: Int32Array,
  columns: number,
  rows: number,
): Bins {
  const seen = new Map<number, number>();
  const occupied: { column: number; row: number; series: number }[] = [];
  const counts: number[] = [];
  for (let i = 0; i < codes.length; i++) {
    const column = place(x, i, columns);
    const row = place(y, i, rows);
    const series = codes[i]!;
    const key = (series * rows + row) * columns + column;
    let bin = seen.get(key);
    if (bin === undefined) {
      bin = occupied.push({ column, row, series }) - 1;
      seen.set(key, bin);
      counts.push(0);
    }
    counts[bin]!++;
  }
  return { occupied, counts, columns, rows };
}

function place({ values, low, high }: GridAxis, point: number, bins: number): number {
  // Halved, so that the whole range of a double fits.
  const span = high / 2 - low / 2;
  if (!(span > 0)) return 0;
  return Math.min(Math.floor(((values[point]! / 2 - low / 2) / span) * bins), bins - 1);
}

/** The middle of a bin along an axis. */
function middle(bin: number, { low, high }: GridAxis, bins: number): number {
  const part = (bin + 0.5) / bins;
  return low * (1 - part) + high * part;
}
