import { refuseUnknown } from "../base/check-options.js";
import { cleanText, counted } from "../base/text.js";
import type { Dimension } from "../query/dimension.js";
import { count, type Measure } from "../query/measure.js";
import { CONFIDENCES } from "../query/wilson.js";
import type { Where } from "../query/where.js";
import { isVersionColumn } from "../result/origin.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import type { TimeRange } from "../time/time-range.js";
import { askCells, changeMeasures, type ChangeCells, type ChangeSource } from "./cells.js";
import { countCauses } from "./count-causes.js";
import { grouped, type Element } from "./cuboids.js";
import type { Finding } from "./finding.js";
import { rateCauses } from "./rate-causes.js";
import {
  amount,
  changeText,
  elementText,
  pathText,
  percent,
  periodText,
  type CauseValue,
} from "./words.js";

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
    /** Whose versions they are, where that is asked about: the software_name. */
    readonly program: string | null;
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
/** Releases that changed by less than this part didn't move. */
const LEAST_CHANGED = 0.1;
/** Part of a cause's rows that other releases must have to tell that they went on as usual. */
const LEAST_OTHERS = 0.1;
/** What releases' rows differ by from one week to the next besides. */
const USUAL_RELEASE = 0.05;
/** What naming a release must be worth besides the logarithm of how many there are. */
const CAUTION = 3;
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

