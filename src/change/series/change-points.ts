import { ProbelabError } from "../../base/error.js";
import { median } from "../../base/statistics.js";
import { counted } from "../../base/text.js";
import { isVersionColumn, type MeasureColumn } from "../../result/origin.js";
import { resultOfRows } from "../../result/own-rows.js";
import type { Result } from "../../result/result.js";
import { DAY, WEEK } from "../../time/span.js";
import { bucketNoun, usualLength } from "../../time/step.js";
import { dateText, pairText } from "../../time/time-zone.js";
import { offsetAt, type RangeBucket } from "../../time/bucket.js";
import { changeColumns, tell, type Finding, type Telling } from "../finding.js";
import { readFlows, seriesName, type Flows, type FlowSeries } from "./flows.js";
import { withoutSeason } from "./season.js";
import { segments, type Segmented, type LevelStep } from "./segments.js";
import { amount, percent, signedPercent } from "../../base/numbers.js";

/** The changes of one or many series, with the series that they were found in. */
export interface ChangePoints extends Finding {
  readonly kind: "change points";
  /** The answer that was searched: a chart draws the changes into it. */
  readonly asked: Result;
}

const ACTION = "find change points";
/** With fewer buckets any change could be chance. */
const FEWEST_BUCKETS = 8;
const MOST = 5_000;
/** What a search for steps leaves out. */
const UNSEEN = "Slow rises and falls aren't looked for";
const LACKING = `fewer than ${FEWEST_BUCKETS} whole buckets, or nothing but zeros`;

/** Chance that an answer in which nothing changed gives any change; each series has an equal part. */
const ERROR = 0.05;

/** A series without its season, and its steps. */
interface Searched extends Segmented {
  readonly series: FlowSeries;
  readonly level: Float64Array;
}

/** A step in its series; of counts no end is below 0. */
interface SeriesStep extends LevelStep {
  readonly series: FlowSeries;
  readonly size: number;
  /** Ends of the 95 % interval of `size`. */
  readonly low: number;
  readonly high: number;
  /** `size` by `before`; null where that is nothing. */
  readonly relative: number | null;
}

/**
 * Finds when series changed their level: steps, with 95 % intervals. Slow rises and falls aren't looked
 * for. The day and the week are removed first; docs/change-points.md describes the method.
 *
 * @param counts a Result by bucket of time, one series or many. Where nothing changed, the chance that
 *   anything is found is 5 % for the whole answer.
 * @returns `result` has a row for each change, the clearest first: the dimensions, `t`, `before`,
 *   `after`, `size`, `relative`, `size_low`, `size_high`, `earliest`, `latest`, `p`.
 * @throws ProbelabError for what is no Result by bucket of time, or has more than 5,000 buckets.
 * @example
 * const counts = lab.measurements.counts({ range, every: "hour" });
 * (await changePoints(counts)).sentence;
 */
export async function changePoints(
  counts: Result<object> | Promise<Result<object>>,
): Promise<ChangePoints> {
  const flows = await readFlows(counts, ACTION);
  const { buckets, series, time, measure } = flows;
  if (buckets.length > MOST) {
    throw new ProbelabError(
      `Can't ${ACTION} in ${buckets.length.toLocaleString("en-US")} buckets: ${MOST.toLocaleString("en-US")} are the most. Ask with a coarser every, or for a shorter range.`,
    );
  }
  const { judged, found } = search(flows, series);
  // Users go from version to version: what all versions hold together says whether anything changed.
  const names = flows.result.origin.columns.dimensions.map(({ name }) => name);
  const versions = names.filter((name) => measure.additive && isVersionColumn(name));
  const told =
    versions.length === 0 ? { judged, found } : search(flows, sumsOver(versions, series));
  const moved = versions.length > 0 && found.length > 0 && movedText(found);
  const incomplete = time.incomplete.map((start) => dateText(start, flows.range.timeZone));
  const unjudged = series.length - judged.length;
  const notes = [
    ...(unjudged === 0
      ? []
      : [`Not judged: ${counted(unjudged, "series", "series")} with ${LACKING}.`]),
    ...(incomplete.length === 0
      ? []
      : [
          `Left out of the search: the ${bucketNoun(time.every, incomplete.length > 1)} of ${incomplete.join(" and ")}, covered only in part.`,
        ]),
  ];
  return Object.freeze<ChangePoints>({
    kind: "change points",
    ...tellingOf(told.found, told.judged, flows, moved),
    found: found.length > 0,
    result: tableOf(found, flows, notes),
    asked: flows.result,
  });
}

