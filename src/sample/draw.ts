/**
 * Draws from a distribution, as SQL over a column of hashes. All of it is integer arithmetic, so
 * the same seed gives the same rows on every machine and with any number of threads.
 */

/** SQL for 64 hash bits of a run, another 64 for each `purpose`. */
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
 */
export function drawIndex(weights: readonly number[], hash: string): string {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const left = weights.map((weight) => (weight / total) * weights.length);
  const keep = weights.map(() => 2 ** 24);
  const alias = weights.map((_, index) => index);
  const small = left.flatMap((share, index) => (share < 1 ? [index] : []));
  const large = left.flatMap((share, index) => (share < 1 ? [] : [index]));
  for (let from = small.pop(); from !== undefined; from = small.pop()) {
    const to = large.pop();
    if (to === undefined) break;
    keep[from] = Math.round(left[from]! * 2 ** 24);
    alias[from] = to;
    left[to] = left[to]! - (1 - left[from]!);
    (left[to] < 1 ? small : large).push(to);
  }
  const share = `${hash} % ${weights.length}`;
  const fraction = `bitShiftRight(${hash}, 40)`;
  return `if(${fraction} < ${at(keep, share)}, ${share}, ${at(alias, share)})`;
}

/** SQL for one of the values, each as likely as the other. */
export function drawValue(values: readonly number[], hash: string): string {
  return at(values, `${hash} % ${values.length}`);
}

/** SQL for a value of the kind whose index, from 0, stands in a column. */
export function ofKind<Kind>(
  kinds: readonly Kind[],
  value: (kind: Kind) => number | string,
  column: string,
): string {
  return at(kinds.map(value), column);
}

/** SQL for the element of a constant list at an index from 0. */
export function at(values: readonly (number | string)[], index: string): string {
  return `${list(values)}[${index} + 1]`;
}

/** SQL for a constant list; texts are this package's own and hold no quotes or backslashes. */
export function list(values: readonly (number | string)[]): string {
  return `[${values.map((value) => (typeof value === "string" ? `'${value}'` : value)).join(",")}]`;
}

/** A quantile function at the middles of 1,024 equal steps, rounded to whole numbers. */
export function quantileTable(quantile: (p: number) => number): number[] {
  return Array.from({ length: 1024 }, (_, step) => Math.round(quantile((step + 0.5) / 1024)));
}

/** A number in [0, 1) that looks random: the finisher of MurmurHash3. */
export function scramble(value: number): number {
  let bits = Math.imul((value ^ Math.floor(value / 2 ** 32)) >>> 0, 0x9e3779b1) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
