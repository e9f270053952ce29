import { refuseUnknown } from "../base/check-options.js";
import { count, type Measure } from "../query/measure.js";
import { CONFIDENCES } from "../query/wilson.js";
import type { Where } from "../query/where.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import type { TimeRange } from "../time/time-range.js";
import {
  askCells,
  changeMeasures,
  type ChangeCells,
  type ChangeDimension,
  type ChangeSource,
} from "./cells.js";
import { cuboidsOf, leavesBy, sumOver } from "./cuboids.js";
import type { Finding } from "./finding.js";
import { flowCauses } from "./flow-causes.js";
import { rateCauses } from "./rate-causes.js";
import { moves, namedRows, upgrade, withMissing, type Move } from "./releases.js";
import { runSizes } from "./run-sizes.js";
import {
  explainSentence,
  mixSentence,
  releaseRateSentence,
  releaseSentence,
  runSizeSentence,
} from "./explain-words.js";
import { CERTAIN, LEAST_REST, MOST_TOLD, USUAL, WHOLE } from "./thresholds.js";
import { amount, elementText, percent, type CauseValue } from "./words.js";

/** What `explain` takes. */
export interface ExplainOptions {
  /** What changed: a count, a sum, `countDistinct`, a share, a ratio, a mean or a quantile. Default `count()`. */
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
  readonly dimensions?: readonly ChangeDimension[];
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
  /** The measure over its rows; of a release what was to be expected of them, had its users stayed as they were. */
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
  /** What happened, where more is known than how much: "app 3.10.0 ends its runs early: …" */
  readonly sentence?: string;
  /** Of a release whose runs hold another number of measurements than before: measurements a run. */
  readonly perRun?: {
    readonly now: number;
    /** Of the release before it (of all others where there is none), in the same tests. */
    readonly before: number;
    readonly previous: string | null;
  };
}

/** The answer of `explain`. */
export interface Explanation extends Finding {
  readonly kind: "explain";
  /** What is behind the change, what runs hold first, then the most certain; disjoint. */
  readonly causes: readonly Cause[];
  /** What all other rows contribute. */
  readonly rest: Cause;
  /** Programs whose users went from version to version. */
  readonly moves: readonly Move[];
  /** The measure over all rows. */
  readonly before: number | null;
  readonly after: number | null;
}

const OPTIONS = ["measure", "before", "after", "dimensions", "where", "signal"];
const ACTION = "explain a change";
const NORMAL_95 = CONFIDENCES[0.95];

/**
 * Tells which values of which dimensions, and which combinations of them, account for the change of a
 * count, a share or a quantile between two ranges, in a scan of each.
 *
 * Causes are disjoint and their contributions, with the rest's, add up to the change: exactly for
 * counts and sums; for shares and means as rate and mix (E. M. Kitagawa, "Components of a difference
 * between two rates", JASA 50, 1955); a quantile's as those of the share of rows above the middle of
 * its two values. How causes are found is said in docs/what-happened.md.
 *
 * @returns `sentence`, `causes` and `result`, a row a cause. `found` is false where the change is
 *   no more than what is usual: 5 % for a part of the rows, 10 % for the whole, or chance.
 * @throws ProbelabError for unknown columns and options, measures that have no parts (max),
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
    runs: true,
  });
  return explainCells(cells);
}

/** Explains cells that were asked: what {@link explain} does after its two scans. */
export function explainCells(given: ChangeCells): Explanation {
  const cells = withMissing(given);
  return cells.kind === "flow" ? explainFlow(cells) : explainRate(cells);
}

/** Rows that a cause is of, and what is known of them besides. */
interface Rows extends Pick<Cause, "where" | "perRun"> {
  readonly leaves: readonly number[];
  /** Whether some rows of its values are of a cause before it. */
  readonly rest?: boolean;
  /** In a sentence of its own, with its part of the whole's change. */
  readonly sentence?: (cause: Cause) => string | undefined;
}

