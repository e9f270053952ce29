import { refuseUnknown } from "../base/check-options.js";
import { counted } from "../base/text.js";
import type { Dimension } from "../query/dimension.js";
import { count, type Measure } from "../query/measure.js";
import { CONFIDENCES } from "../query/wilson.js";
import type { Where } from "../query/where.js";
import { isVersionColumn, type MeasureColumn } from "../result/origin.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import type { TimeRange } from "../time/time-range.js";
import { askCells, type ChangeCells, type ChangeSource } from "./cells.js";
import { countCauses, type CountCause } from "./count-causes.js";
import type { Element } from "./cuboids.js";
import type { Finding } from "./finding.js";
import { rateCauses } from "./rate-causes.js";
import { amount, changeText, elementText, percent, periodText, type CauseValue } from "./words.js";

/** What `explain` takes. */
export interface ExplainOptions {
  /** What changed: a count, a sum, `distinct`, a share, a ratio, a mean or a quantile. Default `count()`. */
  readonly measure?: Measure<unknown>;
  /** The range to compare with. Where it is longer or shorter, counts are taken per time. */
  readonly before: TimeRange;
  /** The range that is to be explained. */
  readonly after: TimeRange;
  /**
   * Columns and dimensions in which causes are looked for, up to seven. Default: software_name,
   * software_version, probe_cc, probe_asn and test_name; of logs identifier, host and priority, as
   * far as the table has them.
   */
  readonly dimensions?: readonly (string | Dimension)[];
  /** Which rows count, as in every question. */
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

/** A part of a change: what is behind it, and how much. */
export interface Cause {
  /**
   * The values that its rows share, by dimension; empty for what all rows did alike. A list where
   * rows moved from its first values to its last, as users do from one version to the next.
   */
  readonly where: Readonly<Record<string, CauseValue>>;
  /** In words: "probe_cc = IT and software_version = 3.10.0". */
  readonly text: string;
  /** The measure over its rows. */
  readonly before: number | null;
  readonly after: number | null;
  /** What it contributes to the change of the whole; contributions add up to it. */
  readonly change: number;
  /** Ends of the 95 % interval of `change`. */
  readonly low: number;
  readonly high: number;
  /** Its part of the whole's change: 1 is all of it. */
  readonly part: number | null;
  /** Of a share or a mean: what its own rate contributes, and what its weight among the rows does. */
  readonly rate?: number;
  readonly mix?: number;
}

/** The answer of `explain`. */
export interface Explanation extends Finding {
  readonly kind: "explain";
  /** What is behind the change, the largest contribution first; disjoint. */
  readonly causes: readonly Cause[];
  /** What all other rows contribute. */
  readonly rest: Cause;
  /** Moves from one value to another that cancel, as from one version to the next. */
  readonly moves: readonly {
    readonly dimension: string;
    readonly values: readonly (string | null)[];
  }[];
  /** The measure over all rows. */
  readonly before: number | null;
  readonly after: number | null;
}

const OPTIONS = ["measure", "before", "after", "dimensions", "where", "signal"];
const ACTION = "explain a change";
const MOST_CAUSES = 20;
/** Of what some versions lost, others must have won this part (or the reverse) for a move. */
const LEAST_MOVED = 0.3;
/** Versions that changed by less than this part of what they had and have didn't move. */
const LEAST_CHANGED = 0.1;
/** Cosine of the spreads over other dimensions from which versions count as of the same users. */
const LEAST_ALIKE = 0.3;
const NORMAL_95 = CONFIDENCES[0.95];
/** The whole is said to have changed where it did by more than this. */
const WHOLE = 0.1;

/**
 * Tells which values of which dimensions, and which combinations of them, account for the change of a
 * count, a share or a quantile between two ranges, in a scan of each.
 *
 * Causes are disjoint and their contributions, with the rest's, add up to the change: exactly for
 * counts and sums; for shares and means as rate and mix (E. M. Kitagawa, "Components of a difference
 * between two rates", JASA 50, 1955); a quantile's as those of the share of rows above the middle of
 * its two values. How causes are found is said in docs/changes.md.
 *
 * @returns `sentence`, `causes` and `result`, a row a cause. `found` is false where the change is
 *   no more than what is usual: 5 % for a part of the rows, 10 % for the whole, or chance.
 * @throws ProbelabError for unknown columns and options, measures that have no parts (max, earliest),
 *   and more cells than an answer may have.
 * @example
 * const week = last("1 week", { now: lab.now });
 * const why = await explain(lab.measurements, {
 *   measure: count(), after: week, before: last("1 week", { now: week.start }),
 * });
 * why.sentence;
 */
export async function explain(source: ChangeSource, options: ExplainOptions): Promise<Explanation> {
  refuseUnknown(options, OPTIONS, ACTION);
  const cells = await askCells(source, {
    measure: options.measure ?? count(),
    before: options.before,
    after: options.after,
    dimensions: options.dimensions,
    where: options.where ?? {},
    action: ACTION,
    signal: options.signal,
  });
  return explainCells(cells);
}

/** Explains cells that were asked: what {@link explain} does after its two scans. */
export function explainCells(cells: ChangeCells): Explanation {
  return cells.kind === "flow" ? explainFlow(cells) : explainRate(cells);
}

/** Cells in which rows that moved between values of a dimension share one, a list of them. */
interface Sides extends Pick<ChangeCells, "leaves" | "before" | "after"> {
  readonly values: readonly (readonly CauseValue[])[];
}

function explainFlow(cells: ChangeCells): Explanation {
  const { ratio, names } = cells;
  let sides: Sides = cells;
  const versions = names.flatMap((name, at) => (isVersionColumn(name) ? [at] : []));
  const search = (sides: Sides, ordinary?: number) =>
    countCauses({
      ...sides.leaves,
      before: sides.before,
      after: sides.after,
      ratio,
      ...(ordinary !== undefined && { ordinary }),
    });
  // Versions come and go: what the whole did is learned without them.
  const ordinary =
    versions.length === 0 ? undefined : search(versions.reduce(withoutDimension, sides)).ordinary;
  for (const dimension of versions) {
    for (const move of moves(sides, dimension, names, ratio * (ordinary ?? 1))) {
      sides = withMove(sides, move);
    }
  }
  const found = search(sides, ordinary);
  const all = sumOf(sides, undefined);
  const change = all.after - all.before * ratio;
  const rows = found.causes.map((given) => {
    const { leaves, ...element } = withinMove(given, sides, versions, ratio * found.ordinary);
    const sums = sumOf(sides, leaves);
    const beyond = sums.after - sums.before * ratio * found.ordinary;
    return { leaves, beyond, where: whereOf(element, names, sides.values) };
  });
  rows.sort((a, b) => Math.abs(b.beyond) - Math.abs(a.beyond));
  const named = rows.slice(0, MOST_CAUSES);
  const cause = (where: Cause["where"], leaves: readonly number[]): Cause => {
    const sums = sumOf(sides, leaves);
    const own = sums.after - sums.before * ratio;
    const half = NORMAL_95 * Math.sqrt(found.variance(leaves));
    return {
      where,
      text: elementText(where),
      before: sums.before * ratio,
      after: sums.after,
      change: own,
      low: own - half,
      high: own + half,
      part: change === 0 ? null : own / change,
    };
  };
  const others = without(sides.before.length, named);
  const sums = sumOf(sides, others);
  const noise = Math.sqrt(found.variance(others));
  const alike =
    Math.abs(found.ordinary - 1) > WHOLE && Math.abs(sums.after - sums.before * ratio) > 4 * noise;
  const causes = named.map(({ where, leaves }) => cause(where, leaves));
  if (alike) causes.push(cause({}, others));
  causes.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  const moved = sides.values.flatMap((values, at) =>
    values.flatMap((value) =>
      Array.isArray(value)
        ? [{ dimension: names[at]!, values: value as readonly (string | null)[] }]
        : [],
    ),
  );
  return explanation(cells, {
    before: all.before * ratio,
    after: all.after,
    causes: alike ? causes : named.map(({ where, leaves }) => cause(where, leaves)),
    rest: cause({}, alike ? [] : others),
    moves: moved,
    remarks: [],
  });
}

/** Values of a dimension of versions that become one, in the rows of one program where that is known. */
interface Move {
  readonly dimension: number;
  readonly codes: readonly number[];
  /** The dimension of the program and its value. */
  readonly program?: { readonly dimension: number; readonly code: number } | undefined;
}

/**
 * Versions of a program of which some lost what others won, their rows alike in all other
 * dimensions: rows moved, and only what a move as a whole lost or won is a change.
 */
function moves(sides: Sides, dimension: number, names: readonly string[], factor: number): Move[] {
  // 3.10.0 of one program is another release than that of the next: software_version, software_name.
  const name = names.indexOf(names[dimension]!.replace(/version$/i, "name"));
  const codes = sides.leaves.codes[dimension]!;
  const programs = name < 0 ? undefined : sides.leaves.codes[name]!;
  const leavesOf = new Map<number, number[]>();
  codes.forEach((_, leaf) => {
    const program = programs?.[leaf] ?? 0;
    leavesOf.set(program, [...(leavesOf.get(program) ?? []), leaf]);
  });
  return [...leavesOf].flatMap(([code, leaves]) =>
    movedVersions(sides, dimension, leaves, factor).map((moved) => ({
      dimension,
      codes: moved,
      ...(programs && { program: { dimension: name, code } }),
    })),
  );
}

function movedVersions(
  sides: Sides,
  dimension: number,
  leaves: readonly number[],
  factor: number,
): number[][] {
  const sums = new Map<number, { code: number; was: number; is: number; leaves: number[] }>();
  for (const leaf of leaves) {
    const code = sides.leaves.codes[dimension]![leaf]!;
    const one = sums.get(code) ?? { code, was: 0, is: 0, leaves: [] };
    sums.set(code, one);
    one.was += sides.before[leaf]! * factor;
    one.is += sides.after[leaf]!;
    one.leaves.push(leaf);
  }
  let left = [...sums.values()]
    .map((one) => ({ ...one, beyond: one.is - one.was }))
    .filter(({ beyond, was, is }) => Math.abs(beyond) > LEAST_CHANGED * (was + is))
    .sort((a, b) => Math.abs(b.beyond) - Math.abs(a.beyond));
  const found: number[][] = [];
  while (left.length > 1) {
    const first = profile(left[0]!.leaves, dimension, sides);
    const alike = left.filter((one) => similar(first, profile(one.leaves, dimension, sides)));
    const lost = alike.reduce((sum, { beyond }) => sum + Math.max(0, -beyond), 0);
    const won = alike.reduce((sum, { beyond }) => sum + Math.max(0, beyond), 0);
    if (Math.min(lost, won) > LEAST_MOVED * Math.max(lost, won)) {
      found.push(alike.map(({ code }) => code));
    }
    left = left.filter((one, at) => at > 0 && !alike.includes(one));
  }
  return found;
}

/** A cause nearly all of which lies within a move between versions is told with it. */
function withinMove(
  cause: CountCause,
  sides: Sides,
  versions: readonly number[],
  factor: number,
): Element & Pick<CountCause, "leaves"> {
  const beyond = (leaves: readonly number[]) => {
    const sums = sumOf(sides, leaves);
    return sums.after - sums.before * factor;
  };
  const all = beyond(cause.leaves);
  for (const dimension of versions.filter((one) => !cause.dimensions.includes(one))) {
    for (const [code, value] of sides.values[dimension]!.entries()) {
      if (!Array.isArray(value)) continue;
      const codes = sides.leaves.codes[dimension]!;
      const leaves = cause.leaves.filter((leaf) => codes[leaf] === code);
      if (beyond(leaves) / all < 0.8) continue;
      return {
        dimensions: [...cause.dimensions, dimension],
        values: [...cause.values, code],
        leaves,
      };
    }
  }
  return cause;
}

/** How some leaves' rows spread over the values of each other dimension. */
function profile(own: readonly number[], dimension: number, sides: Sides): number[][] {
  const { leaves, before, after } = sides;
  return leaves.codes.map((codes, at) => {
    const spread = new Array<number>(leaves.sizes[at]!).fill(0);
    if (at === dimension) return spread;
    for (const leaf of own) spread[codes[leaf]!]! += before[leaf]! + after[leaf]!;
    return spread;
  });
}

/** Whether two spreads point roughly the same way in every dimension, by the values that weigh in one of them. */
function similar(a: readonly number[][], b: readonly number[][]): boolean {
  const total = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0);
  return a.every((list, at) => {
    const other = b[at]!;
    const [all, others] = [total(list), total(other)];
    let [dot, own, its] = [0, 0, 0];
    list.forEach((value, index) => {
      const theirs = other[index]!;
      // Of few rows, rare values scatter.
      if (value < 0.05 * all && theirs < 0.05 * others) return;
      dot += value * theirs;
      own += value * value;
      its += theirs * theirs;
    });
    return dot >= LEAST_ALIKE * Math.sqrt(own * its);
  });
}

