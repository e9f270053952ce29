import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { newTable } from "../result/arquero-table.js";
import type { Result } from "../result/result.js";
import type { ChartPlan, Reduced } from "./chart-plan.js";
import { heightColumn, numericColumn, seriesCodes } from "./series.js";

/** Finest size of a bin in pixels. */
const FINEST = 6;

/** Points: counted in the finest grid of square bins that fits (columns x, y, series and a count). */
export function reducePoints(result: Result, plan: ChartPlan, maxRows: number): Reduced {
  const { table, origin } = result;
  const log = plan.yType === "log";
  const { values: xs, dates } = numericColumn(table, plan.x);
  const heights = heightColumn(table, plan.y, plan.yType);
  const { codes, keys } = seriesCodes(table, plan.series);
  const rows = codes
    .map((_, row) => row)
    .filter((row) => isFinite(xs[row]!) && isFinite(heights[row]!));
  const along = Float64Array.from(rows, (row) => xs[row]!);
  const up = Float64Array.from(rows, (row) => (log ? Math.log(heights[row]!) : heights[row]!));
  const height = plan.height ?? 400;
  for (let size = FINEST; ; size *= 1.25) {
    const [columns, lines] = [plan.width, height].map((all) => Math.max(1, Math.floor(all / size)));
    const [x, y] = [binsOf(along, columns!), binsOf(up, lines!)];
    const bins = new Map<number, { row: number; count: number }>();
    rows.forEach((row, at) => {
      const key = (codes[row]! * lines! + y.places[at]!) * columns! + x.places[at]!;
      const bin = bins.get(key);
      if (bin) bin.count++;
      else bins.set(key, { row: at, count: 1 });
    });
    if (bins.size > maxRows) {
      if (columns! > 1 || lines! > 1) continue;
      throw new ProbelabError(
        `Can't draw points of ${counted(keys.length, "series", "series")} in ${counted(maxRows, "row")}: draw them as one series, or fewer of them (top).`,
      );
    }
    const taken = [plan.x, plan.y, plan.series];
    const countColumn = ["count", "rows", "rows counted"].find((name) => !taken.includes(name))!;
    const drawn = [...bins.values()];
    const middles = drawn.map(({ row }) => x.middle(row));
    const levels = drawn.map(({ row }) => y.middle(row));
    const series = drawn.map(({ row }) => keys[codes[rows[row]!]!]);
    const binned = newTable(table, [
      [plan.x, dates ? middles.map((at) => new Date(at)) : middles],
      [plan.y, log ? levels.map(Math.exp) : levels],
      ...(plan.series === undefined ? [] : [[plan.series, series] as [string, unknown[]]]),
      [countColumn, drawn.map(({ count }) => count)],
    ]);
    const of = `${Math.round(plan.width / columns!)} by ${Math.round(height / lines!)} pixels`;
    const left = result.numRows() - rows.length;
    const sentences = [
      `${counted(result.numRows(), "row")} counted in ${counted(drawn.length, "bin")} of ${of}.`,
      ...(left === 0
        ? []
        : [
            `${counted(left, "row")} without a finite ${plan.x} or ${plan.y}${log ? " above zero" : ""} left out.`,
          ]),
    ];
    const reductions = [...origin.reductions, ...sentences];
    return { table: binned, sentences, result: result.with(binned, { reductions }), countColumn };
  }
}

/** The bin of each value between the lowest and the highest, and the middle of a value's bin. */
function binsOf(values: Float64Array, count: number) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  // Halved, so that the whole range of a double fits.
  const span = high / 2 - low / 2;
  const places = values.map((value) =>
    span > 0 ? Math.min(Math.floor(((value / 2 - low / 2) / span) * count), count - 1) : 0,
  );
  const middle = (at: number): number => {
    const part = (places[at]! + 0.5) / count;
    return low * (1 - part) + high * part;
  };
  return { places, middle };
}
