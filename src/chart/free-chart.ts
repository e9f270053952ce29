import { MOST_ROWS } from "../base/limits.js";
import { ProbelabError } from "../base/error.js";
import { reduceForChart, type Reduced } from "../downsample/reduce-for-chart.js";
import type { Json } from "../result/json.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { checkSpec } from "./check-spec.js";
import { count } from "./draw-rows.js";
import type { VegaLiteSpec } from "./frame.js";
import { formatInstantIso } from "./instant.js";
import { cleanText, specText, textOf } from "./label.js";
import { pictureColumns } from "./picture-columns.js";
import { isPictureAddress } from "./render/inert-loader.js";
import { originRecord } from "./origin-record.js";
import { SCHEMA } from "./result-chart.js";
import { spanSentence, wrap } from "./sentences.js";
import { THEMES, themeConfig } from "./theme.js";

const LONGEST_TEXT = 1_000;

const NARROWEST_TITLE = 300;

/** A chart of an analyst's own Vega-Lite over a Result's rows; see `chart.vegaLite`. */
export function freeChart(rows: RowsGiven, spec: VegaLiteSpec): Chart {
  const result = resultOf(rows, "chart.vegaLite");
  checkSpec(spec, result.columnNames);
  const loaded = findUrl(spec);
  if (loaded !== undefined) {
    throw new ProbelabError(
      `Can't draw a spec that loads its data from ${JSON.stringify(loaded.slice(0, 200))}: query it first, and pass the Result.`,
    );
  }
  const reduced = reduce(result, spec);
  const names = reduced.table.columnNames();
  const pictures = pictureColumns(spec, names);
  const getters = names.map((name) => reduced.table.getter(name));
  const drawn = Array.from({ length: reduced.table.numRows() }, (_, row) =>
    getters.map((getter) => getter(row) as Value),
  );
  const { usermeta, config, title, ...own } = spec;
  const sentences = [...result.origin.reductions, ...reduced.sentences, ...result.origin.notes];
  // No narrower than a line that can be read, no wider than the picture.
  const wide = typeof own.width === "number" ? Math.max(NARROWEST_TITLE, own.width) : 1000;
  const heading = titleOf(title, result, sentences, wide);
  const complete = {
    $schema: SCHEMA,
    description: `${[heading.text].flat().join(" ")}. ${count(drawn.length, "row", "rows")}.`,
    background: THEMES.light.background,
    padding: 12,
    ...("layer" in own || "mark" in own ? { width: 1000, height: 300 } : {}),
    ...own,
    title: heading,
    data: {
      values: drawn.map((row) =>
        Object.fromEntries(
          row.map((value, index) => {
            const name = names[index] ?? "";
            return [name, pictures.has(name) ? picture(value) : plain(value)];
          }),
        ),
      ),
    },
    usermeta: {
      ...(typeof usermeta === "object" ? usermeta : {}),
      probelab: originRecord(result.origin, reduced.sentences),
    },
    config: merge(themeConfig(THEMES.light), config),
  };
  return new Chart(complete, result, { names, rows: drawn }, { spec });
}

/** A plain line, area, bar or point spec can be reduced as any chart; others must come small. */
function reduce(result: Result, spec: VegaLiteSpec): Pick<Reduced, "table" | "sentences"> {
  if (result.numRows <= MOST_ROWS) return { table: result.table, sentences: [] };
  const mark = typeof spec.mark === "string" ? spec.mark : (spec.mark as { type?: unknown })?.type;
  const { x, y, color } = (spec.encoding ?? {}) as Record<
    string,
    Record<string, unknown> | undefined
  >;
  const plainFields = [x, y, color].every(
    (channel) =>
      channel === undefined ||
      !["aggregate", "bin", "timeUnit", "stack"].some((key) => channel[key]),
  );
  const column = (channel: Record<string, unknown> | undefined): string | undefined =>
    typeof channel?.field === "string" && result.columnNames.includes(channel.field)
      ? channel.field
      : undefined;
  const [along, up, series] = [column(x), column(y), column(color)];
  const kind =
    mark === "line" ? "line" : /^(point|circle|square)$/.test(String(mark)) ? "points" : "";
  if (kind === "" || !plainFields || spec.transform !== undefined || !along || !up) {
    throw new ProbelabError(
      `Can't draw ${result.numRows.toLocaleString("en-US")} rows with a spec of one's own: a chart takes fewer than 5,000; group them in the query (every, by, top), or reduce them with downsample.`,
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

function titleOf(
  title: unknown,
  result: Result,
  sentences: readonly string[],
  width: number,
): { text: readonly string[] | string } & VegaLiteSpec {
  const given =
    typeof title === "object" && title !== null && !Array.isArray(title) ? title : { text: title };
  const { text, subtitle, ...rest } = given as VegaLiteSpec;
  const named =
    text === undefined
      ? ["Result"]
      : [text].flat().map((line) => specText(cleanText(textOf(line), 300)));
  const below =
    subtitle === undefined
      ? []
      : [subtitle].flat().map((line) => specText(cleanText(textOf(line), 300)));
  const told = wrap([...spanSentence(result.origin), ...sentences], width, 12);
  return { ...rest, text: named, subtitle: [...below, ...told] };
}

/** The address of data that a spec would load, anywhere in it. */
function findUrl(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (
      (name === "data" || name === "from") &&
      typeof (inner as { url?: unknown })?.url === "string"
    ) {
      return (inner as { url: string }).url;
    }
    const found = name === "values" ? undefined : findUrl(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

// Vega would load an address called "null".
const NO_PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

function picture(value: Value): Json {
  return typeof value === "string" && isPictureAddress(value) ? value : NO_PICTURE;
}

function plain(value: Value): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? null : formatInstantIso(value.getTime());
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value;
  return cleanText(textOf(value), LONGEST_TEXT);
}

function merge(base: Record<string, unknown>, over: unknown): Record<string, unknown> {
  if (typeof over !== "object" || over === null) return base;
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = base[name];
    merged[name] =
      typeof below === "object" &&
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value)
        ? { ...below, ...value }
        : value;
  }
  return merged;
}
