import { ProbelabError } from "../../base/error.js";
import { MOST_ROWS } from "../../base/limits.js";
import { cleanText, counted, grouped } from "../../base/text.js";
import { zoneOf, type TimeColumn } from "../../result/origin.js";
import type { RowsGiven } from "../../result/own-rows.js";
import type { Result } from "../../result/result.js";
import { rowsByKey } from "../../result/arquero-table.js";
import { buckets, nextBucket } from "../../time/bucket.js";
import { bucketNoun } from "../../time/step.js";
import { Chart } from "../chart-value.js";
import { resultOf } from "../check-result.js";
import { heading, words } from "../render/label.js";
import { BESIDE_PLOT } from "../render/screens.js";
import { THEMES, type VegaLiteSpec } from "../render/theme.js";
import { checkChartOptions, column, PICTURE_RULES, type ExploreChartOptions } from "../options.js";
import { wholeSpec } from "../spec.js";
import { list } from "../roles.js";
import { spanSentence } from "../sentences.js";
import { chartSeries, seriesDimension } from "../series.js";
import {
  type LinkedCube,
  VIEW_GAP,
  SERIES_HEIGHT,
  MOST_BARS,
  valuesView,
  params,
  seriesView,
  stateLines,
} from "./views.js";

const MOST_DIMENSIONS = 4;
/** Pixels of the series in the file, and of bars that can be read. */
const SERIES_WIDTH = 720;
const NARROWEST_VIEW = 180;

const { title, subtitle, theme } = PICTURE_RULES;

/** The linked views of a Result; see `chart.explore`. */
export function exploreChart(rows: RowsGiven, options: ExploreChartOptions): Chart {
  const result = resultOf(rows, "chart.explore");
  checkChartOptions(options, { title, subtitle, theme, y: column }, "explore a Result");
  const cube = cubeOf(result, options);
  const { origin } = result;
  const { names, values, measure, time } = cube;
  const along = measure.additive ? [] : [time.every];
  const by = new Intl.ListFormat("en-GB").format([...along, ...names.map((name) => words(name))]);
  const per = measure.additive ? ` per ${time.every}` : "";
  const cut = values.flatMap((all, at) =>
    all.length > MOST_BARS
      ? [`Drawn: the ${MOST_BARS} largest of ${all.length} values of ${names[at]}.`]
      : [],
  );
  const sentences = [
    ...spanSentence(origin),
    "In a notebook or on a page: drag along the time, click bars; a double click shows everything again.",
    `Grey: all data${measure.additive ? ", scaled to the selection" : ""}. Orange: the equally long time before.`,
    ...cut,
    ...origin.reductions,
    ...origin.notes,
  ];
  const specFor = (width: number): VegaLiteSpec => {
    // Views that are too narrow beside each other stand below each other.
    const columns = Math.max(
      1,
      Math.min(names.length, Math.floor((width + VIEW_GAP) / (NARROWEST_VIEW + VIEW_GAP))),
    );
    const panels = names.map((_, at) =>
      valuesView(cube, at, Math.floor((width - VIEW_GAP * (columns - 1)) / columns)),
    );
    return wholeSpec(origin, {
      title: options.title ?? `${measure.label}${per} by ${by}`,
      subtitle: [options.subtitle ?? "", sentences.join(" ")],
      widest: width,
      theme: options.theme,
      described: (text) => describeViews(cube, text),
      reductions: cut,
      body: {
        data: { values: cellRows(cube) },
        params: params(cube),
        vconcat: [
          {
            width,
            height: SERIES_HEIGHT,
            layer: [seriesView(cube, width), stateLines(cube, width)],
          },
          { concat: panels, columns, spacing: { column: VIEW_GAP, row: 40 }, bounds: "flush" },
        ],
        spacing: 90,
        bounds: "flush",
      },
    });
  };
  const drawn = {
    names: result.columnNames(),
    rows: result.rows().map((row) => Object.values(row)),
  };
  const recipe = { explore: options };
  const screen = (place = SERIES_WIDTH + BESIDE_PLOT) =>
    specFor(Math.min(SERIES_WIDTH, place - BESIDE_PLOT));
  return new Chart(specFor(SERIES_WIDTH), result, drawn, recipe, screen);
}

