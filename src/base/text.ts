import { types } from "node:util";

// Marks that turn the reading direction around: an invisible one in a name can spoof another.
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]+/g;

// Half of a surrogate pair, such as a cut can leave.
const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A number in groups of three digits: "1,204,331". */
export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

/** As inside a sentence: `run duration`, but `HTTP errors`. */
export function lowered(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** A number with its noun: "1 row", "1,204,331 rows". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
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

/** A text on one line, without what could disturb the line it stands in. */
export function cleanText(text: string, longest = Infinity): string {
  // Cut first: a value may be a megabyte long.
  const cut = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  return inert(cut.replace(CONTROL, " ")).trim();
}

/** A text of several lines, without what could disturb them. */
export function cleanLines(text: string): string {
  return inert(text.replace(/\r\n?/g, "\n").replace(CONTROL, (run) => run.replace(/[^\n\t]/g, "")));
}

function inert(text: string): string {
  return text
    .replace(
      DIRECTION,
      (mark) => `<U+${mark.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}>`,
    )
    .replace(HALF, "\ufffd");
}

/**
 * The value with every text in it changed, at any depth, also names of members; instances of other
 * classes than Map, Set and arrays stay.
 *
 * @param leave names of members that stay as they are.
 */
export function mapTexts<T>(value: T, change: (text: string) => string, leave?: RegExp): T {
  const map = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (typeof inner !== "object" || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map(map);
    if (types.isTypedArray(inner)) return Array.from<unknown>(inner);
    if (inner instanceof Set) return new Set(Array.from(inner, map));
    if (inner instanceof Map) {
      return new Map(Array.from(inner, ([key, each]) => [map(key), map(each)] as const));
    }
    const prototype: unknown = Object.getPrototypeOf(inner);
    if (prototype !== Object.prototype && prototype !== null) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([name, each]) =>
        leave?.test(name) ? [name, each] : [change(name), map(each)],
      ),
    );
  };
  return map(value) as T;
}

/** A value as an error shows it: on one line, short, a text in quotes. */
export function shownValue(value: unknown, longest = 100): string {
  if (value === undefined) return "undefined";
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (isPromise(value)) return "a Promise (is an await missing?)";
  if (typeof value === "string") return JSON.stringify(cleanText(value, longest));
  if (value instanceof Date && Number.isNaN(value.getTime())) return "an invalid Date";
  try {
    return cleanText(textOf(value), longest);
  } catch {
    return "a value that holds itself";
  }
}

/** True for a promise of any library: an `await` is missing. */
export function isPromise(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
