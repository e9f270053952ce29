/**
 * Rows that differ in at least one dimension: `codes[dimension][leaf]` is the number of the leaf's
 * value, from 0 to `sizes[dimension]` - 1.
 */
export interface Leaves {
  readonly sizes: readonly number[];
  readonly codes: readonly Int32Array[];
}

/** A number a leaf. */
export type Column = Float64Array;

/** The leaves grouped by some of the dimensions. */
export interface Cuboid {
  readonly dims: readonly number[];
  /** The group of each leaf. */
  readonly parts: Int32Array;
  /** How many groups there are: counted from 0, in the order of their first leaves. */
  readonly groups: number;
  /** The first leaf of each group. */
  readonly example: Int32Array;
}

type Some = readonly { readonly leaves: readonly number[] }[];

/** Visits of leaves that a search may cost: beyond it only up to three dimensions are combined. */
const MOST_VISITS = 60_000_000;
/** Places of a table by key for each leaf; a sparser one is a map. */
const DENSE = 16;

/** A question groups the same leaves the same way many times. */
const known = new WeakMap<readonly Int32Array[], Map<string, Cuboid>>();

/** All leaves grouped by their values of these dimensions. */
export function cuboid(leaves: Leaves, dims: readonly number[]): Cuboid {
  const own = known.get(leaves.codes) ?? new Map<string, Cuboid>();
  known.set(leaves.codes, own);
  const made = own.get(dims.join()) ?? grouped(leaves, dims);
  own.set(dims.join(), made);
  return made;
}

/** Splits the groups of the dimensions before the last one by that. */
function grouped(leaves: Leaves, dims: readonly number[]): Cuboid {
  const many = leaves.codes[0]?.length ?? 0;
  const parts = new Int32Array(many);
  const [last] = dims.slice(-1);
  if (last === undefined) return { dims, parts, groups: 1, example: new Int32Array(1) };
  const wide = cuboid(leaves, dims.slice(0, -1));
  const [size, codes] = [leaves.sizes[last]!, leaves.codes[last]!];
  const isDense = wide.groups * size <= DENSE * many + 1024;
  // A place holds a group's number from 1.
  const table = new Int32Array(isDense ? wide.groups * size : 0);
  const sparse = new Map<number, number>();
  const example = new Int32Array(many);
  let groups = 0;
  for (let leaf = 0; leaf < many; leaf += 1) {
    const key = wide.parts[leaf]! * size + codes[leaf]!;
    let group = isDense ? table[key]! : (sparse.get(key) ?? 0);
    if (group === 0) {
      example[groups] = leaf;
      group = ++groups;
      if (isDense) table[key] = group;
      else sparse.set(key, group);
    }
    parts[leaf] = group - 1;
  }
  return { dims, parts, groups, example: example.slice(0, groups) };
}

/** All combinations of dimensions, that of none (the whole) first, as many as can be searched. */
export function cuboids(leaves: Leaves): Cuboid[] {
  const all = [...leaves.sizes.keys()];
  const combinations = Array.from({ length: 1 << all.length }, (_, mask) =>
    all.filter((dimension) => mask & (1 << dimension)),
  ).sort((a, b) => a.length - b.length);
  const most = MOST_VISITS / Math.max(1, leaves.codes[0]?.length ?? 0);
  return combinations
    .filter(
      ({ length }) =>
        length <= 3 || combinations.filter((one) => one.length <= length).length <= most,
    )
    .map((dims) => cuboid(leaves, dims));
}

/** Sums by group, but for leaves that are out. */
export function sums(
  { parts, groups }: Pick<Cuboid, "parts" | "groups">,
  values: Column,
  out?: Uint8Array,
): Column {
  const all = new Float64Array(groups);
  for (let leaf = 0; leaf < parts.length; leaf += 1) {
    if (out === undefined || out[leaf] !== 1) all[parts[leaf]!]! += values[leaf]!;
  }
  return all;
}

/** Sums by each cuboid: each from those of the smallest that has one dimension more, if there is one. */
export function rollUp(cube: readonly Cuboid[], values: Column): Column[] {
  const all: Column[] = [];
  for (let at = cube.length - 1; at >= 0; at -= 1) {
    const { dims, parts, groups } = cube[at]!;
    let from = -1;
    for (let one = at + 1; one < cube.length; one += 1) {
      const finer = cube[one]!;
      const isFiner =
        finer.dims.length === dims.length + 1 && dims.every((dim) => finer.dims.includes(dim));
      if (isFiner && (from < 0 || finer.groups < cube[from]!.groups)) from = one;
    }
    if (from < 0) {
      all[at] = sums(cube[at]!, values);
      continue;
    }
    const own = (all[at] = new Float64Array(groups));
    const { example } = cube[from]!;
    const finer = all[from]!;
    for (let one = 0; one < finer.length; one += 1) own[parts[example[one]!]!]! += finer[one]!;
  }
  return all;
}

/** The sum over some leaves, or over all. */
export function total(values: Column, leaves?: Iterable<number>): number {
  let sum = 0;
  if (leaves === undefined) for (let at = 0; at < values.length; at += 1) sum += values[at]!;
  else for (const leaf of leaves) sum += values[leaf]!;
  return sum;
}

/** The leaves with this number in a column of codes. */
export function leavesIn(codes: ArrayLike<number>, code: number): number[] {
  const own: number[] = [];
  for (let leaf = 0; leaf < codes.length; leaf += 1) if (codes[leaf] === code) own.push(leaf);
  return own;
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

/** Marks the leaves, of so many, that these have. */
export function marked(many: number, some: Some): Uint8Array {
  const out = new Uint8Array(many);
  for (const { leaves } of some) for (const leaf of leaves) out[leaf] = 1;
  return out;
}

/** The leaves, of so many, that none of these has. */
export function without(many: number, some: Some): number[] {
  const out = marked(many, some);
  const rest: number[] = [];
  for (let leaf = 0; leaf < many; leaf += 1) if (out[leaf] === 0) rest.push(leaf);
  return rest;
}
