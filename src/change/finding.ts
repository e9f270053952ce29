import type { Result } from "../result/result.js";

/** What every question of "what changed?" answers: a sentence, the table behind it, and whether anything was found. */
export interface Finding {
  /** Which answer it is, for charts: "compare", "explain", "change points", "anomalies", "freshness", "funnel", "release". */
  readonly kind: string;
  /** One sentence in plain words: figures, times in the range's zone, what is uncertain or can't be told. */
  readonly sentence: string;
  /** True where something was found: the command line exits with 8. */
  readonly found: boolean;
  /** The table, ranked, with the origin of the question behind it. */
  readonly result: Result;
}

const KINDS = [
  "compare",
  "explain",
  "change points",
  "anomalies",
  "freshness",
  "funnel",
  "release",
];

/** By its members: it may be of another copy of this library. */
export function isFinding(value: unknown): value is Finding {
  if (typeof value !== "object" || value === null) return false;
  const { kind, sentence, found, result } = value as Partial<Finding>;
  return (
    KINDS.includes(kind!) &&
    typeof sentence === "string" &&
    typeof found === "boolean" &&
    typeof result === "object" &&
    "origin" in result
  );
}
