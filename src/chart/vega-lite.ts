import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { cleanText, counted, textOf } from "../base/text.js";
import { reduceForChart, type Reduced } from "../downsample/reduce-for-chart.js";
import type { Json } from "../result/json.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { checkSpec, pictureColumns } from "./check-spec.js";
import { formatInstantIso, specText } from "./label.js";
import type { VegaLiteSpec } from "./options.js";
import { originRecord } from "./origin-record.js";
import { isPictureAddress } from "./render/inert-loader.js";
import { SCHEMA } from "./result-chart.js";
import { spanSentence, wrap } from "./sentences.js";
import { THEMES, themeConfig } from "./theme.js";

const LONGEST_TEXT = 1_000;
const NARROWEST_TITLE = 300;

// Vega would load an address called "null".
const NO_PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/** A chart of an analyst's own Vega-Lite over a Result's rows; see `chart.vegaLite`. */
export function vegaLiteChart(rows: RowsGiven, spec: VegaLiteSpec): Chart {
  const result = resultOf(rows, "chart.vegaLite");
  checkSpec(spec, result.columnNames);
  const { table, sentences } = reduced(result, spec);
  const names = table.columnNames();
  const pictures = pictureColumns(spec, names);
  const getters = names.map((name) => table.getter(name));
  const drawn = Array.from({ length: table.numRows() }, (_, row) =>
    getters.map((getter) => getter(row) as Value),
  );
  const values = drawn.map((row) =>
    Object.fromEntries(
      names.map((name, at) => [name, (pictures.has(name) ? pictureValue : specValue)(row[at])]),
    ),
  );
  const { usermeta, config, title: given, ...own } = spec;
  // No narrower than a line that can be read, no wider than the picture.
  const width = typeof own.width === "number" ? Math.max(NARROWEST_TITLE, own.width) : 1000;
  const title = titleOf(given, result, sentences, width);
  const complete = {
    $schema: SCHEMA,
    description: `${title.text.join(" ")}. ${counted(drawn.length, "row")}.`,
    background: THEMES.light.background,
    padding: 12,
    ...("layer" in own || "mark" in own ? { width: 1000, height: 300 } : {}),
    ...own,
    title,
    data: { values },
    usermeta: {
      ...(typeof usermeta === "object" ? usermeta : {}),
      probelab: originRecord(result.origin, sentences),
    },
    config: merge(themeConfig(THEMES.light), config),
  };
  return new Chart(complete, result, { names, rows: drawn }, { spec });
}

/** The rows of a plain line or of plain points are reduced as in any chart; others must come small. */
function reduced(result: Result, spec: VegaLiteSpec): Pick<Reduced, "table" | "sentences"> {
  if (result.numRows <= MOST_ROWS) return { table: result.table, sentences: [] };
  const { mark } = spec as { mark?: string | { type?: unknown } };
  const type = String(typeof mark === "object" ? mark.type : mark);
  const kind = type === "line" ? type : /^(point|circle|square)$/.test(type) ? "points" : null;
  const encoding = (spec.encoding ?? {}) as Readonly<Record<string, Readonly<VegaLiteSpec>>>;
  const { x, y, color } = encoding;
  const column = ({ field }: VegaLiteSpec = {}): string | undefined =>
    typeof field === "string" && result.columnNames.includes(field) ? field : undefined;
  const [along, up, series] = [column(x), column(y), column(color)];
  const computes = [x, y, color].some((channel) =>
    ["aggregate", "bin", "timeUnit", "stack"].some((key) => channel?.[key]),
  );
  if (kind === null || computes || spec.transform !== undefined || !along || !up) {
    throw new ProbelabError(
      `Can't draw ${counted(result.numRows, "row")} with a spec of one's own: a chart takes fewer than 5,000; group them in the query (every, by, top), or pass downsample(result, { x, y }), which draws the same line.`,
    );
  }
  return reduceForChart(result, {
    mark: kind,
    // Bins would be other columns than the spec names.
    points: "thin",
    x: along,
    y: up,
    ...(series !== undefined && { series }),
    width: typeof spec.width === "number" ? spec.width : 1000,
  });
}

/** The spec's title and subtitle, then what the reader must know of the rows. */
function titleOf(
  given: unknown,
  { origin }: Result,
  reductions: readonly string[],
  width: number,
): VegaLiteSpec & { text: readonly string[] } {
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  const { text, subtitle, ...rest } = (isObject ? given : { text: given }) as VegaLiteSpec;
  const lines = (value: unknown): string[] =>
    [value].flat().map((line) => specText(cleanText(textOf(line), 300)));
  const sentences = [...spanSentence(origin), ...origin.reductions, ...reductions, ...origin.notes];
  return {
    ...rest,
    text: text === undefined ? ["Result"] : lines(text),
    subtitle: [...(subtitle === undefined ? [] : lines(subtitle)), ...wrap(sentences, width, 12)],
  };
}

function pictureValue(value: Value): Json {
  return typeof value === "string" && isPictureAddress(value) ? value : NO_PICTURE;
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
  if (typeof over !== "object" || over === null) return base;
  const isObject = (value: unknown): value is object =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  return {
    ...base,
    ...Object.fromEntries(
      Object.entries(over).map(([name, value]: [string, unknown]) => {
        const below = base[name];
        return [name, isObject(below) && isObject(value) ? { ...below, ...value } : value];
      }),
    ),
  };
}
