import { Temporal } from "temporal-polyfill";
import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { presentDimensions } from "../query/cube.js";
import type { Dimension } from "../query/dimension.js";
import { count, type Measure } from "../query/measure.js";
import type { Where } from "../query/where.js";
import { CONFIDENCES, wilson } from "../query/wilson.js";
import { resultOfRows } from "../result/own-rows.js";
import { partialOf } from "../result/origin.js";
import { Result } from "../result/result.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import {
  askCells,
  changeMeasures,
  checkPeriods,
  checkSource,
  type ChangeCells,
  type ChangeQuestion,
  type ChangeSource,
} from "./cells.js";
import { sumOver } from "./cuboids.js";
import type { Finding } from "./finding.js";
import { flowNoise } from "./flow-causes.js";
import { changeText, percent, periodText, valueText } from "./words.js";

/** What `compare` takes. */
export interface CompareOptions {
  /** What to compare: as for `explain`. Default `count()`. */
  readonly measure?: Measure<unknown>;
  /** The range in question. */
  readonly now: TimeRange;
  /** The range to compare with; default: the same hours of the week before (of as many weeks before as keep the two apart). */
  readonly before?: TimeRange;
  /** The dimensions whose values are listed; default as for `explain`. */
  readonly dimensions?: readonly (string | Dimension)[];
  /** Which rows count, as in every question. */
  readonly where?: Where;
  /** How many values are listed, those first that moved most beyond what the whole did; default 20. */
  readonly top?: number;
  readonly signal?: AbortSignal;
}

/** How one value of a dimension moved. */
export interface MovedValue {
  readonly dimension: string;
  readonly value: string | null;
  /** The measure over its rows; null where there are none to tell it of. */
  readonly before: number | null;
  readonly after: number | null;
  readonly change: number | null;
  /** Ends of the 95 % interval of `change`; null where it isn't known. */
  readonly low: number | null;
  readonly high: number | null;
  /** `change` by `before`; null where that is 0. */
  readonly relative: number | null;
  /** Its part of the whole's change; the parts of a dimension's values add up to 1. */
  readonly part: number | null;
}

/** The answer of `compare`. */
export interface RangeComparison extends Finding {
  readonly kind: "compare";
  /** The measure over all rows. */
  readonly before: number | null;
  readonly after: number | null;
  /** The values listed, in the order of the table. */
  readonly values: readonly MovedValue[];
}

const OPTIONS = ["measure", "now", "before", "dimensions", "where", "top", "signal"];
const ACTION = "compare two ranges";
const NORMAL_95 = CONFIDENCES[0.95];
/** Standard errors beyond which one of many values stands out. */
const STANDS_OUT = 4;
/** A value that moved by less than this beyond the whole is as usual. */
const USUAL = 0.05;

/**
 * The first look: how much each value of each dimension moved against the same hours of the week
 * before, in a scan of each range. What is behind it tells `explain`.
 *
 * Intervals are of the noise that the cells of the two ranges show (of counts, overdispersed), of
 * shares Newcombe's (R. G. Newcombe, "Interval estimation for the difference between independent
 * proportions", Statistics in Medicine 17 (8), 1998, method 10).
 *
 * @returns `sentence`, `values` and `result`, a row a value. `found` is true where one moved beyond
 *   the whole by more than 5 % and four standard errors.
 * @throws ProbelabError as `explain` does.
 * @example
 * const first = await compare(lab.measurements, { now: last("24 hours", { now: lab.now }) });
 * first.sentence;
 */