interface Amounts {
  readonly before: number | null;
  readonly after: number | null;
  readonly change: number;
  /** Half of its 95 % interval. */
  readonly half: number;
}

/** One cause, of whatever measure. @param whole the change of the whole. */
function causeOf(rows: Rows, { half, ...amounts }: Amounts, whole: number): Cause {
  const { where, perRun } = rows;
  const { change } = amounts;
  const cause: Cause = {
    where,
    text: `${rows.rest === true ? "the rest of " : ""}${elementText(where)}`,
    ...amounts,
    low: change - half,
    high: change + half,
    part: whole === 0 ? null : change / whole,
    ...(perRun && { perRun }),
  };
  const sentence = rows.sentence?.(cause);
  return sentence === undefined ? cause : { ...cause, sentence };
}

function explainFlow(cells: ChangeCells): Explanation {
  const cuboids = cuboidsOf(cells.leaves);
  // What is left to explain is what would have come, had all runs held what was to be expected.
  const { causes: sizes, after } = runSizes(cells, cuboids);
  const { causes: found, expected, alike, variance } = flowCauses({ ...cells, after }, cuboids);
  const was = sumOver(cells.before) * cells.ratio;
  const is = sumOver(cells.after);
  const held = sizes.map((size): Cause => {
    const [had, has] = [sumOver(after, size.leaves), sumOver(cells.after, size.leaves)];
    const amounts = { before: had, after: has, change: has - had, half: size.half };
    const rows = {
      ...size,
      perRun: { now: size.holds, before: size.held, previous: size.release?.previous ?? null },
      sentence: ({ part }: Cause) => runSizeSentence(size, part, is < was ? "drop" : "rise"),
    };
    return causeOf(rows, amounts, is - was);
  });
  const flow = (rows: Rows): Cause => {
    const had = sumOver(expected, rows.leaves) * cells.ratio;
    const has = sumOver(after, rows.leaves);
    const half = NORMAL_95 * Math.sqrt(sumOver(variance, rows.leaves));
    return causeOf(rows, { before: had, after: has, change: has - had, half }, is - was);
  };
  // The most certain come first; what came as it was is no cause, but beside what all others did.
  const named = found
    .map((cause) => ({
      leaves: cause.leaves,
      cause: flow({ ...cause, sentence: (own) => releaseSentence(cells, own, cause) }),
    }))
    .filter(({ cause: { before, after, change } }) => {
      return alike || Math.abs(change) > (USUAL * (before! + after!)) / 2;
    })
    .slice(0, MOST_TOLD);
  const causes = [...held, ...named.map(({ cause }) => cause)];
  const rest = without(after.length, named);
  if (alike) {
    causes.push(flow({ where: {}, leaves: rest }));
    causes.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  }
  // A move isn't told as harmless beside a loss that it carries.
  const guilty = causes.map(({ where }) => where["software_name"]);
  return explanation(cells, {
    before: was,
    after: is,
    causes,
    rest: flow({ where: {}, leaves: alike ? [] : rest }),
    moves: moves(cells).filter(({ program }) => !guilty.includes(program ?? undefined)),
    remarks: causes.length === 0 ? tooFew(cells, variance) : [],
  });
}

/** What would have to change to be seen, where that is a fair part of all rows. */
function tooFew(cells: ChangeCells, variance: Float64Array): string[] {
  const all = (sumOver(cells.before) * cells.ratio + sumOver(cells.after)) / 2;
  const least = CERTAIN * Math.sqrt(sumOver(variance));
  return all > 0 && least > WHOLE * all
    ? [
        `These rows can't tell more: a change of the whole of less than ${amount(Math.round(least), "")} ${cells.unit} (${percent(least / all)}) would not show.`,
      ]
    : [];
}

