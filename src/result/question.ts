import { ProbelabError } from "../error.js";
import { between, type TimeRange } from "../time/time-range.js";
import type { Json } from "./json.js";

/** The call that gave a Result, as JSON: what it takes to ask again. */
export interface Question {
  /** The function of the lab: `measurements.counts`, `logs.search`, `query`. */
  readonly ask: string;
  /** What it was given, as `questionArguments` reads it. */
  readonly arguments: readonly Json[];
}

/** A call as a Question; undefined where an argument has no JSON (a function, say). */
export function question(ask: string, given: readonly unknown[]): Question | undefined {
  try {
    return { ask, arguments: given.map(encode) };
  } catch (error) {
    if (error instanceof NoJson) return undefined;
    throw error;
  }
}

/** The arguments of a Question, as they were given. */
export function questionArguments({ arguments: given }: Question): unknown[] {
  return given.map(decode);
}

class NoJson extends Error {}

// A signal stops one asking; it is no part of the question.
function encode(value: unknown): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    return Number.isFinite(value) && !Object.is(value, -0) ? value : { $number: numberText(value) };
  }
  if (typeof value === "bigint") return { $integer: value.toString() };
  if (value instanceof Date && !Number.isNaN(value.getTime()))
    return { $time: value.toISOString() };
  if (Array.isArray(value)) return value.map(encode);
  if (typeof value !== "object") throw new NoJson();
  if (isRange(value)) {
    const { start, end, timeZone } = value;
    return { $range: [start.toISOString(), end.toISOString(), timeZone] };
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new NoJson();
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => inner !== undefined && name !== "signal")
      .map(([name, inner]) => [name.startsWith("$") ? `$${name}` : name, encode(inner)]),
  );
}

function decode(value: Json): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(decode);
  const [[name, inner] = ["", null], ...others] = Object.entries(value);
  if (others.length === 0) {
    if (name === "$number") return Number(inner);
    if (name === "$integer") return BigInt(inner as string);
    if (name === "$time") return readTime(inner);
    if (name === "$range") {
      const [start, end, timeZone] = inner as readonly [string, string, string];
      return between(readTime(start), readTime(end), { timeZone });
    }
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.replace(/^\$\$/, "$"), decode(each)]),
  );
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isRange(value: object): value is TimeRange {
  const { start, end, timeZone } = value as Partial<TimeRange>;
  return start instanceof Date && end instanceof Date && typeof timeZone === "string";
}

function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function readTime(value: Json): Date {
  const time = new Date(typeof value === "string" ? value : NaN);
  if (!Number.isNaN(time.getTime())) return time;
  throw new ProbelabError(
    `Can't read the time ${JSON.stringify(value)} of a question: it must be ISO 8601, such as "2026-05-01T00:00:00.000Z".`,
  );
}
