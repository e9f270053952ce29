/** A value of a Result's cell. */
export type Value = string | number | bigint | boolean | Date | null | undefined | object;

/** A JSON value. */
export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/**
 * A value as JSON text from which `fromTaggedJson` makes the same value again. What JSON can't say
 * is an object of one `$` key: `{"$date":"2026-01-01T00:00:00.000Z"}`, `{"$number":"NaN"}`,
 * `{"$bigint":"1"}`, `{"$map":[[key,value]]}`; an object that looks like one is `{"$object":…}`.
 *
 * Inside a value, undefined, functions and invalid dates become null, typed arrays and sets plain
 * arrays; an object with `toJSON` is what that gives, any other its own enumerable properties.
 *
 * @throws RangeError for a value that contains itself or is nested deeper than the stack.
 */
export function toTaggedJson(value: Value): string {
  return JSON.stringify(tagged(value));
}

/** The value of such a text. @throws SyntaxError for text that isn't of `toTaggedJson`. */
export function fromTaggedJson(text: string): Value {
  return untagged(JSON.parse(text) as unknown);
}

function tagged(value: unknown): unknown {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $number: Object.is(value, -0) ? "-0" : String(value) };
    case "bigint":
      return { $bigint: value.toString() };
    case "string":
    case "boolean":
      return value;
    case "object":
      return value === null ? null : taggedObject(value);
    default:
      return null;
  }
}

function taggedObject(value: object): unknown {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? null : { $date: value.toISOString() };
  }
  if (value instanceof Map) {
    return { $map: Array.from(value, ([key, inner]) => [tagged(key), tagged(inner)]) };
  }
  if (Array.isArray(value) || value instanceof Set || isTypedArray(value)) {
    return Array.from(value as Iterable<unknown>, tagged);
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return tagged((value.toJSON as () => unknown)());
  }
  const entries = Object.entries(value).map(([name, inner]) => [name, tagged(inner)] as const);
  const plain = Object.fromEntries(entries);
  return entries.length === 1 && entries[0]?.[0].startsWith("$") ? { $object: plain } : plain;
}

function isTypedArray(value: object): value is Uint8Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function untagged(value: unknown): Value {
  if (Array.isArray(value)) return value.map(untagged);
  if (value === null || typeof value !== "object") return value as Value;
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first?.[0].startsWith("$")) return fromTag(first[0], first[1]);
  return untaggedObject(value);
}

function untaggedObject(value: object): Value {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, untagged(inner)]));
}

function fromTag(tag: string, value: unknown): Value {
  if (tag === "$date" && typeof value === "string") return new Date(value);
  if (tag === "$number" && typeof value === "string") return Number(value);
  if (tag === "$bigint" && typeof value === "string") return BigInt(value);
  if (tag === "$map" && Array.isArray(value)) {
    return new Map(
      (value as readonly (readonly [unknown, unknown])[]).map(([key, inner]) => [
        untagged(key),
        untagged(inner),
      ]),
    );
  }
  if (tag === "$object" && typeof value === "object" && value !== null)
    return untaggedObject(value);
  throw new SyntaxError(`unknown tag ${JSON.stringify(tag)}`);
}

/** A key for a Map or a Set that equal values share; Dates, arrays and objects are equal by content. */
export function valueKey(value: Value): Exclude<Value, object> {
  if (typeof value !== "object" || value === null) return value ?? null;
  return `\0${toTaggedJson(value)}`;
}
