import { refuseUnknown } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { grouped } from "../../base/text.js";
import { bins, namedBy, type By } from "../../query/dimension.js";
import { count, max, min, quantile } from "../../query/measure.js";
import type { GroupedRow } from "../../query/row-types.js";
import { newTable, rowKeys, rowsByKey } from "../../result/arquero-table.js";
import { costOf, gapMeasure } from "../../result/origin.js";
import { Result, type Value } from "../../result/result.js";
import { askRoom, ONE_BUCKET, type QuestionSource, type MeasurementOptions } from "./questions.js";

/** Options of `histogram`. */
export interface HistogramOptions<
  Name extends string = string,
  B extends By<Name> = By<Name>,
> extends Omit<MeasurementOptions<Name, B>, "every"> {
  /** The column of numbers. */
  readonly column: Name;
  /** About how many bins, at most 200; or their edges, ascending. @default 40 */
  readonly bins?: number | readonly number[];
  /**
   * True for edges that grow by a factor rather than by a step. Default: true if no number is below 0 and
   * the largest is more than 10 times the median.
   */
  readonly log?: boolean;
}

/** A row of its answer; null beyond the bins. */
export type HistogramRow<B, M> = { from: number | null; to: number | null } & GroupedRow<
  B,
  "all",
  M
>;

const BIN = "_bin";
const MOST_BINS = 200;

/** `lab.runs.histogram` and `lab.measurements.histogram`: asks where the numbers lie, then how many are in each bin. */
export async function histogram(
  of: QuestionSource,
  options: HistogramOptions,
  room: "runs" | "measurements",
): Promise<Result> {
  const action = `make a histogram of ${room}`;
  refuseUnknown(options, ["column", "bins", "log", ...ONE_BUCKET], action);
  const { column, bins: wanted = 40, log, by = [], ...asked } = options;
  if (typeof column !== "string") {
    throw new ProbelabError(
      `Can't ${action} without a column: pass one of numbers, column: ${room === "runs" ? '"duration"' : '"test_runtime"'}.`,
    );
  }
  if (Array.isArray(wanted) && wanted.length < 2) {
    throw new ProbelabError(
      `Can't cut ${column} into bins at ${JSON.stringify(wanted)}: pass two edges at least, bins: [0, 60, 600], or how many bins.`,
    );
  }
  const rest = { ...asked, every: "all" } as const;
  const measures = {
    low: min(column),
    high: max(column),
    median: quantile(0.5, column),
    positive: min(column, { where: { [column]: { gt: 0 } } }),
  };
  const spread = await askRoom(of, room, rest, measures, { action });
  const edges =
    typeof wanted === "number" ? binEdges(spread.rows()[0], wanted, log, column) : wanted;
  const named = Object.fromEntries([...namedBy(by), [BIN, bins(column, edges)]]);
  const preset = { action, main: room, adds: ["from", "to"] };
  const counts = await askRoom(of, room, { ...rest, by: named }, { [room]: count() }, preset);
  return binned(counts, spread, edges, room);
}

/** The answer with numbers in place of its bins' names, and a row for each empty bin. */
function binned(asked: Result, spread: Result, edges: readonly number[], noun: string): Result {
  const { label: lowest = noun, unit = "" } = spread.origin.columns.measures[0] ?? {};
  const label = lowest.replace(/, min$/, "");
  const { columns, notes } = asked.origin;
  const dimensions = columns.dimensions.filter(({ name }) => name !== BIN);
  const names = dimensions.map(({ name }) => name);
  const texts = asked.column(BIN);
  const counts = asked.column(noun).map(Number);
  const at = texts.map((text) => placeOf(text as string | null, edges));
  const groups = [...rowsByKey(rowKeys(asked.table, names)).values()];
  const isInside = (place: number): boolean => place > 0 && place < edges.length;
  const rows = groups.flatMap((own) => {
    const found = new Map(own.map((row) => [at[row]!, counts[row]!]));
    return Array.from({ length: edges.length + 1 }, (_, place) => place)
      .filter((place) => isInside(place) || found.has(place))
      .map((place) => ({ first: own[0]!, place, runs: found.get(place) ?? 0 }));
  });
  const none = counts.reduce((sum, n, row) => sum + (at[row] === -1 ? n : 0), 0);
  const edge = (name: string) => gapMeasure(name, `${label}, ${name}`, unit);
  const values = names.map((name) => asked.column(name));
  const table = newTable(asked.table, [
    ["from", rows.map(({ place }) => edges[place - 1] ?? null)],
    ["to", rows.map(({ place }) => edges[place] ?? null)],
    ...names.map((name, index): [string, Value[]] => [
      name,
      rows.map(({ first }) => values[index]![first]),
    ]),
    [noun, rows.map(({ runs }) => runs)],
  ]);
  return new Result(table, {
    ...asked.origin,
    ...costOf(asked.origin, spread.origin),
    columns: {
      ...columns,
      dimensions,
      measures: [edge("from"), edge("to"), ...columns.measures],
      kinds: { from: "number", to: "number" },
    },
    notes: [
      ...notes,
      ...(none > 0 ? [`${grouped(none)} ${noun} without a number are in no bin (${label}).`] : []),
    ],
  });
}

