import { cleanText, textOf } from "../chart/label.js";

/** A value as it stands in an error message: on one line, short, a text in quotes. */
export function shown(value: unknown, longest = 80): string {
  if (value === undefined) return "undefined";
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (typeof value === "string") return JSON.stringify(cleanText(value, longest));
  if (value instanceof Date && Number.isNaN(value.getTime())) return "an invalid Date";
  if (value instanceof Promise) return "a Promise (is an await missing?)";
  try {
    return cleanText(textOf(value), longest);
  } catch {
    return "a value that holds itself";
  }
}
