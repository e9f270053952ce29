import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { newTable, pickRows } from "../result/arquero-table.js";
import type { Result } from "../result/result.js";
import type { ChartPlan, Reduced } from "./chart-plan.js";
import { heightColumn, numericColumn, seriesCodes } from "./series.js";

/** Finest size of a cell in pixels. */
const CELL = 6;

interface Points {
  /** Row numbers of the table that can be drawn. */
  readonly rows: Int32Array;
  readonly x: Float64Array;
  /** In log space where the scale is one. */
  readonly y: Float64Array;
  readonly codes: Int32Array;
  readonly keys: readonly unknown[];
  readonly dates: boolean;
}

/** Points sorted into the cells of a grid, for each series. */
interface Cells {
  /** For each point the number of its cell among the occupied ones, in order of first point. */
  readonly cellOf: Int32Array;
  readonly occupied: readonly {
    readonly column: number;
    readonly row: number;
    readonly series: number;
  }[];
  /** How many points each occupied cell has. */
  readonly counts: readonly number[];
  readonly columns: number;
  readonly rows: number;
}

/** An axis of a grid, from its lowest to its highest value. */
interface GridAxis {
  readonly low: number;
  readonly high: number;
}

/**
 * Points: counted in the finest grid of square cells that fits (columns x, y, series and a count), or
 * thinned: each cell keeps up to equally many rows, so that lone points stay.
 */
export function reducePoints(result: Result, plan: ChartPlan, maxRows: number): Reduced {
  const log = plan.yScale === "log";
  const points = drawable(result.table, plan, log);
  const axes = { x: axisOf(points.x), y: axisOf(points.y) };
  const thin = plan.points === "thin";
  // The rows of the extremes may come on top of those of the cells.
  const most = thin && maxRows >= 8 ? maxRows - 4 : maxRows;
  const cells = finestCells(points, plan, axes, most);
  const all = counted(result.numRows, "row");
  const left = result.numRows - points.rows.length;
  const size = `${Math.round(plan.width / cells.columns)} by ${Math.round((plan.height ?? 400) / cells.rows)} pixels`;
  const leftOut =
    left > 0
      ? [
          `${counted(left, "row")} without a finite ${plan.x} or ${plan.y}${log ? " above zero" : ""} left out.`,
        ]
      : [];
  const reduced = (table: ColumnTable, sentence: string): Reduced => {
    const sentences = [sentence, ...leftOut];
    const reductions = [...result.origin.reductions, ...sentences];
    return { table, sentences, result: result.with(table, { reductions }) };
  };
  if (thin) {
    const rows = thinned(cells, points, maxRows).map((i) => points.rows[i]!);
    return reduced(
      pickRows(result.table, rows.sort()),
      `${all} drawn as ${rows.length.toLocaleString("en-US")}: dense cells of ${size} thinned, lone points kept.`,
    );
  }
  const taken = [plan.x, plan.y, plan.series];
  const countColumn = ["count", "rows", "rows counted"].find((name) => !taken.includes(name))!;
  const { occupied } = cells;
  const x = occupied.map(({ column }) => middle(column, axes.x, cells.columns));
  const y = occupied.map(({ row }) => middle(row, axes.y, cells.rows));
  const bins = newTable(result.table, [
    [plan.x, points.dates ? x.map((at) => new Date(at)) : x],
    [plan.y, log ? y.map(Math.exp) : y],
    ...(plan.series === undefined
      ? []
      : [[plan.series, occupied.map(({ series }) => points.keys[series])] as [string, unknown[]]]),
    [countColumn, cells.counts],
  ]);
  const sentence = `${all} counted in ${counted(occupied.length, "bin")} of ${size}.`;
  return { ...reduced(bins, sentence), countColumn };
}

function drawable(table: ColumnTable, plan: ChartPlan, log: boolean): Points {
  const x = numericColumn(table, plan.x);
  const y = heightColumn(table, plan.y, plan.yScale);
  const { codes, keys } = seriesCodes(table, plan.series);
  const rows = Int32Array.from(codes.keys()).filter(
    (row) => Number.isFinite(x.values[row]!) && Number.isFinite(y[row]!),
  );
  return {
    rows,
    x: Float64Array.from(rows, (row) => x.values[row]!),
    y: Float64Array.from(rows, (row) => (log ? Math.log(y[row]!) : y[row]!)),
    codes: Int32Array.from(rows, (row) => codes[row]!),
    keys,
    dates: x.dates,
  };
}

