import { ProbelabError } from "../base/error.js";
import { checkOptions, type Rules } from "../base/check-options.js";
import { cleanText, counted, shownValue, textOf } from "../base/text.js";
import { newTable } from "../result/arquero-table.js";
import { isVersionColumn, type MeasureColumn } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import { readInstant } from "../time/instant.js";
import { bucketNoun } from "../time/step.js";
import { formatInstant } from "../time/time-zone.js";
import { offsetAt } from "../time/wall-clock.js";
import type { Finding } from "./finding.js";
import { readFlows, type Flows, type FlowSeries } from "./flows.js";
import { withoutSeason } from "./season.js";
import { segments, type Change } from "./segments.js";
import { amount, percent } from "./words.js";

/** Options of `changePoints`. */
export interface ChangePointsOptions {
  /** Name of the measure; default: the one that charts draw. */
  readonly measure?: string;
  /** Share of the series found to have changed that may have not; default 0.05. */
  readonly falseDiscovery?: number;
  /** Deploys and incidents, as charts take them: `chart.annotation("2026-03-02", "3.10 released")`. */
  readonly annotations?: readonly GivenAnnotation[];
}

/** A deploy or an incident: when it was (one of `time`, `at`, `start`), and what. */
interface GivenAnnotation {
  readonly time?: Date | string;
  readonly at?: Date | string;
  readonly start?: Date | string;
  readonly label: string;
}

/** The changes of one or many series, with the series that they were found in. */
export interface ChangePoints extends Finding {
  readonly kind: "change points";
  /** The answer that was searched: a chart draws the changes into it. */
  readonly asked: Result;
}

const ACTION = "find change points";
/** With fewer buckets no change can be told from chance. */
const FEWEST = 8;
const MOST = 5_000;

const RULES: Rules<ChangePointsOptions> = {
  measure: { fits: (v) => typeof v === "string", pass: "the name of a measure" },
  falseDiscovery: {
    fits: (v) => typeof v === "number" && v > 0 && v < 1,
    pass: "a share between 0 and 1, such as 0.05",
  },
  annotations: {
    fits: (v) => Array.isArray(v) && v.every((one) => typeof one === "object" && one !== null),
    pass: 'a list such as [chart.annotation("2026-03-02", "3.10 released")]',
  },
};

/** A change and the series that it was found in. */
interface Found {
  readonly series: FlowSeries;
  readonly change: Change;
}

/**
 * Finds when series changed their level: steps, and slopes with their beginning and end, each with 95 %
 * intervals, and what else began then (annotations; versions first seen, where the answer is by
 * version). The day and the week are removed first; docs/change-points.md describes the method.
 *
 * @param counts a Result by bucket of time, one series or many. In many, the share of series wrongly
 *   found to have changed is held at `falseDiscovery` (Benjamini and Hochberg, JRSS B 57, 1995).
 * @returns `result` has a row for each change, the clearest first: the dimensions, `t` and `until` (equal
 *   for a step), `change` ("step" or "slope"), `before`, `after`, `size`, `relative`, `size_low`,
 *   `size_high`, `earliest`, `latest`, `p`, `began`.
 * @throws ProbelabError for what is no Result by bucket of time, or has more than 5,000 buckets.
 * @example
 * const counts = lab.measurements.counts({ range, every: "hour" });
 * (await changePoints(counts)).sentence;
 */
