/**
 * Draws from a distribution, as SQL over a column of hashes. All of it is integer arithmetic, so
 * the same seed gives the same rows on every machine and with any number of threads.
 */

/** 64 hash bits for a run, another 64 for each `purpose`. */
export function runHash(purpose: string): string {
  return `cityHash64({seed:UInt64}, run, '${purpose}')`;
}

/**
 * SQL for an index (from 0) drawn with the given weights, by Walker's alias method: each index has
 * one share of the hashes, part of which it passes on to another index.
 *
 * Source: M. D. Vose, "A linear algorithm for generating random numbers with a given
 * distribution", IEEE Transactions on Software Engineering 17 (9), 1991.
 *
 * @param hash SQL of a UInt64.
 * @example
 * drawIndex([0.7, 0.2, 0.1], runHash("probe"));
 */
export function drawIndex(weights: readonly number[], hash: string): string {
  const { keep, alias } = aliasTable(weights);
  const share = `${hash} % ${weights.length}`;
  const fraction = `bitShiftRight(${hash}, 40)`;
  return `if(${fraction} < ${at(keep, share)}, ${share}, ${at(alias, share)})`;
}

/** SQL for one of the `values` of a quantile function's table, each as likely as the other. */
export function drawValue(values: readonly number[], hash: string): string {
  return at(values, `${hash} % ${values.length}`);
}

/** SQL for a value of the kind whose index, from 0, stands in a column. */
export function ofKind<Kind>(
  kinds: readonly Kind[],
  value: (kind: Kind) => number | string,
  column: string,
): string {
  const values = kinds.map((kind) => value(kind));
  return at(values, column);
}

/** SQL for the element of a constant list at an index from 0. */
export function at(values: readonly (number | string)[], index: string): string {
  return `${list(values)}[${index} + 1]`;
}

/** SQL for a constant list; texts are this package's own and hold no quotes or backslashes. */
export function list(values: readonly (number | string)[]): string {
  return `[${values.map((value) => (typeof value === "string" ? `'${value}'` : value)).join(",")}]`;
}

/** A quantile function at the middles of `size` equal steps, rounded to whole numbers. */
export function quantileTable(quantile: (p: number) => number, size = 1024): number[] {
  return Array.from({ length: size }, (_, step) => Math.round(quantile((step + 0.5) / size)));
}

const WHOLE = 2 ** 24;

function aliasTable(weights: readonly number[]): { keep: number[]; alias: number[] } {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const left = weights.map((weight) => (weight / total) * weights.length);
  const keep = weights.map(() => WHOLE);
  const alias = weights.map((_, index) => index);
  const small = left.flatMap((share, index) => (share < 1 ? [index] : []));
  const large = left.flatMap((share, index) => (share < 1 ? [] : [index]));
  for (let from = small.pop(); from !== undefined; from = small.pop()) {
    const to = large.pop();
    if (to === undefined) break;
    keep[from] = Math.round((left[from] ?? 1) * WHOLE);
    alias[from] = to;
    left[to] = (left[to] ?? 1) - (1 - (left[from] ?? 1));
    (left[to] < 1 ? small : large).push(to);
  }
  return { keep, alias };
}

/** Days that the sample covers: 26 weeks. */
export const SAMPLE_DAYS = 182;

const BY_WEEKDAY = [0.95, 1.03, 1.04, 1.03, 1.02, 1.0, 0.94]; // Sunday first, as Date.getUTCDay

/**
 * How many runs start on each day of the sample, as weights: a slow growth, a weekly season and a
 * few percent of chance.
 */
export function dayWeights(end: Date, seed: number): number[] {
  const midnight = Math.ceil(end.getTime() / 86_400_000) * 86_400_000;
  return Array.from({ length: SAMPLE_DAYS }, (_, day) => {
    const date = new Date(midnight - (SAMPLE_DAYS - day) * 86_400_000);
    const growth = 1 + 0.05 * (day / SAMPLE_DAYS);
    const chance = 1 + 0.05 * (scramble(seed * SAMPLE_DAYS + day) - 0.5);
    return growth * chance * (BY_WEEKDAY[date.getUTCDay()] ?? 1);
  });
}

/** How many runs start in each local hour of a day, as weights. */
export function hourWeights(startedBy: "person" | "timer"): number[] {
  // people measure in the evening; timers wait for a charger and a free network, most by night
  const [peak, swing] = startedBy === "person" ? [20, 0.75] : [1, 0.3];
  return Array.from(
    { length: 24 },
    (_, hour) => 1 + swing * Math.cos(((hour - peak) / 24) * 2 * Math.PI),
  );
}

/** A number in [0, 1) that looks random: the finisher of MurmurHash3. */
export function scramble(value: number): number {
  let bits = Math.imul((value ^ Math.floor(value / 2 ** 32)) >>> 0, 0x9e3779b1) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
