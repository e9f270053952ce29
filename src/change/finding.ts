import { partialOf, type Origin, type ResultColumns } from "../result/origin.js";
import type { Result } from "../result/result.js";

const KINDS = [
  "compare",
  "explain",
  "change points",
  "anomalies",
  "freshness",
  "funnel",
  "release",
] as const;

/** What every question of "what changed?" answers: a sentence, the table behind it, and whether anything was found. */
export interface Finding {
  /** Which answer it is, for charts. */
  readonly kind: (typeof KINDS)[number];
  /** One sentence in plain words: figures, times in the range's zone, what is uncertain or can't be told. */
  readonly sentence: string;
  /** True where something was found: the command line exits with 8. */
  readonly found: boolean;
  /** The table, ranked, with the origin of the question behind it. */
  readonly result: Result;
}

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

/** The origin of a table that several answers, at least one, were put together to. */
export function originOfAll(
  answers: readonly Result<object>[],
  columns: ResultColumns,
  notes: readonly string[],
): Origin {
  const origins = answers.map(({ origin }) => origin);
  const sum = (of: (origin: Origin) => number) => origins.reduce((n, origin) => n + of(origin), 0);
  return {
    ...origins.at(-1)!,
    ...partialOf(...origins),
    sql: [...new Set(origins.map(({ sql }) => sql))].join("\n\n-- and:\n"),
    parameters: Object.fromEntries(origins.flatMap(({ parameters }) => Object.entries(parameters))),
    rowsRead: sum(({ rowsRead }) => rowsRead),
    bytesRead: sum(({ bytesRead }) => bytesRead),
    seconds: sum(({ seconds }) => seconds),
    columns,
    reductions: [],
    notes: [...new Set(notes)],
  };
}