export async function changePoints(
  counts: Result<object> | Promise<Result<object>>,
  options: ChangePointsOptions = {},
): Promise<ChangePoints> {
  checkOptions(options, { ...RULES }, ACTION);
  const flows = await readFlows(counts, options.measure, ACTION);
  const { buckets, series, time, measure } = flows;
  if (buckets.length > MOST) {
    throw new ProbelabError(
      `Can't ${ACTION} in ${buckets.length.toLocaleString("en-US")} buckets: ${MOST.toLocaleString("en-US")} are the most. Ask with a coarser every, or for a shorter range.`,
    );
  }
  const result = flows.result as Result;
  const isCount = measure.additive && measure.missing === "zero";
  const error = options.falseDiscovery ?? 0.05;
  const cut = new Set(time.incomplete.map(Number));
  const local = buckets.map(({ start }) => +start + offsetAt(+start, flows.range.timeZone));
  const judged: { series: FlowSeries; values: Float64Array }[] = [];
  const unjudged = new Map<string, number>();
  let gaps = 0;
  for (const each of series) {
    const values = Float64Array.from(each.values, (value, at) =>
      value === null || cut.has(+buckets[at]!.start) ? NaN : value,
    );
    const known = values.filter((value) => !isNaN(value));
    const why =
      known.length < FEWEST
        ? `fewer than ${FEWEST} whole buckets`
        : known.every((value) => value === 0)
          ? "nothing but zeros"
          : undefined;
    if (why !== undefined) unjudged.set(why, (unjudged.get(why) ?? 0) + 1);
    else judged.push({ series: each, values });
    if (why === undefined && values.length - known.length > cut.size) gaps += 1;
  }
  const level = judged.map(({ values }) =>
    withoutSeason(values, local, { every: time.every, counts: isCount }),
  );
  const first = level.map((values) => segments(values, error));
  const clearest = first.map((changes) => Math.min(1, ...changes.map(({ p }) => p)));
  const kept = benjaminiHochberg(clearest, error);
  // Fewer series than were looked at: each change of theirs has to be as much clearer.
  const stricter = (error * kept.size) / Math.max(1, judged.length);
  const noLess = (value: number) => (isCount ? Math.max(0, value) : value);
  const found = judged.flatMap(({ series }, at): Found[] => {
    if (!kept.has(at)) return [];
    const changes = stricter < error ? segments(level[at]!, stricter) : first[at]!;
    return changes.map((change) => ({
      series,
      change: { ...change, before: noLess(change.before), after: noLess(change.after) },
    }));
  });
  // Beyond one in a million the larger comes first, not the one with the longer stretch.
  const clear = ({ change }: Found) => Math.max(1e-6, change.p);
  const size = ({ change }: Found) => Math.abs(change.after - change.before);
  found.sort((a, b) => clear(a) - clear(b) || size(b) - size(a));
  const began = beginnings(flows, options.annotations ?? []);
  const table = tableOf(found, flows, began);
  const incomplete = time.incomplete.map((start) => timeText(+start, flows)).join(" and ");
  const notes = [
    ...[...unjudged].map(
      ([why, many]) => `Changes can't be told in ${counted(many, "series", "series")}: ${why}.`,
    ),
    ...(incomplete === ""
      ? []
      : [
          `Left out of the search: the ${bucketNoun(time.every, cut.size > 1)} of ${incomplete}, covered only in part.`,
        ]),
    ...(gaps === 0
      ? []
      : [
          `${counted(gaps, "series has", "series have")} buckets without a value: a change in such a gap is reported at its end.`,
        ]),
  ];
  return Object.freeze<ChangePoints>({
    kind: "change points",
    sentence: sentenceOf(found, judged.length, flows, {
      error,
      began: table.column("began") as (string | null)[],
      why: [...unjudged.keys()][0] ?? "the answer is empty",
    }),
    found: found.length > 0,
    result: table.with(table.table, {
      columns: table.origin.columns,
      notes: [...new Set([...result.origin.notes, ...notes])],
    }),
    asked: result,
  });
}

/** Which of the p-values are found with this false-discovery rate (Benjamini and Hochberg, JRSS B 57, 1995). */
export function benjaminiHochberg(p: readonly number[], rate: number): ReadonlySet<number> {
  const order = p.map((_, at) => at).sort((a, b) => p[a]! - p[b]!);
  const most = order.findLastIndex((at, rank) => p[at]! <= (rate * (rank + 1)) / p.length);
  return new Set(order.slice(0, most + 1));
}

/** Something that began, in ms since 1970. */
interface Beginning {
  readonly at: number;
  readonly label: string;
}