function withoutDimension(sides: Sides, dimension: number): Sides {
  return withMove(sides, { dimension, codes: [...sides.values[dimension]!.keys()] });
}

function withMove(sides: Sides, { dimension, codes, program }: Move): Sides {
  const own = sides.values[dimension]!;
  const together = codes.flatMap((code) => {
    const value = own[code]!;
    return Array.isArray(value) ? (value as readonly (string | null)[]) : [value as string | null];
  });
  const moved: CauseValue = [...new Set(together)].sort((a, b) =>
    compareVersions(a ?? "", b ?? ""),
  );
  const values = sides.values.map((list, at) => (at === dimension ? [...list, moved] : list));
  const joined = new Set(codes);
  const joins = (leaf: number) =>
    joined.has(sides.leaves.codes[dimension]![leaf]!) &&
    (program === undefined || sides.leaves.codes[program.dimension]![leaf] === program.code);
  const places = new Map<string, number>();
  const all: number[][] = sides.leaves.codes.map(() => []);
  const before: number[] = [];
  const after: number[] = [];
  for (let leaf = 0; leaf < sides.before.length; leaf += 1) {
    const code = sides.leaves.codes.map((list, at) =>
      at === dimension && joins(leaf) ? own.length : list[leaf]!,
    );
    const key = code.join(" ");
    const place = places.get(key) ?? places.size;
    if (place === places.size) {
      places.set(key, place);
      code.forEach((one, at) => all[at]!.push(one));
    }
    before[place] = (before[place] ?? 0) + sides.before[leaf]!;
    after[place] = (after[place] ?? 0) + sides.after[leaf]!;
  }
  return {
    values,
    leaves: {
      sizes: values.map(({ length }) => length),
      codes: all.map((list) => Int32Array.from(list)),
    },
    before: Float64Array.from(before),
    after: Float64Array.from(after),
  };
}

