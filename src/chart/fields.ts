import type { Drawing, Point } from "./draw-rows.js";
import { formatInstantIso } from "./instant.js";
import { uniqueLabels } from "./label.js";
import type { Json } from "../result/json.js";

/** The names of a spec's fields. */
export interface Fields {
  readonly x: string;
  readonly y: string;
  readonly series?: string;
}

// Names that the specs add, and that JavaScript objects already have.
const TAKEN = new Set(["rank", "end", "incomplete", "other", "time", "label", "rows", "when"]);

/**
 * Columns under names that Vega-Lite reads as they are: it takes `a.b` and `a[0]` for paths into
 * objects. A name made of letters, digits and _ stays.
 */
export function specFields(drawing: Drawing): Fields {
  const used = new Set(TAKEN);
  const safe = (name: string): string => {
    let field = name.replace(/\W/g, "_").slice(0, 60) || "_";
    while (used.has(field) || field in Object.prototype) field += "_";
    used.add(field);
    return field;
  };
  const x = safe(drawing.roles.x);
  const y = safe(drawing.roles.y);
  return { x, y, ...(drawing.seriesName !== undefined && { series: safe(drawing.seriesName) }) };
}

/** Labels of the places along x, where they are categories. */
export function categoryLabels(drawing: Drawing): Map<number | string, string> {
  const labels = uniqueLabels(drawing.xs);
  return new Map(drawing.xs.map((x, index) => [x, labels[index] ?? ""]));
}

/** A row of a spec's data: times in ISO 8601, a label for the series, null for a gap. */
export function specRow(
  point: Point,
  fields: Fields,
  drawing: Drawing,
  categories?: Map<number | string, string>,
): Record<string, Json> {
  const { roles, series } = drawing;
  const x =
    roles.xKind === "time"
      ? formatInstantIso(Number(point.x))
      : (categories?.get(point.x) ?? point.x);
  return {
    [fields.x]: x,
    ...(fields.series !== undefined && { [fields.series]: series[point.series]?.label ?? "" }),
    [fields.y]: point.y,
    ...(point.count !== undefined && { rows: point.count }),
  };
}