/** The place of a bin's name, as `bins` gives it: 0 below the first edge, −1 for rows without a number. */
function placeOf(text: string | null, edges: readonly number[]): number {
  if (text === null) return -1;
  if (text.startsWith("< ")) return 0;
  if (text.startsWith("≥ ")) return edges.length;
  return edges.findIndex((edge) => text.startsWith(`${edge} to `)) + 1;
}

/** Preferred numbers of ISO 3, by how many there are in a decade. */
const DECADES: Readonly<Record<number, readonly number[]>> = {
  1: [1],
  2: [1, 3],
  5: [1, 1.6, 2.5, 4, 6.3],
  10: [1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8],
  20: [1, 1.12, 1.25, 1.4, 1.6, 1.8, 2, 2.24, 2.5, 2.8, 3.15, 3.55, 4, 4.5, 5, 5.6, 6.3, 7.1, 8, 9],
};

/**
 * Round edges of about so many bins, which hold all numbers. Of whole numbers every bin holds one at
 * least: bins narrower than 1 would be empty for no other reason.
 *
 * @throws ProbelabError for log-spaced bins of negative numbers.
 */
export function binEdges(
  found: Readonly<Record<string, Value>> | undefined,
  about: number,
  log: boolean | undefined,
  column: string,
): number[] {
  if (!Number.isInteger(about) || about < 1 || about > MOST_BINS) {
    throw new ProbelabError(
      `Can't cut ${column} into ${String(about)} bins: pass a whole number from 1 to ${MOST_BINS}, or their edges, bins: [0, 60, 600].`,
    );
  }
  const { low, high, median, positive } = found ?? {};
  if (typeof low !== "number" || typeof high !== "number") return [0, 1];
  const whole = [low, high, positive ?? 1].every(Number.isInteger);
  const skewed = low >= 0 && high > 10 * Number(median);
  if (log === true && low < 0) {
    throw new ProbelabError(
      `Can't cut ${column} into log-spaced bins: it holds ${low}, and only numbers from 0 have a logarithm; leave log out.`,
    );
  }
  const edges =
    (log ?? skewed) && typeof positive === "number"
      ? logEdges(positive, high, about)
      : evenEdges(low, high, whole ? Math.min(about, Math.max(1, high - low)) : about);
  const round = whole ? [...new Set(edges.map((edge) => Math.ceil(edge)))] : edges;
  // What is below all positive numbers: zeros.
  return low < round[0]! ? [0, ...round] : round;
}

function logEdges(low: number, high: number, about: number): number[] {
  const [first, last] = [low, high].map((at) => Math.floor(Math.log10(at))) as [number, number];
  const decades = Math.max(0.1, Math.log10(high / low));
  const steps = [20, 10, 5, 2, 1].find((each) => decades * each <= about) ?? 1;
  const all: number[] = [];
  for (let power = first; power <= last + 1; power++) {
    // Read from text: 1.6 * 10 ** -3 isn't 0.0016.
    all.push(...DECADES[steps]!.map((digit) => Number(`${digit}e${power}`)));
  }
  const begin = all.findLastIndex((edge) => edge <= low);
  return all.slice(Math.max(0, begin), all.findIndex((edge) => edge > high) + 1);
}

function evenEdges(low: number, high: number, about: number): number[] {
  // No narrower than the distance of neighboring doubles of that size.
  const least = Math.max((high - low || 1) / about, Math.max(Math.abs(low), Math.abs(high)) / 1e12);
  const power = Math.floor(Math.log10(least));
  const width =
    [1, 2, 5, 10].map((digit) => Number(`${digit}e${power}`)).find((each) => each >= least) ??
    least;
  const first = Math.floor(low / width);
  const bins = Math.floor(high / width) - first + 1;
  return Array.from({ length: bins + 1 }, (_, at) =>
    Number(((first + at) * width).toPrecision(15)),
  );
}
