import { Temporal } from "temporal-polyfill";
import { refuseUnknown } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { counted } from "../../base/text.js";
import { count, type Measure } from "../../query/measure.js";
import type { Where } from "../../query/where.js";
import { resultOfRows } from "../../result/own-rows.js";
import { WEEK } from "../../time/span.js";
import { checkRange, type TimeRange } from "../../time/time-range.js";
import type { Account } from "./account.js";
import {
  askCells,
  changeMeasures,
  type ChangeCells,
  type ChangeDimension,
  type ChangeSource,
} from "./cells.js";
import { cuboid, leavesBy } from "./cube.js";
import { accountOf, explainCells } from "./explain.js";
import type { Finding } from "../finding.js";
import { rateOf } from "./rates.js";
import { releaseDimensions } from "./releases.js";
import { PART_TOLERANCE } from "./thresholds.js";
import { valueText } from "../words.js";

/** What `compare` takes. */
export interface CompareOptions {
  /** What to compare: a count, a sum, a rate, a share, a ratio or a mean. Default `count()`. */
  readonly measure?: Measure<unknown>;
  /** The range in question. */
  readonly now: TimeRange;
  /** The range to compare with; default: the same hours of the week before (as many weeks back as needed to avoid overlap). */
  readonly before?: TimeRange;
  /** The dimensions whose values are listed; default as for `explain`. */
  readonly dimensions?: readonly ChangeDimension[];
  /** Which rows count, as in every question. */
  readonly where?: Where;
  /** How many values are listed, those first that stand out (versions last), then those that moved most beyond what the whole did; default 20. */
  readonly top?: number;
  readonly signal?: AbortSignal;
}

