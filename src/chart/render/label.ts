import { redact } from "../../base/redact.js";
import { cleanText, textOf } from "../../base/text.js";
import { textWidth, type FontWeight } from "./fonts/shipped-font.js";
import { columnTitle, columnWords, valueWords } from "../../result/column-words.js";

const LONGEST_LABEL = 120;

/** A value as a text to show: one line, cut in its middle; `(none)` for null, `(empty)` for an empty text. */
export function label(value: unknown, longest = LONGEST_LABEL): string {
  if (value === null || value === undefined) return "(none)";
  // What is cut, or broken into lines, no longer reads as a secret.
  const whole = redact(textOf(value));
  const tail = Math.floor((longest - 1) / 2);
  const cut =
    whole.length > longest
      ? `${whole.slice(0, longest - 1 - tail)}…${whole.slice(whole.length - tail)}`
      : whole;
  const text = cleanText(cut);
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
  return distinct(values.map((value) => label(valueWords(column, value))));
}

function distinct(texts: readonly string[]): string[] {
  const used = new Set<string>();
  return texts.map((text) => {
    let unique = text;
    for (let count = 2; used.has(unique); count++) unique = `${text} (${count})`;
    used.add(unique);
    return unique;
  });
}

/**
 * Names that are wider than a number of pixels, cut in their middle: their ends are what differs. Names
 * that are then alike get a number, so that no two read the same.
 */
export function fitNames(
  names: readonly string[],
  width: number,
  size: number,
  weight: FontWeight = 400,
): string[] {
  const wide = (text: string): boolean => textWidth(text, size, weight) > width;
  return distinct(
    names.map((name) => {
      if (!wide(name)) return name;
      const letters = [...name];
      const cut = (kept: number): string =>
        `${letters.slice(0, Math.ceil(kept / 2)).join("")}…${letters.slice(letters.length - Math.floor(kept / 2)).join("")}`;
      let kept = letters.length - 1;
      while (kept > 2 && wide(cut(kept))) kept--;
      return cut(kept);
    }),
  );
}

/** A Vega expression that writes a name as `fitNames` cut it; undefined where none was cut. */
export function fittedLabel(
  names: readonly string[],
  fitted: readonly string[],
  name = "datum.value",
): string | undefined {
  const cut = names.flatMap((each, at) => (each === fitted[at] ? [] : [[each, fitted[at]!]]));
  if (cut.length === 0) return undefined;
  return `(${JSON.stringify(Object.fromEntries(cut))})[${name}] || ${name}`;
}

/** A text for titles and legends, Vega's keys of objects: `constructor` gets quotes. */
function specText(text: string): string {
  return text in Object.prototype ? `"${text}"` : text;
}

/** `2026-05-01T00:00:00Z`, with milliseconds where there are any. */
export function formatInstantIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(".000Z", "Z");
}

/** The text on lines of at most `width` pixels, so that no title is cut; words that are longer are broken. */
export function wrap(
  text: string,
  width: number,
  size: number,
  weight: FontWeight = 400,
): string[] {
  const lines: string[] = [];
  let line = "";
  const broken = (word: string): string[] => {
    if (textWidth(word, size, weight) <= width) return [word];
    const letters = [...word];
    let most = letters.length - 1;
    while (most > 1 && textWidth(letters.slice(0, most).join(""), size, weight) > width) most--;
    const fits = letters.slice(0, most).join("");
    const head = /^.+[-_./:]/.exec(fits)?.[0] ?? fits;
    return [head, ...broken(word.slice(head.length))];
  };
  // A number stays with its unit.
  const words = cleanText(text, 2_000)
    .split(/ (?!(?:%|pp|s)(?![\p{L}\d]))/u)
    .flatMap(broken);
  for (const word of words) {
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
