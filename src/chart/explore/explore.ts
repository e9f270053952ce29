import { cleanText, counted, grouped } from "../../base/text.js";
import type { RowsGiven } from "../../result/own-rows.js";
import { bucketNoun } from "../../time/step.js";
import { Chart } from "../chart-value.js";
import { resultOf } from "../check-result.js";
import { PANEL, ROW } from "../../render/fluid.js";
import { heading, words } from "../../render/label.js";
import { checkChartOptions, type ExploreChartOptions } from "../options.js";
import { wholeSpec } from "../result-chart.js";
import { spanSentence } from "../sentences.js";
import { usualTheme } from "../series.js";
import { cellRows, cubeOf, type Cube } from "./cube.js";
import { params } from "./sums.js";
import { GAP, HEIGHT, MOST_BARS, panel, panelWidth, series, stateLines, WIDTH } from "./views.js";

/** The linked views of a Result; see `chart.explore`. */
export function exploreChart(rows: RowsGiven, options: ExploreChartOptions): Chart {
  const result = resultOf(rows, "chart.explore");
  checkChartOptions(options, "explore", "explore a Result");
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
  const width = panelWidth(names.length);
  const spec = wholeSpec(origin, {
    panels: { width, columns: names.length, apart: GAP },
    title: options.title ?? `${measure.label}${per} by ${by}`,
    subtitle: [options.subtitle ?? "", sentences.join(" ")],
    widest: WIDTH,
    theme: options.theme,
    described: (text) => describe(cube, text),
    reductions: cut,
    body: {
      data: { values: cellRows(cube) },
      params: [...params(cube), { name: ROW, value: WIDTH }, { name: PANEL, value: width }],
      vconcat: [
        { width: WIDTH, height: HEIGHT, layer: [series(cube), stateLines(cube)] },
        { hconcat: names.map((_, at) => panel(cube, at)), spacing: GAP, bounds: "flush" },
      ],
      spacing: 90,
      bounds: "flush",
    },
  });
  const drawn = {
    names: result.columnNames(),
    rows: result.rows().map((row) => Object.values(row)),
  };
  const recipe = { explore: { ...options, theme: options.theme ?? usualTheme() } };
  return new Chart(spec, result, drawn, recipe);
}

/** A description of the unfiltered figure, for those who can't see it. */
function describe({ result, names, values, sums, edges, time }: Cube, title: string): string {
  const columns = sums.map((name) => result.column(name).map(Number));
  const amount = (keep: (row: number) => boolean): number => {
    const [part = 0, whole] = columns.map((column) =>
      column.reduce((all, value, row) => (keep(row) ? all + value : all), 0),
    );
    return whole === undefined ? part : part / whole;
  };
  const number = (value: number): string => grouped(Number(value.toPrecision(4)));
  const said = names.map((name, at) => {
    const column = result.column(name);
    const all = values[at]!.map(({ value, label }) => ({
      label,
      amount: amount((row) => column[row] === value),
    })).sort((a, b) => b.amount - a.amount);
    const first = all.slice(0, 5).map(({ label, amount }) => `${label} ${number(amount)}`);
    return `${heading(name)}: ${first.join(", ")}${all.length > 5 ? " …" : ""}.`;
  });
  const [one, many] = [bucketNoun(time.every, false), bucketNoun(time.every, true)];
  const steps = counted(edges.length - 1, one, many);
  const head = `Linked views: ${title}. ${number(amount(() => true))} in ${steps}.`;
  return cleanText(`${head} ${said.join(" ")}`, 4_000);
}
