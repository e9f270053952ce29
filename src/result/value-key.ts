import type { Value } from "./result.js";
import { toTaggedJson } from "./tagged-json.js";

/** What equal values have in common, for a Map or a Set: Dates, arrays and objects are equal by what they hold. */
export function valueKey(value: Value): Exclude<Value, object> {
  if (typeof value !== "object" || value === null) return value ?? null;
  return `\0${toTaggedJson(value)}`;
}
