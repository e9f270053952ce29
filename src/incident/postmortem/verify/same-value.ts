import type { Value } from "../../../result/result.js";
import { toTaggedJson } from "../../../result/json.js";

// Sums of fractions depend on the order in which the server's threads add them up.
const SAME_NUMBER = 1e-9;

/**
 * True where two values hold the same: numbers within a billionth of their size, also inside arrays
 * and objects; arrays and typed arrays by their members, maps and objects by their entries, integers
 * also where one of them is a bigint. Nothing (null, undefined, an invalid Date) is the same as nothing.
 */
export function isSame(one: Value, other: Value): boolean {
  return sameContent(contentOf(one), contentOf(other));
}

/** A text that is the same for the same content; numbers must be exactly the same. */
export function contentKey(values: readonly Value[]): string {
  return toTaggedJson(contentOf(values));
}

/** As `contentKey`, but the same whatever finite numbers the values hold. */
export function shapeKey(values: readonly Value[]): string {
  return toTaggedJson(shapeOf(contentOf(values)));
}

/** True for a number, and for what holds one. */
export function holdsNumber(value: Value): boolean {
  return numberIn(contentOf(value));
}

function numberIn(content: Value): boolean {
  if (isNumeric(content)) return true;
  if (typeof content !== "object" || content === null || content instanceof Date) return false;
  return Object.values(content).some((each) => numberIn(each as Value));
}

/** The value in one of the forms that hold its content: the file's, and the server's of any version. */
function contentOf(value: unknown): Value {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (value === undefined || value === null) return null;
  if (Object.is(value, -0)) return 0;
  if (typeof value !== "object") return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value;
  if (Array.isArray(value) || value instanceof Set || isTypedArray(value)) {
    return Array.from(value as Iterable<unknown>, contentOf);
  }
  const entries = value instanceof Map ? [...(value as Map<unknown, unknown>)] : undefined;
  if (entries?.some(([key]) => typeof key !== "string")) {
    return entries.map(([key, inner]) => [contentOf(key), contentOf(inner)]);
  }
  return Object.fromEntries(
    ((entries as [string, unknown][] | undefined) ?? Object.entries(value))
      .map(([name, inner]) => [name, contentOf(inner)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function isTypedArray(value: object): boolean {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function shapeOf(content: Value): Value {
  if (typeof content === "number" && Number.isFinite(content)) return 0;
  if (typeof content !== "object" || content === null || content instanceof Date) return content;
  if (Array.isArray(content)) return content.map((each) => shapeOf(each as Value));
  return Object.fromEntries(
    Object.entries(content).map(([name, inner]) => [name, shapeOf(inner as Value)]),
  );
}

function sameContent(one: Value, other: Value): boolean {
  if (Object.is(one, other)) return true;
  if (isNumeric(one) && isNumeric(other)) {
    if (typeof one === "bigint" && typeof other === "bigint") return one === other;
    const [a, b] = [Number(one), Number(other)];
    return (
      Number.isFinite(a) &&
      Number.isFinite(b) &&
      Math.abs(a - b) <= SAME_NUMBER * Math.max(Math.abs(a), Math.abs(b))
    );
  }
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    return false;
  }
  if (one instanceof Date || other instanceof Date) {
    return one instanceof Date && other instanceof Date && one.getTime() === other.getTime();
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [mine, others] = [Object.entries(one), Object.entries(other)];
  return (
    mine.length === others.length &&
    mine.every(([name, inner], at) => {
      const [otherName, otherInner] = others[at] ?? [];
      return name === otherName && sameContent(inner as Value, otherInner as Value);
    })
  );
}

function isNumeric(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