/** How one value of a dimension moved. */
export interface MovedValue {
  readonly dimension: string;
  /** Of a version with its program, where both are asked about: 3.10.0 of another is another release. */
  readonly value: string | null;
  /** The measure over its rows; null where there are none. */
  readonly before: number | null;
  readonly after: number | null;
  readonly change: number | null;
  /** Ends of the 95 % interval of `change`; null where it isn't known. */
  readonly low: number | null;
  readonly high: number | null;
  /** `change` by `before`; null where that is 0. */
  readonly relative: number | null;
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

/**
 * The first look: how much each value of each dimension moved against the same hours of the week
 * before, in one scan of each range. Its sentence and intervals are those of `explain`, which also
 * counts runs and asks more of the rows that it names.
 *
 * @returns `sentence`, `values` and `result`, a row a value. `found` is true where a cause is named.
 * @throws ProbelabError as `explain` does, and for quantiles and counts of different values, which
 *   are no sums over parts.
 * @example
 * const first = await compare(lab.measurements, { now: last("24 hours", { now: lab.now }) });
 * first.sentence;
 */
export async function compare(
  source: ChangeSource,
  options: CompareOptions,
): Promise<RangeComparison> {
  refuseUnknown(options, OPTIONS, ACTION);
  const now = checkRange((options as CompareOptions | undefined)?.now, ACTION, "now");
  const { top = 20, measure = count() } = options;
  if (!(top >= 1 && (Number.isInteger(top) || top === Infinity))) {
    throw new ProbelabError(
      `Can't ${ACTION} by their top ${String(top)} values: pass a whole number from 1.`,
    );
  }
  if (["quantile", "countDistinct"].includes(measure.measure)) {
    throw new ProbelabError(
      `Can't ${ACTION} by a ${measure.measure}: its values don't add up to the whole. Ask the same source for each range, as ask({ range, every: "all", by, measures }), or take explain.`,
    );
  }
  const cells = await askCells(source, {
    measure,
    before: options.before ?? weekBefore(now),
    after: now,
    dimensions: options.dimensions,
    where: options.where ?? {},
    action: ACTION,
    signal: options.signal,
  });
  return compareCells(cells, top);
}

/** The same hours of the week before, by the clock of the range's zone; of several where they would overlap. */
export function weekBefore({ start, end, timeZone }: TimeRange): TimeRange {
  const weeks = Math.ceil((+end - +start) / WEEK);
  const earlier = (at: Date) => {
    const clock = Temporal.Instant.fromEpochMilliseconds(+at).toZonedDateTimeISO(timeZone);
    return new Date(clock.subtract({ weeks }).epochMilliseconds);
  };
  // An hour that the clocks leave out may move a bound by one; never beyond the later range.
  return { start: earlier(start), end: new Date(Math.min(+earlier(end), +start)), timeZone };
}

/** Compares cells that were asked: what {@link compare} does after its two scans. */
export function compareCells(given: ChangeCells, top: number): RangeComparison {
  const { cells, account } = accountOf(given);
  const { found, headline, evidence, details, sentence, moved } = explainCells(given);
  const all = movedValues(given);
  const values = all.slice(0, top);
  const left = `The ${values.length} of ${counted(all.length, "value")} that stand out, or moved most beyond the whole.`;
  return {
    kind: "compare",
    ...{ found, headline, evidence, details, sentence, moved: moved! },
    before: account.before,
    after: account.after,
    values,
    result: resultOfRows(values, {
      ...cells.origin,
      columns: {
        dimensions: [
          { name: "dimension", order: [...new Set(values.map(({ dimension }) => dimension))] },
          { name: "value", order: [...new Set(values.map(({ value }) => value))] },
        ],
        measures: changeMeasures(cells, [["relative", "Relative change", "share"]]),
      },
      reductions: values.length < all.length ? [left] : [],
    }),
  };
}

/** What each value of each dimension did: those first that `explain` names, then those that moved most beyond the whole. */
export function movedValues(given: ChangeCells): MovedValue[] {
  // Without what should have come, upgrades would look like noise.
  const { cells, account } = accountOf(given);
  const { names, leaves, values } = cells;
  const { version, program } = releaseDimensions(cells);
  const all = names.flatMap((dimension, at) => {
    const named = at === version && program >= 0 ? [program, version] : [at];
    const { parts, example } = cuboid(leaves, named);
    return [...leavesBy(parts)].map(([group, own]) => {
      const { beyond, ...moved } = movedOf(cells, account, own);
      const texts = named.map((one) => values[one]![leaves.codes[one]![example[group]!]!]!);
      // As explain names it: a cause of this value, which moved the same way.
      const stands = account.parts.some(
        ({ where, doubt, kind, change }) =>
          doubt === undefined &&
          kind !== "mix" &&
          dimension in where &&
          named.every((one, k) => !(names[one]! in where) || where[names[one]!] === texts[k]) &&
          change * beyond > 0 &&
          Math.abs(moved.relative ?? 1) > PART_TOLERANCE,
      );
      const value = texts.length === 1 ? texts[0]! : texts.map(valueText).join(" ");
      // Users upgrade all the time: what else stands out comes before versions, and before all others.
      const rank = stands ? Number(at === version) : 2;
      // One of two values is as far beyond as the other: the last digits of sums are no order.
      const far = Number(Math.abs(beyond).toPrecision(9));
      return { value: { dimension, value, ...moved }, rank, far, key: `${at} ${value}` };
    });
  });
  all.sort((a, b) => a.rank - b.rank || b.far - a.far || (a.key < b.key ? -1 : 1));
  return all.map(({ value }) => value);
}

/** What some rows did, and how far beyond the whole, in rows: a rate of few rows that doubled moves little. */
function movedOf(cells: ChangeCells, account: Account, leaves: readonly number[]) {
  const [all, own] = [rateOf(cells), rateOf(cells, leaves)];
  const [n0, n1] = [own.n0 * cells.ratio, own.n1];
  const isFlow = cells.kind === "flow";
  const before = isFlow ? n0 : n0 > 0 ? own.r0 : null;
  const after = isFlow ? n1 : n1 > 0 ? own.r1 : null;
  if (before === null || after === null)
    return { before, after, change: null, low: null, high: null, relative: null, beyond: 0 };
  const change = after - before;
  const half = account.halfOf(leaves);
  const beyond = isFlow
    ? after - (account.before! > 0 ? (before * account.after!) / account.before! : 0)
    : (change - (all.r1 - all.r0 || 0)) * Math.min(own.n0 / all.n0, n1 / all.n1);
  const ends = { before, after, change, low: change - half, high: change + half };
  return { ...ends, relative: before === 0 ? null : change / before, beyond };
}
