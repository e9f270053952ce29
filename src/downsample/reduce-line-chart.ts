import type { Result } from "../result/result.js";
import type { ChartPlan, Reduced } from "./chart-plan.js";
import { extent } from "./downsample.js";
import { fillMissing } from "./line/fill-missing.js";
import { reduceLines } from "./line/reduce-lines.js";
import { logGaps } from "./log-gaps.js";
import { numericColumn } from "./numeric-column.js";
import { pickAndAddRows, type NewRow } from "./pick-rows.js";
import { lineSentence } from "./sentences.js";
import { splitSeries, type SeriesRows } from "./split-series.js";

/**
 * Lines: the rows that draw the same picture, or those without which it would change most. Missing
 * buckets become rows (null for a gap, zero for a count) where the line needs them, in a small table
 * too: else a line would run straight through a week of none.
 */
export function reduceLineChart(result: Result, plan: ChartPlan, maxRows: number): Reduced {
  const { table, origin } = result;
  const { time, measures } = origin.columns;
  const missing = measures.find(({ name }) => name === plan.y)?.missing;
  const { range } = origin;
  const fills = time?.name === plan.x && missing !== undefined && range !== undefined;
  const unchanged: Reduced = { table, sentences: [], result };
  if (!fills && table.numRows() <= maxRows) return unchanged;
  const x = numericColumn(table, plan.x);
  const y = logGaps(numericColumn(table, plan.y).values, plan.yScale ?? "linear");
  const split = splitSeries(table, plan.series, x.values, y);
  const series = fills ? split.map((one) => fillMissing(one, time, missing, range)) : split;
  const missed = series.map(({ rows }) => [...rows.keys()].filter((place) => rows[place]! < 0));
  const filled = table.numRows() + missed.reduce((sum, { length }) => sum + length, 0);
  if (filled <= maxRows) {
    if (filled === table.numRows()) return unchanged;
    const added = series.flatMap((one, i) =>
      missed[i]!.map((place) => newRow(one, place, plan, x.dates)),
    );
    const whole = pickAndAddRows(table, [...Array(table.numRows()).keys()], added);
    return { table: whole, sentences: [], result: result.with(whole, {}) };
  }
  const [low, high] = extent(series);
  const picture = {
    start: plan.domain ? Number(plan.domain[0]) : low,
    end: plan.domain ? Number(plan.domain[1]) : high,
    width: plan.width,
    height: plan.height ?? 400,
    yScale: plan.yScale ?? "linear",
  };
  const line = reduceLines(series, picture, maxRows);
  const rows: number[] = [];
  const added: NewRow[] = [];
  series.forEach((one, i) => {
    for (const place of line.kept[i]!) {
      if (one.rows[place]! >= 0) rows.push(one.rows[place]!);
      else added.push(newRow(one, place, plan, x.dates));
    }
  });
  rows.sort((a, b) => a - b);
  const reduced = pickAndAddRows(table, rows, added);
  const sentences = [lineSentence(table.numRows(), reduced.numRows(), line, plan.width)];
  return {
    table: reduced,
    sentences,
    result: result.with(reduced, { reductions: [...origin.reductions, ...sentences] }),
  };
}

function newRow(series: SeriesRows, place: number, plan: ChartPlan, dates: boolean): NewRow {
  let before = place - 1;
  while (before >= 0 && series.rows[before]! < 0) before--;
  const after = before >= 0 ? series.rows[before]! : -1;
  const at = series.x[place]!;
  const value = series.y[place]!;
  return {
    after,
    values: {
      [plan.x]: dates ? new Date(at) : at,
      [plan.y]: Number.isFinite(value) ? value : null,
      ...(plan.series !== undefined && { [plan.series]: series.key }),
    },
  };
}