export async function compare(
  source: ChangeSource,
  options: CompareOptions,
): Promise<RangeComparison> {
  refuseUnknown(options, OPTIONS, ACTION);
  const now = checkRange(options.now, ACTION, "now");
  const { top = 20 } = options;
  if (!(top >= 1)) {
    throw new ProbelabError(
      `Can't ${ACTION} by their top ${String(top)} values: pass a whole number from 1.`,
    );
  }
  const question = {
    measure: options.measure ?? count(),
    before: options.before ?? weekBefore(now),
    after: now,
    dimensions: options.dimensions,
    where: options.where ?? {},
    action: ACTION,
    signal: options.signal,
  };
  return ["quantile", "countDistinct"].includes(question.measure.measure)
    ? compareAsked(source, question, top)
    : compareCells(await askCells(source, question), top);
}

/**
 * Quantiles and counts of different values are no sums of parts: each dimension is asked on its own,
 * a scan of each range. Their noise isn't known, so nothing stands out by itself.
 */
async function compareAsked(
  source: ChangeSource,
  question: ChangeQuestion,
  top: number,
): Promise<RangeComparison> {
  const { where, measure, signal } = question;
  const room = checkSource(source, ACTION);
  const { before, after, notes } = checkPeriods(question);
  const dimensions = question.dimensions ?? (await presentDimensions(room, after, where));
  const ask = async (range: TimeRange, by: readonly (string | Dimension)[]) => {
    const question = {
      range,
      every: "all",
      by,
      top: Infinity,
      where,
      measures: { measure },
      signal,
    };
    return source.ask(question as never);
  };
  const value = (answer: Result<object>) =>
    (answer.rows()[0] as { measure: number | null } | undefined)?.measure ?? null;
  const [wasAll, isAll] = [await ask(before, []), await ask(after, [])];
  const all: MovedValue[] = [];
  for (const wanted of dimensions) {
    const dimension = typeof wanted === "string" ? wanted : wanted.name;
    const read = async (range: TimeRange) => {
      const rows = (await ask(range, [wanted])).rows() as Record<string, string | number | null>[];
      return new Map(
        rows.map((row) => [row[dimension] as string | null, row["measure"] as number | null]),
      );
    };
    const [was, is] = [await read(before), await read(after)];
    for (const value of new Set([...was.keys(), ...is.keys()])) {
      const [had, has] = [was.get(value) ?? null, is.get(value) ?? null];
      const change = had === null || has === null ? null : has - had;
      all.push({
        dimension,
        value,
        before: had,
        after: has,
        change,
        low: null,
        high: null,
        part: null,
        relative: change === null || had === null || had === 0 ? null : change / had,
      });
    }
  }
  all.sort((a, b) => Math.abs(b.change ?? 0) - Math.abs(a.change ?? 0));
  const values = all.slice(0, top);
  const { label = "", unit = "" } = isAll.origin.columns.measures[0] ?? {};
  const origin = {
    ...isAll.origin,
    ...partialOf(isAll.origin, wasAll.origin),
    notes: [...notes, ...isAll.origin.notes],
  };
  const what = `${label} ${changeText(value(wasAll), value(isAll), unit)} ${periodText(before, after)}`;
  const [most] = values;
  const named =
    most === undefined || most.change === null
      ? ""
      : ` Of ${counted(all.length, "value")} ${most.dimension} ${valueText(most.value)} moved most: it ${changeText(most.before, most.after, unit)}. I can't tell whether that is more than chance; explain does.`;
  return {
    kind: "compare",
    found: false,
    sentence: `${what}.${named}`,
    before: value(wasAll),
    after: value(isAll),
    values,
    result: comparisonResult({ label, unit, origin }, values, all.length),
  };
}

/** The same hours of the week before, by the clock of the range's zone; of several where they would overlap. */
export function weekBefore({ start, end, timeZone }: TimeRange): TimeRange {
  const weeks = Math.ceil((+end - +start) / (7 * 86_400_000));
  const earlier = (at: Date) =>
    new Date(
      Temporal.Instant.fromEpochMilliseconds(+at).toZonedDateTimeISO(timeZone).subtract({ weeks })
        .epochMilliseconds,
    );
  // An hour that the clocks leave out may move a bound by one; never beyond the later range.
  return { start: earlier(start), end: new Date(Math.min(+earlier(end), +start)), timeZone };
}