/** Annotations, and in an answer by version the first bucket of each version, but for the first two buckets of all. */
function beginnings(
  { result, series, buckets, range }: Flows,
  annotations: readonly GivenAnnotation[],
): Beginning[] {
  const noted = annotations.map(({ time, at, start, label }): Beginning => {
    if (typeof label !== "string") {
      throw new ProbelabError(
        `Can't ${ACTION} with an annotation labelled ${shownValue(label)}: pass { time, label: "3.10 released" }.`,
      );
    }
    const instant = readInstant(time ?? at ?? start, range.timeZone, "time of an annotation");
    return { at: +instant, label: cleanText(label, 100) };
  });
  const { dimensions } = result.origin.columns;
  const version = dimensions.findIndex(({ name }) => isVersionColumn(name));
  const seen = new Map<string, number>();
  for (const { group, values } of version < 0 ? [] : series) {
    const name = group[version];
    const at = values.findIndex((value) => (value ?? 0) > 0);
    if (name === null || name === undefined || name === dimensions[version]!.other || at < 0)
      continue;
    seen.set(name, Math.min(at, seen.get(name) ?? Infinity));
  }
  const versions = [...seen]
    .filter(([, at]) => at > 1)
    .map(([name, at]) => ({
      at: +buckets[at]!.start,
      label: `${dimensions[version]!.name} ${cleanText(textOf(name), 60)} first seen`,
    }));
  return [...noted, ...versions].sort((a, b) => a.at - b.at);
}

function tableOf(found: readonly Found[], flows: Flows, began: readonly Beginning[]): Result {
  const { buckets, measure } = flows;
  const input = flows.result as Result;
  const { dimensions, time } = input.origin.columns;
  const start = (at: number) => buckets[at]?.start ?? buckets.at(-1)!.end;
  /** What began from a bucket before the earliest time of the change to the end of the latest. */
  const beganAt = ({ from, to }: Change): string | null => {
    const [since, until] = [+start(Math.max(0, from - 1)), +start(to + 1)];
    const some = began.filter(({ at }) => at >= since && at < until);
    const texts = some.map(({ at, label }) => `${label} (${timeText(at, flows)})`);
    return texts.length === 0 ? null : texts.join("; ");
  };
  const column = (value: (change: Change) => Value): Value[] =>
    found.map(({ change }) => value(change));
  const columns: [string, Value[]][] = [
    ...dimensions.map(({ name }, at): [string, Value[]] => [
      name,
      found.map(({ series }) => series.group[at] ?? null),
    ]),
    ["t", column(({ at }) => start(at))],
    ["until", column(({ until }) => start(until))],
    ["change", column(({ kind }) => kind)],
    ["before", column(({ before }) => before)],
    ["after", column(({ after }) => after)],
    ["size", column(({ before, after }) => after - before)],
    ["relative", column(relativeOf)],
    ["size_low", column(({ before, after, margin }) => after - before - margin)],
    ["size_high", column(({ before, after, margin }) => after - before + margin)],
    ["earliest", column(({ from }) => start(from))],
    ["latest", column(({ to }) => start(to))],
    ["p", column(({ p }) => p)],
    ["began", column(beganAt)],
  ];
  const meaning = (name: string, words: string, unit = measure.unit): MeasureColumn => ({
    name,
    label: `${measure.label}, ${words}`,
    unit,
    additive: false,
    missing: "gap",
  });
  return input.with(newTable(input.table, columns), {
    columns: {
      ...(time && { time: { name: "t", every: time.every, incomplete: [] } }),
      dimensions: dimensions.map((dimension, at) => ({
        ...dimension,
        order: dimension.order.filter((value) => columns[at]![1].includes(value)),
      })),
      measures: [
        { ...meaning("size", "change"), main: true },
        meaning("before", "before"),
        meaning("after", "after"),
        meaning("relative", "relative change", "share"),
        meaning("size_low", "change, low"),
        meaning("size_high", "change, high"),
        { ...meaning("p", "", "probability"), label: "Probability by chance" },
      ],
      kinds: { until: "time", earliest: "time", latest: "time" },
    },
  });
}

