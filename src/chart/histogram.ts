import { ProbelabError } from "../base/error.js";
import { columnValues, newTable, rowKeys, rowsByKey } from "../result/arquero-table.js";
import type { MeasureColumn } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import type { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import type { Point } from "./draw-rows.js";
import { pointsBySeries, specRow, type ChartKind, type Frame } from "./frame.js";
import { words } from "../render/label.js";
import type { FlatOptions, HistogramChartOptions } from "./options.js";
import type { VegaLiteSpec } from "../render/theme.js";
import { resultChart } from "./result-chart.js";
import { chartRoles, list } from "./roles.js";

/** Pixels of a label along the edges. */
const LABEL_WIDTH = 48;
const number = (value: number): string =>
  value.toLocaleString("en-US", { maximumSignificantDigits: 6 });

/** The bins of a Result: all edges, ascending. */
interface Bins {
  readonly edges: readonly number[];
  /** What is in them: `Run duration`. */
  readonly label: string;
  readonly unit: string;
  readonly cumulative: boolean;
}

/** A histogram of a Result that has bins; see `chart.histogram`. */
export function histogramChart(rows: RowsGiven, options: HistogramChartOptions): Chart {
  const result = resultOf(rows, "chart.histogram");
  return resultChart(result, histogramKind(binsOf(result, options)), options);
}

function binsOf(result: Result, { cumulative = false }: HistogramChartOptions): Bins {
  const missing = ["from", "to"].filter((name) => !result.columnNames().includes(name));
  if (missing.length > 0) {
    throw new ProbelabError(
      `Can't draw a histogram of a Result without ${list(missing)}: pass one with a row for each bin, its ends in the columns from and to, chart.histogram(await lab.runs.histogram({ range, column: "duration" })).`,
    );
  }
  const ends = ["from", "to"].flatMap((name) => result.column(name));
  const edges = [...new Set(ends.filter((end) => typeof end === "number"))].sort((a, b) => a - b);
  const known = result.origin.columns.measures.find(({ name }) => name === "from");
  const label = known?.label.replace(/, from$/, "") ?? "Value";
  return { edges, label, unit: known?.unit ?? "", cumulative };
}

/**
 * Bins side by side, each as wide as any other, whatever their span: their edges are the labels.
 * One group is bars; several are outlines of their shares, which can be compared; cumulative ones run
 * from edge to edge, where they are exact.
 */
function histogramKind(bins: Bins): ChartKind {
  return {
    name: "histogram",
    drawn: "a histogram",
    title: bins.cumulative ? "Cumulative distribution" : "Histogram",
    faded: "faded",
    sized: true,
    categories: false,
    prepare: (result, options) => prepared(result, options, bins),
    layers: (frame) => layers(frame, bins),
  };
}

/** A Result with a row for each bin (or edge) and group, as it is drawn: counts or shares. */
function prepared(result: Result, options: FlatOptions, bins: Bins) {
  const { cumulative, label, unit } = bins;
  const { x: _, cumulative: __, share, y, ...rest } = options;
  const roles = chartRoles(result, histogramKind(bins), {
    ...rest,
    x: "from",
    ...(typeof y === "string" && { y }),
  });
  const shares = share ?? (cumulative || roles.series.length > 0);
  const [from, to, counts] = ["from", "to", roles.y].map((name) => result.column(name));
  const count = (row: number): number => Number(counts![row] ?? 0);
  const bySeries = [...rowsByKey(rowKeys(result.table, roles.series)).values()];
  const drawn = bySeries.flatMap((own) => {
    const sum = own.reduce((all, row) => all + count(row), 0);
    const part = (n: number): number => (shares ? n / (sum || 1) : n);
    const inside = own
      .filter((row) => from![row] !== null && to![row] !== null)
      .sort((a, b) => Number(from![a]) - Number(from![b]));
    if (!cumulative) return inside.map((row) => ({ row, x: from![row], y: part(count(row)) }));
    let below = own.reduce((all, row) => all + (from![row] === null ? count(row) : 0), 0);
    const first = inside.slice(0, 1).map((row) => ({ row, x: from![row], y: part(below) }));
    return [
      ...first,
      ...inside.map((row) => ({ row, x: to![row], y: part((below += count(row))) })),
    ];
  });
  const x = cumulative ? "below" : "from";
  const measured = roles.measure?.label ?? words(roles.y);
  const name = shares ? "share" : roles.y;
  const what = shares ? `Share of ${lowered(measured)}` : measured;
  const how = cumulative ? `${what} below` : what;
  const meaning = (column: string, text: string, of: string): MeasureColumn => ({
    name: column,
    label: text,
    unit: of,
    additive: false,
    missing: "gap",
  });
  const groups = roles.series.map((name) => words(name)).join(" and ");
  const by = groups === "" ? "" : `${cumulative ? " by" : " and"} ${groups}`;
  const outside = (which: Value[]): number =>
    which.reduce((all: number, end, row) => all + (end === null ? count(row) : 0), 0);
  const [under, over] = [outside(from!), outside(to!)];
  const beyond =
    under + over === 0
      ? []
      : [
          `Beyond the bins: ${number(under)} below and ${number(over)} above, counted in the whole.`,
        ];
  const table = newTable(result.table, [
    [x, drawn.map((histogram) => histogram.x)],
    ...roles.series.map((one): [string, Value[]] => {
      const values = columnValues(result.table, one);
      return [one, drawn.map(({ row }) => values[row])];
    }),
    [name, drawn.map((histogram) => histogram.y)],
  ]);
  const { columns, reductions } = result.origin;
  return {
    result: result.with(table, {
      columns: {
        dimensions: columns.dimensions.filter((each) => roles.series.includes(each.name)),
        kinds: { [x]: "number", [name]: "number" },
        measures: [
          meaning(x, label, unit),
          meaning(name, how, shares ? "share" : (roles.measure?.unit ?? "")),
        ],
      },
      reductions: [...reductions, ...beyond],
    }),
    options: {
      ...rest,
      x,
      y: name,
      title: options.title ?? `${how}${cumulative ? " each" : " by"} ${lowered(label)}${by}`,
    },
  };
}

/** As inside a sentence: `run duration`, but `HTTP errors`. */
function lowered(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function layers(frame: Frame, { edges, label, unit, cumulative }: Bins): VegaLiteSpec[] {
  const { drawing, theme, width, y, color, tooltip } = frame;
  const places = new Map(edges.map((edge, at) => [edge, at]));
  const place = (x: Point["x"]): number => places.get(Number(x)) ?? -1;
  const labelled = labelledEdges(edges, Math.max(2, Math.floor(width / LABEL_WIDTH)));
  const texts = Object.fromEntries(labelled.map((at) => [at, number(edges[at]!)]));
  const x = {
    field: "begin",
    type: "quantitative",
    scale: { domain: [0, Math.max(1, edges.length - 1)], nice: false, zero: false, padding: 0 },
    axis: {
      title: (frame.x.axis as VegaLiteSpec).title,
      values: labelled,
      labelExpr: `(${JSON.stringify(texts)})[datum.value]`,
      labelFlush: false,
      grid: false,
    },
  };
  const row = (point: Point): VegaLiteSpec => {
    const at = place(point.x);
    const amount = `${number(edges[at]!)} to ${number(edges[at + 1] ?? Infinity)}`;
    const upTo = `below ${number(edges[at]!)}`;
    return {
      ...specRow(point, frame),
      begin: at,
      end: at + 1,
      bin: `${cumulative ? upTo : amount} ${unit}`.trim(),
    };
  };
  const [, ...values] = tooltip;
  const hints = [{ field: "bin", type: "nominal", title: label.replace(/["\\]/g, "'") }, ...values];
  if (drawing.series.length === 0 && !cumulative) {
    return [
      {
        data: { values: drawing.points.map(row) },
        mark: {
          type: "bar",
          orient: "vertical",
          stroke: theme.background,
          strokeWidth: width / edges.length > 6 ? 1 : 0,
        },
        encoding: {
          x,
          x2: { field: "end" },
          y: { ...y, stack: null },
          color,
          tooltip: hints,
        },
      },
    ];
  }
  // An outline ends at the end of its last bin.
  const rows = [...pointsBySeries(drawing.points).values()].flatMap((own) => [
    ...own.map(row),
    ...(cumulative
      ? []
      : own.slice(-1).map((last) => ({ ...row(last), begin: place(last.x) + 1 }))),
  ]);
  return [
    {
      data: { values: rows },
      mark: {
        type: "line",
        strokeWidth: 2,
        ...(cumulative ? { point: { size: 24 } } : { interpolate: "step-after" }),
      },
      encoding: { x, y, color, tooltip: hints },
    },
  ];
}

/** Places of edges to label: 1, 2 and 5 of each decade, else multiples of a round step, else evenly. */
export function labelledEdges(edges: readonly number[], most: number): number[] {
  const all = edges.map((_, at) => at);
  const [first = 0, second = 0] = edges;
  const even = edges.every(
    (edge, at) =>
      at === 0 || Math.abs(edge - edges[at - 1]! - (second - first)) < 1e-9 * Math.abs(edge || 1),
  );
  const digits = [["1", "2", "5"], ["1", "3"], ["1"]];
  const isRound = (edge: number, firsts: readonly string[]): boolean =>
    edge === 0 ||
    firsts.some((digit) => new RegExp(`^${digit}(?:\\.?0*)?e`).test(edge.toExponential()));
  const steps = [1, 2, 5, 10, 20, 50, 100, 200].map((times) => times * (second - first));
  const candidates = even
    ? steps.map((step) =>
        all.filter((at) => Math.abs(edges[at]! / step - Math.round(edges[at]! / step)) < 1e-6),
      )
    : digits.map((firsts) => all.filter((at) => isRound(edges[at]!, firsts)));
  const evenly = all.filter((at) => at % Math.ceil(edges.length / most) === 0);
  return (
    (edges.length <= most && !even
      ? all
      : candidates.find((some) => some.length >= 3 && some.length <= most)) ?? evenly
  );
}
