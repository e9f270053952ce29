import { refuseUnknown } from "../base/check-options.js";
import { cleanText, counted } from "../base/text.js";
import type { Dimension } from "../query/dimension.js";
import { count, type Measure } from "../query/measure.js";
import { CONFIDENCES } from "../query/wilson.js";
import type { Where } from "../query/where.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import type { TimeRange } from "../time/time-range.js";
import { askCells, changeMeasures, type ChangeCells, type ChangeSource } from "./cells.js";
import { sumOver, type Element } from "./cuboids.js";
import type { Finding } from "./finding.js";
import { CERTAIN, flowCauses, type FlowCause } from "./flow-causes.js";
import { rateCauses } from "./rate-causes.js";
import { moves, releaseDimensions, withMissing } from "./upgrades.js";
import { asExpected, perRunCauses, runSizeCauses, type RunSizeCause } from "./run-sizes.js";
import {
  amount,
  changeText,
  elementText,
  number,
  pathText,
  percent,
  periodText,
  valueText,
  type CauseValue,
} from "./words.js";

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
  /** The measure over its rows; of a release whose runs hold fewer measurements, what was expected of those runs. */
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
    /** What the program's rows became, as a factor. */
    readonly kept: number;
  }[];
  /** The measure over all rows. */
  readonly before: number | null;
  readonly after: number | null;
}

const OPTIONS = ["measure", "before", "after", "dimensions", "where", "signal"];
const ACTION = "explain a change";
const MOST_CAUSES = 20;
/** A program that kept its rows but for this part lost nothing by its users' move. */
const LITTLE = 0.05;
/** Where changes up to this part of all rows can't be seen, an answer says so. */
const SEEN = 0.1;
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
export function explainCells(cells: ChangeCells): Explanation {
  return cells.kind === "flow" ? explainFlow(cells) : explainRate(cells);
}

function explainFlow(given: ChangeCells): Explanation {
  const cells = withMissing(given);
  const sizes = runSizeCauses(cells);
  // What is left to explain is what would have come, had those runs held what runs held before.
  const long = asExpected(cells, sizes);
  const perRun = perRunCauses(long);
  const { after } = asExpected(long, perRun);
  const { causes: found, expected, alike, variance } = flowCauses({ ...cells, after });
  const { ratio } = cells;
  const [was, is] = [sumOver(cells.before) * ratio, sumOver(cells.after)];
  const partOf = (change: number) => (is === was ? null : change / (is - was));
  const cause = (one: FlowCause): Cause => {
    const [had, has] = [sumOver(expected, one.leaves) * ratio, sumOver(after, one.leaves)];
    const change = has - had;
    const half = NORMAL_95 * Math.sqrt(sumOver(variance, one.leaves));
    const sentence = releaseSentence(cells, one, had, has, partOf(change));
    return {
      where: one.where,
      text: elementText(one.where),
      before: had,
      after: has,
      change,
      low: change - half,
      high: change + half,
      part: partOf(change),
      ...(sentence !== undefined && { sentence }),
    };
  };
  // The most certain come first; what came as it was is no cause, but beside what all others did.
  const named = found
    .filter(({ leaves }) => {
      const [had, has] = [sumOver(expected, leaves) * ratio, sumOver(after, leaves)];
      return alike || Math.abs(has - had) > (LITTLE * (had + has)) / 2;
    })
    .slice(0, MOST_CAUSES);
  const rest = { where: {}, leaves: without(after.length, named) };
  const ends = sizes.map((loss): Cause => {
    const [had, has] = [sumOver(after, loss.leaves), sumOver(cells.after, loss.leaves)];
    const half = NORMAL_95 * loss.error;
    const change = has - had;
    return {
      where: loss.where,
      text: elementText(loss.where),
      before: had,
      after: has,
      change,
      low: change - half,
      high: change + half,
      part: partOf(change),
      sentence: runSizeSentence(loss, partOf(change), is < was ? "drop" : "rise"),
      perRun: { now: loss.holds, before: loss.held, previous: loss.previous },
    };
  });
  const held = perRun.map((cause): Cause => {
    const [had, has] = [sumOver(after, cause.leaves), sumOver(long.after, cause.leaves)];
    const half = NORMAL_95 * cause.error;
    const change = has - had;
    const moved = cause.runsAfter / cause.runsBefore - 1;
    return {
      where: cause.where,
      text: elementText(cause.where),
      before: had,
      after: has,
      change,
      low: change - half,
      high: change + half,
      part: partOf(change),
      sentence: `${upper(elementText(cause.where))}: its runs hold ${perRunText(cause.holds)} measurements where they held ${perRunText(cause.held)} (${signed(cause.holds / cause.held - 1)}); ${Math.abs(moved) < 0.1 ? "as many came as before" : `${moved < 0 ? "fewer" : "more"} came, too`} (${signed(moved)}).`,
      perRun: { now: cause.holds, before: cause.held, previous: null },
    };
  });
  const causes = [...ends, ...held, ...named.map(cause)];
  if (alike) {
    causes.push(cause(rest));
    causes.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  }
  const guilty = [...sizes, ...found].map(({ where }) => where["software_name"]);
  return explanation(cells, {
    before: was,
    after: is,
    causes,
    remarks: causes.length === 0 ? tooFew(cells, variance) : [],
    rest: cause(alike ? { where: {}, leaves: [] } : rest),
    moves: moves(cells).filter(({ program }) => !guilty.includes(program ?? undefined)),
  });
}

