import { fromTaggedJson, toTaggedJson, type Json, type Value } from "./json.js";

/** The call that gave a Result, as JSON: what it takes to ask again. */
export interface Question {
  /** The function of the lab: `measurements.counts`, `logs.search`, `query`. */
  readonly ask: string;
  /** What it was given, as tagged JSON (`questionArguments` reads it). */
  readonly arguments: readonly Json[];
}

/** A call as a Question; undefined where an argument has no JSON (a function, say). */
export function question(ask: string, given: readonly unknown[]): Question | undefined {
  try {
    return { ask, arguments: JSON.parse(toTaggedJson(given.map(withoutSignal))) as Json[] };
  } catch (error) {
    if (error instanceof NoJson) return undefined;
    throw error;
  }
}

/** The arguments of a Question, as they were given. */
export function questionArguments({ arguments: given }: Question): unknown[] {
  return fromTaggedJson(JSON.stringify(given)) as unknown[];
}

class NoJson extends Error {}

/** The value without `signal` and `onPart`, which are no part of a question: they belong to one asking. */
function withoutSignal(value: unknown): Value {
  if (Array.isArray(value)) return value.map(withoutSignal);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
  if (typeof value === "function" || typeof value === "symbol") throw new NoJson();
  if (typeof value !== "object" || value === null) return value as Value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new NoJson();
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => inner !== undefined && !["signal", "onPart"].includes(name))
      .map(([name, inner]) => [name, withoutSignal(inner)]),
  );
}
