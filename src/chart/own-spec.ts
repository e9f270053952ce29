import { zoneOf, type Origin } from "../result/origin.js";
import { columnTitle, stepTitle } from "./axes.js";
import { heading, words } from "../render/label.js";
import type { VegaLiteSpec } from "../render/theme.js";
import { originSpan } from "./sentences.js";

/** Where a view's columns stand that are seen: the first two along its sides. */
const TITLED =
  /^(x|y|theta|color|colour|fill|stroke|size|shape|opacity|row|column|facet|xOffset|tooltip)$/;
const LOCAL_CLOCK =
  /(?<![\w.$])(year|quarter|month|date|week|day|dayofyear|hours|minutes|seconds|milliseconds)(?=\()/g;
const DATE_PARTS =
  /^(year|quarter|month|week|date|day|dayofyear|hours|minutes|seconds|milliseconds)$/;
const EXPRESSIONS = /^(calculate|filter|expr|test|labelExpr|update|init)$/;

/**
 * A spec with its times in UTC, wherever it is drawn: scales, units of time, texts and expressions.
 * Vega-Lite's own are in the zone of the reader's machine.
 */
export function inUtc(part: unknown, name = ""): unknown {
  if (Array.isArray(part)) return part.map((each) => inUtc(each, name));
  if (typeof part === "string") {
    if (name === "timeUnit") return part.startsWith("utc") ? part : `utc${part}`;
    return EXPRESSIONS.test(name) ? utcExpression(part) : part;
  }
  if (typeof part !== "object" || part === null) return part;
  const inner = Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (/^(values|datasets|usermeta)$/.test(key)) return [key, value as unknown];
      // A unit may be told with its steps.
      const own = name === "timeUnit" && key === "unit" ? "timeUnit" : key;
      return [key, inUtc(value, own)];
    }),
  );
  const names = Object.keys(inner);
  if (names.length > 0 && names.every((key) => DATE_PARTS.test(key)))
    return { ...inner, utc: true };
  const isField = "field" in inner || "datum" in inner;
  const isTime = inner["type"] === "temporal" || "timeUnit" in inner;
  if (!isField || !isTime || "as" in inner || inner["scale"] === null) return inner;
  const { type = "utc", ...scale } = (inner["scale"] ?? {}) as VegaLiteSpec;
  // Units of time stand on scales of their kind; a `type` that was chosen stays.
  const asks = Object.keys(inner).some((key) => /^(equal|lte?|gte?|range|oneOf|valid)$/.test(key));
  const discrete = inner["type"] !== undefined && inner["type"] !== "temporal";
  return discrete || asks
    ? inner
    : { ...inner, scale: { ...scale, type: type === "time" ? "utc" : type } };
}

function utcExpression(text: string): string {
  // Not within its texts.
  return text
    .split(/("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part
            .replace(LOCAL_CLOCK, "utc$1")
            .replace(/(?<![\w.$])timeFormat(?=\()/g, "utcFormat")
            .replace(/(?<![\w.$])datetime(?=\([^()]*,)/g, "utc"),
    )
    .join("");
}

/** A spec whose axes, legends and tooltips are called as its Result's columns, where it doesn't say how. */
export function withNames(part: unknown, origin: Origin, name = ""): unknown {
  if (Array.isArray(part)) return part.map((each) => withNames(each, origin, name));
  if (typeof part !== "object" || part === null) return part;
  const inner = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      /^(values|datasets|usermeta|params|transform)$/.test(key)
        ? (value as unknown)
        : withNames(value, origin, key),
    ]),
  );
  const { field, title, axis, legend, header } = inner;
  const named = [
    title,
    ...[axis, legend, header].map((each) => (Object(each) as VegaLiteSpec)["title"]),
  ];
  if (!TITLED.test(name) || typeof field !== "string" || named.some((each) => each !== undefined)) {
    return inner;
  }
  const text = nameOf(inner, field, origin);
  return text === undefined ? inner : { ...inner, title: text };
}

function nameOf(
  { aggregate, bin, timeUnit }: VegaLiteSpec,
  field: string,
  origin: Origin,
): string | undefined {
  const { time, dimensions, measures } = origin.columns;
  if (time?.name === field) {
    if (aggregate !== undefined) return undefined;
    // Buckets of another zone begin elsewhere in UTC.
    const own = timeUnit === undefined && zoneOf(origin) === "UTC";
    return `${own ? stepTitle(time.every) : "Time"} (UTC)`;
  }
  const measure = measures.find((each) => each.name === field);
  if (measure !== undefined) {
    const own = columnTitle(measure);
    if (aggregate === undefined || (aggregate === "sum" && measure.additive)) return own;
    const op = typeof aggregate === "string" ? OPS[aggregate] : undefined;
    return op === undefined ? undefined : `${own}, ${op}`;
  }
  const known = dimensions.some((each) => each.name === field);
  return known && aggregate === undefined && bin === undefined ? heading(field) : undefined;
}

const OPS: Readonly<Record<string, string>> = {
  sum: "sum",
  mean: "mean",
  average: "mean",
  median: "median",
  min: "least",
  max: "greatest",
};

/** `Measurements by version, 2026-02-01 to 2026-05-01 UTC`: what a spec draws, as far as its Result tells. */
export function titleOfColumns(spec: VegaLiteSpec, origin: Origin): string | undefined {
  const { time, dimensions, measures } = origin.columns;
  const fields = fieldsOf(spec);
  const measure = measures.filter(({ name }) => fields.has(name));
  if (measure.length === 0) return undefined;
  const by = [
    ...(time !== undefined && fields.has(time.name) ? ["time"] : []),
    ...dimensions.filter(({ name }) => fields.has(name)).map(({ name }) => words(name)),
  ];
  const what = measure.map(({ label }) => label).join(" and ");
  return [`${what}${by.length === 0 ? "" : ` by ${by.join(" and ")}`}`, ...originSpan(origin)].join(
    ", ",
  );
}

function fieldsOf(part: unknown): Set<string> {
  if (typeof part !== "object" || part === null) return new Set();
  return new Set(
    Object.entries(part).flatMap(([key, value]): string[] =>
      /^(values|datasets|usermeta|tooltip)$/.test(key)
        ? []
        : key === "field" && typeof value === "string"
          ? [value]
          : [...fieldsOf(value)],
    ),
  );
}
