import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { cleanText, counted, textOf } from "../base/text.js";
import { reduceForChart, type Reduced } from "../downsample/reduce-for-chart.js";
import type { Json } from "../result/json.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { checkSpec } from "./check-spec.js";
import { formatInstantIso, specText, wrap } from "../render/label.js";
import { type VegaLiteSpec, SCHEMA, THEMES, themeConfig } from "../render/theme.js";
import { groupRows } from "./group-rows.js";
import { inUtc, titleOfColumns, withNames } from "./own-spec.js";
import { originRecord } from "../render/origin/origin-record.js";
import { spanSentence } from "./sentences.js";

const LONGEST_TEXT = 1_000;
const NARROWEST_TITLE = 300;

/** A chart of an analyst's own Vega-Lite over a Result's rows; see `chart.vegaLite`. */
export function vegaLiteChart(rows: RowsGiven, given: VegaLiteSpec): Chart {
  const result = resultOf(rows, "chart.vegaLite");
  checkSpec(given, result.columnNames);
  const { origin } = result;
  const named = withNames(inUtc(withoutContainer(given)), origin) as VegaLiteSpec;
  const { table, sentences, spec } = reduced(result, named);
  const names = table.columnNames();
  const getters = names.map((name) => table.getter(name));
  const drawn = Array.from({ length: table.numRows() }, (_, row) =>
    getters.map((getter) => getter(row) as Value),
  );
  const { usermeta, config, title: called = titleOfColumns(named, origin), ...own } = spec;
  // No narrower than a line that can be read, no wider than the picture.
  const width = typeof own.width === "number" ? Math.max(NARROWEST_TITLE, own.width) : 1000;
  const title = titleOf(called, result, sentences, width);
  const complete = {
    $schema: SCHEMA,
    description: `${title.text.join(" ")}. ${counted(drawn.length, "row")}.`,
    background: THEMES.light.background,
    padding: 12,
    ...("layer" in own || "mark" in own ? { width: 1000, height: 300 } : {}),
    ...own,
    title,
    data: {
      values: drawn.map((row) =>
        Object.fromEntries(names.map((name, at) => [name, specValue(row[at])])),
      ),
    },
    usermeta: {
      ...(isObject(usermeta) && usermeta),
      probelab: originRecord(origin, sentences),
    },
    config: merge(themeConfig(THEMES.light), config),
  };
  return new Chart(complete, result, { names, rows: drawn }, { spec: given });
}

/** Vega-Lite's "container" draws nothing in JupyterLab: left out, screens draw a chart as wide as its place. */
function withoutContainer(spec: VegaLiteSpec): VegaLiteSpec {
  const sides = Object.entries(spec).filter(
    ([name, value]) => !(/^(width|height)$/.test(name) && value === "container"),
  );
  return Object.fromEntries(sides);
}

/** The rows of a plain line are reduced as in any chart, a spec that aggregates gets its groups; others must come small. */
function reduced(
  result: Result,
  spec: VegaLiteSpec,
): Pick<Reduced, "table" | "sentences"> & { readonly spec: VegaLiteSpec } {
  if (result.numRows <= MOST_ROWS) return { table: result.table, sentences: [], spec };
  const groups = groupRows(result, spec);
  if (groups !== undefined) return { ...groups, sentences: [] };
  const { x, y, color } = (spec.encoding ?? {}) as Readonly<Record<string, VegaLiteSpec>>;
  const column = ({ field }: VegaLiteSpec = {}): string | undefined =>
    typeof field === "string" && result.columnNames.includes(field) ? field : undefined;
  const [along, up, series] = [column(x), column(y), column(color)];
  const computes = [x, y, color].some((channel) =>
    ["aggregate", "bin", "timeUnit", "stack"].some((key) => channel?.[key]),
  );
  const mark = isObject(spec.mark) ? spec.mark.type : spec.mark;
  if (mark !== "line" || computes || spec.transform !== undefined || !along || !up) {
    throw new ProbelabError(
      `Can't draw ${counted(result.numRows, "row")} with a spec of one's own: a chart takes fewer than 5,000; group them in the query (every, by, top), or in the spec (aggregate, timeUnit) to fewer than 5,000 groups, pass downsample(result, { x, y }), which draws the same line, or use chart.points, which counts them in bins.`,
    );
  }
  const { table, sentences } = reduceForChart(result, {
    mark,
    x: along,
    y: up,
    ...(series !== undefined && { series }),
    width: typeof spec.width === "number" ? spec.width : 1000,
  });
  return { table, sentences, spec };
}

/** The spec's title and subtitle, then what the reader must know of the rows. */
function titleOf(
  given: unknown,
  { origin }: Result,
  reductions: readonly string[],
  width: number,
): VegaLiteSpec & { text: readonly string[] } {
  const { text, subtitle, ...rest } = isObject(given) ? given : { text: given };
  const lines = (value: unknown): string[] =>
    [value].flat().map((line) => specText(cleanText(textOf(line), 300)));
  const sentences = [...spanSentence(origin), ...origin.reductions, ...reductions, ...origin.notes];
  return {
    ...rest,
    text: text === undefined ? ["Result"] : lines(text),
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
  return cleanText(textOf(value), LONGEST_TEXT);
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
