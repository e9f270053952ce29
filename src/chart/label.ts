import { cleanText, textOf } from "../base/text.js";

const LONGEST = 120;

/** A value as a text to show: one line, cut; `(none)` for null, `(empty)` for an empty text. */
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

/** A text for titles and legends, Vega's keys of objects: `constructor` gets quotes. */
export function specText(text: string): string {
  return text in Object.prototype ? `"${text}"` : text;
}

/** `2026-05-01T00:00:00Z`, with milliseconds where there are any. */
export function formatInstantIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(".000Z", "Z");
}
