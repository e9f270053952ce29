import { ProbelabError } from "../base/error.js";
import { columnValues, newTable, rowKeys, rowsByKey } from "../result/arquero-table.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import type { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import type { Point } from "./draw-rows.js";
import { pointsBySeries, specRow, type ChartKind, type Frame } from "./frame.js";
import { lowered, words } from "../render/label.js";
import type { FlatOptions, HistogramChartOptions } from "./options.js";
import type { VegaLiteSpec } from "../render/theme.js";
import { resultChart } from "./result-chart.js";
import { chartRoles, list } from "./roles.js";
import { addedUpSentence, refuseToAddUp } from "./work-table.js";

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
  const { x: _, cumulative: __, share, y: ___, ...rest } = options;
  const y = typeof options.y === "string" && { y: options.y };
  const roles = chartRoles(result, histogramKind(bins), { ...rest, x: "from", ...y });
  const { series, measure } = roles;
  const shares = share ?? (cumulative || series.length > 0);
  const [from, to, counts] = ["from", "to", roles.y].map((name) => result.column(name));
  // A row stands for its bin: all of the same bin and series are added up.
  const groups = [...rowsByKey(rowKeys(result.table, [...series, "from", "to"])).values()];
  const added = groups.length < result.numRows();
  if (added && !measure?.additive) throw refuseToAddUp(result, roles);
  const all = groups.map((rows) => {
    const [row = 0] = rows;
    const sum = rows.reduce((sum, row) => sum + Number(counts![row] ?? 0), 0);
    return { row, from: from![row], to: to![row], sum };
  });
  const total = (some: typeof all): number => some.reduce((sum, bin) => sum + bin.sum, 0);
  const keys = rowKeys(result.table, series);
  const drawn = [...rowsByKey(all.map(({ row }) => keys[row]!)).values()].flatMap((own) => {
    const whole = shares ? total(own.map((at) => all[at]!)) || 1 : 1;
    const group = own.map((at) => all[at]!);
    const inside = group
      .filter((bin) => bin.from !== null && bin.to !== null)
      .sort((a, b) => Number(a.from) - Number(b.from));
    if (!cumulative) return inside.map(({ row, from, sum }) => ({ row, x: from, y: sum / whole }));
    let below = total(group.filter((bin) => bin.from === null));
    return [
      ...inside.slice(0, 1).map(({ row, from }) => ({ row, x: from, y: below / whole })),
      ...inside.map(({ row, to, sum }) => ({ row, x: to, y: (below += sum) / whole })),
    ];
  });
  const measured = measure?.label ?? words(roles.y);
  const what = shares ? `Share of ${lowered(measured)}` : measured;
  const how = cumulative ? `${what} below` : what;
  const by = series.map((name) => words(name)).join(" and ");
  const title = `${how}${cumulative ? " each" : " by"} ${lowered(label)}`;
  const [under, over] = [
    total(all.filter((bin) => bin.from === null)),
    total(all.filter((bin) => bin.to === null)),
  ];
  const beyond = `Beyond the bins: ${number(under)} below and ${number(over)} above, counted in the whole.`;
  const [x, name] = [cumulative ? "below" : "from", shares ? "share" : roles.y];
  const column = (one: string): [string, Value[]] => {
    const values = columnValues(result.table, one);
    return [one, drawn.map(({ row }) => values[row])];
  };
  const table = newTable(result.table, [
    [x, drawn.map((bin) => bin.x)],
    ...series.map(column),
    [name, drawn.map((bin) => bin.y)],
  ]);
  const { columns, reductions } = result.origin;
  const plain = { additive: false, missing: "gap" } as const;
  const counted = shares ? "share" : (measure?.unit ?? "");
  return {
    result: result.with(table, {
      columns: {
        dimensions: columns.dimensions.filter((each) => series.includes(each.name)),
        kinds: { [x]: "number", [name]: "number" },
        measures: [
          { name: x, label, unit, ...plain },
          { name, label: how, unit: counted, ...plain },
        ],
      },
      reductions: [
        ...reductions,
        ...(added ? [addedUpSentence(result, roles.hidden)] : []),
        ...(under + over > 0 ? [beyond] : []),
      ],
    }),
    options: {
      ...rest,
      x,
      y: name,
      title: options.title ?? (by === "" ? title : `${title}${cumulative ? " by" : " and"} ${by}`),
    },
  };
}

function layers(frame: Frame, { edges, label, unit, cumulative }: Bins): VegaLiteSpec[] {
  const { drawing, theme, width, y, color, tooltip } = frame;
  const places = new Map(edges.map((edge, at) => [edge, at]));
  const place = (x: Point["x"]): number => places.get(Number(x)) ?? -1;
  const x = {
    field: "begin",
    type: "quantitative",
    scale: { domain: [0, Math.max(1, edges.length - 1)], nice: false, zero: false, padding: 0 },
    axis: {
      title: (frame.x.axis as VegaLiteSpec).title,
      values: [...edges.keys()],
      labelExpr: `${JSON.stringify(edges.map(number))}[datum.value]`,
      labelOverlap: true,
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
        encoding: { x, x2: { field: "end" }, y: { ...y, stack: null }, color, tooltip: hints },
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