function explainRate(cells: ChangeCells): Explanation {
  const { before, after, partBefore, partAfter, names, values, variance } = cells;
  const found = rateCauses({
    ...cells.leaves,
    allBefore: before,
    partBefore,
    allAfter: after,
    partAfter,
    ...(variance !== undefined && { variance }),
  });
  const all = rateOf(cells, undefined);
  const whole = all.r1 - all.r0;
  // A quantile moves as the share above its middle does, turned into its own unit.
  const scale =
    cells.quantile === undefined || whole === 0
      ? 1
      : (cells.quantile.after - cells.quantile.before) / whole;
  const middle = (all.r0 + all.r1) / 2;
  const cause = (where: Cause["where"], leaves: readonly number[]): Cause => {
    const own = rateOf(cells, leaves);
    const w0 = all.n0 > 0 ? own.n0 / all.n0 : 0;
    const w1 = all.n1 > 0 ? own.n1 / all.n1 : 0;
    // A part without rows has the rate that it has on the other side: it changed by its weight alone.
    const r0 = own.n0 > 0 ? own.r0 : own.r1;
    const r1 = own.n1 > 0 ? own.r1 : own.r0;
    const mix = own.n0 + own.n1 === 0 ? 0 : (w1 - w0) * ((r0 + r1) / 2 - middle) * scale;
    const rate = own.n0 + own.n1 === 0 ? 0 : ((w0 + w1) / 2) * (r1 - r0) * scale;
    const spread = variance ?? Math.max(0, ((r0 + r1) / 2) * (1 - (r0 + r1) / 2));
    const error =
      ((w0 + w1) / 2) * Math.sqrt(spread * (1 / Math.max(1, own.n0) + 1 / Math.max(1, own.n1)));
    const half = own.n0 + own.n1 === 0 ? 0 : NORMAL_95 * error * Math.abs(scale);
    return {
      where,
      text: elementText(where),
      before: own.n0 > 0 ? own.r0 : null,
      after: own.n1 > 0 ? own.r1 : null,
      change: mix + rate,
      low: mix + rate - half,
      high: mix + rate + half,
      part: whole === 0 ? null : (mix + rate) / (whole * scale),
      rate,
      mix,
    };
  };
  const others = without(before.length, found);
  const named = found.map((one) => cause(whereOf(one, names, values), one.leaves));
  const shifts = whole === 0 ? [] : mixes(cells, all, middle);
  const remarks = shifts.flatMap(({ name, mix }) =>
    (whole - mix) * whole < 0 && Math.abs(whole - mix) > 0.2 * Math.abs(whole)
      ? [
          `Within the values of ${name} it moved the other way: the whole follows from their mix (Simpson's paradox).`,
        ]
      : [],
  );
  const { error } = wholeError(cells, all);
  const real = Math.abs(whole) > 4 * error && Math.abs(whole) > 0.05 * Math.abs(all.r0);
  const shift = shifts[0];
  if (real && named.length === 0 && shift !== undefined && shift.mix / whole > 0.5) {
    named.push(cause({ [shift.name]: shift.value }, shift.leaves));
    return explanation(cells, {
      ...ends(cells, all),
      causes: named,
      rest: cause({}, without(before.length, [shift])),
      moves: [],
      remarks: [
        `${percent(shift.mix / whole)} of the change is the mix of ${shift.name}, not a change within its values.`,
        ...remarks,
      ],
    });
  }
  const alike = real && named.length === 0;
  return explanation(cells, {
    ...ends(cells, all),
    causes: alike ? [cause({}, others)] : named,
    rest: cause({}, alike ? [] : others),
    moves: [],
    remarks,
  });
}