function explainRate(given: ChangeCells): Explanation {
  // What was to be expected of each release, as users went from one to the next with what they had.
  const moved = upgrade(given, given);
  const cells = { ...given, before: moved(given.before), partBefore: moved(given.partBefore) };
  const { before, after, partBefore, partAfter, variance, quantile } = cells;
  const { causes: found } = rateCauses({
    ...cells.leaves,
    allBefore: before,
    partBefore,
    allAfter: after,
    partAfter,
    ...(variance !== undefined && {
      spreadBefore: before.map((n) => n * variance),
      spreadAfter: after.map((n) => n * variance),
    }),
  });
  const all = rateOf(cells);
  const whole = all.r1 - all.r0;
  // A quantile moves as the share above its middle does, turned into its own unit.
  const scale =
    quantile === undefined || whole === 0 ? 1 : (quantile.after - quantile.before) / whole;
  const spread = (rate: number) => variance ?? Math.max(0, rate * (1 - rate));
  const rateCause = (rows: Rows): Cause => {
    const own = rateOf(cells, rows.leaves);
    const { n0, n1 } = own;
    const w0 = all.n0 > 0 ? n0 / all.n0 : 0;
    const w1 = all.n1 > 0 ? n1 / all.n1 : 0;
    // A part without rows has the rate that it has on the other side: it changed by its weight alone.
    const r0 = n0 > 0 ? own.r0 : n1 > 0 ? own.r1 : 0;
    const r1 = n1 > 0 ? own.r1 : r0;
    const mix = (w1 - w0) * ((r0 + r1) / 2 - (all.r0 + all.r1) / 2) * scale || 0;
    const rate = ((w0 + w1) / 2) * (r1 - r0) * scale || 0;
    const error = Math.sqrt(spread((r0 + r1) / 2) * (1 / Math.max(1, n0) + 1 / Math.max(1, n1)));
    const half = n0 + n1 > 0 ? NORMAL_95 * ((w0 + w1) / 2) * error * Math.abs(scale) : 0;
    const ends = { before: n0 > 0 ? own.r0 : null, after: n1 > 0 ? own.r1 : null };
    return { ...causeOf(rows, { ...ends, change: mix + rate, half }, whole * scale), rate, mix };
  };
  const asBefore = after.map((n, leaf) =>
    before[leaf]! > 0 ? (n * partBefore[leaf]!) / before[leaf]! : n * all.r0,
  );
  const named = found.map((each) => namedRows(cells, each, asBefore, partAfter));
  const causes = named.map((rows) =>
    rateCause({
      ...rows,
      sentence: (own) => releaseRateSentence(cells, own, rateOf(given, rows.leaves), all),
    }),
  );
  const shifts = whole === 0 ? [] : mixes(given, all);
  const remarks = shifts.flatMap(({ name, mix }) =>
    (whole - mix) * whole < 0 && Math.abs(whole - mix) > LEAST_REST * Math.abs(whole)
      ? [
          `Within the values of ${name} it moved the other way: the whole follows from their mix (Simpson's paradox).`,
        ]
      : [],
  );
  const pooled = (all.r0 * all.n0 + all.r1 * all.n1) / (all.n0 + all.n1);
  const error = Math.sqrt(spread(pooled) * (1 / all.n0 + 1 / all.n1));
  const real = Math.abs(whole) > CERTAIN * error && Math.abs(whole) > USUAL * Math.abs(all.r0);
  const [shift] = shifts;
  const ends = quantile ?? {
    before: all.n0 > 0 ? all.r0 : null,
    after: all.n1 > 0 ? all.r1 : null,
  };
  let rest = without(before.length, named);
  if (real && causes.length === 0 && shift !== undefined && shift.mix / whole > 0.5) {
    causes.push(rateCause({ where: { [shift.name]: shift.value }, leaves: shift.leaves }));
    remarks.unshift(mixSentence(cells, shift, shift.mix / whole));
    rest = without(before.length, [shift]);
  } else if (real && causes.length === 0) {
    causes.push(rateCause({ where: {}, leaves: rest }));
    rest = [];
  }
  return explanation(cells, {
    before: ends.before,
    after: ends.after,
    causes,
    rest: rateCause({ where: {}, leaves: rest }),
    moves: [],
    remarks,
  });
}

