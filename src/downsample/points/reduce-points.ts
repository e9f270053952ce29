import { ProbelabError } from "../../base/error.js";
import { newTable } from "../../result/arquero-table.js";
import type { Result } from "../../result/result.js";
import type { ChartPlan, Reduced } from "../chart-plan.js";
import { counted } from "../counted.js";
import { numericColumn } from "../numeric-column.js";
import { pickRows } from "../../result/arquero-table.js";
import { seriesCodes } from "../split-series.js";
import { middle, sortIntoCells, type Cells, type GridAxis } from "./cells.js";
import { thinCells } from "./thin-cells.js";

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

/**
 * Points: counted in the finest grid of square cells that fits (columns x, y, series and a count), or
 * thinned: each cell keeps up to equally many rows, so that lone points stay.
 */
export function reducePoints(result: Result, plan: ChartPlan, maxRows: number): Reduced {
  const log = plan.yScale === "log";
  const points = drawable(result, plan, log);
  const xAxis = axisOf(points.x);
  const yAxis = axisOf(points.y);
  const thin = plan.points === "thin";
  // The rows of the extremes may come on top of those of the cells.
  const most = thin && maxRows >= 8 ? maxRows - 4 : maxRows;
  const cells = finestCells(points, plan, xAxis, yAxis, most);
  const all = result.numRows;
  const left = all - points.rows.length;
  const size = `${Math.round(plan.width / cells.columns)} by ${Math.round((plan.height ?? 400) / cells.rows)} pixels`;
  const sentences =
    left > 0
      ? [
          `${counted(left, "row")} without a finite ${plan.x} or ${plan.y}${log ? " above zero" : ""} left out.`,
        ]
      : [];
  if (thin) {
    const rows = thinCells(cells, points.x, points.y, maxRows)
      .map((i) => points.rows[i]!)
      .sort();
    sentences.unshift(
      `${counted(all, "row")} drawn as ${rows.length.toLocaleString("en-US")}: dense cells of ${size} thinned, lone points kept.`,
    );
    return finish(result, pickRows(result.table, rows), sentences);
  }
  const countColumn = freeName(plan);
  const count = cells.count.length;
  const column = (value: (cell: number) => unknown): unknown[] =>
    Array.from({ length: count }, (_, cell) => value(cell));
  const columns: [string, unknown[]][] = [
    [
      plan.x,
      column((cell) => {
        const at = middle(cells.column[cell]!, xAxis, cells.columns);
        return points.dates ? new Date(at) : at;
      }),
    ],
    [
      plan.y,
      column((cell) => {
        const at = middle(cells.row[cell]!, yAxis, cells.rows);
        return log ? Math.exp(at) : at;
      }),
    ],
  ];
  if (plan.series !== undefined)
    columns.push([plan.series, column((cell) => points.keys[cells.series[cell]!])]);
  columns.push([countColumn, [...cells.count]]);
  sentences.unshift(`${counted(all, "row")} counted in ${counted(count, "bin")} of ${size}.`);
  return { ...finish(result, newTable(result.table, columns), sentences), countColumn };
}

function finish(result: Result, table: Reduced["table"], sentences: string[]): Reduced {
  const reductions = [...result.origin.reductions, ...sentences];
  return { table, sentences, result: result.with(table, { reductions }) };
}

function drawable(result: Result, plan: ChartPlan, log: boolean): Points {
  const x = numericColumn(result.table, plan.x);
  const y = numericColumn(result.table, plan.y);
  const { codes, keys } =
    plan.series === undefined
      ? { codes: new Int32Array(x.values.length), keys: [undefined] }
      : seriesCodes(result.table, plan.series);
  const rows = Int32Array.from({ length: x.values.length }, (_, row) => row).filter((row) => {
    const value = y.values[row]!;
    return Number.isFinite(x.values[row]!) && Number.isFinite(value) && (!log || value > 0);
  });
  return {
    rows,
    x: Float64Array.from(rows, (row) => x.values[row]!),
    y: Float64Array.from(rows, (row) => (log ? Math.log(y.values[row]!) : y.values[row]!)),
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
  xAxis: GridAxis,
  yAxis: GridAxis,
  maxRows: number,
): Cells {
  for (let size = CELL; ; size *= 1.25) {
    const columns = Math.max(1, Math.floor(plan.width / size));
    const rows = Math.max(1, Math.floor((plan.height ?? 400) / size));
    const cells = sortIntoCells(points.x, points.y, points.codes, xAxis, yAxis, columns, rows);
    if (cells.count.length <= maxRows) return cells;
    if (columns === 1 && rows === 1) break;
  }
  throw new ProbelabError(
    `Can't draw points of ${counted(points.keys.length, "series", "series")} in ${counted(maxRows, "row")}: draw them as one series, or fewer of them (top).`,
  );
}

function freeName(plan: ChartPlan): string {
  const taken = [plan.x, plan.y, plan.series];
  return ["count", "rows", "rows counted"].find((name) => !taken.includes(name)) ?? "n";
}