function ends(cells: ChangeCells, all: Rate): { before: number | null; after: number | null } {
  if (cells.quantile !== undefined) return cells.quantile;
  return { before: all.n0 > 0 ? all.r0 : null, after: all.n1 > 0 ? all.r1 : null };
}

/** Of each dimension, how much of a rate's change is the weights of its values; and the value with most of it. */
function mixes(cells: ChangeCells, all: Rate, middle: number) {
  const list = cells.names.map((name, at) => {
    const codes = cells.leaves.codes[at]!;
    const leavesOf = cells.values[at]!.map(() => [] as number[]);
    codes.forEach((code, leaf) => leavesOf[code]!.push(leaf));
    let mix = 0;
    let most = { own: 0, value: null as string | null, leaves: [] as readonly number[] };
    leavesOf.forEach((leaves, code) => {
      const { n0, n1, r0, r1 } = rateOf(cells, leaves);
      if (n0 + n1 === 0) return;
      const rate = ((n0 > 0 ? r0 : r1) + (n1 > 0 ? r1 : r0)) / 2;
      const own = (n1 / all.n1 - n0 / all.n0) * (rate - middle);
      mix += own;
      if (Math.abs(own) > Math.abs(most.own)) {
        most = { own, value: cells.values[at]![code]!, leaves };
      }
    });
    return { name, mix, value: most.value, leaves: most.leaves };
  });
  const whole = all.r1 - all.r0;
  return list.sort((a, b) => b.mix / whole - a.mix / whole);
}