/** @throws ProbelabError for a measure that can't be computed under every choice. */
function cubeOf(result: Result, { y, theme }: ExploreChartOptions): LinkedCube {
  const { time, dimensions, measures } = result.origin.columns;
  const columns = result.columnNames();
  const refusal = (why: string): ProbelabError =>
    new ProbelabError(
      `Can't explore a Result ${why}: pass what lab.measurements.explore({ range, by: ["software_version", "probe_cc"] }) answers.`,
    );
  const names = dimensions.map(({ name }) => name);
  if (time === undefined) throw refusal(`of the columns ${list(columns)}, without time`);
  if (names.length === 0 || names.length > MOST_DIMENSIONS) {
    throw refusal(`by ${counted(names.length, "dimension")}, where one to ${MOST_DIMENSIONS} fit`);
  }
  const main = measures.find((each) => each.main) ?? measures[0];
  const measure = y === undefined ? main : measures.find(({ name }) => name === y);
  if (measure === undefined) {
    const known = list(measures.map(({ name }) => name));
    throw refusal(
      `${y === undefined ? "without a measure" : `by ${y}`}: its measures are ${known}`,
    );
  }
  const sums = measure.quotient ?? (measure.additive ? [measure.name] : []);
  if (sums.length === 0 || !sums.every((name) => columns.includes(name))) {
    throw refusal(`by ${measure.name}, whose values don't add up`);
  }
  const negative = sums.some((name) => result.column(name).some((value) => Number(value) < 0));
  if (negative) throw refusal(`by ${measure.name}, of which some values are below zero`);
  const edges = edgesOf(result, time);
  const filled = new Set(result.column(time.name).map(Number)).size;
  // A bucket without a row takes one.
  const rows = result.numRows() + edges.length - 1 - filled;
  if (rows > MOST_ROWS) {
    throw refusal(`of ${counted(rows, "row")}, where fewer than 5,000 are drawn`);
  }
  const values = names.map((name) => {
    const column = result.column(name);
    return chartSeries(column, seriesDimension(result.origin.columns, name, column), name);
  });
  const zone = zoneOf(result.origin);
  return {
    result,
    time,
    measure,
    sums,
    names,
    values,
    edges,
    theme: THEMES[theme ?? "light"],
    zone,
  };
}

/** The buckets of the range, and where rows begin elsewhere those as well. */
function edgesOf(result: Result, { name, every }: TimeColumn): number[] {
  const { range } = result.origin;
  const known = result.column(name).map(Number).filter(Number.isFinite);
  const asked = range === undefined ? [] : buckets(range, every).map(({ start }) => +start);
  const starts = [...new Set([...known, ...asked])].sort((a, b) => a - b);
  const last = starts.at(-1);
  if (last === undefined) return [0, 1];
  return [...starts, +nextBucket(new Date(last), every, zoneOf(result.origin))];
}

/** A row for each cell: its bucket, the labels of its values, what is added up; for a bucket without one a row of zeros. */
function cellRows({ result, time, names, values, sums, edges }: LinkedCube): VegaLiteSpec[] {
  const places = new Map(edges.map((edge, index) => [edge, index]));
  const labels = values.map((all) => new Map(all.map(({ value, label }) => [value, label])));
  const empty = new Set(edges.slice(0, -1).keys());
  const rows = result.rows().flatMap((row) => {
    const i = places.get(Number(row[time.name]));
    if (i === undefined) return [];
    empty.delete(i);
    const cell: VegaLiteSpec = { i };
    names.forEach((name, at) => (cell[`d${at}`] = labels[at]!.get(row[name] ?? null) ?? ""));
    sums.forEach((name, at) => (cell[`v${at}`] = Number(row[name] ?? 0)));
    return [cell];
  });
  return [...rows, ...[...empty].map((i) => ({ i, v0: 0, ...(sums.length > 1 && { v1: 0 }) }))];
}

/** A description of the unfiltered figure, for those who can't see it. */
function describeViews(
  { result, names, values, sums, edges, time }: LinkedCube,
  title: string,
): string {
  const columns = sums.map((name) => result.column(name).map(Number));
  const amount = (rows: readonly number[]): number => {
    const [part = 0, whole] = columns.map((column) => rows.reduce((n, row) => n + column[row]!, 0));
    return whole === undefined ? part : part / whole;
  };
  const number = (value: number): string => grouped(Number(value.toPrecision(4)));
  const said = names.map((name, at) => {
    const rows = rowsByKey(result.column(name));
    const all = values[at]!.map(({ value, label }) => ({
      label,
      amount: amount(rows.get(value) ?? []),
    }));
    all.sort((a, b) => b.amount - a.amount);
    const first = all.slice(0, 5).map(({ label, amount }) => `${label} ${number(amount)}`);
    return `${heading(name)}: ${first.join(", ")}${all.length > 5 ? " …" : ""}.`;
  });
  const [one, many] = [bucketNoun(time.every, false), bucketNoun(time.every, true)];
  const total = number(amount([...Array(result.numRows()).keys()]));
  const head = `Linked views: ${title}. ${total} in ${counted(edges.length - 1, one, many)}.`;
  return cleanText(`${head} ${said.join(" ")}`, 4_000);
}
