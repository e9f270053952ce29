import { ProbelabError } from "../base/error.js";
import { newTable, rowKeys, rowsByKey } from "../result/arquero-table.js";
import { isNaming } from "../result/column-words.js";
import { gapMeasure } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import { BAR } from "./bar.js";
import type { Kind, Prepared } from "./plot.js";
import { isWide, widestBin } from "./axes.js";
import { LINE } from "./line.js";
import type { Point } from "./rows.js";
import { grouped, lowered } from "../base/text.js";
import { words } from "./render/label.js";
import { GRAPH_RULES, text, type Options } from "./options.js";
import { sizes } from "./stack.js";
import { chartRoles, list } from "./roles.js";
import { addedUp, addedUpSentence } from "./work-table.js";

const COMMON = {
  name: "histogram",
  title: "Histogram",
  options: { "x.label": text, ...GRAPH_RULES },
  ...sizes("a histogram"),
  categories: false,
  notes: ({ points }) => unequalBins(points),
  prepare: prepared,
} satisfies Partial<Kind>;

/** Bars of counts, as wide as their bins. */
export const HISTOGRAM: Kind = {
  ...BAR,
  ...COMMON,
  bucketEnds: ({ points }) =>
    new Map(points.map(({ x, extra }) => [Number(x), Number(extra!["_to"])])),
};

/** Of several groups the lines of their shares, through the middles of bins. */
const SHARE_LINES: Kind = { ...LINE, ...COMMON };

/** Says that bins differ in width: a bar that is twice as wide as another holds as much at half the density. */
function unequalBins(points: readonly Point[]): string[] {
  const edges = points.flatMap(({ extra }) => [extra!["_from"], extra!["_to"]].map(Number));
  const distinct = [...new Set(edges)].sort((a, b) => a - b);
  if (widestBin(distinct) < 1.01) return [];
  const axis = isWide(distinct) ? " along a logarithmic axis" : "";
  return [`Bins of different widths${axis}: the heights are what each holds.`];
}

/** The column of the bins' counts: the measure that the question is about, of own rows the first numbers beside their ends. */
function countsOf(result: Result): string {
  const { measures } = result.origin.columns;
  const names = result.columnNames().filter((name) => name !== "from" && name !== "to");
  const isNumber = (value: Value): boolean => ["number", "bigint"].includes(typeof value);
  const measured = measures.filter(({ name }) => names.includes(name));
  const found =
    (measured.find(({ main }) => main) ?? measured[0])?.name ??
    names.find((name) => result.column(name).some(isNumber) && !isNaming(name)) ??
    (result.numRows() === 0 ? names[0] : undefined);
  if (found !== undefined) return found;
  throw new ProbelabError(
    `Can't draw a histogram of the columns ${list(result.columnNames())}: it needs numbers beside from and to, such as counts of the rows in each bin.`,
  );
}

/** A Result with a row for each bin and group, as it is drawn: counts or shares, by the places of edges. @throws ProbelabError for one without bins. */
function prepared(result: Result, options: Options): Prepared {
  const missing = ["from", "to"].filter((name) => !result.columnNames().includes(name));
  if (missing.length > 0) {
    throw new ProbelabError(
      `Can't draw a histogram of a Result without ${list(missing)}: pass one with a row for each bin, its ends in the columns from and to, chart.histogram(await lab.runs.histogram({ range, column: "duration" })).`,
    );
  }
  const roles = chartRoles(result, HISTOGRAM, { ...options, x: "from", y: countsOf(result) });
  const { measure } = roles;
  const series = [...roles.series, ...(roles.facet === undefined ? [] : [roles.facet])];
  const shares = series.length > 0;
  const isLine = roles.series.length > 0;
  const known = result.origin.columns.measures.find(({ name }) => name === "from");
  const { unit = "" } = known ?? {};
  const label = known?.label.replace(/, from$/, "") ?? "Value";
  // A row stands for its bin: all of the same bin and series are added up.
  const kept = [...series, "from", "to"];
  const added = rowsByKey(rowKeys(result.table, kept)).size < result.numRows();
  const summed = added ? addedUp(result, roles, kept) : result;
  const bins = summed.rows() as { from: Value; to: Value; [column: string]: Value }[];
  const ends = bins.flatMap(({ from, to }) => [from, to]).filter((end) => typeof end === "number");
  const edges = [...new Set(ends)].sort((a, b) => a - b);
  const total = (some: typeof bins): number =>
    some.reduce((sum, bin) => sum + Number(bin[roles.y] ?? 0), 0);
  const name = shares ? "share" : roles.y;
  const rows = [...rowsByKey(rowKeys(summed.table, series)).values()].flatMap((own) => {
    const group = own.map((at) => bins[at]!);
    const whole = shares ? total(group) || 1 : 1;
    return group
      .filter(({ from, to }) => from !== null && to !== null)
      .map((bin) => ({
        ...bin,
        bin: isLine ? (Number(bin.from) + Number(bin.to)) / 2 : Number(bin.from),
        [name]: total([bin]) / whole,
      }))
      .sort((a, b) => a.bin - b.bin);
  });
  const measured = measure?.label ?? words(roles.y);
  const what = shares ? `Share of ${lowered(measured)}` : measured;
  const by = series.map((column) => words(column)).join(" and ");
  const title = `${what} by ${lowered(label)}`;
  const under = total(bins.filter(({ from }) => from === null));
  const over = total(bins.filter(({ to }) => to === null));
  const beyond = `Beyond the bins: ${grouped(under)} below and ${grouped(over)} above, counted in the whole.`;
  const extras = ["from", "to"];
  const table = newTable(
    result.table,
    ["bin", ...series, name, ...extras].map((column) => [
      column,
      (rows as Record<string, Value>[]).map((row) => row[column]),
    ]),
  );
  const { columns, reductions } = result.origin;
  const counted = shares ? "share" : (measure?.unit ?? "");
  return {
    result: result.with(table, {
      columns: {
        dimensions: columns.dimensions.filter((each) => series.includes(each.name)),
        kinds: { bin: "number", [name]: "number" },
        measures: [
          gapMeasure("bin", label, unit),
          gapMeasure(name, what, counted),
          ...extras.map((end) => gapMeasure(end, `${label}, ${end}`, unit)),
        ],
      },
      reductions: [
        ...reductions,
        ...(added ? [addedUpSentence(result, roles.hidden)] : []),
        ...(under + over > 0 ? [beyond] : []),
      ],
    }),
    kind: isLine ? SHARE_LINES : HISTOGRAM,
    options: {
      ...options,
      x: "bin",
      y: name,
      extras,
      edges,
      title: options.title ?? (by === "" ? title : `${title} and ${by}`),
    },
  };
}
