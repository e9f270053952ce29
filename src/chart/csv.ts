import type { Value } from "../result/result.js";
import { formatInstantIso } from "./instant.js";
import { textOf } from "./label.js";

/**
 * Rows as CSV (RFC 4180, UTF-8): times in ISO 8601 UTC, nothing for null, JSON for arrays and
 * objects. Text that a spreadsheet would run as a formula (it begins with = + - @, tab or carriage
 * return) gets a ' before it.
 */
export function csv(names: readonly string[], rows: readonly (readonly Value[])[]): string {
  return [names, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(value: Value): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? "" : formatInstantIso(value.getTime());
  }
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  const text = textOf(value);
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
