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
  readonly parts: Int32Array;
  /** How many groups there are: counted from 0, in the order of their first leaves. */
  readonly groups: number;
  /** The first leaf of each group. */
  readonly example: Int32Array;
}

/** A group of a cuboid: the leaves that share these values. */
export interface Element {
  readonly dimensions: readonly number[];
  /** The value's number for each of them. */
  readonly values: readonly number[];
}

/** Visits of leaves that a search may cost: beyond it combinations of fewer dimensions are searched. */
const MOST_VISITS = 60_000_000;

/** All combinations of dimensions, the single ones first, as many as can be searched: at least up to triples. */
export function cuboidsOf(leaves: Leaves): readonly Cuboid[] {
  return remembered(leaves, "all", () => {
    const { sizes, codes } = leaves;
    const all = sizes.map((_, dimension) => dimension);
    const masks = Array.from({ length: (1 << sizes.length) - 1 }, (_, index) => index + 1);
    const combinations = masks
      .map((mask) => all.filter((dimension) => mask & (1 << dimension)))
      .sort((a, b) => a.length - b.length);
    const visits = (most: number) =>
      combinations.filter(({ length }) => length <= most).length * (codes[0]?.length ?? 0);
    return combinations
      .filter(({ length }) => length <= 3 || visits(length) <= MOST_VISITS)
      .map((dimensions) => groupedBy(leaves, dimensions));
  });
}

const known = new WeakMap<readonly Int32Array[], Map<string, unknown>>();

/** Computes what these leaves are once: a question groups them the same way many times. */
function remembered<Value>({ codes }: Leaves, name: string, compute: () => Value): Value {
  const own = known.get(codes) ?? new Map<string, unknown>();
  known.set(codes, own);
  if (!own.has(name)) own.set(name, compute());
  return own.get(name) as Value;
}

/** All leaves grouped by their values of these dimensions. */
export function groupedBy(leaves: Leaves, dimensions: readonly number[]): Cuboid {
  return remembered(leaves, dimensions.join(), () => grouped(leaves, dimensions));
}

/** All leaves grouped by their values of all dimensions but these. */
export function groupedBut(leaves: Leaves, left: readonly number[]): Cuboid {
  const all = leaves.sizes.map((_, dimension) => dimension);
  return groupedBy(
    leaves,
    all.filter((dimension) => !left.includes(dimension)),
  );
}

/**
 * Groups leaves (all, or these) by their values: in a table by their key where that has a place for
 * every key, else by its hash, with open addressing, in one that is at most half full.
 */
export function grouped(
  { sizes, codes }: Leaves,
  dimensions: readonly number[],
  leaves?: Int32Array,
): Cuboid {
  const size = leaves?.length ?? codes[0]?.length ?? 0;
  const product = dimensions.reduce((all, dimension) => all * sizes[dimension]!, 1);
  const direct = product <= 4 * size + 1024;
  const keys = new Int32Array(size);
  for (const dimension of dimensions) {
    const own = codes[dimension]!;
    const factor = direct ? sizes[dimension]! : 0x9e3779b1;
    for (let at = 0; at < size; at += 1) {
      keys[at] = Math.imul(keys[at]!, factor) + own[leaves === undefined ? at : leaves[at]!]!;
    }
  }
  const columns = dimensions.map((dimension) => codes[dimension]!);
  const alike = (one: number, other: number) => {
    for (const own of columns) if (own[one] !== own[other]) return false;
    return true;
  };
  const shift = Math.clz32(2 * size);
  // A slot holds a group's number from 1; 0 is empty.
  const slots = new Int32Array(direct ? product : 2 ** (32 - shift));
  const parts = new Int32Array(size);
  const example = new Int32Array(size);
  let groups = 0;
  for (let at = 0; at < size; at += 1) {
    const leaf = leaves === undefined ? at : leaves[at]!;
    const key = keys[at]!;
    let slot = direct ? key : Math.imul(key ^ (key >>> 16), 0x85ebca6b) >>> shift;
    while (!direct && slots[slot]! > 0 && !alike(example[slots[slot]! - 1]!, leaf)) {
      slot = (slot + 1) % slots.length;
    }
    if (slots[slot] === 0) {
      example[groups] = leaf;
      slots[slot] = ++groups;
    }
    parts[at] = slots[slot]! - 1;
  }
  return { dimensions, parts, groups, example: example.slice(0, groups) };
}

/** Sums of values by the group that each is of, but for those that are out. */
export function sumsIn(
  parts: Int32Array,
  values: Float64Array,
  groups: number,
  out?: Uint8Array,
): Float64Array {
  const sums = new Float64Array(groups);
  if (out === undefined) {
    for (let at = 0; at < parts.length; at += 1) sums[parts[at]!]! += values[at]!;
  } else {
    for (let at = 0; at < parts.length; at += 1) {
      if (out[at] === 0) sums[parts[at]!]! += values[at]!;
    }
  }
  return sums;
}

/** The sum over some leaves, or over all. */
export function sumOver(values: Float64Array, leaves?: readonly number[]): number {
  let sum = 0;
  if (leaves === undefined)
    for (let leaf = 0; leaf < values.length; leaf += 1) sum += values[leaf]!;
  else for (const leaf of leaves) sum += values[leaf]!;
  return sum;
}

/** Removes leaves from every cuboid's sums. */
export function takeOut(
  cuboids: readonly Cuboid[],
  sums: readonly Float64Array[][],
  columns: readonly Float64Array[],
  leaves: readonly number[],
): void {
  columns.forEach((column, place) =>
    cuboids.forEach(({ parts }, at) => {
      const of = sums[place]![at]!;
      for (const leaf of leaves) of[parts[leaf]!]! -= column[leaf]!;
    }),
  );
}

/** The leaves of an element. */
export function leavesOf({ codes }: Leaves, { dimensions, values }: Element): number[] {
  const leaves: number[] = [];
  for (let leaf = 0; leaf < (codes[0]?.length ?? 0); leaf += 1) {
    let at = 0;
    while (at < values.length && codes[dimensions[at]!]![leaf] === values[at]) at += 1;
    if (at === values.length) leaves.push(leaf);
  }
  return leaves;
}

/** Leaves (all, or these) by their number in a column of codes. */
export function leavesBy(
  codes: ArrayLike<number>,
  leaves: Iterable<number> = Array(codes.length).keys(),
): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const leaf of leaves) {
    const own = groups.get(codes[leaf]!);
    if (own === undefined) groups.set(codes[leaf]!, [leaf]);
    else own.push(leaf);
  }
  return groups;
}

type Named = readonly { readonly leaves: readonly number[] }[];

/** Marks the leaves, of so many, that these have. */
export function marked(many: number, named: Named): Uint8Array {
  const out = new Uint8Array(many);
  for (const { leaves } of named) for (const leaf of leaves) out[leaf] = 1;
  return out;
}

/** The leaves, of so many, that none of these has. */
export function without(many: number, named: Named): number[] {
  const out = marked(many, named);
  const rest: number[] = [];
  for (let leaf = 0; leaf < many; leaf += 1) if (out[leaf] === 0) rest.push(leaf);
  return rest;
}