/** What would have to change to be seen, where that is a fair part of all rows. */
function tooFew(cells: ChangeCells, variance: Float64Array): string[] {
  const all = (sumOver(cells.before) * cells.ratio + sumOver(cells.after)) / 2;
  const least = CERTAIN * Math.sqrt(sumOver(variance));
  return all > 0 && least > SEEN * all
    ? [
        `These rows can't tell more: a change of the whole of less than ${amount(Math.round(least), "")} ${cells.unit} (${percent(least / all)}) would not show.`,
      ]
    : [];
}

/** Of a release, what was expected of it and what came. */
function releaseSentence(
  cells: ChangeCells,
  { where, kind, moved = [] }: FlowCause,
  had: number,
  has: number,
  part: number | null,
): string | undefined {
  const { version, program } = releaseDimensions(cells);
  const [versionName = "", programName = ""] = [cells.names[version], cells.names[program]];
  const { [versionName]: release, [programName]: whose, ...place } = where;
  if (release === undefined && kind === undefined) return undefined;
  const named = [...(whose === undefined ? [] : [valueText(whose)])];
  const inPlace = Object.keys(place).length === 0 ? "" : ` in ${elementText(place)}`;
  const came = `${amount(Math.round(has), "")} ${cells.unit} came where ${amount(Math.round(had), "")} were to be expected${had > 0 ? ` (${has < had ? "" : "+"}${percent(has / had - 1)})` : ""}`;
  const share = part === null || part < 0.01 || part > 10 ? "" : `: ${percent(part)} of the change`;
  if (kind === "either") {
    return `${[...named, ""].join(" ")}${has < had ? "lost" : "won"} ${amount(Math.round(Math.abs(has - had)), "")} ${cells.unit} (${percent(Math.abs(has / had - 1))})${inPlace} as its users moved from ${valueText(moved[0] ?? null)} to ${valueText(moved.at(-1) ?? null)}${share}. These rows can't tell whether the release or the whole program did.`;
  }
  const verb = kind === "stopped" ? "stopped" : has < had ? "loses rows" : "sends more";
  return `${[...named, valueText(release ?? null)].join(" ")} ${verb}${inPlace}: ${came}${share === "" ? "" : share.replace(":", ",")}.`;
}

const signed = (part: number) => `${part < 0 ? "" : "+"}${percent(part)}`;

const perRunText = (value: number) =>
  number(value >= 9.95 ? Math.round(value) : Number(value.toFixed(1)));

/** "app 3.10.0 ends its runs early: 13 measurements a run where 3.9.1 held 31 (−59 %). …" */
function runSizeSentence(cause: RunSizeCause, part: number | null, kind: string): string {
  const { program, version, within, holds, held, previous, runsBefore, runsAfter } = cause;
  const release = program === null ? version : `${valueText(program)} ${valueText(version)}`;
  const place = within === undefined ? "" : ` in ${elementText(within)}`;
  const moved = runsAfter / runsBefore - 1;
  return [
    `${release}${place} ${holds < held ? "ends its runs early" : "holds more in its runs"}:`,
    `${perRunText(holds)} measurements a run where ${previous === null ? "its other releases" : valueText(previous)} held ${perRunText(held)} (${signed(holds / held - 1)}).`,
    Math.abs(moved) < 0.1
      ? `Its runs came as before (of all releases ${signed(moved)}).`
      : `Runs ${moved < 0 ? "fell" : "rose"} too (of all releases ${signed(moved)}).`,
    ...(part === null || part < 0.01 || part > 10
      ? []
      : [`That is ${Math.abs(part - 1) < 0.05 ? "all" : percent(part)} of the ${kind}.`]),
  ].join(" ");
}