function wholeError(cells: ChangeCells, { n0, n1, r0, r1 }: Rate): { error: number } {
  const pooled = (r0 * n0 + r1 * n1) / (n0 + n1);
  const variance = cells.variance ?? Math.max(0, pooled * (1 - pooled));
  return { error: Math.sqrt(variance * (1 / n0 + 1 / n1)) };
}

/** Rows and rate, before and after, of some leaves or of all. */
interface Rate {
  readonly n0: number;
  readonly n1: number;
  readonly r0: number;
  readonly r1: number;
}

function rateOf(cells: ChangeCells, leaves: readonly number[] | undefined): Rate {
  const all = leaves ?? Array.from(cells.before.keys());
  const sum = (values: Float64Array) => all.reduce((total, leaf) => total + values[leaf]!, 0);
  const [n0, n1] = [sum(cells.before), sum(cells.after)];
  return { n0, n1, r0: sum(cells.partBefore) / n0, r1: sum(cells.partAfter) / n1 };
}

function sumOf(
  { before, after }: Pick<Sides, "before" | "after">,
  leaves: readonly number[] | undefined,
): { before: number; after: number } {
  const all = leaves ?? Array.from(before.keys());
  return {
    before: all.reduce((total, leaf) => total + before[leaf]!, 0),
    after: all.reduce((total, leaf) => total + after[leaf]!, 0),
  };
}

function without(many: number, named: readonly { readonly leaves: readonly number[] }[]): number[] {
  const out = new Uint8Array(many);
  for (const { leaves } of named) for (const leaf of leaves) out[leaf] = 1;
  return Array.from(out.keys()).filter((leaf) => out[leaf] === 0);
}

