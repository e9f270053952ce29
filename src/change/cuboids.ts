/**
 * Rows that differ in at least one dimension: `codes[dimension][leaf]` is the number of the leaf's
 * value, from 0 to `sizes[dimension]` - 1; a negative one is no value that a cause may name.
 */
export interface Leaves {
  readonly sizes: readonly number[];
  readonly codes: readonly Int32Array[];
}

/** The leaves grouped by some of the dimensions. */
export interface Cuboid {
  readonly dimensions: readonly number[];
  /** The group of each leaf; -1 where one of its values can't be named. */
  readonly group: Int32Array;
  /** How many groups have leaves: `group` counts them from 0. */
  readonly groups: number;
  /** A leaf of each group. */
  readonly example: Int32Array;
}

/** A group of a cuboid: the leaves that share these values. */
export interface Element {
  readonly dimensions: readonly number[];
  /** The value's number for each of them. */
  readonly values: readonly number[];
}

/** Visits of leaves that a search may cost: beyond it combinations of fewer dimensions are searched. */
const MOST_VISITS = 30_000_000;

/** All combinations of dimensions, the single ones first, as many as can be searched: at least up to triples. */
export function cuboidsOf({ sizes, codes }: Leaves): Cuboid[] {
  const many = codes[0]?.length ?? 0;
  const masks = Array.from({ length: (1 << sizes.length) - 1 }, (_, index) => index + 1);
  const orders = masks.map(bits);
  let most = Math.min(3, sizes.length);
  while (
    most < sizes.length &&
    orders.filter((order) => order <= most + 1).length * many <= MOST_VISITS
  ) {
    most += 1;
  }
  const made = new Map<number, Cuboid>();
  const wanted = masks.filter((mask) => bits(mask) <= most).sort((a, b) => bits(a) - bits(b));
  for (const mask of wanted) {
    const last = 31 - Math.clz32(mask);
    const parent = made.get(mask & ~(1 << last));
    made.set(mask, refined(parent, last, codes[last]!, sizes[last]!));
  }
  return [...made.values()];
}

/** The values of a cuboid's group. */
export function elementOf(
  { codes }: Leaves,
  { dimensions, example }: Cuboid,
  group: number,
): Element {
  const leaf = example[group]!;
  return { dimensions, values: dimensions.map((dimension) => codes[dimension]![leaf]!) };
}

function refined(
  parent: Cuboid | undefined,
  dimension: number,
  codes: Int32Array,
  size: number,
): Cuboid {
  const many = codes.length;
  const group = new Int32Array(many);
  const example: number[] = [];
  const product = (parent?.groups ?? 1) * size;
  // Combinations that no leaf has take no place: their number is bounded by that of the leaves.
  const dense = product <= 4 * many + 1024 ? new Int32Array(product).fill(-1) : undefined;
  const sparse = new Map<number, number>();
  for (let leaf = 0; leaf < many; leaf += 1) {
    const above = parent === undefined ? 0 : parent.group[leaf]!;
    const code = codes[leaf]!;
    if (above < 0 || code < 0) {
      group[leaf] = -1;
      continue;
    }
    const key = above * size + code;
    let number = dense === undefined ? (sparse.get(key) ?? -1) : dense[key]!;
    if (number < 0) {
      number = example.length;
      example.push(leaf);
      if (dense === undefined) sparse.set(key, number);
      else dense[key] = number;
    }
    group[leaf] = number;
  }
  const dimensions = [...(parent?.dimensions ?? []), dimension];
  return { dimensions, group, groups: example.length, example: Int32Array.from(example) };
}

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
