import { bucketNoun } from "../../time/step.js";
import { formatInstant } from "../../time/time-zone.js";
import { columnTitle, TITLE_ABOVE, timeAxis, valueLabel } from "../axes.js";
import { tooltipTitle } from "../plot.js";
import { fitNames, fittedLabel, heading, words } from "../render/label.js";
import type { Theme, VegaLiteSpec } from "../render/theme.js";
import type { MeasureColumn, TimeColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import type { Series } from "../series.js";

/** What the figure is drawn of. */
export interface LinkedCube {
  readonly result: Result;
  readonly time: TimeColumn;
  readonly measure: MeasureColumn;
  /** The columns that are added up: one, or the part and the whole. */
  readonly sums: readonly string[];
  readonly names: readonly string[];
  readonly values: readonly (readonly Series[])[];
  /** Starts of all buckets, and the end of the last. */
  readonly edges: readonly number[];
  readonly theme: Theme;
  readonly zone: string;
}

/** Pixels of the series, and between the bars of two dimensions. */
export const SERIES_HEIGHT = 130;
export const VIEW_GAP = 24;
/** Of a dimension so many values are drawn at most. */
export const MOST_BARS = 24;
const BAR = 20;
/** Pixels of a name's letters, and of what stands beside it in a bar. */
const BAR_TEXT = 12;
const BESIDE_NAME = 120;

// The brush is in buckets: half of one counts as all of it, so that what is shown is a question
// that can be asked. [lo, hi) are the buckets chosen, [was, lo) as many before them.
export function params({ edges, time, result, zone }: LinkedCube): VegaLiteSpec[] {
  const { range } = result.origin;
  const size = edges.length - 1;
  const incomplete = new Set(time.incomplete.map(Number));
  const complete = edges.slice(0, -1).map((edge) => !incomplete.has(edge));
  const [first, last] = [complete.indexOf(true), complete.lastIndexOf(true)];
  const [start, end] = [Number(range?.start ?? NaN), Number(range?.end ?? NaN)];
  const shown = edges.map((edge, at) => {
    const cut = (at === 0 && start > edge && start) || (at === size && end < edge && end);
    return formatInstant(new Date(cut || edge), zone);
  });
  const expressions = {
    spanned: "isArray(brush.i)",
    from: `spanned ? clamp(min(brush.i[0], brush.i[1]), 0, ${size}) : 0`,
    until: `spanned ? clamp(max(brush.i[0], brush.i[1]), 0, ${size}) : ${size}`,
    lo: `round(from) < round(until) ? round(from) : min(${size - 1}, floor((from + until) / 2))`,
    hi: "max(lo + 1, round(until))",
    was: "lo - (hi - lo)",
    compared: `spanned && was >= ${Math.max(0, first)} && hi <= ${last + 1}`,
  };
  return [
    { name: "edges", value: shown },
    ...Object.entries(expressions).map(([name, expr]) => ({ name, expr })),
  ];
}

const chosenOf = (at: number): string => `pick${at}.d${at}`;
const isChosen = (at: number): string =>
  `(!isArray(${chosenOf(at)}) || indexof(${chosenOf(at)}, datum.d${at}) >= 0)`;
const SHOWN = "datum.i >= lo && datum.i < hi";
const BEFORE = "compared && datum.i >= was && datum.i < lo";

/**
 * The sums of all rows (`a`), of those shown (`f`) and of those as long before (`b`), by the fields
 * `groupby`; with the quotients under these names where the measure is one. `g` is everything, brought to
 * the total of what is shown, so that a longer bar is one that has more than its share.
 */
function summed(
  { names, sums }: LinkedCube,
  groupby: readonly string[],
  own: number | undefined,
  within: string,
): VegaLiteSpec[] {
  const chosen = names.flatMap((_, at) => (at === own ? [] : [isChosen(at)]));
  const passes = [...chosen, within].join(" && ");
  const parts = sums.flatMap((_, part) => [
    { calculate: `${passes} ? datum.v${part} : 0`, as: `f${part}` },
    { calculate: `${[...chosen, BEFORE].join(" && ")} ? datum.v${part} : 0`, as: `b${part}` },
  ]);
  const sum = (field: string, as = field) => ({ op: "sum", field, as });
  const whole = (which: string): string =>
    sums.length === 1
      ? `datum.${which}0`
      : `datum.${which}1 > 0 ? datum.${which}0 / datum.${which}1 : null`;
  return [
    ...parts,
    {
      aggregate: sums.flatMap((_, part) => ["v", "f", "b"].map((which) => sum(`${which}${part}`))),
      groupby,
    },
    { calculate: whole("v"), as: "a" },
    { calculate: whole("f"), as: "f" },
    { calculate: `compared ? (${whole("b")}) : null`, as: "b" },
    ...(sums.length > 1
      ? [{ calculate: "datum.a", as: "g" }]
      : [
          { joinaggregate: [sum("a", "a_total"), sum("f", "f_total")] },
          {
            calculate: "datum.a_total > 0 ? datum.a * datum.f_total / datum.a_total : 0",
            as: "g",
          },
        ]),
  ];
}

/** Texts of numbers: `full` for tooltips, `short` for bars, `change` against as long before. */
function numberTexts({ measure }: LinkedCube) {
  const share = measure.unit === "share";
  const text = (value: string, digits: number, long: string): string => {
    const written = share ? `format(100 * ${value}, ".${digits}f") + " %"` : long;
    return `isValid(${value}) ? (${written}) : "none"`;
  };
  const plain = (value: string): string => `format(${value}, ",.2~f")`;
  const full = (value: string): string => text(value, 2, plain(value));
  const short = (value: string): string =>
    text(value, 1, `abs(${value}) < 1e4 ? ${plain(value)} : format(${value}, ".3s")`);
  // With a sign of its own: "+.1f" would give a small loss as "−0.0".
  const percent = (value: string): string =>
    `(${value} >= 0.05 ? "+" : "") + format(${value}, abs(${value}) < 9.95 ? ".1f" : ",.0f")`;
  const by = share
    ? `${percent("(100 * (datum.f - datum.b))")} + " pp"`
    : `datum.b > 0 ? ${percent("(100 * (datum.f / datum.b - 1))")} + " %" : datum.f > 0 ? "new" : ""`;
  return { full, short, change: `isValid(datum.b) && isValid(datum.f) ? (${by}) : ""` };
}

/** What the choice amounts to, and what is chosen: the range and the filter of the same question. */
export function stateLines(cube: LinkedCube, width: number): VegaLiteSpec {
  const { names, measure, time, theme } = cube;
  const { full, change } = numberTexts(cube);
  const chosen = names.map(
    (name, at) =>
      `(isArray(${chosenOf(at)}) ? ${JSON.stringify(`, ${words(name)} `)} + join(${chosenOf(at)}, " or ") : "")`,
  );
  const noun = `(hi - lo) + (hi - lo == 1 ? " ${bucketNoun(time.every, false)}" : " ${bucketNoun(time.every, true)}")`;
  const against = `compared ? ", " + (datum.change == "" ? "" : datum.change + " ") + "against " + (${full("datum.b")}) + " in the " + ${noun} + " before" : spanned ? ", nothing whole of this length before" : ""`;
  const unit = measure.unit === "share" || measure.unit === "" ? "" : ` ${measure.unit}`;
  const place = { type: "text", align: "left", baseline: "middle", limit: width, x: 0 };
  const line = (field: string, y: number, look: VegaLiteSpec): VegaLiteSpec => ({
    mark: { ...place, y, ...look },
    encoding: { text: { field, type: "nominal" } },
  });
  return {
    transform: [
      ...summed(cube, [], undefined, SHOWN),
      { calculate: change, as: "change" },
      {
        calculate: `(${full("datum.f")}) + ${JSON.stringify(unit)} + (${against})`,
        as: "amounts",
      },
      { calculate: `edges[lo] + " to " + edges[hi] + ${chosen.join(" + ")}`, as: "choice" },
    ],
    layer: [
      line("amounts", -49, { fontSize: 14, fontWeight: "bold", color: theme.text }),
      line("choice", -31, { fontSize: 12, color: theme.text }),
    ],
  };
}

/** The series of what is chosen in the bars, over all of the time. */
export function seriesView(cube: LinkedCube, width: number): VegaLiteSpec {
  const { edges, time, zone, theme, measure } = cube;
  const size = edges.length - 1;
  const { full } = numberTexts(cube);
  const axis = timeAxis([edges[0]!, edges.at(-1)!], zone, width, time.every);
  const instants = axis.values as number[];
  const places = instants.map((instant) => placeOf(instant, edges));
  const x = {
    field: "i",
    type: "quantitative",
    scale: { domain: [0, size], nice: false, zero: false },
    axis: {
      ...axis,
      values: places,
      labelExpr: String(axis.labelExpr).replaceAll(
        "datum.value",
        `[${instants.join(",")}][indexof([${places.join(",")}], datum.value)]`,
      ),
    },
  };
  const yAxis = {
    ...TITLE_ABOVE,
    title: columnTitle(measure),
    labelPadding: 6,
    tickCount: 3,
    labelExpr: valueLabel(measure.unit, [Infinity], undefined),
  };
  const faded = new Set(time.incomplete.map(Number));
  const incomplete = edges.slice(0, -1).flatMap((edge, at) => (faded.has(edge) ? [at] : []));
  const bar = (field: string, look: VegaLiteSpec, more: VegaLiteSpec = {}): VegaLiteSpec => ({
    mark: { type: "rect", stroke: theme.background, strokeWidth: size < 200 ? 0.75 : 0, ...look },
    encoding: {
      x,
      x2: { field: "next" },
      y: { field, type: "quantitative", scale: { zero: true }, axis: yAxis },
      y2: { datum: 0 },
      opacity: {
        condition: { test: `indexof([${incomplete.join(",")}], datum.i) >= 0`, value: 0.5 },
        value: 1,
      },
      ...more,
    },
  });
  return {
    transform: [
      ...summed(cube, ["i"], undefined, "true"),
      { calculate: "datum.i + 1", as: "next" },
      { calculate: 'edges[datum.i] + " to " + edges[datum.i + 1]', as: "when" },
      { calculate: full("datum.f"), as: "shown" },
      { calculate: full("datum.a"), as: "all" },
    ],
    layer: [
      bar("g", { color: theme.grid }),
      bar(
        "f",
        {},
        {
          color: {
            condition: [
              { test: BEFORE, value: theme.series[1] },
              { test: `!(${SHOWN})`, value: theme.neutral },
            ],
            value: theme.series[0],
          },
        },
      ),
      {
        params: [
          {
            name: "brush",
            select: {
              type: "interval",
              encodings: ["x"],
              zoom: false,
              mark: { fill: theme.text, fillOpacity: 0.06, stroke: theme.axis },
            },
          },
        ],
        mark: { type: "rect", opacity: 0 },
        encoding: {
          x,
          x2: { field: "next" },
          y: { value: 0 },
          y2: { value: SERIES_HEIGHT },
          tooltip: [
            { field: "when", type: "nominal", title: `Time (${zone})` },
            { field: "shown", type: "nominal", title: "Chosen" },
            { field: "all", type: "nominal", title: "Everything" },
          ],
        },
      },
    ],
  };
}

/** Where an instant stands between the edges, counted in buckets. */
function placeOf(instant: number, edges: readonly number[]): number {
  const after = edges.findIndex((edge) => edge > instant);
  const at = after < 0 ? edges.length - 2 : Math.max(0, after - 1);
  return at + (instant - edges[at]!) / (edges[at + 1]! - edges[at]!);
}

/** A value as its bar of so many pixels has room for it. */
function fittedValue(values: readonly Series[], name: string, width: number): string {
  const names = values.map(({ label }) => label);
  return fittedLabel(names, fitNames(names, width - BESIDE_NAME, BAR_TEXT), name) ?? name;
}

/** A dimension's values, the largest first, by what is chosen elsewhere. */
export function valuesView(cube: LinkedCube, at: number, width: number): VegaLiteSpec {
  const { names, values, theme } = cube;
  const { full, short, change } = numberTexts(cube);
  const bars = Math.min(MOST_BARS, values[at]!.length);
  const others = values[at]!.flatMap(({ other, label }) => (other ? [label] : []));
  const row = {
    field: "rank",
    type: "quantitative",
    scale: { domain: [0, bars], reverse: true, nice: false, zero: false },
    axis: null,
  };
  const x = { type: "quantitative", axis: null, scale: { zero: true, nice: false } };
  const band = (from: number, to: number) => ({
    y: { ...row, field: `row${from}` },
    y2: { field: `row${to}` },
  });
  const length = (field: string, look: VegaLiteSpec, more: VegaLiteSpec = {}): VegaLiteSpec => ({
    mark: { type: "rect", ...look },
    encoding: { x: { ...x, field }, x2: { datum: 0 }, ...band(0, 1), ...more },
  });
  const text = (field: string, look: VegaLiteSpec, x: number): VegaLiteSpec => ({
    mark: { type: "text", baseline: "middle", fontSize: 12, color: theme.text, ...look },
    encoding: {
      x: { value: x },
      y: { ...row, field: "middle" },
      text: { field, type: "nominal" },
      opacity: { condition: { test: isChosen(at), value: 1 }, value: 0.5 },
    },
  });
  return {
    width,
    height: bars * BAR,
    title: {
      text: heading(names[at]!),
      fontSize: 12,
      color: theme.muted,
      fontWeight: "normal",
      offset: 6,
    },
    transform: [
      ...summed(cube, [`d${at}`], at, SHOWN),
      { filter: `isValid(datum.d${at})` },
      { calculate: `indexof(${JSON.stringify(others)}, datum.d${at}) >= 0 ? 1 : 0`, as: "last" },
      {
        window: [{ op: "row_number", as: "rank" }],
        sort: [
          { field: "last", order: "ascending" },
          { field: "f", order: "descending" },
          { field: "a", order: "descending" },
        ],
      },
      { filter: `datum.rank <= ${bars}` },
      { calculate: "datum.rank - 0.95", as: "row0" },
      { calculate: "datum.rank - 0.05", as: "row1" },
      { calculate: "datum.rank - 0.5", as: "middle" },
      { calculate: full("datum.f"), as: "shown" },
      { calculate: `isValid(datum.b) ? ${full("datum.b")} : "–"`, as: "before" },
      { calculate: full("datum.a"), as: "all" },
      { calculate: change, as: "change" },
      // Vega warns of a scale of nulls alone.
      { calculate: "isValid(datum.b) ? datum.b : 0", as: "mark" },
      { calculate: short("datum.f"), as: "amount" },
      { calculate: fittedValue(values[at]!, `datum.d${at}`, width), as: "name" },
    ],
    layer: [
      length("g", { color: theme.grid }),
      length("f", { color: theme.background }),
      length(
        "f",
        { color: theme.series[0] },
        { opacity: { condition: { test: isChosen(at), value: 0.4 }, value: 0.12 } },
      ),
      {
        mark: { type: "rule", color: theme.series[1], strokeWidth: 2.5 },
        encoding: {
          x: { ...x, field: "mark" },
          ...band(0, 1),
          opacity: { condition: { test: "isValid(datum.b)", value: 1 }, value: 0 },
        },
      },
      text("name", { align: "left" }, 5),
      text("change", { align: "right", color: theme.muted }, width - 50),
      text("amount", { align: "right" }, width - 4),
      {
        params: [
          { name: `pick${at}`, select: { type: "point", fields: [`d${at}`], toggle: "true" } },
        ],
        mark: { type: "rect", opacity: 0, cursor: "pointer" },
        encoding: {
          x: { value: 0 },
          x2: { value: width },
          ...band(0, 1),
          tooltip: [
            { field: `d${at}`, type: "nominal", title: tooltipTitle(heading(names[at]!)) },
            { field: "shown", type: "nominal", title: "Chosen" },
            { field: "before", type: "nominal", title: "As long before" },
            { field: "change", type: "nominal", title: "Change" },
            { field: "all", type: "nominal", title: "Everything" },
          ],
        },
      },
    ],
  };
}
