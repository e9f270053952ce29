import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { cleanText, counted, grouped, shownValue, textOf } from "../base/text.js";
import { formatInstantIso, specText, wrap } from "../render/label.js";
import { originRecord } from "../render/origin/origin-record.js";
import { SCHEMA, themeConfig, type VegaLiteSpec } from "../render/theme.js";
import type { Json } from "../result/json.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { themeOf } from "./look.js";
import { checkColumn } from "./roles.js";
import { originSpan, spanSentence } from "./sentences.js";

/** Name of the rows among a spec's datasets. */
const ROWS = "result";
const SUCH =
  'chart.vegaLite(result, { mark: "bar", encoding: { x: { field: "t", type: "temporal" } } })';
const VIEWS = ["mark", "spec", "layer", "concat", "hconcat", "vconcat"];

/** Pixels along a side, ticks and bins beyond which drawing takes all memory. */
const MOST: Readonly<Record<string, number>> = {
  width: 20_000,
  height: 20_000,
  step: 20_000,
  tickCount: 2_000,
  maxbins: 10_000,
};

/** A chart of an analyst's own Vega-Lite over a Result's rows; see `chart.vegaLite`. */
export function vegaLiteChart(rows: RowsGiven, given: VegaLiteSpec): Chart {
  const result = resultOf(rows, "chart.vegaLite");
  const { origin } = result;
  const names = result.columnNames();
  checkSpec(given, names);
  if (result.numRows() > MOST_ROWS) throw tooMany(result);
  const columns = names.map((name) => result.column(name));
  const drawn = Array.from({ length: result.numRows() }, (_, row) =>
    columns.map((column) => column[row]),
  );
  const values = drawn.map((row) =>
    Object.fromEntries(names.map((name, at) => [name, specValue(row[at])])),
  );
  const { usermeta, config, datasets, title: called, ...own } = inUtc(given) as VegaLiteSpec;
  // Vega-Lite's "container" draws nothing in JupyterLab; left out, screens draw a chart as wide as its place.
  for (const side of ["width", "height"]) if (own[side] === "container") delete own[side];
  // No narrower than a line that can be read, no wider than the picture.
  const width = typeof own.width === "number" ? Math.max(300, own.width) : 1000;
  const title = titleOf(called, result, width);
  const theme = themeOf(undefined);
  const spec = {
    $schema: SCHEMA,
    description: `${title.text.join(" ")}. ${counted(drawn.length, "row")}.`,
    background: theme.background,
    padding: 12,
    ...("layer" in own || "mark" in own ? { width: 1000, height: 300 } : {}),
    ...own,
    title,
    data: { name: ROWS },
    datasets: { ...(isObject(datasets) && datasets), [ROWS]: values },
    usermeta: { ...(isObject(usermeta) && usermeta), probelab: originRecord(origin) },
    config: merge(themeConfig(theme), config),
  };
  return new Chart(spec, result, { names, rows: drawn }, { spec: given });
}

/** @throws ProbelabError for what is no spec, what Vega would load, draw as "undefined" or fill all memory with. */
function checkSpec(spec: unknown, names: readonly string[]): void {
  const refuse = (what: string, remedy: string): never => {
    throw new ProbelabError(`Can't draw ${what}: ${remedy}.`);
  };
  if (!isObject(spec)) return refuse(`${shownValue(spec)} as a Vega-Lite spec`, `pass ${SUCH}`);
  if (!VIEWS.some((name) => Object.hasOwn(spec, name))) {
    return refuse("a Vega-Lite spec without a mark", `pass one, ${SUCH}`);
  }
  const parts = partsOf({ ...spec, data: null });
  const free = parts.some(([name]) => /^(as|data|fold|pivot|density|quantile|lookup)$/.test(name));
  for (const [name, value] of parts) {
    const most = Object.hasOwn(MOST, name) ? MOST[name] : undefined;
    if (most !== undefined && typeof value === "number" && !(value <= most)) {
      refuse(`a spec with ${name}: ${value}`, `pass ${grouped(most)} at most`);
    }
    if (most !== undefined && isObject(value) && ("expr" in value || "signal" in value)) {
      refuse(
        `a spec with ${name} of an expression`,
        "pass a number, so that it is known to be small",
      );
    }
    if (name === "url") {
      const remedy = "nothing is loaded; query the data first and pass the Result";
      refuse(`a spec with url: ${shownValue(value)}`, remedy);
    }
    // Notebooks show a tooltip's "image" as a picture, which they load.
    if (name === "tooltip" && names.includes("image")) {
      const remedy = "notebooks would load its values as pictures; name it otherwise in the query";
      refuse('the column "image" in tooltips', `${remedy} (image AS picture)`);
    }
    // Fields of the spec's own transforms and rows aren't columns; a path begins with one.
    if (name === "field" && typeof value === "string" && value !== "*" && !free) {
      const found = /^\[(["']?)(.*?)\1\]|^((?:\\.|[^.[\\])+)/.exec(value);
      const column = (found?.[2] ?? found?.[3] ?? value).replace(/\\(.)/g, "$1");
      checkColumn(names, column, "draw a spec with field: ");
    }
  }
}

/** All named parts of a spec, at any depth, but for its rows and what null holds. */
function partsOf(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]): [string, unknown][] =>
    part === null || /^(values|datasets|usermeta)$/.test(name)
      ? []
      : [[name, part], ...partsOf(part)],
  );
}