/** Searches series for steps, the clearest first. */
function search(flows: Flows, series: readonly FlowSeries[]) {
  const { buckets, time, range, measure } = flows;
  const isCount = isCounted(measure);
  const cut = new Set(time.incomplete.map(Number));
  const local = buckets.map(({ start }) => +start + offsetAt(+start, range.timeZone));
  const whole = series.flatMap((each) => {
    const values = Float64Array.from(each.values, (value, at) =>
      value === null || cut.has(+buckets[at]!.start) ? NaN : value,
    );
    const known = values.filter((value) => !isNaN(value));
    if (known.length < FEWEST_BUCKETS || known.every((value) => value === 0)) return [];
    const level = withoutSeason(values, local, { every: time.every, counts: isCount });
    return [{ series: each, level }];
  });
  const judged = whole.map((each): Searched => ({
    ...each,
    ...segments(each.level, ERROR / whole.length),
  }));
  const found = judged.flatMap(({ series, steps }) =>
    steps.map((step): SeriesStep => {
      const known = (value: number) => (isCount ? Math.max(0, value) : value);
      const least = 1e-9 * Math.max(Math.abs(step.before), Math.abs(step.after));
      const [before, after] = [step.before, step.after].map((value) =>
        Math.abs(value) < least ? 0 : known(value),
      ) as [number, number];
      const size = after - before;
      const [low, high] = [after - step.margin, after + step.margin].map(known) as [number, number];
      const ends = { before, after, size, low: low - before, high: high - before };
      const relative = before > 0 ? size / before : null;
      return { ...step, series, ...ends, relative, p: Math.min(1, step.p * whole.length) };
    }),
  );
  // Beyond one in a million the larger comes first, not the one with the longer stretch.
  const size = (each: SeriesStep) => Math.abs(each.size);
  found.sort((a, b) => Math.max(1e-6, a.p) - Math.max(1e-6, b.p) || size(b) - size(a));
  // Of changes as large as the first one, the earliest: an outage begins before it ends.
  const isAlike = (each: SeriesStep, top: SeriesStep) =>
    each.series === top.series &&
    each.p <= Math.max(1e-6, top.p) &&
    size(each) + each.margin >= size(top) - top.margin;
  const [first] = found.filter((each) => isAlike(each, found[0]!)).sort((a, b) => a.at - b.at);
  found.sort((a, b) => Number(b === first) - Number(a === first));
  return { judged, found };
}

/** The sums of series over dimensions. */
function sumsOver(names: readonly string[], series: readonly FlowSeries[]): FlowSeries[] {
  const sums = new Map<string, FlowSeries>();
  for (const each of series) {
    const group = Object.fromEntries(
      Object.entries(each.group).filter(([name]) => !names.includes(name)),
    );
    const name = seriesName(group);
    const before = sums.get(name)?.values ?? [];
    const values = each.values.map((value, at) => {
      const other = before[at] ?? null;
      return value === null ? other : value + (other ?? 0);
    });
    sums.set(name, { group, name, values });
  }
  return [...sums.values()];
}

function tableOf(found: readonly SeriesStep[], flows: Flows, notes: readonly string[]): Result {
  const { measure } = flows;
  const input = flows.result;
  const { dimensions, time } = input.origin.columns;
  const start = (at: number) => flows.buckets[at]!.start;
  const rows = found.map(
    ({ series, at, from, to, before, after, size, low, high, relative, p }) => {
      const times = { t: start(at), earliest: start(from), latest: start(to) };
      const sizes = { before, after, size, relative, size_low: low, size_high: high };
      return { ...series.group, ...times, ...sizes, p: Number(p.toPrecision(2)) };
    },
  );
  const groups = dimensions.map(({ name }) => name);
  const names = [
    ...[...groups, "t", "before", "after", "size", "relative"],
    ...["size_low", "size_high", "earliest", "latest", "p"],
  ];
  const [size, ...others] = changeColumns([
    ["size", `${measure.label}, change`, measure.unit],
    ["before", `${measure.label}, before`, measure.unit],
    ["after", `${measure.label}, after`, measure.unit],
    ["relative", `${measure.label}, relative change`, "share"],
    ["size_low", `${measure.label}, change, low`, measure.unit],
    ["size_high", `${measure.label}, change, high`, measure.unit],
    ["p", "Probability by chance", "probability"],
  ]);
  const columns = {
    ...(time && { time: { name: "t", every: time.every, incomplete: [] } }),
    dimensions: dimensions.map((dimension) => ({
      ...dimension,
      order: dimension.order.filter((value) =>
        found.some(({ series }) => series.group[dimension.name] === value),
      ),
    })),
    measures: [{ ...size!, main: true as const }, ...others],
    kinds: { earliest: "time", latest: "time" } as const,
  };
  const all = [...new Set([...input.origin.notes, ...notes])];
  return resultOfRows(rows, { ...input.origin, columns, notes: all }, names);
}