/** Compares cells that were asked: what {@link compare} does after its two scans. */
export function compareCells(cells: ChangeCells, top: number): RangeComparison {
  const judge = cells.kind === "flow" ? flowJudge(cells) : rateJudge(cells);
  const { before, after } = judge.whole;
  const all = cells.names.flatMap((dimension, at) => {
    const codes = cells.leaves.codes[at]!;
    const leavesOf = cells.values[at]!.map(() => [] as number[]);
    codes.forEach((code, leaf) => leavesOf[code]!.push(leaf));
    return leavesOf.map((leaves, code) => ({
      dimension,
      value: cells.values[at]![code]!,
      ...judge.value(leaves),
    }));
  });
  // One of two values is as far beyond as the other: the last digits of sums are no order.
  const most = Math.max(...all.map(({ beyond }) => Math.abs(beyond)));
  const far = ({ beyond }: Judged) => Math.round((Math.abs(beyond) / (most || 1)) * 1e9);
  const key = ({ value }: MovedValue) => JSON.stringify(value);
  const place = ({ dimension }: MovedValue) => cells.names.indexOf(dimension);
  all.sort((a, b) => far(b) - far(a) || place(a) - place(b) || (key(a) < key(b) ? -1 : 1));
  const listed = all.slice(0, top);
  const outstanding = all.filter(({ stands }) => stands);
  const values = listed.map(({ beyond, stands, ...value }): MovedValue => value);
  const what = `${cells.label} ${changeText(before, after, cells.unit)} ${periodText(cells.earlier, cells.later)}`;
  const named = outstanding
    .slice(0, 3)
    .map((moved) => `${moved.dimension} ${valueText(moved.value)} (${movedText(moved)})`);
  const further =
    outstanding.length > 3 ? `; and ${counted(outstanding.length - 3, "further value")}` : "";
  const nothing = cells.before.length === 0;
  return {
    kind: "compare",
    found: outstanding.length > 0,
    sentence: nothing
      ? "I can't compare the two ranges, because neither holds a row."
      : outstanding.length === 0
        ? `${what}. No value of ${cells.names.join(", ")} moved more than the whole by more than is usual.`
        : `${what}. Moved more than the whole: ${named.join("; ")}${further}.`,
    before,
    after,
    values,
    result: comparisonResult(cells, values, all.length),
  };
}

function movedText({ change, relative }: MovedValue): string {
  const sign = (change ?? 0) < 0 ? "−" : "+";
  if (relative === null) return "new";
  return `${sign}${percent(Math.abs(relative))}`;
}

/** What a value's leaves did, and how far beyond the whole. */
interface Judged extends Omit<MovedValue, "dimension" | "value"> {
  readonly beyond: number;
  readonly stands: boolean;
}

interface Judge {
  readonly whole: { readonly before: number | null; readonly after: number | null };
  value(leaves: readonly number[]): Judged;
}

function flowJudge(cells: ChangeCells): Judge {
  const { before, after, ratio } = cells;
  const variance = flowNoise(cells);
  const was = sumOver(before) * ratio;
  const is = sumOver(after);
  return {
    whole: { before: was, after: is },
    value(leaves) {
      const had = sumOver(before, leaves) * ratio;
      const has = sumOver(after, leaves);
      const error = Math.sqrt(sumOver(variance, leaves));
      const change = has - had;
      const beyond = has - (was > 0 ? (had * is) / was : 0);
      return {
        before: had,
        after: has,
        change,
        low: change - NORMAL_95 * error,
        high: change + NORMAL_95 * error,
        relative: had > 0 ? change / had : null,
        part: is === was ? null : change / (is - was),
        beyond,
        stands: [beyond, change].every(
          (moved) =>
            Math.abs(moved) > STANDS_OUT * error && Math.abs(moved) > (USUAL * (had + has)) / 2,
        ),
      };
    },
  };
}

