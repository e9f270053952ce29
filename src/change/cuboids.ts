/**
 * Rows that differ in at least one dimension: `codes[dimension][leaf]` is the number of the leaf's
 * value, from 0 to `sizes[dimension]` - 1.
 */
export interface Leaves {
  readonly sizes: readonly number[];
  readonly codes: readonly Int32Array[];
}

/** The leaves grouped by some of the dimensions. */
export interface Cuboid {
  readonly dimensions: readonly number[];
  /** The group of each leaf. */
  readonly group: Int32Array;
  /** How many groups there are: `group` counts them from 0, in the order of their first leaves. */
  readonly groups: number;
  /** The first leaf of each group. */
  readonly example: Int32Array;
}

/** A cuboid among others. */
export interface PlacedCuboid extends Cuboid {
  /** The one with a dimension more that has the fewest groups, by its place: undefined where all have as many dimensions. */
  readonly finer: number | undefined;
  /** The group of each group of that one. */
  readonly parts: Int32Array;
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
export function cuboidsOf({ sizes, codes }: Leaves): PlacedCuboid[] {
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
  const wanted = masks.filter((mask) => bits(mask) <= most).sort((a, b) => bits(a) - bits(b));
  const made = new Map<number, Cuboid>();
  for (const mask of wanted) {
    const last = 31 - Math.clz32(mask);
    made.set(mask, refined(made.get(mask & ~(1 << last)), last, codes[last]!, sizes[last]!));
  }
  return wanted.map((mask) => {
    const cuboid = made.get(mask)!;
    const [first] = sizes
      .map((_, dimension) => mask | (1 << dimension))
      .filter((wider) => wider !== mask && made.has(wider))
      .sort((a, b) => made.get(a)!.groups - made.get(b)!.groups);
    if (first === undefined) return { ...cuboid, finer: undefined, parts: cuboid.group };
    const parts = made.get(first)!.example.map((leaf) => cuboid.group[leaf]!);
    return { ...cuboid, finer: wanted.indexOf(first), parts };
  });
}

/** Sums of the leaves' values over each group, for each of the cuboids: those of few dimensions are sums of sums. */
export function sumsBy(cuboids: readonly PlacedCuboid[], values: Float64Array): Float64Array[] {
  const sums = cuboids.map(({ groups }) => new Float64Array(groups));
  for (let at = cuboids.length - 1; at >= 0; at -= 1) {
    const { finer, parts } = cuboids[at]!;
    const from = finer === undefined ? values : sums[finer]!;
    const own = sums[at]!;
    for (let part = 0; part < parts.length; part += 1) own[parts[part]!]! += from[part]!;
  }
  return sums;
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

/** The leaves of a cuboid's group that aren't out. */
export function leavesOf({ group }: Cuboid, wanted: number, out: Uint8Array): number[] {
  const leaves: number[] = [];
  for (let leaf = 0; leaf < group.length; leaf += 1) {
    if (group[leaf] === wanted && out[leaf] === 0) leaves.push(leaf);
  }
  return leaves;
}

/** The leaves grouped by all dimensions. */
export function grouped({ sizes, codes }: Leaves): Cuboid {
  return codes.reduce<Cuboid | undefined>(
    (parent, own, at) => refined(parent, at, own, sizes[at]!),
    undefined,
  )!;
}

/**
 * Groups by a dimension more, found in a table that is at most half full: by their key where it has a
 * place for every key, else by its hash, with open addressing.
 */
function refined(
  parent: Cuboid | undefined,
  dimension: number,
  codes: Int32Array,
  size: number,
): Cuboid {
  const many = codes.length;
  const above = parent?.group ?? new Int32Array(many);
  const shift = Math.clz32(2 * many);
  // A slot holds a group's number from 1; 0 is empty.
  const slots = new Int32Array(2 ** (32 - shift));
  const direct = (parent?.groups ?? 1) * size <= slots.length;
  const group = new Int32Array(many);
  const example = new Int32Array(many);
  let groups = 0;
  for (let leaf = 0; leaf < many; leaf += 1) {
    const [high, low] = [above[leaf]!, codes[leaf]!];
    const key = Math.imul(high, size) + low;
    let slot = direct ? key : Math.imul(key, 0x9e3779b1) >>> shift;
    let number = slots[slot]!;
    while (!direct && number > 0) {
      const one = example[number - 1]!;
      if (above[one] === high && codes[one] === low) break;
      slot = (slot + 1) % slots.length;
      number = slots[slot]!;
    }
    if (number === 0) {
      example[groups] = leaf;
      slots[slot] = number = ++groups;
    }
    group[leaf] = number - 1;
  }
  const dimensions = [...(parent?.dimensions ?? []), dimension];
  return { dimensions, group, groups, example: example.slice(0, groups) };
}

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
