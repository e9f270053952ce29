import { isPlain } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { cleanText, counted, shownValue, textOf } from "../base/text.js";
import { formatInstantIso } from "./render/label.js";
import { BESIDE_PLOT, type SpecFor } from "./render/screens.js";
import type { VegaLiteSpec } from "./render/theme.js";
import type { Json } from "../result/json.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Value } from "../result/result.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { PLOT } from "./options.js";
import { wholeSpec } from "./spec.js";
import { checkColumn } from "./roles.js";
import { originSpan, spanSentence } from "./sentences.js";

/** Name of the rows among a spec's datasets. */
const ROWS = "result";
const SUCH =
  'chart.vegaLite(result, { mark: "bar", encoding: { x: { field: "t", type: "temporal" } } })';
const VIEWS = ["mark", "spec", "layer", "concat", "hconcat", "vconcat"];

/** A chart of an analyst's own Vega-Lite over a Result's rows; see `chart.vegaLite`. */
export function vegaLiteChart(of: RowsGiven, given: VegaLiteSpec): Chart {
  const result = resultOf(of, "chart.vegaLite");
  const names = result.columnNames();
  checkSpec(given, names);
  if (result.numRows() > MOST_ROWS) {
    throw new ProbelabError(
      `Can't draw ${counted(result.numRows(), "row")} with a Vega-Lite spec, a chart takes fewer than 5,000: aggregate them in the question (every: "auto", by and top; in SQL GROUP BY), or pass downsample(result, { x, y }) for the same line.`,
    );
  }
  const rows = result.rows().map((row) => names.map((name) => row[name]));
  const values = rows.map((row) =>
    Object.fromEntries(names.map((name, at) => [name, specValue(row[at])])),
  );
  const { usermeta, config, datasets, title: called, ...own } = inUtc(given) as VegaLiteSpec;
  // Vega-Lite's "container" draws nothing in JupyterLab; left out, pages draw a chart as wide as its place.
  for (const side of ["width", "height"]) if (own[side] === "container") delete own[side];
  const { text, subtitle, ...look } = isPlain(called) ? called : { text: called };
  const said = (value: unknown): string[] => [value ?? []].flat().map(textOf);
  const { origin } = result;
  const isSingle = "layer" in own || "mark" in own;
  const specFor = (width: number): VegaLiteSpec => {
    const spec = wholeSpec(origin, {
      widest: Math.max(Math.min(300, width), Number(own["width"]) || width),
      title: said(text ?? ["Result", ...originSpan(origin)].join(", ")).join(" "),
      subtitle: [
        ...said(subtitle),
        [
          ...(text === undefined ? [] : spanSentence(origin)),
          ...origin.reductions,
          ...origin.notes,
        ].join(" "),
      ],
      theme: undefined,
      described: (title) => `${title}. ${counted(rows.length, "row")}.`,
      reductions: [],
      body: {
        ...(isSingle && { width, height: PLOT.height }),
        ...own,
        data: { name: ROWS },
        datasets: { ...Object(datasets), [ROWS]: values } as object,
      },
    });
    return {
      ...spec,
      title: { ...look, ...(spec["title"] as object) },
      usermeta: { ...Object(usermeta), ...(spec["usermeta"] as object) } as object,
      config: merge(spec["config"] as VegaLiteSpec, config),
    };
  };
  const whole = specFor(PLOT.width);
  const screen: SpecFor = (place = PLOT.width + BESIDE_PLOT) =>
    isSingle && own["width"] === undefined ? specFor(place - BESIDE_PLOT) : undefined;
  return new Chart(whole, result, { names, rows }, { spec: given }, screen);
}

const CLOCK = "year|quarter|month|date|week|day|dayofyear|hours|minutes|seconds|timeFormat";
const LOCAL = RegExp(`(?<![\\w.$])(${CLOCK})\\(`);