function relativeOf({ before, after }: Change): number | null {
  return before > 0 ? (after - before) / before : null;
}

function timeText(at: number, { range }: Flows): string {
  return formatInstant(new Date(at), range.timeZone);
}

function sentenceOf(
  found: readonly Found[],
  judged: number,
  flows: Flows,
  { error, began, why }: { error: number; began: readonly (string | null)[]; why: string },
): string {
  const { measure, time, buckets } = flows;
  const each = `${measure.label} by ${time.every}`;
  if (judged === 0) {
    const verb = why.startsWith("fewer")
      ? "there are "
      : why.startsWith("nothing")
        ? "there is "
        : "";
    return `Can't tell whether ${each} changed, because ${verb}${why}.`;
  }
  const [best, ...others] = found;
  if (best === undefined) {
    const where = judged === 1 ? "" : ` in any of ${judged} series`;
    const span = counted(
      buckets.length,
      bucketNoun(time.every, false),
      bucketNoun(time.every, true),
    );
    return `No change of level was found in ${each}${where}, ${span} (false-discovery rate ${percent(error)}).`;
  }
  const changed = new Set(found.map(({ series }) => series)).size;
  const head =
    judged === 1 ? "" : ` ${counted(found.length, "change")} in ${changed} of ${judged} series.`;
  const more = others.slice(0, 3).map(({ change }) => shortText(change, flows));
  const tail =
    judged > 1 || others.length === 0
      ? ""
      : ` ${counted(others.length, "more change")}: ${more.join(", ")}${others.length > 3 ? " …" : ""}.`;
  const then = began[0] ? ` Began then: ${began[0]}.` : "";
  return `${each}${best.series.name === "" ? "" : ` of ${best.series.name}`} ${longText(best.change, flows)}.${then}${head}${tail}`;
}

/** "fell at 2026-10-03 03:00 UTC from 699 to 326 (−53 %)", with the intervals of time and size. */
function longText(change: Change, flows: Flows): string {
  const { buckets, measure, range } = flows;
  const time = (at: number) => timeText(+(buckets[at]?.start ?? buckets.at(-1)!.end), flows);
  const { at, until, from, to, before, after, margin } = change;
  const falls = after < before;
  const when =
    change.kind === "step"
      ? `${falls ? "fell" : "rose"} at ${time(at)} ${range.timeZone}`
      : at === 0
        ? `${falls ? "fell" : "rose"} until ${time(until)} ${range.timeZone}`
        : until === buckets.length
          ? `${falls ? "has fallen" : "has risen"} since ${time(at)} ${range.timeZone}`
          : `${falls ? "fell" : "rose"} between ${time(at)} and ${time(until)} ${range.timeZone}`;
  const size = after - before;
  const short = (value: number) => amount(Number(value.toPrecision(3)), measure.unit);
  const ends = `95 % interval ${short(size - margin).replace("-", "−")} to ${short(size + margin).replace("-", "−")}`;
  const began = from === to ? "" : `; it began between ${time(from)} and ${time(to)}`;
  return `${when} from ${short(before)} to ${short(after)} (${sizeText(change, measure)}; ${ends}${began})`;
}

function shortText(change: Change, flows: Flows): string {
  const start = +flows.buckets[change.at]!.start;
  return `${timeText(start, flows)} (${sizeText(change, flows.measure)})`;
}

function sizeText(change: Change, { unit }: MeasureColumn): string {
  const relative = relativeOf(change);
  const size = change.after - change.before;
  const text =
    unit === "share"
      ? `${percent(Math.abs(size)).replace(" %", "")} points`
      : relative === null
        ? amount(Number(Math.abs(size).toPrecision(3)), unit)
        : percent(Math.abs(relative));
  return `${size < 0 ? "−" : "+"}${text}`;
}
