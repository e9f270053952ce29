import { cleanText, textOf } from "../base/text.js";
import { textWidth, type FontWeight } from "../fonts/shipped-font.js";
import { columnTitle, columnWords, valueWords } from "../result/column-words.js";

const LONGEST = 120;

/** A value as a text to show: one line, cut; `(none)` for null, `(empty)` for an empty text. */
export function label(value: unknown, longest = LONGEST): string {
  if (value === null || value === undefined) return "(none)";
  const text = cleanText(textOf(value), longest);
  return text === "" ? "(empty)" : specText(text);
}

/** Names of columns within a sentence: `version`, `country and network`. */
export function words(...names: readonly string[]): string {
  return names.map((name) => label(columnWords(name))).join(" and ");
}

/** Names of columns as a title: `Version`, `Country and network`. */
export function heading(first: string, ...more: readonly string[]): string {
  return [label(columnTitle(first)), ...more.map((name) => words(name))].join(" and ");
}

/** A label for each value of a column; values that look the same once cleaned are told apart by a number. */
export function uniqueLabels(values: readonly unknown[], column = ""): string[] {
  const used = new Set<string>();
  return values.map((value) => {
    const cleaned = label(valueWords(column, value));
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

/** The sentences on lines of at most `width` pixels, so that no title is cut. */
export function wrap(
  sentences: readonly string[],
  width: number,
  size: number,
  weight: FontWeight = 400,
): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of sentences.flatMap((text) => cleanText(text, 2_000).split(" "))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && textWidth(longer, size, weight) > width) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return (line === "" ? lines : [...lines, line]).map(specText);
}