function axisOf(values: Float64Array): GridAxis {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    low = Math.min(low, values[i]!);
    high = Math.max(high, values[i]!);
  }
  return { low, high };
}

function finestCells(
  points: Points,
  plan: ChartPlan,
  axes: { readonly x: GridAxis; readonly y: GridAxis },
  maxRows: number,
): Cells {
  for (let size = CELL; ; size *= 1.25) {
    const columns = Math.max(1, Math.floor(plan.width / size));
    const rows = Math.max(1, Math.floor((plan.height ?? 400) / size));
    const cells = sortIntoCells(points, axes, columns, rows);
    if (cells.counts.length <= maxRows) return cells;
    if (columns === 1 && rows === 1) break;
  }
  throw new ProbelabError(
    `Can't draw points of ${counted(points.keys.length, "series", "series")} in ${counted(maxRows, "row")}: draw them as one series, or fewer of them (top).`,
  );
}

function sortIntoCells(
  { x, y, codes }: Points,
  axes: { readonly x: GridAxis; readonly y: GridAxis },
  columns: number,
  rows: number,
): Cells {
  const cellOf = new Int32Array(x.length);
  const seen = new Map<number, number>();
  const occupied: { column: number; row: number; series: number }[] = [];
  const counts: number[] = [];
  for (let i = 0; i < x.length; i++) {
    const column = place(x[i]!, axes.x, columns);
    const row = place(y[i]!, axes.y, rows);
    const series = codes[i]!;
    const key = (series * rows + row) * columns + column;
    let cell = seen.get(key);
    if (cell === undefined) {
      cell = occupied.push({ column, row, series }) - 1;
      seen.set(key, cell);
      counts.push(0);
    }
    counts[cell]!++;
    cellOf[i] = cell;
  }
  return { cellOf, occupied, counts, columns, rows };
}

function place(value: number, axis: GridAxis, cells: number): number {
  // Halved, so that the whole range of a double fits.
  const span = axis.high / 2 - axis.low / 2;
  if (!(span > 0)) return 0;
  return Math.min(Math.floor(((value / 2 - axis.low / 2) / span) * cells), cells - 1);
}

/** The middle of a cell along an axis. */
function middle(cell: number, axis: GridAxis, cells: number): number {
  const part = (cell + 0.5) / cells;
  return axis.low * (1 - part) + axis.high * part;
}

/**
 * At most `most` of the points: each cell keeps up to the same number of its own, evenly spaced in
 * their order, so that cells with few keep all. The lowest and highest x and y stay.
 */
function thinned({ cellOf, counts }: Cells, { x, y }: Points, most: number): Int32Array {
  const kept = new Set<number>();
  for (const values of most >= 8 && x.length > 0 ? [x, y] : []) {
    const { low, high } = axisOf(values);
    kept.add(values.indexOf(low)).add(values.indexOf(high));
  }
  // The extremes may come on top of their cells' own share.
  const share = largestShare(counts, most - kept.size);
  const seen = new Int32Array(counts.length);
  for (let i = 0; i < cellOf.length; i++) {
    const cell = cellOf[i]!;
    const count = counts[cell]!;
    const turn = seen[cell]!++;
    const part = Math.min(share, count);
    // Point number `turn` is the first of its cell that reaches a further whole part.
    if (Math.floor((turn * part) / count) !== Math.floor(((turn - 1) * part) / count)) kept.add(i);
  }
  return Int32Array.from(kept);
}

/** The largest number of points a cell may keep; at least 1 where the cells themselves fit. */
function largestShare(counts: readonly number[], most: number): number {
  let low = 0;
  let high = counts.reduce((a, b) => Math.max(a, b), 0);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const sum = counts.reduce((total, count) => total + Math.min(count, middle), 0);
    if (sum <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}
