import { isPromise, shownValue } from "../../base/text.js";
import { Result } from "../../result/result.js";

/** What was passed, for an error: rows and SQL have no place in one. */
export function described(value: unknown): string {
  if (isPromise(value)) return "a Promise (is an await missing?)";
  if (value instanceof Result) return "a Result (wrap it: table(result))";
  if (Array.isArray(value)) return "a list (pass its members one by one)";
  if (typeof value === "object" && value !== null) return "an object";
  return shownValue(value);
}