/** @throws ProbelabError for what is no spec, what Vega would load, draw as "undefined" or in the machine's own zone. */
function checkSpec(spec: unknown, names: readonly string[]): void {
  const refuse = (what: string, remedy: string): never => {
    throw new ProbelabError(`Can't draw ${what}: ${remedy}.`);
  };
  if (!isPlain(spec)) return refuse(`${shownValue(spec)} as a Vega-Lite spec`, `pass ${SUCH}`);
  if (!VIEWS.some((name) => Object.hasOwn(spec, name))) {
    return refuse("a Vega-Lite spec without a mark", `pass one, ${SUCH}`);
  }
  const parts = partsOf({ ...spec, data: null });
  const free = parts.some(([name]) => /^(as|data|fold|pivot|density|quantile|lookup)$/.test(name));
  for (const [name, value] of parts) {
    if (name === "url") {
      const remedy = "nothing is loaded; query the data first and pass the Result";
      refuse(`a spec with url: ${shownValue(value)}`, remedy);
    }
    // Notebooks show a tooltip's "image" as a picture, which they load.
    if (name === "tooltip" && names.includes("image")) {
      const remedy = "notebooks would load its values as pictures; name it otherwise in the query";
      refuse('the column "image" in tooltips', `${remedy} (image AS picture)`);
    }
    const isExpression = /^(calculate|filter|expr|test|labelExpr)$/.test(name);
    const [, local] = (isExpression && LOCAL.exec(textOf(value))) || [];
    if (local !== undefined || (name === "year" && typeof value === "number")) {
      const own = local === "timeFormat" ? "utcFormat(…)" : `utc${local}(…)`;
      const remedy = local ? `write ${own}` : 'write times as texts, "2026-03-01T00:00Z"';
      refuse(`a spec with ${local ?? name} in the zone of the reader's machine`, remedy);
    }
    // Fields of the spec's own transforms and rows aren't columns; a path begins with one.
    if (name === "field" && typeof value === "string" && value !== "*" && !free) {
      const found = /^\[(["']?)(.*?)\1\]|^((?:\\.|[^.[\\])+)/.exec(value);
      const column = (found?.[2] ?? found?.[3] ?? value).replace(/\\(.)/g, "$1");
      checkColumn(names, column, "draw a spec with field: ");
    }
  }
}

/** Parts of a spec that hold rows and records, not more of the spec. */
const DATA = /^(values|datasets|usermeta)$/;

/** All named parts of a spec, at any depth, but for its rows and what null holds. */
function partsOf(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(partsOf);
  return Object.entries(value)
    .filter(([name, inner]) => !DATA.test(name) && inner !== null)
    .flatMap(([name, inner]): [string, unknown][] => [[name, inner], ...partsOf(inner)]);
}

/** The spec with its time units and scales of times in UTC; Vega-Lite's own are in the zone of the reader's machine. */
function inUtc(part: unknown, name = ""): unknown {
  if (name === "timeUnit" && typeof part === "string") return part.replace(/^(?!utc)/, "utc");
  if (Array.isArray(part)) return part.map((each) => inUtc(each));
  if (!isPlain(part) || DATA.test(name)) return part;
  const unit = (key: string): string => (name === "timeUnit" && key === "unit" ? name : key);
  const inner = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, inUtc(value, unit(key))]),
  );
  const { type = "timeUnit" in inner ? "temporal" : undefined, scale = {} } = inner;
  const isTime = type === "temporal" && ("field" in inner || "datum" in inner);
  if (!isTime || !isPlain(scale) || "type" in scale) return inner;
  return { ...inner, scale: { ...scale, type: "utc" } };
}

function specValue(value: Value): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return Number.isNaN(+value) ? null : formatInstantIso(+value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return Number(value);
  return typeof value === "boolean" ? value : cleanText(textOf(value), 1_000);
}

/** The theme's config with the spec's own over it. */
function merge(base: VegaLiteSpec, over: unknown): VegaLiteSpec {
  const merged = Object.entries(isPlain(over) ? over : {}).map(([name, value]) => {
    const below = base[name];
    return [name, isPlain(below) && isPlain(value) ? { ...below, ...value } : value] as const;
  });
  return { ...base, ...Object.fromEntries(merged) };
}
