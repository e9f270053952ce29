import type { Drawing } from "./draw-rows.js";
import { measureTitle } from "./axes.js";
import type { Fields } from "./fields.js";
import { words } from "./sentences.js";
import type { VegaLiteSpec } from "./frame.js";
import { stepOf } from "../time/step.js";
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
    format: valueFormat(drawing),
  };
  return [x, ...series, y].map((part) => ({ ...part, title: tooltipTitle(part.title) }));
}

/** Whole numbers and large ones to the unit at least: who points at a value wants to read it off. */
function valueFormat({ roles, points }: Drawing): string {
  if (roles.measure?.unit === "share") return ".2%";
  const values = points.map(({ y }) => y ?? 0);
  if (values.every(Number.isInteger)) return ",d";
  return values.some((value) => Math.abs(value) >= 1_000) ? ",.3~f" : ",.6~r";
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
  const unit = every && stepOf(every).unit;
  const time = { second: " %H:%M:%S", minute: " %H:%M", hour: " %H:%M" };
  const format = `%Y-%m-%d${unit === undefined ? time.minute : unit in time ? time[unit as keyof typeof time] : ""}`;
  const instant = `toDate(datum[${JSON.stringify(fields.x)}])`;
  return [{ calculate: zoneExpression(instant, format, timeZone, domain), as: "when" }];
}
