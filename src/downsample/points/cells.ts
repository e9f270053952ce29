/** Points sorted into the cells of a grid. */
export interface Cells {
  /** For each point the number of its cell among the occupied ones, in order of first point. */
  readonly cellOf: Int32Array;
  /** Of each occupied cell: column, row, series, and its count of points. */
  readonly column: Int32Array;
  readonly row: Int32Array;
  readonly series: Int32Array;
  readonly count: Int32Array;
  /** Size of the grid. */
  readonly columns: number;
  readonly rows: number;
}

/** An axis of a grid, from its lowest to its highest value. */
export interface GridAxis {
  readonly low: number;
  readonly high: number;
}

/**
 * Sorts points into a grid of `columns` × `rows` cells for each series.
 *
 * @param x finite, within its axis. @param y likewise. @param codes the series of each point, from 0.
 */
export function sortIntoCells(
  x: Float64Array,
  y: Float64Array,
  codes: Int32Array,
  xAxis: GridAxis,
  yAxis: GridAxis,
  columns: number,
  rows: number,
): Cells {
  const cellOf = new Int32Array(x.length);
  const seen = new Map<number, number>();
  const column: number[] = [];
  const row: number[] = [];
  const series: number[] = [];
  const count: number[] = [];
  for (let i = 0; i < x.length; i++) {
    const c = place(x[i]!, xAxis, columns);
    const r = place(y[i]!, yAxis, rows);
    const key = (codes[i]! * rows + r) * columns + c;
    let cell = seen.get(key);
    if (cell === undefined) {
      cell = count.length;
      seen.set(key, cell);
      column.push(c);
      row.push(r);
      series.push(codes[i]!);
      count.push(0);
    }
    count[cell]!++;
    cellOf[i] = cell;
  }
  const array = (values: number[]): Int32Array => Int32Array.from(values);
  return {
    cellOf,
    column: array(column),
    row: array(row),
    series: array(series),
    count: array(count),
    columns,
    rows,
  };
}

/** The middle of a cell along an axis. */
export function middle(cell: number, axis: GridAxis, cells: number): number {
  const part = (cell + 0.5) / cells;
  return axis.low * (1 - part) + axis.high * part;
}

function place(value: number, axis: GridAxis, cells: number): number {
  // Halved, so that the whole range of a double fits.
  const span = axis.high / 2 - axis.low / 2;
  if (!(span > 0)) return 0;
  const cell = Math.floor(((value / 2 - axis.low / 2) / span) * cells);
  return cell < cells ? cell : cells - 1;
}
