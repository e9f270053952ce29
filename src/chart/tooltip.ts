import type { Drawing } from "./draw-rows.js";
import { measureTitle } from "./axes.js";
import type { Fields } from "./fields.js";
import { words } from "./sentences.js";
import type { VegaLiteSpec } from "./frame.js";
import { zoneExpression } from "./zone-expression.js";

/** What a tooltip tells of a point: where it is, its series, its value. */
export function tooltipChannel(drawing: Drawing, fields: Fields, timeZone: string): VegaLiteSpec[] {
  const { roles, seriesName } = drawing;
  const x =
    roles.xKind === "time"
      ? { field: "when", type: "nominal", title: `${words(roles.x)} (${timeZone})` }
      : {
          field: fields.x,
          type: roles.xKind === "number" ? "quantitative" : "nominal",
          title: words(roles.x),
        };
  const series =
    fields.series === undefined
      ? []
      : [{ field: fields.series, type: "nominal", title: words(seriesName ?? "") }];
  const y = {
    field: fields.y,
    type: "quantitative",
    title: measureTitle(drawing),
    format: roles.measure?.unit === "share" ? ".2%" : ",.6~r",
  };
  return [x, ...series, y].map((part) => ({ ...part, title: tooltipTitle(part.title) }));
}

/**
 * Vega-Lite writes the titles into an expression, escaping a " but not a \ before it. The tooltips
 * of notebooks load what is called "image" as a picture, and show a "title" without its name.
 */
function tooltipTitle(title: string): string {
  return /^(image|title)$/.test(title) ? `'${title}'` : title.replace(/["\\]/g, "'");
}

/** The transform that adds the text of the time as field `when`, in the range's zone. */
export function whenTransform(
  { roles, every }: Drawing,
  fields: Fields,
  timeZone: string,
  domain: readonly [number, number],
): VegaLiteSpec[] {
  if (roles.xKind !== "time") return [];
  const days = every === "day" || every === "week" || every === "month";
  const format = days ? "%Y-%m-%d" : "%Y-%m-%d %H:%M";
  const instant = `toDate(datum[${JSON.stringify(fields.x)}])`;
  return [{ calculate: zoneExpression(instant, format, timeZone, domain), as: "when" }];
}