function whereOf(
  { dimensions, values: codes }: Element,
  names: readonly string[],
  values: readonly (readonly CauseValue[])[],
): Cause["where"] {
  return Object.fromEntries(
    dimensions.map((dimension, at) => [names[dimension]!, values[dimension]![codes[at]!]!]),
  );
}

type Parts = Omit<Explanation, keyof Finding> & { readonly remarks: readonly string[] };

function explanation(cells: ChangeCells, parts: Parts): Explanation {
  const { causes, rest, before, after } = parts;
  const found = causes.length > 0;
  const rows = [
    ...causes,
    ...(rest.before || rest.after ? [{ ...rest, text: "everything else" }] : []),
  ];
  return {
    kind: "explain",
    found,
    causes,
    rest,
    moves: parts.moves,
    before,
    after,
    sentence: sentence(cells, parts),
    result: causeResult(cells, rows, parts.remarks),
  };
}

function sentence(cells: ChangeCells, { causes, moves, before, after, remarks }: Parts): string {
  const { unit } = cells;
  const what = `${cells.label} ${changeText(before, after, unit)} ${periodText(cells.earlier, cells.later)}`;
  const moved = moves.map(
    ({ dimension, values }) => `${dimension} ${values.map((one) => one ?? "(none)").join(" → ")}`,
  );
  const movedText =
    moved.length === 0
      ? ""
      : ` Rows moved between versions without being lost: ${moved.slice(0, 3).join("; ")}.`;
  const said = remarks.length === 0 ? "" : ` ${remarks.join(" ")}`;
  if (before === null || after === null || (before === 0 && after === 0)) {
    return `${what}. I can't tell what changed, because ${before === after ? "neither range holds" : before === null ? "the earlier range doesn't hold" : "the later range doesn't hold"} such rows.`;
  }
  if (causes.length === 0) {
    return `${what}. No part of it moved by more than is usual: nothing stands out in ${cells.names.join(", ")}.${movedText}${said}`;
  }
  const [first, ...more] = causes;
  const part = ({ part }: Cause) =>
    part === null || Math.abs(part) > 10 ? "" : `, ${percent(part)} of the change`;
  const own = cells.quantile === undefined ? unit : "share";
  const above =
    cells.quantile === undefined ? "" : ` (share above ${amount(cells.quantile.at, unit)})`;
  const one = (cause: Cause) => {
    const all = causes.length > 1 ? "all other rows alike" : "all rows alike";
    const name = Object.keys(cause.where).length === 0 ? all : cause.text;
    return `${name}${above} ${changeText(cause.before, cause.after, own)}${part(cause)}`;
  };
  const next = more.slice(0, 2).map(one);
  const further =
    more.length > 2 ? `; and ${counted(more.length - 2, "further cause")} in the table` : "";
  return `${what}. ${upper(one(first!))}${next.length > 0 ? `; ${next.join("; ")}` : ""}${further}.${movedText}${said}`;
}

function upper(text: string): string {
  return text.startsWith("all ") ? `A${text.slice(1)}` : text;
}

function causeResult(
  cells: ChangeCells,
  causes: readonly Cause[],
  remarks: readonly string[],
): Result {
  const { unit, label, origin, names, kind } = cells;
  const rows = causes.map(({ where, text, rate, mix, ...numbers }) => ({
    cause: text,
    ...Object.fromEntries(names.map((name) => [name, shown(where[name])])),
    before: numbers.before,
    after: numbers.after,
    change: numbers.change,
    low: numbers.low,
    high: numbers.high,
    part: numbers.part,
    ...(kind === "rate" && { rate, mix }),
  }));
  const measure = (name: string, text: string, own = unit): MeasureColumn => ({
    ...{ name, label: text, unit: own, additive: false, missing: "gap" },
    ...(name === "change" && { main: true as const }),
  });
  return new Result(resultOfRows(rows).table, {
    ...origin,
    columns: {
      dimensions: [{ name: "cause", order: causes.map(({ text }) => text) }],
      measures: [
        measure("before", `${label}, before`),
        measure("after", `${label}, after`),
        measure("change", `${label}, change`),
        measure("low", "Low end of the change"),
        measure("high", "High end of the change"),
        measure("part", "Part of the change", "share"),
        ...(kind === "rate"
          ? [measure("rate", "By its own rate"), measure("mix", "By its weight")]
          : []),
      ],
    },
    reductions: [],
    notes: [...remarks, ...origin.notes],
  });
}

function shown(value: CauseValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : value.map((one) => one ?? "(none)").join(" → ");
}