/** Of each dimension, how much of a rate's change is the weights of its values; and the value with most of it. */
function mixes(cells: ChangeCells, all: Rate) {
  const middle = (all.r0 + all.r1) / 2;
  const list = cells.names.map((name, at) => {
    const parts = [...leavesBy(cells.leaves.codes[at]!)].map(([code, leaves]) => {
      const { n0, n1, r0, r1 } = rateOf(cells, leaves);
      const rate = ((n0 > 0 ? r0 : r1) + (n1 > 0 ? r1 : r0)) / 2;
      const mix = n0 + n1 > 0 ? (n1 / all.n1 - n0 / all.n0) * (rate - middle) : 0;
      const value = cells.values[at]![code]!;
      return { value, leaves, mix, share0: n0 / all.n0, share1: n1 / all.n1, rate };
    });
    const most = parts.reduce((a, b) => (Math.abs(b.mix) > Math.abs(a.mix) ? b : a));
    return { name, ...most, mix: parts.reduce((sum, part) => sum + part.mix, 0) };
  });
  const whole = all.r1 - all.r0;
  return list.sort((a, b) => b.mix / whole - a.mix / whole);
}

/** Rows and rate, before and after. */
export interface Rate {
  readonly n0: number;
  readonly n1: number;
  readonly r0: number;
  readonly r1: number;
}

/** Of some leaves, or of all. */
function rateOf(cells: ChangeCells, leaves?: readonly number[]): Rate {
  const [n0, n1] = [sumOver(cells.before, leaves), sumOver(cells.after, leaves)];
  const [part0, part1] = [sumOver(cells.partBefore, leaves), sumOver(cells.partAfter, leaves)];
  return { n0, n1, r0: part0 / n0, r1: part1 / n1 };
}

function without(many: number, named: readonly { readonly leaves: readonly number[] }[]): number[] {
  const out = new Uint8Array(many);
  for (const { leaves } of named) for (const leaf of leaves) out[leaf] = 1;
  return Array.from(out.keys()).filter((leaf) => out[leaf] === 0);
}

/** What an explanation is made of. */
export interface Explained extends Omit<Explanation, keyof Finding> {
  readonly remarks: readonly string[];
}

function explanation(cells: ChangeCells, { remarks, ...explained }: Explained): Explanation {
  const { causes, rest } = explained;
  const others = rest.before || rest.after ? [{ ...rest, text: "everything else" }] : [];
  const notes = causes.some(({ perRun }) => perRun)
    ? [
        ...remarks,
        "Before, of a release whose runs changed: what its runs would have held. Everything else: all rows, as if those runs had held that.",
      ]
    : remarks;
  return {
    kind: "explain",
    found: causes.length > 0,
    ...explained,
    sentence: explainSentence(cells, { remarks, ...explained }),
    result: causeResult(cells, [...causes, ...others], notes),
  };
}

function causeResult(
  cells: ChangeCells,
  causes: readonly Cause[],
  notes: readonly string[],
): Result {
  const { unit, origin, names, kind } = cells;
  const rows = causes.map((cause) => ({
    cause: cause.text,
    ...Object.fromEntries(names.map((name) => [name, shown(cause.where[name])])),
    before: cause.before,
    after: cause.after,
    change: cause.change,
    low: cause.low,
    high: cause.high,
    part: cause.part,
    ...(kind === "rate" && { rate: cause.rate, mix: cause.mix }),
  }));
  const rate = [
    ["rate", "By its own rate", unit],
    ["mix", "By its weight", unit],
  ] as const;
  return new Result(resultOfRows(rows).table, {
    ...origin,
    columns: {
      dimensions: [{ name: "cause", order: causes.map(({ text }) => text) }],
      measures: changeMeasures(cells, [
        ["part", "Part of the change", "share"],
        ...(kind === "rate" ? rate : []),
      ]),
    },
    reductions: [],
    notes: [...notes, ...origin.notes],
  });
}

function shown(value: CauseValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : value.map((text) => text ?? "(none)").join(" → ");
}