const isCounted = ({ additive, missing }: MeasureColumn) => additive && missing === "zero";

/** Says that single versions changed, where what all hold together is told. */
function movedText(found: readonly SeriesStep[]): string {
  const some = new Set(found.map(({ series }) => series)).size;
  return `${counted(found.length, "change")} of ${counted(some, "version")} in the table, as users go from one to another`;
}

function tellingOf(
  found: readonly SeriesStep[],
  judged: readonly Searched[],
  flows: Flows,
  moved: string | false,
): Telling {
  const { measure, buckets } = flows;
  const { every } = flows.time;
  const each = `${measure.label} by ${every}`;
  if (judged.length === 0) {
    const why =
      flows.series.length === 0
        ? (flows.result.origin.notes[0] ?? "The answer is empty")
        : `It has ${LACKING}`;
    return tell(`Can't tell whether ${each} changed`, why, []);
  }
  const [best, ...others] = found;
  if (best === undefined) {
    const where = judged.length === 1 ? "" : ` in any of ${judged.length} series`;
    const [one, more] = [bucketNoun(every, false), bucketNoun(every, true)];
    const searched = `${counted(buckets.length, one, more)} were searched`;
    return tell(`No change of level was found in ${each}${where}`, unseenText(judged, measure), [
      UNSEEN,
      searched,
      moved,
    ]);
  }
  const changed = new Set(found.map(({ series }) => series)).size;
  const more = others.slice(0, 3).map((step) => {
    const start = dateText(buckets[step.at]!.start, flows.range.timeZone);
    return `${start} (${sizeText(step.size, step, measure)})`;
  });
  const tail =
    judged.length > 1
      ? `${counted(found.length, "change")} in ${changed} of ${judged.length} series`
      : others.length > 0 &&
        `${counted(others.length, "more change")}: ${more.join(", ")}${others.length > 3 ? " …" : ""}`;
  const of = best.series.name === "" ? "" : ` of ${best.series.name}`;
  const isWeekend = ({ start }: RangeBucket) =>
    [0, 6].includes(new Date(+start + offsetAt(+start, flows.range.timeZone)).getUTCDay());
  const length = usualLength(every);
  const weekend =
    length <= DAY &&
    buckets.length * length < 2 * WEEK &&
    new Set(buckets.map(isWeekend)).size === 2 &&
    "With less than 2 weeks a weekend looks like a change";
  const [head, evidence] = stepText(best, flows);
  return tell(`${each}${of} ${head}`, evidence!, [tail, moved, weekend]);
}

/** Which step would have been noticed. */
function unseenText(judged: readonly Searched[], measure: MeasureColumn): string {
  const isCount = isCounted(measure);
  const least = median(
    judged.map(({ least, level }) => {
      const known = level.filter((value) => !isNaN(value));
      const sum = known.reduce((all, value) => all + value, 0);
      return isCount ? (least * known.length) / sum : least;
    }),
  );
  const text = (size: number) => {
    if (measure.unit === "share") return percent(size).replace(" %", " points");
    return isCount ? percent(size) : short(size, measure);
  };
  const what =
    isCount && least > 1 ? "Not even a fall to nothing" : `A step of ${text(least)} or more`;
  const where = judged.length === 1 ? "" : " in the usual series";
  return `${what} for a quarter of them would have been noticed in 9 of 10 cases${where}`;
}

/** "fell by 53 % at 3 Oct 2026 03:00 UTC"; "From 699 to 326", with the intervals of size and time. */
function stepText(step: SeriesStep, { buckets, measure, range: { timeZone } }: Flows): string[] {
  const { at, from, to, before, after, size } = step;
  const [start, first, last] = [at, from, to].map((place) => buckets[place]!.start);
  const [by, low, high] = [size, step.low, step.high].map((n) => sizeText(n, step, measure));
  const began = from === to ? "" : `; it came between ${pairText(first!, last!, timeZone, "and")}`;
  return [
    `${size < 0 ? "fell" : "rose"} by ${by!.replace(/^[−+]/, "")} at ${dateText(start!, timeZone)} ${timeZone}`,
    `From ${short(before, measure)} to ${short(after, measure)} (95 % interval ${low} to ${high})${began}`,
  ];
}

function short(value: number, { unit }: MeasureColumn): string {
  return amount(Number(value.toPrecision(3)), unit).replace("-", "−");
}

/** How large a change is: of a share in points, of others in percent of what was before, where that isn't 0. */
function sizeText(size: number, { before }: SeriesStep, measure: MeasureColumn): string {
  if (measure.unit === "share") return signedPercent(size).replace(" %", " points");
  if (before > 0) return signedPercent(size / before);
  return `${size < 0 ? "−" : "+"}${short(Math.abs(size), measure)}`;
}
