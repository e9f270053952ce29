import { checkOptions } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { cleanText, counted } from "../base/text.js";
import { zoneOf, type MeasureColumn, type TimeColumn } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import { buckets, nextBucket } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import { formatInstant } from "../time/time-zone.js";
import { columnTitle, timeAxis } from "./axes.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { words } from "./label.js";
import { CHART_RULES, type ExploreChartOptions, type VegaLiteSpec } from "./options.js";
import { originRecord } from "./origin-record.js";
import { list } from "./roles.js";
import { originSpan, wrap } from "./sentences.js";
import { chartSeries, seriesDimension, type Series } from "./series.js";
import { SCHEMA, THEMES, themeConfig, type Theme } from "./theme.js";

/** Fits a cell of a window of 1,000 pixels, with the axis beside it. */
const WIDTH = 800;
const HEIGHT = 130;
const ROW = 20;
const MOST_BARS = 24;
const MOST_PANELS = 4;
const GAP = 24;

const { title, subtitle, theme, y } = CHART_RULES;
const RULES = { title, subtitle, theme, y };
const REMEDY =
  'pass what lab.measurements.explore({ range, by: ["software_version", "probe_cc"] }) answers';

/** What the figure is drawn of. */
interface Cube {
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

/** The linked views of a Result; see `chart.explore`. */
export function exploreChart(rows: RowsGiven, options: ExploreChartOptions): Chart {
  const result = resultOf(rows, "chart.explore");
  checkOptions(options, RULES, "explore a Result");
  const cube = cubeOf(result, options);
  const { origin } = result;
  const { names, values, measure, time } = cube;
  const cells = cellRows(cube);
  const along = measure.additive ? [] : [time.every];
  const by = new Intl.ListFormat("en-GB").format([...along, ...names.map(words)]);
  const per = measure.additive ? ` per ${time.every}` : "";
  const text = cleanText(
    options.title ?? [`${measure.label}${per} by ${by}`, ...originSpan(origin)].join(", "),
    300,
  );
  const cut = values.flatMap((all, at) =>
    all.length > MOST_BARS
      ? [`Drawn: the ${MOST_BARS} largest of ${all.length} values of ${names[at]}.`]
      : [],
  );
  const told = [
    ...(options.subtitle === undefined ? [] : [cleanText(options.subtitle, 2_000)]),
    "In a notebook or on a page: drag along the time, click bars; a double click shows everything again.",
    `Pale: everything${measure.additive ? ", scaled to the same total" : ""}. Orange: the same number of ${bucketNoun(time.every, true)} before.`,
    ...cut,
    ...origin.reductions,
    ...origin.notes,
  ];
  const spec: VegaLiteSpec = {
    $schema: SCHEMA,
    description: describe(cube, text),
    usermeta: { probelab: originRecord(origin, cut) },
    background: cube.theme.background,
    padding: 12,
    title: { text: wrap([text], WIDTH, 16, 700), subtitle: wrap(told, WIDTH, 12) },
    data: { values: cells },
    params: params(cube),
    vconcat: [
      { width: WIDTH, height: HEIGHT, layer: [series(cube), stateLines(cube)] },
      { hconcat: names.map((_, at) => panel(cube, at)), spacing: GAP, bounds: "flush" },
    ],
    spacing: 90,
    bounds: "flush",
    config: themeConfig(cube.theme),
  };
  const drawn = { names: result.columnNames, rows: result.rows().map((row) => Object.values(row)) };
  return new Chart(spec, result, drawn, { explore: options });
}

/** @throws ProbelabError for what can't be told of cells under every choice. */
function cubeOf(result: Result, options: ExploreChartOptions): Cube {
  const { time, dimensions, measures } = result.origin.columns;
  const refusal = (why: string): ProbelabError =>
    new ProbelabError(`Can't explore a Result ${why}: ${REMEDY}.`);
  const names = dimensions.map(({ name }) => name);
  if (time === undefined) throw refusal(`of the columns ${list(result.columnNames)}, without time`);
  if (names.length === 0 || names.length > MOST_PANELS) {
    throw refusal(`by ${counted(names.length, "dimension")}, where one to ${MOST_PANELS} fit`);
  }
  const measure =
    options.y === undefined
      ? (measures.find(({ main }) => main) ?? measures[0])
      : measures.find(({ name }) => name === options.y);
  if (measure === undefined) {
    throw refusal(
      `by ${options.y ?? "nothing"}: its measures are ${list(measures.map(({ name }) => name))}`,
    );
  }
  const sums = measure.quotient ?? (measure.additive ? [measure.name] : []);
  if (sums.length === 0 || !sums.every((name) => result.columnNames.includes(name))) {
    throw refusal(`by ${measure.name}, whose values don't add up`);
  }
  if (result.numRows > MOST_ROWS) {
    throw refusal(`of ${counted(result.numRows, "row")}, where fewer than 5,000 are drawn`);
  }
  const negative = sums.some((name) => result.column(name).some((value) => Number(value) < 0));
  if (negative) throw refusal(`by ${measure.name}, of which some values are below zero`);
  const edges = edgesOf(result, time);
  return {
    ...{ result, time, measure, sums, names, edges },
    values: names.map((name) => {
      const column = result.column(name);
      return chartSeries(column, seriesDimension(result.origin.columns, name, column));
    }),
    theme: THEMES[options.theme ?? "light"],
    zone: zoneOf(result.origin),
  };
}

/** The buckets of the range, and where rows begin elsewhere those as well. */
function edgesOf(result: Result, { name, every }: TimeColumn): number[] {
  const { range } = result.origin;
  const zone = zoneOf(result.origin);
  const starts = new Set(
    result
      .column(name)
      .map(Number)
      .filter((start) => Number.isFinite(start)),
  );
  if (range !== undefined) for (const { start } of buckets(range, every)) starts.add(+start);
  const ordered = [...starts].sort((a, b) => a - b);
  const last = ordered.at(-1);
  return last === undefined ? [0, 1] : [...ordered, +nextBucket(new Date(last), every, zone)];
}

/** A row for each cell: its bucket, the labels of its values, what is added up; for a bucket without one a row of zeros. */
function cellRows({ result, time, names, values, sums, edges }: Cube): VegaLiteSpec[] {
  const places = new Map(edges.map((edge, index) => [edge, index]));
  const labels = values.map((all) => new Map(all.map(({ value, label }) => [value, label])));
  const empty = new Set(edges.slice(0, -1).keys());
  const rows = (result.rows() as Record<string, Value>[]).flatMap((row) => {
    const i = places.get(Number(row[time.name]));
    if (i === undefined) return [];
    empty.delete(i);
    return [
      {
        i,
        ...Object.fromEntries(
          names.map((name, at) => [`d${at}`, labels[at]!.get(row[name] ?? null) ?? ""]),
        ),
        ...Object.fromEntries(sums.map((name, at) => [`v${at}`, Number(row[name] ?? 0)])),
      },
    ];
  });
  return [...rows, ...[...empty].map((i) => ({ i, v0: 0, ...(sums.length > 1 && { v1: 0 }) }))];
}

// The brush is in buckets: half of one counts as all of it, so that what is shown is a question
// that can be asked. [lo, hi) are the buckets chosen, [was, lo) as many before them.
function params({ edges, time, result, zone }: Cube): VegaLiteSpec[] {
  const { range } = result.origin;
  const many = edges.length - 1;
  const incomplete = new Set(time.incomplete.map(Number));
  const complete = edges.slice(0, -1).map((edge) => !incomplete.has(edge));
  const [first, last] = [complete.indexOf(true), complete.lastIndexOf(true)];
  const shown = edges.map((edge, at) =>
    formatInstant(
      at === 0 && range !== undefined && +range.start > edge
        ? range.start
        : at === many && range !== undefined && +range.end < edge
          ? range.end
          : new Date(edge),
      zone,
    ),
  );
  const expressions = {
    spanned: "isArray(brush.i)",
    from: `spanned ? clamp(min(brush.i[0], brush.i[1]), 0, ${many}) : 0`,
    until: `spanned ? clamp(max(brush.i[0], brush.i[1]), 0, ${many}) : ${many}`,
    lo: `round(from) < round(until) ? round(from) : min(${many - 1}, floor((from + until) / 2))`,
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
 * `groupby`; with the quotients under these names where the measure is one.
 */
function summed(
  { names, sums }: Cube,
  groupby: readonly string[],
  own: number | undefined,
  within: string,
): VegaLiteSpec[] {
  const chosen = names.flatMap((_, at) => (at === own ? [] : [isChosen(at)]));
  const passes = chosen.join(" && ") || "true";
  const parts = sums.flatMap((_, part) => [
    { calculate: `${passes} && ${within} ? datum.v${part} : 0`, as: `f${part}` },
    { calculate: `${passes} && ${BEFORE} ? datum.v${part} : 0`, as: `b${part}` },
  ]);
  const all = sums.flatMap((_, part) =>
    ["v", "f", "b"].map((which) => ({
      op: "sum",
      field: `${which}${part}`,
      as: `${which}${part}`,
    })),
  );
  const whole = (which: string): string =>
    sums.length === 1
      ? `datum.${which}0`
      : `datum.${which}1 > 0 ? datum.${which}0 / datum.${which}1 : null`;
  return [
    ...parts,
    { aggregate: all, groupby },
    { calculate: whole("v"), as: "a" },
    { calculate: whole("f"), as: "f" },
    { calculate: `compared ? (${whole("b")}) : null`, as: "b" },
  ];
}

/** `g`: everything, brought to the total of what is shown, so that a longer bar is one that has more than its share. */
function pale({ sums }: Cube): VegaLiteSpec[] {
  if (sums.length > 1) return [{ calculate: "datum.a", as: "g" }];
  const total = (field: string) => ({ op: "sum", field, as: `${field}_total` });
  return [
    { joinaggregate: [total("a"), total("f")] },
    { calculate: "datum.a_total > 0 ? datum.a * datum.f_total / datum.a_total : 0", as: "g" },
  ];
}

/** Texts of numbers: `full` for tooltips, `short` for bars, `change` against as long before. */
function numberTexts({ measure, result, sums }: Cube) {
  const { unit } = measure;
  const share = unit === "share";
  const whole =
    sums.length === 1 && result.column(sums[0]!).every((value) => Number.isInteger(Number(value)));
  const exact = share ? ".2%" : whole ? ",d" : ",.4~r";
  const some = (value: string, text: string): string => `isValid(${value}) ? ${text} : "none"`;
  const full = (value: string): string => some(value, `format(${value}, "${exact}")`);
  const short = (value: string): string =>
    some(
      value,
      share
        ? `format(${value}, ".1%")`
        : `abs(${value}) < 1e4 ? format(${value}, "${whole ? ",d" : ",.3~r"}") : format(${value}, ".3s")`,
    );
  // With a sign of its own: "+.1f" would give a small loss as "−0.0".
  const percent = (value: string): string =>
    `(${value} >= 0.05 ? "+" : "") + format(${value}, abs(${value}) < 9.95 ? ".1f" : ",.0f")`;
  const change = share
    ? `isValid(datum.b) && isValid(datum.f) ? ${percent("(100 * (datum.f - datum.b))")} + " pp" : ""`
    : `isValid(datum.b) && isValid(datum.f) ? (datum.b > 0 ? ${percent("(100 * (datum.f / datum.b - 1))")} + " %" : datum.f > 0 ? "new" : "") : ""`;
  return { full, short, change };
}

/** What the choice amounts to, and what is chosen: the range and the filter of the same question. */
function stateLines(cube: Cube): VegaLiteSpec {
  const { names, measure, time, theme } = cube;
  const { full, change } = numberTexts(cube);
  const chosen = names.map(
    (name, at) =>
      `(isArray(${chosenOf(at)}) ? ${JSON.stringify(`, ${words(name)} `)} + join(${chosenOf(at)}, " or ") : "")`,
  );
  const noun = `(hi - lo) + (hi - lo == 1 ? " ${bucketNoun(time.every, false)}" : " ${bucketNoun(time.every, true)}")`;
  const against = `compared ? ", " + (datum.change == "" ? "" : datum.change + " ") + "against " + (${full("datum.b")}) + " in the " + ${noun} + " before" : spanned ? ", nothing whole of this length before" : ""`;
  const unit = measure.unit === "share" || measure.unit === "" ? "" : ` ${measure.unit}`;
  const line = (field: string, y: number, look: VegaLiteSpec): VegaLiteSpec => ({
    mark: { type: "text", align: "left", baseline: "middle", limit: WIDTH, x: 0, y, ...look },
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
function series(cube: Cube): VegaLiteSpec {
  const { edges, time, zone, theme, measure } = cube;
  const many = edges.length - 1;
  const { full } = numberTexts(cube);
  const axis = timeAxis([edges[0]!, edges.at(-1)!], zone, WIDTH, time.every);
  const instants = axis.values as number[];
  const places = instants.map((instant) => placeOf(instant, edges));
  const x = {
    field: "i",
    type: "quantitative",
    scale: { domain: [0, many], nice: false, zero: false },
    axis: {
      ...axis,
      values: places,
      labelExpr: String(axis.labelExpr).replaceAll(
        "datum.value",
        `[${instants.join(",")}][indexof([${places.join(",")}], datum.value)]`,
      ),
    },
  };
  const yTitle = columnTitle(measure);
  const yAxis = {
    ...{
      title: yTitle,
      titleAngle: 0,
      titleAlign: "left",
      titleAnchor: "end",
      titleX: 0,
      titleY: -8,
    },
    ...{ titleBaseline: "bottom", domain: false, ticks: false, labelPadding: 6, tickCount: 3 },
    // As `format` zero would have the prefix of the other ticks: 0k.
    labelExpr: `format(datum.value, "${measure.unit === "share" ? "~%" : "~s"}")`,
  };
  const faded = new Set(time.incomplete.map(Number));
  const incomplete = edges.slice(0, -1).flatMap((edge, at) => (faded.has(edge) ? [at] : []));
  const bar = (field: string, look: VegaLiteSpec, more: VegaLiteSpec = {}): VegaLiteSpec => ({
    mark: { type: "rect", stroke: theme.background, strokeWidth: many < 200 ? 0.75 : 0, ...look },
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
      ...pale(cube),
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
              ...{ type: "interval", encodings: ["x"], zoom: false },
              mark: { fill: theme.text, fillOpacity: 0.06, stroke: theme.axis },
            },
          },
        ],
        mark: { type: "rect", opacity: 0 },
        encoding: {
          x,
          x2: { field: "next" },
          y: { value: 0 },
          y2: { value: HEIGHT },
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

/** A dimension's values, the largest first, by what is chosen elsewhere. */
function panel(cube: Cube, at: number): VegaLiteSpec {
  const { names, values, theme } = cube;
  const { full, short, change } = numberTexts(cube);
  const width = Math.floor((WIDTH - GAP * (names.length - 1)) / names.length);
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
    ...{ width, height: bars * ROW },
    title: {
      text: words(names[at]!),
      fontSize: 12,
      color: theme.muted,
      fontWeight: "normal",
      offset: 6,
    },
    transform: [
      ...summed(cube, [`d${at}`], at, SHOWN),
      { filter: `isValid(datum.d${at})` },
      ...pale(cube),
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
      { calculate: short("datum.f"), as: "amount" },
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
        transform: [{ filter: "isValid(datum.b)" }],
        mark: { type: "rule", color: theme.series[1], strokeWidth: 2.5 },
        encoding: { x: { ...x, field: "b" }, ...band(0, 1) },
      },
      text(`d${at}`, { align: "left", limit: Math.max(60, width - 120) }, 5),
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
            { field: `d${at}`, type: "nominal", title: words(names[at]!) },
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

/** What the unfiltered figure shows, for those who can't see it. */
function describe({ result, names, values, sums, edges, time }: Cube, title: string): string {
  const columns = sums.map((name) => result.column(name).map(Number));
  const amount = (keep: (row: number) => boolean): number => {
    const [part = 0, whole] = columns.map((column) =>
      column.reduce((all, value, row) => (keep(row) ? all + value : all), 0),
    );
    return whole === undefined ? part : part / whole;
  };
  const number = (value: number): string => Number(value.toPrecision(4)).toLocaleString("en-US");
  const said = names.map((name, at) => {
    const column = result.column(name);
    const all = values[at]!.map(({ value, label }) => ({
      label,
      amount: amount((row) => column[row] === value),
    }))
      .sort((a, b) => b.amount - a.amount)
      .slice(0, 5);
    return `${words(name)}: ${all.map(({ label, amount }) => `${label} ${number(amount)}`).join(", ")}${values[at]!.length > 5 ? " …" : ""}.`;
  });
  const steps = counted(
    edges.length - 1,
    bucketNoun(time.every, false),
    bucketNoun(time.every, true),
  );
  return cleanText(
    `Linked views: ${title}. ${number(amount(() => true))} in ${steps}. ${said.join(" ")}`,
    4_000,
  );
}