function explainFlow(cells: ChangeCells): Explanation {
  const { ratio, names } = cells;
  const versions = names.flatMap((name, at) => (isVersionColumn(name) ? [at] : []));
  const others = names.flatMap((_, at) => (versions.includes(at) ? [] : [at]));
  // Users go from release to release: what one loses says nothing, what all of them lose does.
  const kept = others.length === 0 ? versions : others;
  const { place, ...plain } = projected(cells, kept);
  const found = countCauses({ ...plain, ratio });
  const factor = ratio * found.ordinary;
  const leavesOf = listed(place, plain.before.length);
  const variance = (leaves: readonly number[]) => {
    const parts = new Map<number, number>();
    if (kept.length === names.length) return found.variance(leaves);
    for (const leaf of leaves) {
      const size = cells.before[leaf]! * ratio + cells.after[leaf]!;
      parts.set(place[leaf]!, (parts.get(place[leaf]!) ?? 0) + size);
    }
    let sum = 0;
    for (const [at, size] of parts) {
      const all = plain.before[at]! * ratio + plain.after[at]!;
      if (all > 0) sum += (found.variance([at]) * size) / all;
    }
    return sum;
  };
  const taken = new Uint8Array(cells.before.length);
  const wide = found.causes.map(({ dimensions, values, leaves }) => {
    const own = leaves.flatMap((at) => leavesOf[at]!);
    for (const leaf of own) taken[leaf] = 1;
    return { dimensions: dimensions.map((one) => kept[one]!), values, leaves: own };
  });
  const rows = wide.map((element) => {
    const narrow = versions.reduce(
      (one, dimension) =>
        one.dimensions.includes(dimension)
          ? one
          : ofReleases(one, { cells, dimension, factor, taken, variance }),
      element as Narrowed,
    );
    const sums = sumOf(cells, narrow.leaves);
    const beyond = sums.after - sums.before * factor;
    return {
      leaves: narrow.leaves,
      beyond,
      where: narrow.where ?? whereOf(narrow, names, cells.values),
    };
  });
  rows.sort((a, b) => Math.abs(b.beyond) - Math.abs(a.beyond));
  const named = rows.slice(0, MOST_CAUSES);
  const all = sumOf(cells, undefined);
  const change = all.after - all.before * ratio;
  const cause = (where: Cause["where"], leaves: readonly number[]): Cause => {
    const sums = sumOf(cells, leaves);
    const own = sums.after - sums.before * ratio;
    const half = NORMAL_95 * Math.sqrt(variance(leaves));
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
  const rest = without(cells.before.length, named);
  const sums = sumOf(cells, rest);
  const moved = sums.after - sums.before * ratio;
  const alike =
    Math.abs(found.ordinary - 1) > WHOLE &&
    Math.abs(moved) > WHOLE * sums.before * ratio &&
    Math.abs(moved) > 4 * Math.sqrt(variance(rest));
  const causes = named.map(({ where, leaves }) => cause(where, leaves));
  if (alike) {
    causes.push(cause({}, rest));
    causes.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  }
  return explanation(cells, {
    before: all.before * ratio,
    after: all.after,
    causes,
    rest: cause({}, alike ? [] : rest),
    moves: versions.flatMap((dimension) => moves(cells, dimension, factor)),
    remarks: [],
  });
}

/** The cells by some of their dimensions only; `place` says where each leaf went. */
function projected(cells: ChangeCells, kept: readonly number[]) {
  if (kept.length === cells.names.length) {
    const { before, after } = cells;
    return { place: Int32Array.from(before.keys()), ...cells.leaves, before, after };
  }
  const { parts: place, groups, example } = grouped(cells.leaves, kept);
  const summed = (values: Float64Array) => {
    const sums = new Float64Array(groups);
    values.forEach((value, leaf) => (sums[place[leaf]!]! += value));
    return sums;
  };
  return {
    place,
    sizes: kept.map((dimension) => cells.leaves.sizes[dimension]!),
    codes: kept.map((dimension) => example.map((leaf) => cells.leaves.codes[dimension]![leaf]!)),
    before: summed(cells.before),
    after: summed(cells.after),
  };
}

/** The leaves that went to each place. */
function listed(place: Int32Array, many: number): number[][] {
  const lists = Array.from({ length: many }, () => [] as number[]);
  place.forEach((at, leaf) => lists[at]!.push(leaf));
  return lists;
}

/** A cause, by releases or without. */
interface Narrowed extends Element {
  readonly leaves: readonly number[];
  /** In words that no single value has: a list of versions. */
  readonly where?: Cause["where"];
}

/** A version of a program, within a cause and outside all causes. */
interface Release {
  readonly program: number;
  readonly code: number;
  readonly leaves: number[];
  was: number;
  is: number;
  outsideWas: number;
  outsideIs: number;
}

/** What releases are looked at with. */
interface ReleaseSearch {
  readonly cells: ChangeCells;
  readonly dimension: number;
  readonly factor: number;
  readonly taken: Uint8Array;
  readonly variance: (leaves: readonly number[]) => number;
}

function programOf(cells: ChangeCells, dimension: number): number {
  // 3.10.0 of one program is another release than that of the next: software_version, software_name.
  return cells.names.indexOf(cells.names[dimension]!.replace(/version$/i, "name"));
}

function releasesOf(leaves: readonly number[], search: ReleaseSearch): Release[] {
  const { cells, dimension, factor, taken } = search;
  const programs = cells.leaves.codes[programOf(cells, dimension)];
  const codes = cells.leaves.codes[dimension]!;
  const known = new Map<string, Release>();
  const inside = new Uint8Array(codes.length);
  for (const leaf of leaves) inside[leaf] = 1;
  for (let leaf = 0; leaf < codes.length; leaf += 1) {
    if (inside[leaf] === 0 && taken[leaf] === 1) continue;
    const [program, code] = [programs?.[leaf] ?? 0, codes[leaf]!];
    const key = `${program} ${code}`;
    const one = known.get(key) ?? {
      ...{ program, code, leaves: [], was: 0, is: 0, outsideWas: 0, outsideIs: 0 },
    };
    known.set(key, one);
    const [was, is] = [cells.before[leaf]! * factor, cells.after[leaf]!];
    if (inside[leaf] === 1) {
      one.leaves.push(leaf);
      one.was += was;
      one.is += is;
    } else {
      one.outsideWas += was;
      one.outsideIs += is;
    }
  }
  return [...known.values()];
}

/**
 * Narrows a cause to one release, or to those between which its users moved, where that says it
 * better: the others of its rows went on as usual. What users who move from release to release make
 * usual is learned outside the cause, by the same program.
 */
function ofReleases(cause: Narrowed, search: ReleaseSearch): Narrowed {
  const { cells, dimension, variance } = search;
  const all = releasesOf(cause.leaves, search);
  const total = (
    list: readonly Release[],
    of: keyof Release & ("was" | "is" | "outsideWas" | "outsideIs"),
  ) => list.reduce((sum, one) => sum + one[of], 0);
  const programs = new Set(
    all.filter(({ leaves }) => leaves.length > 0).map(({ program }) => program),
  );
  const own = [...programs].flatMap((program) => {
    const list = all.filter((one) => one.program === program);
    const [was, outside] = [total(list, "was"), total(list, "outsideWas")];
    const told = outside >= was && total(list, "outsideIs") > 0;
    const drawn = list.map((one) =>
      !told
        ? one.was
        : one.outsideWas > 0
          ? (one.was * one.outsideIs) / one.outsideWas
          : (was * one.outsideIs) / outside,
    );
    const sum = drawn.reduce((a, b) => a + b, 0);
    const scale = told && sum > 0 ? was / sum : 1;
    return list.map((one, at) => ({ ...one, told, expected: drawn[at]! * scale }));
  });
  const [was, is] = [total(own, "was"), total(own, "is")];
  const net = is - was;
  const noise = variance(cause.leaves) / (was + is);
  const sum = (list: typeof own, of: "expected" | "is") => list.reduce((s, one) => s + one[of], 0);
  /** How much worse "all fell alike" fits the others than "the others went on as usual". */
  const better = (rest: typeof own) => {
    const [expected, came] = [sum(rest, "expected"), sum(rest, "is")];
    if (expected + came < LEAST_OTHERS * (was + is)) return 0;
    const spread = noise * (expected + came) + (USUAL_RELEASE * expected) ** 2;
    const alike = (came - (expected * is) / was) ** 2;
    return (alike - (came - expected) ** 2) / spread;
  };
  const least = 2 * (Math.log(own.length + 1) + CAUTION);
  const named = (chosen: typeof own): Narrowed => {
    const values = cells.values[dimension]!;
    const texts = [...new Set(chosen.map(({ code }) => values[code]!))].sort((a, b) =>
      compareVersions(a ?? "", b ?? ""),
    );
    const program = programOf(cells, dimension);
    const [only] = chosen;
    const one = new Set(chosen.map(({ program }) => program)).size === 1 && program >= 0;
    const where = {
      ...whereOf(cause, cells.names, cells.values),
      ...(one && { [cells.names[program]!]: cells.values[program]![only!.program]! }),
      [cells.names[dimension]!]: texts.length === 1 ? texts[0]! : texts,
    };
    return { ...cause, where, leaves: chosen.flatMap(({ leaves }) => leaves) };
  };
  const [first] = [...own].sort(
    (a, b) => (b.is - b.expected - (a.is - a.expected)) * Math.sign(net),
  );
  if (first !== undefined && better(own.filter((one) => one !== first)) > least && first.told) {
    return named([first]);
  }
  const [program] = programs;
  if (programs.size > 1 || program === undefined) return cause;
  const moved = own.filter(
    (one) => Math.abs(one.is - one.expected) > LEAST_CHANGED * (one.is + one.expected),
  );
  const rest = own.filter((one) => !moved.includes(one));
  return moved.length > 0 && better(rest) > least ? named(moved) : cause;
}

/** Versions of each program of which some lost what others won. */
function moves(cells: ChangeCells, dimension: number, factor: number) {
  const taken = new Uint8Array(cells.before.length);
  const leaves = Array.from(cells.before.keys());
  const all = releasesOf(leaves, { cells, dimension, factor, taken, variance: () => 0 });
  return [...new Set(all.map(({ program }) => program))].flatMap((program) => {
    const own = all.filter((one) => one.program === program);
    const rows = own.reduce((sum, { was, is }) => sum + was + is, 0) / 2;
    const moved = own.filter(({ was, is }) => Math.abs(is - was) > LEAST_CHANGED * rows);
    const lost = moved.reduce((sum, { was, is }) => sum + Math.max(0, was - is), 0);
    const won = moved.reduce((sum, { was, is }) => sum + Math.max(0, is - was), 0);
    if (Math.min(lost, won) <= LEAST_MOVED * Math.max(lost, won)) return [];
    const values = moved
      .map(({ code }) => cells.values[dimension]![code]!)
      .sort((a, b) => compareVersions(a ?? "", b ?? ""));
    const name = programOf(cells, dimension);
    return [
      {
        program: name < 0 ? null : cells.values[name]![program]!,
        dimension: cells.names[dimension]!,
        values,
      },
    ];
  });
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
  { before, after }: Pick<ChangeCells, "before" | "after">,
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
    ({ program, dimension, values }) =>
      `${program === null ? "" : `${cleanText(program, 60)} `}${dimension} ${pathText(values)}`,
  );
  const movedText =
    moved.length === 0
      ? ""
      : ` Users went from version to version, which is no cause by itself: ${moved.slice(0, 3).join("; ")}.`;
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
  const { unit, origin, names, kind } = cells;
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
  return new Result(resultOfRows(rows).table, {
    ...origin,
    columns: {
      dimensions: [{ name: "cause", order: causes.map(({ text }) => text) }],
      measures: changeMeasures(cells, [
        ["part", "Part of the change", "share"],
        ...(kind === "rate"
          ? ([
              ["rate", "By its own rate", unit],
              ["mix", "By its weight", unit],
            ] as const)
          : []),
      ]),
    },
    reductions: [],
    notes: [...remarks, ...origin.notes],
  });
}

function shown(value: CauseValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : value.map((one) => one ?? "(none)").join(" → ");
}
