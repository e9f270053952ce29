import type { Result } from "../../src/index.js";
import { PAYLOADS } from "../chart/support/payloads.js";
import { makeResult } from "../chart/support/sample-results.js";

// One bucket: each payload is one mark to point at.
const WEEK = new Date("2026-02-02T00:00:00Z");
/** Small charts are drawn fast. */
export const small = { width: 240, height: 120 };
/** Payloads short enough for a name. */
export const usable = PAYLOADS.filter((text) => text.length < 1_000);
/** All payloads, a chart full each. */
export const groups = Array.from({ length: Math.ceil(PAYLOADS.length / 12) }, (_, index) =>
  PAYLOADS.slice(index * 12, index * 12 + 12),
);

/** Counts by a dimension whose values are the texts. */
export function counts(texts: readonly string[], name = "software_version"): Result {
  return makeResult(
    {
      t: texts.map(() => WEEK),
      [name]: [...texts],
      n: texts.map((_, index) => index + 1),
    },
    {
      time: { name: "t", every: "week", incomplete: [] },
      dimensions: [{ name, order: texts }],
      measures: [{ name: "n", label: "N", unit: "runs", additive: true, missing: "zero" }],
    },
  );
}

/** A payload as everything around the data: column, title, subtitle, mark, SQL, parameter, note. */
export function namedBy(text: string): Result {
  // Arquero can't hold a column with the name of an object's prototype.
  const result = counts(["a"], text === "__proto__" ? "__proto__#" : text);
  return result.with(result.table, {
    sql: `SELECT '${text}'`,
    parameters: { value: text, [text]: 1 },
    reductions: [text],
    notes: [`${text} noted`],
    source: text,
    server: text,
  });
}

/** A page without a policy: what stands in it runs. */
export const bare = (body: string): string => `<!doctype html><meta charset="utf-8"><body>${body}`;
