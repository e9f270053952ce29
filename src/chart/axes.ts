import type { MeasureColumn } from "../result/origin.js";
import type { Drawing } from "./draw-rows.js";
import { label } from "./label.js";
import { timeTicks } from "./ticks.js";
import { zoneExpression } from "./zone-expression.js";
import type { Bucket } from "../time/bucket.js";
import { stepOf } from "../time/step.js";

const LABEL_WIDTH = 62;

/** `Day`, `15 minutes`, `Week from Monday`. */
function stepTitle(every: Bucket): string {
  const name = every.charAt(0).toUpperCase() + every.slice(1);
  return stepOf(every).unit === "week" ? `${name} from Monday` : name;
}

/** A Vega-Lite axis along time, in the range's zone, whatever the zone of the process. */
export function timeAxis(
  domain: readonly [number, number],
  timeZone: string,
  width: number,
  every?: Bucket,
): Record<string, unknown> {
  const ticks = timeTicks(domain, timeZone, Math.max(2, Math.floor(width / LABEL_WIDTH)), every);
  const text = (format: string): string => zoneExpression("datum.value", format, timeZone, domain);
  const first = text(ticks.format);
  return {
    title: `${every === undefined ? "Time" : stepTitle(every)} (${timeZone})`,
    values: ticks.at,
    labelExpr:
      ticks.majorFormat === ""
        ? first
        : `indexof([${ticks.major.join(",")}], +datum.value) < 0 ? ${first} : [${first}, ${text(ticks.majorFormat)}]`,
    labelAngle: 0,
    labelFlush: true,
    labelOverlap: "greedy",
    grid: false,
    // Above the areas and bars, whose outlines would cover it.
    zindex: 1,
    labelPadding: 4,
    titlePadding: 6,
  };
}

/** What a number is measured in, as an axis and a tooltip write it. */
export function numberFormat(unit: string | undefined, values: Iterable<number | null>): string {
  if (unit === "share") return "~%";
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value ?? 0));
  return largest >= 10_000 ? "~s" : ",~r";
}

/** The name of the vertical axis: `Run duration, median (s)`. */
export function measureTitle({ roles: { measure, y } }: Drawing): string {
  return measure === undefined ? label(y) : columnTitle(measure);
}

/** A measure with its unit: `Run duration, median (s)`. */
export function columnTitle({ label: name, unit: given }: MeasureColumn): string {
  const unit = given === "share" ? "%" : given;
  const named = unit === "" || name.toLowerCase().includes(unit.toLowerCase());
  return label(named && unit !== "s" && unit !== "%" ? name : `${name} (${unit})`);
}
