import { types } from "node:util";

const LONGEST = 120;

// Marks that turn the reading direction around: an invisible one in a name can spoof another.
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]+/g;

// Half of a surrogate pair, such as a cut can leave.
const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * A value of the data as a text to show: one line, no control characters, direction marks spelled
 * out, cut to 120 characters; `(none)` for null and `(empty)` for an empty text.
 */
export function label(value: unknown, longest = LONGEST): string {
  if (value === null || value === undefined) return "(none)";
  const text = cleanText(textOf(value), longest);
  return text === "" ? "(empty)" : specText(text);
}

/** A column's name as words: `software_version` as `software version`. */
export function words(name: string): string {
  return label(name).replaceAll("_", " ").trim();
}

/** A label for each value; values that look the same once cleaned are told apart by a number. */
export function uniqueLabels(values: readonly unknown[]): string[] {
  const used = new Set<string>();
  return values.map((value) => {
    const cleaned = label(value);
    let unique = cleaned;
    for (let count = 2; used.has(unique); count++) unique = `${cleaned} (${count})`;
    used.add(unique);
    return unique;
  });
}

/**
 * A text for a spec's titles and legends: Vega takes them for keys of objects, where a name such
 * as `constructor` means something else; it gets quotes.
 */
export function specText(text: string): string {
  return text in Object.prototype ? `"${text}"` : text;
}

/** A value as text: dates in ISO 8601, arrays (typed ones too) and objects as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (typeof value !== "object" || value === null) return `${value as number}`;
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === "bigint") return inner.toString();
    return types.isTypedArray(inner) ? Array.from<unknown>(inner) : inner;
  });
}

/** `2026-05-01T00:00:00Z`, with milliseconds where there are any. */
export function formatInstantIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(".000Z", "Z");
}

/** A text on one line, without what could disturb the line it stands in. */
export function cleanText(text: string, longest = Infinity): string {
  // Cut first: a value may be a megabyte long.
  const cut = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  return cut
    .replace(CONTROL, " ")
    .replace(
      DIRECTION,
      (mark) => `<U+${mark.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}>`,
    )
    .replace(HALF, "\ufffd")
    .trim();
}