function rateJudge(cells: ChangeCells): Judge {
  const { before, after, partBefore, partAfter, variance } = cells;
  const rate = (leaves?: readonly number[]) => {
    const [n0, n1] = [sumOver(before, leaves), sumOver(after, leaves)];
    const [s0, s1] = [sumOver(partBefore, leaves), sumOver(partAfter, leaves)];
    return { n0, n1, s0, s1, r0: s0 / n0, r1: s1 / n1 };
  };
  const all = rate();
  const whole = all.r1 - all.r0;
  const middle = (all.r0 + all.r1) / 2;
  return {
    whole: { before: all.n0 > 0 ? all.r0 : null, after: all.n1 > 0 ? all.r1 : null },
    value(leaves) {
      const { n0, n1, s0, s1, r0, r1 } = rate(leaves);
      if (n0 === 0 || n1 === 0) {
        return {
          before: n0 > 0 ? r0 : null,
          after: n1 > 0 ? r1 : null,
          change: null,
          low: null,
          high: null,
          relative: null,
          part: whole === 0 ? null : partOf(n0, n1, n0 > 0 ? r0 : r1, n1 > 0 ? r1 : r0),
          beyond: 0,
          stands: false,
        };
      }
      const change = r1 - r0;
      const spread =
        variance ?? ((s0 + s1 + 1) / (n0 + n1 + 2)) * (1 - (s0 + s1 + 1) / (n0 + n1 + 2));
      const error = Math.sqrt(spread * (1 / n0 + 1 / n1));
      const ends =
        variance === undefined
          ? newcombe(s0, n0, s1, n1)
          : { low: change - NORMAL_95 * error, high: change + NORMAL_95 * error };
      // Beyond the whole, in rows: a rate of few rows that doubled moves little.
      const off = change - whole;
      return {
        before: r0,
        after: r1,
        change,
        ...ends,
        relative: r0 === 0 ? null : change / r0,
        part: whole === 0 ? null : partOf(n0, n1, r0, r1),
        beyond: off * Math.min(n0 / all.n0, n1 / all.n1),
        stands: [off, change].every(
          (moved) => Math.abs(moved) > STANDS_OUT * error && Math.abs(moved) > USUAL * Math.abs(r0),
        ),
      };
    },
  };
  function partOf(n0: number, n1: number, r0: number, r1: number): number {
    const [w0, w1] = [n0 / all.n0, n1 / all.n1];
    return ((w1 - w0) * ((r0 + r1) / 2 - middle) + ((w0 + w1) / 2) * (r1 - r0)) / whole;
  }
}

/** Newcombe's interval of the difference of two shares, of their Wilson intervals. */
function newcombe(s0: number, n0: number, s1: number, n1: number) {
  const was = wilson(s0, n0)!;
  const is = wilson(s1, n1)!;
  const [r0, r1] = [s0 / n0, s1 / n1];
  return {
    low: r1 - r0 - Math.hypot(r1 - is.low, was.high - r0),
    high: r1 - r0 + Math.hypot(is.high - r1, r0 - was.low),
  };
}

function comparisonResult(
  cells: Pick<ChangeCells, "label" | "unit" | "origin">,
  values: readonly MovedValue[],
  many: number,
): Result {
  const { origin } = cells;
  const listed = `The ${values.length} of ${counted(many, "value")} that moved most beyond the whole.`;
  return new Result(resultOfRows(values).table, {
    ...origin,
    columns: {
      dimensions: [
        { name: "dimension", order: [...new Set(values.map(({ dimension }) => dimension))] },
        { name: "value", order: [...new Set(values.map(({ value }) => value))] },
      ],
      measures: changeMeasures(cells, [
        ["relative", "Relative change", "share"],
        ["part", "Part of the whole's change", "share"],
      ]),
    },
    reductions: values.length < many ? [listed] : [],
    notes: origin.notes,
  });
}