/** The refusal of too many rows, with the question that aggregates them. */
function tooMany(result: Result): ProbelabError {
  const { time, dimensions } = result.origin.columns;
  const by = dimensions.map(({ name }) => name);
  const groups = result.columnNames().flatMap((name) => {
    const value = result.column(name).find((each) => each !== null);
    if (value instanceof Date) return [`toStartOfDay(${name}) AS ${name}`];
    return typeof value === "string" ? [name] : [];
  });
  const question =
    time === undefined && by.length === 0
      ? `SELECT ${[...groups, "count() AS n"].join(", ")} … WHERE {range} GROUP BY ALL`
      : `lab.measurements.ask({ range, every: "${time === undefined ? "all" : "auto"}"${by.length > 0 ? `, by: ${JSON.stringify(by)}, top: 10` : ""}, measures: { n: count() } })`;
  return new ProbelabError(
    `Can't draw ${counted(result.numRows(), "row")} with a Vega-Lite spec: a chart takes fewer than 5,000; aggregate them in the question, ${question}, or pass downsample(result, { x, y }) for the same line.`,
  );
}

const CLOCK =
  "year|quarter|month|date|week|day|dayofyear|hours|minutes|seconds|milliseconds|timeFormat";

/**
 * A spec with its times in UTC; Vega-Lite's own are in the zone of the reader's machine. Time units and
 * functions of expressions become those of UTC, and scales of times as well.
 */
function inUtc(part: unknown, name = ""): unknown {
  if (Array.isArray(part)) return part.map((each) => inUtc(each, name));
  if (typeof part === "string") {
    if (name === "timeUnit") return part.startsWith("utc") ? part : `utc${part}`;
    if (!/^(calculate|filter|expr|test|labelExpr)$/.test(name)) return part;
    return part.replace(RegExp(`(?<![\\w.$])(${CLOCK})(?=\\()`, "g"), (found) =>
      found === "timeFormat" ? "utcFormat" : `utc${found}`,
    );
  }
  if (!isObject(part)) return part;
  const inner = Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (/^(values|datasets|usermeta)$/.test(key)) return [key, value];
      return [key, inUtc(value, name === "timeUnit" && key === "unit" ? name : key)];
    }),
  );
  const keys = Object.keys(inner);
  // A date in parts, as in { year: 2026, month: 3 }.
  if (keys.length > 0 && keys.every((key) => RegExp(`^(${CLOCK})$`).test(key))) {
    return { ...inner, utc: true };
  }
  const { type = "timeUnit" in inner ? "temporal" : undefined, scale } = inner;
  const isChannel =
    ("field" in inner || "datum" in inner) &&
    !keys.some((key) => /^(as|equal|lte?|gte?|range|oneOf|valid)$/.test(key));
  if (!isChannel || type !== "temporal" || scale === null) return inner;
  const { type: kind = "time", ...own } = Object(scale) as VegaLiteSpec;
  return { ...inner, scale: { ...own, type: kind === "time" ? "utc" : kind } };
}

/** The spec's title and subtitle, then what the reader must know of the rows. */
function titleOf(given: unknown, { origin }: Result, width: number) {
  const { text, subtitle, ...rest } = isObject(given) ? given : { text: given };
  const lines = (value: unknown): string[] =>
    [value].flat().map((line) => specText(cleanText(textOf(line), 300)));
  const named = text !== undefined;
  const span = named ? spanSentence(origin) : [];
  const sentences = [...span, ...origin.reductions, ...origin.notes];
  return {
    ...rest,
    text: named ? lines(text) : [["Result", ...originSpan(origin)].join(", ")],
    subtitle: [...(subtitle === undefined ? [] : lines(subtitle)), ...wrap(sentences, width, 12)],
  };
}

function specValue(value: Value): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? null : formatInstantIso(value.getTime());
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value;
  return cleanText(textOf(value), 1_000);
}

/** The theme's config with the spec's own over it. */
function merge(base: VegaLiteSpec, over: unknown): VegaLiteSpec {
  if (!isObject(over)) return base;
  const merged = Object.entries(over).map(([name, value]) => {
    const below = base[name];
    return [name, isObject(below) && isObject(value) ? { ...below, ...value } : value] as const;
  });
  return { ...base, ...Object.fromEntries(merged) };
}

function isObject(value: unknown): value is VegaLiteSpec {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