function explainRate(cells: ChangeCells): Explanation {
  const { before, after, partBefore, partAfter, variance } = cells;
  const found = rateCauses({
    ...cells.leaves,
    allBefore: before,
    partBefore,
    allAfter: after,
    partAfter,
    ...(variance !== undefined && { variance }),
  });
  const all = rateOf(cells);
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
  const named = found.map((element) => cause(whereOf(element, cells), element.leaves));
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

/** The values of an element by the names of their dimensions. */
function whereOf(
  { dimensions, values: codes }: Element,
  { names, values }: ChangeCells,
): Record<string, string | null> {
  return Object.fromEntries(
    dimensions.map((dimension, at) => [names[dimension]!, values[dimension]![codes[at]!]!]),
  );
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

function rateOf(cells: ChangeCells, leaves?: readonly number[]): Rate {
  const [n0, n1] = [sumOver(cells.before, leaves), sumOver(cells.after, leaves)];
  const [part0, part1] = [sumOver(cells.partBefore, leaves), sumOver(cells.partAfter, leaves)];
  return { n0, n1, r0: part0 / n0, r1: part1 / n1 };
}

function without(many: number, named: readonly { readonly leaves: readonly number[] }[]): number[] {
  const out = new Uint8Array(many);
  for (const { leaves } of named) for (const leaf of leaves) out[leaf] = 1;
  const left: number[] = [];
  for (let leaf = 0; leaf < many; leaf += 1) if (out[leaf] === 0) left.push(leaf);
  return left;
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
  // Of a program that fell a move isn't cleared.
  const moved = moves
    .filter(({ kept }) => Math.abs(kept - 1) <= LITTLE)
    .map(
      ({ program, dimension, values }) =>
        `${program === null ? "" : `${cleanText(program, 60)} `}${dimension} ${pathText(values)}`,
    );
  const movedText =
    moved.length === 0
      ? ""
      : ` Users also upgraded: ${moved.slice(0, 3).join("; ")}; no ${cells.unit} were lost by it.`;
  const said = remarks.length === 0 ? "" : ` ${remarks.join(" ")}`;
  if (before === null || after === null || (before === 0 && after === 0)) {
    return `${what}. I can't tell what changed, because ${before === after ? "neither range holds" : before === null ? "the earlier range doesn't hold" : "the later range doesn't hold"} such rows.`;
  }
  if (causes.length === 0) {
    return `${what}. No part of it moved by more than is usual: nothing stands out in ${cells.names.join(", ")}.${movedText}${said}`;
  }
  const mechanisms = causes.flatMap(({ sentence }) => sentence ?? []);
  const others = causes.filter((cause) => cause.sentence === undefined);
  const part = ({ part }: Cause) =>
    part === null || Math.abs(part) > 10 ? "" : `, ${percent(part)} of the change`;
  const own = cells.quantile === undefined ? unit : "share";
  const above =
    cells.quantile === undefined ? "" : ` (share above ${amount(cells.quantile.at, unit)})`;
  const sentenceOf = (cause: Cause) => {
    const all = causes.length > 1 ? "all other rows alike" : "all rows alike";
    const name = Object.keys(cause.where).length === 0 ? all : cause.text;
    return `${name}${above} ${changeText(cause.before, cause.after, own)}${part(cause)}`;
  };
  const further =
    others.length > 3 ? `; and ${counted(others.length - 3, "further cause")} in the table` : "";
  const listed = others.slice(0, 3).map(sentenceOf).join("; ") + further;
  const rest =
    listed === ""
      ? []
      : [mechanisms.length > 0 ? `Apart from that: ${listed}.` : `${upper(listed)}.`];
  return `${[`${what}.`, ...mechanisms, ...rest].join(" ")}${movedText}${said}`;
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
  return typeof value === "string" ? value : value.map((text) => text ?? "(none)").join(" → ");
}
