import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import type { Measurements, Runs } from "../measurements/measurements.js";
import { count, quantile, type Measure } from "../query/measure.js";
import type { Where } from "../query/where.js";
import { CONFIDENCES } from "../query/wilson.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import { between, checkRange, formatRange, last, type TimeRange } from "../time/time-range.js";
import { DAY } from "../time/span.js";
import { difference, shareOf, type Estimate } from "./estimate.js";
import { originOfAll, type Finding } from "./finding.js";
import { amount, changeText, percent, valueText } from "./words.js";

/** What `lab.release` takes besides the version. */
export interface ReleaseOptions {
  /** Where the release and the version before it are looked for: `last("3 months", { now: lab.now })`. */
  readonly range: TimeRange;
  /** The program (`software_name`); needed where several have the version. */
  readonly software?: string;
  /** The version to compare with; default: the one before it that has 1 % of the program's measurements. */
  readonly previous?: string;
  /** Which measurements count. Unless it names a `test_name`, the release's commonest test does. */
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

/** A number of each of the two versions, with 95 % intervals. */
export type ReleaseValue = {
  measure: string;
  unit: string;
  /** Of the previous version in the two weeks before the release. */
  before: number | null;
  /** Of the previous version in the days of the release (before it, where too few runs are left). */
  previous: number | null;
  previous_low: number | null;
  previous_high: number | null;
  now: number | null;
  now_low: number | null;
  now_high: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
  /** The change and its ends by what the previous version had; null where that is 0. */
  relative: number | null;
  relative_low: number | null;
  relative_high: number | null;
  told: "moved" | "as before" | "can't tell";
};

/** The answer of `lab.release`; `found` where something moved. */
export interface ReleaseFinding extends Finding {
  readonly kind: "release";
  readonly software: string | null;
  readonly version: string;
  readonly previous: string | null;
  /** The first day on which more than a hundredth of its measurements had come; null without any. */
  readonly since: Date | null;
  /** Runs behind each number: of the previous version before the release and since, and of the release. */
  readonly runs: { readonly before: number; readonly previous: number; readonly now: number };
  readonly values: readonly ReleaseValue[];
  /** True where one of the values can't be told (yet). */
  readonly untold: boolean;
}

const ACTION = "compare a release with the version before it";
const DAYS = 14;
/** With fewer, an interval of a median reaches from end to end. */
const LEAST_RUNS = 30;
const COLUMNS = [
  ["duration", "Run duration, median", "s"],
  ["measurements", "Measurements per run, median", "measurements"],
  ["seconds_per_measurement", "Seconds per measurement, median", "s"],
] as const;
/** A release is looked at again and again: what moved must lie beyond twice its 95 % interval. */
const STANDS_OUT = 2;
/** Medians that move by less don't matter. */
const MATTERS = 0.1;
/** Hours that tell how failures hang together. */
const LEAST_HOURS = 10;

/**
 * `lab.release`: how the runs of a new version compare with those of the version before it, in the
 * first two weeks of the release: medians of run duration, measurements per run and seconds per
 * measurement, and the share of failed measurements.
 *
 * Both versions are compared in the same days, so that what happens to the service happens to both;
 * what the previous one was in the two weeks before stands beside. Intervals of medians are those of
 * order statistics (Conover, Practical Nonparametric Statistics, 3.2), of the share Wilson's with as
 * many trials as the scatter between hours leaves. A value moved where the change matters (10 % of a
 * median, half of a share, at most a percentage point) and lies beyond twice its interval; it is as
 * before where the whole interval doesn't matter; else it can't be told.
 *
 * @param failed which measurements failed; null where the table doesn't tell.
 */
export async function release(
  measurements: Measurements,
  runs: Runs,
  failed: Where | null,
  version: string,
  options: ReleaseOptions,
): Promise<ReleaseFinding> {
  refuseUnknown(options, ["range", "software", "previous", "where", "signal"], ACTION);
  const range = checkRange((options as ReleaseOptions | undefined)?.range, ACTION);
  if (typeof version !== "string" || version === "") {
    throw new ProbelabError(`Can't ${ACTION} without a version: lab.release("3.10.0", { range }).`);
  }
  const stop = options.signal && { signal: options.signal };
  const seen = await measurements.ask({
    range,
    every: "all",
    top: Infinity,
    ...stop,
    by: ["software_name", "software_version", "test_name"],
    where: { ...options.where, ...(options.software && { software_name: options.software }) },
    measures: { n: count() },
  });
  const results: Result<object>[] = [seen];
  const chosen = choose(seen.rows(), version, options);
  const done = (sentence: string, parts: Partial<ReleaseFinding> = {}, notes: string[] = []) =>
    answer(results, notes, { version, software: chosen?.software ?? null, sentence, ...parts });
  if (chosen === undefined) {
    const newest = [...new Set(seen.rows().map(nameOf))].slice(-5).join(", ");
    return done(
      `I can't tell yet how ${valueText(version)} does, because no measurement of it was found, ${formatRange(range)}. ${newest === "" ? "There is no measurement at all: see probelab doctor." : `There are ${newest} and others; is the version written so?`}`,
    );
  }
  const { software, previous, test } = chosen;
  const where = { ...options.where, software_name: software, ...test };
  const name = `${valueText(software)} ${valueText(version)}`;
  const own = { ...where, software_version: version };
  const days = await measurements.counts({ range, every: "day", ...stop, where: own });
  results.push(days);
  const since = beginning(days.rows(), range);
  // A run that is under way looks like one that ended early.
  const whole = last("2 hours", { now: range.end }).start;
  const end = new Date(Math.min(+since + DAYS * DAY, +whole));
  if (previous === undefined) {
    return done(
      `I can't tell how ${name} does, because no earlier version of it was found, ${formatRange(range)}: pass a longer range.`,
      { since },
    );
  }
  if (+end <= +since) {
    return done(
      `I can't tell yet how ${name} does, because it began less than two hours ago: its runs may still be under way.`,
      { since, previous },
    );
  }
  const from = new Date(Math.max(+since - DAYS * DAY, +range.start - DAYS * DAY, 0));
  const released = between(since, end, { timeZone: range.timeZone });
  const span = between(from, end, { timeZone: range.timeZone });
  const rest = { range: span, ...stop, where: { ...where, software_version: [previous, version] } };
  const cells = {
    before: { software_version: previous, start: { lt: since } },
    previous: { software_version: previous, start: { gte: since } },
    now: { software_version: version, start: { gte: since } },
  };
  type Cell = keyof typeof cells;
  const names = Object.keys(cells) as Cell[];
  const askRuns = async (measures: readonly [string, Measure<number | null>][]) => {
    const asked = { ...rest, every: "all" as const, measures: Object.fromEntries(measures) };
    const found = await runs.ask(asked);
    results.push(found);
    return found.rows()[0] ?? {};
  };
  const sizes = await askRuns(names.map((cell) => [cell, count({ where: cells[cell] })]));
  const size = (cell: Cell) => Number(sizes[cell] ?? 0);
  const runCounts = { before: size("before"), previous: size("previous"), now: size("now") };
  const base = runCounts.previous >= LEAST_RUNS ? "previous" : "before";
  const ofTest = "test_name" in test ? ` of ${valueText(test.test_name)}` : "";
  const tooFew = (whose: string, n: number, when: TimeRange, remedy: string) =>
    done(
      `I can't tell yet how ${name} does, because ${whose} has ${counted(n, "run")}${ofTest}, ${formatRange(when)}; ${LEAST_RUNS} are needed. ${remedy}`,
      { since, previous, runs: runCounts },
    );
  if (runCounts.now < LEAST_RUNS) {
    return tooFew(name, runCounts.now, released, "Ask again when there are more.");
  }
  if (runCounts[base] < LEAST_RUNS) {
    const most = Math.max(runCounts.previous, runCounts.before);
    return tooFew(valueText(previous), most, span, "Name an earlier version to compare with.");
  }
  const medians = await askRuns(
    names.flatMap((cell) =>
      COLUMNS.flatMap(([column]) =>
        Object.entries(medianLevels(runCounts[cell])).map(
          ([end, level]): [string, Measure<number | null>] => [
            `${cell}_${column}_${end}`,
            quantile<string>(level, column, { where: cells[cell] }),
          ],
        ),
      ),
    ),
  );
  const estimates: [measure: string, unit: string, of: (cell: Cell) => Estimate | null][] =
    COLUMNS.map(([column, measure, unit]) => [
      measure,
      unit,
      (cell) => {
        const at = (end: string) => medians[`${cell}_${column}_${end}`] as number | null;
        const [value, low, high] = [at("value"), at("low"), at("high")];
        return value === null || low === null || high === null ? null : { value, low, high };
      },
    ]);
  if (failed !== null) {
    const failures = await measurements.ask({
      ...rest,
      every: "hour",
      by: "software_version",
      top: Infinity,
      measures: { failed: count({ where: failed }), n: count() },
    });
    results.push(failures);
    const hoursOf = (cell: Cell) =>
      failures
        .rows()
        .filter(
          ({ t, software_version: of }) =>
            of === (cell === "now" ? version : previous) && t < since === (cell === "before"),
        );
    const label = "Share of failed measurements";
    estimates.push([label, "share", (cell) => failureShare(hoursOf(cell), runCounts[cell])]);
  }
  const values = estimates.map(([measure, unit, of]) =>
    valueOf(measure, unit, { before: of("before"), previous: of(base), now: of("now") }),
  );
  const itself =
    base === "before"
      ? [
          `${valueText(previous)} has ${counted(runCounts.previous, "run")} left since then and is taken from the two weeks before.`,
        ]
      : estimates.flatMap(([measure, unit, of]) => {
          const [was, is] = [of("before"), of("previous")];
          const moved = valueOf(measure, unit, { before: null, previous: was, now: is }).told;
          if (moved !== "moved" || runCounts.before < LEAST_RUNS) return [];
          const change = changeText(was!.value, is!.value, unit);
          return [
            `Since then ${valueText(previous)} itself changed, too: its ${lower(measure)} ${change}, which isn't the release.`,
          ];
        });
  const sizeText = `${counted(runCounts.now, "run")}${ofTest} against ${counted(runCounts[base], "run")}`;
  const head = `${name} against ${valueText(previous)}, ${formatRange(released)} (${sizeText}): ${words(values)}.`;
  const found = values.some(({ told }) => told === "moved");
  return done([head, ...itself].join(" "), { since, previous, runs: runCounts, values, found }, [
    "Both versions in the same days; runs of the last 2 hours are left out, as they may be under way.",
    ...(failed === null
      ? ["The table has no msm_failure: the share of failed measurements isn't told."]
      : []),
  ]);
}

interface Seen {
  readonly software_name: string | null;
  readonly software_version: string | null;
  readonly test_name: string | null;
  readonly n: number;
}

const nameOf = ({ software_name: of, software_version: version }: Seen) =>
  `${valueText(of)} ${valueText(version)}`;

/** Whose release it is, what came before it, and its commonest test. Undefined where nothing is of that version. */
function choose(
  all: readonly Seen[],
  version: string,
  { software, previous, where }: ReleaseOptions,
) {
  const sum = (rows: readonly Seen[]) => rows.reduce((n, row) => n + row.n, 0);
  const own = all.filter((row) => row.software_version === version);
  const programs = [...new Set(own.map((row) => row.software_name))];
  const [program] = programs;
  if (program === undefined) return undefined;
  if (programs.length > 1) {
    const listed = programs.map(
      (each) =>
        `${valueText(each)} (${counted(sum(own.filter((row) => row.software_name === each)), "measurement")})`,
    );
    throw new ProbelabError(
      `Can't ${ACTION}: several programs have a version ${valueText(version)}: ${listed.join(", ")}. Name one: software: ${JSON.stringify(program)}, or --software in a shell.`,
    );
  }
  const others = all.filter(
    (row) => row.software_name === program && compareVersions(row.software_version, version) < 0,
  );
  const versions = [...new Set(others.map((row) => row.software_version ?? ""))]
    .map((each) => ({ each, n: sum(others.filter((row) => row.software_version === each)) }))
    .sort((a, b) => compareVersions(b.each, a.each));
  if (previous !== undefined && !all.some((row) => row.software_version === previous)) {
    const there = versions.slice(0, 5).map(({ each }) => valueText(each));
    throw new ProbelabError(
      `Can't ${ACTION}: no measurement of ${valueText(program)} ${valueText(previous)} in the range. There are ${there.join(", ")}.`,
    );
  }
  const usual = versions.find(({ n }) => n >= sum(others) / 100)?.each;
  const commonest = own.reduce((most, row) => (row.n > most.n ? row : most)).test_name;
  const test = where !== undefined && "test_name" in where ? {} : { test_name: commonest };
  return { software: software ?? program, previous: previous ?? usual, test };
}

/** The first day by whose end a hundredth of the measurements had come: a wrong clock is no release. */
function beginning(days: readonly { t: Date; measurements: number }[], range: TimeRange): Date {
  const all = days.reduce((n, day) => n + day.measurements, 0);
  let so = 0;
  const first = days.find(({ measurements: n }) => (so += n) > all / 100);
  return new Date(Math.max(+(first?.t ?? range.start), +range.start));
}

/** The quantiles between which the true median lies, 19 times in 20, of so many independent rows. */
export function medianLevels(size: number): Readonly<Record<keyof Estimate, number>> {
  const half = Math.min(0.5, CONFIDENCES[0.95] / (2 * Math.sqrt(Math.max(1, size))));
  return { value: 0.5, low: 0.5 - half, high: 0.5 + half };
}

/**
 * The share of failed measurements. Failures of one run hang together: the interval is as wide as
 * its hours scatter (quasi-binomial; McCullagh and Nelder, Generalized Linear Models, 1989, 4.5).
 *
 * @param runs that the measurements are of.
 */
export function failureShare(
  hours: readonly { readonly failed: number; readonly n: number }[],
  runs: number,
): Estimate | null {
  const some = hours.filter(({ n }) => n > 0);
  const n = some.reduce((sum, hour) => sum + hour.n, 0);
  const failed = some.reduce((sum, hour) => sum + hour.failed, 0);
  if (n === 0) return null;
  const value = failed / n;
  const scatter =
    some.reduce((sum, hour) => sum + (hour.failed - hour.n * value) ** 2 / hour.n, 0) /
    (value * (1 - value) * (some.length - 1));
  // Too little to learn it from: a run's measurements are taken for one trial.
  const asOne = Math.max(1, n / Math.max(1, runs));
  const known = Number.isFinite(scatter) ? Math.max(1, scatter) : asOne;
  const trials = n / (some.length < LEAST_HOURS ? Math.max(known, asOne) : known);
  return shareOf(value * trials, trials);
}

/** What became of a number from one version to the next. */
export function valueOf(
  measure: string,
  unit: string,
  { before, previous, now }: Readonly<Record<"before" | "previous" | "now", Estimate | null>>,
): ReleaseValue {
  const change = previous === null || now === null ? null : difference(previous, now);
  const by = (end: number | undefined) =>
    end === undefined || !previous?.value ? null : end / previous.value;
  return {
    measure,
    unit,
    before: before?.value ?? null,
    previous: previous?.value ?? null,
    previous_low: previous?.low ?? null,
    previous_high: previous?.high ?? null,
    now: now?.value ?? null,
    now_low: now?.low ?? null,
    now_high: now?.high ?? null,
    change: change?.value ?? null,
    low: change?.low ?? null,
    high: change?.high ?? null,
    relative: by(change?.value),
    relative_low: by(change?.low),
    relative_high: by(change?.high),
    told: change === null ? "can't tell" : verdict(change, matters(previous!.value, unit)),
  };
}

/** The least change that matters. */
function matters(value: number, unit: string): number {
  return unit === "share" ? Math.max(0.001, Math.min(0.01, value / 2)) : MATTERS * value;
}

function verdict({ value, low, high }: Estimate, least: number): ReleaseValue["told"] {
  const reach = value < 0 ? high - value : value - low;
  if (Math.abs(value) > STANDS_OUT * reach && Math.abs(value) >= least && value !== 0)
    return "moved";
  return low >= -least && high <= least ? "as before" : "can't tell";
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** What moved, what didn't and what can't be told, in a sentence. */
export function words(values: readonly ReleaseValue[]): string {
  const texts = (told: ReleaseValue["told"], text: (value: ReleaseValue) => string) =>
    values
      .filter((value) => value.told === told)
      .map((value) => `${lower(value.measure)} ${text(value)}`);
  const moved = texts("moved", ({ previous, now, unit }) => changeText(previous, now, unit));
  const same = texts("as before", ({ now, unit }) => `(${amount(now, unit)})`).join(", ");
  const open = texts("can't tell", ({ previous, low, high, unit }) => {
    if (previous === null || low === null || high === null) return "(no value)";
    const by = (end: number) => (unit === "share" ? percent(end) : percent(end / previous));
    const times = Math.ceil(((high - low) / matters(previous, unit)) ** 2);
    return `(95 % interval of the change ${by(low)} to ${by(high)}${unit === "share" ? " points" : ""}; about ${Math.max(2, times).toLocaleString("en-US")} times as many runs would tell)`;
  }).join(", ");
  return [
    ...moved,
    ...(same === "" ? [] : [`as before: ${same}`]),
    ...(open === "" ? [] : [`I can't tell yet, because there are too few runs: ${open}`]),
  ].join("; ");
}

function answer(
  results: readonly Result<object>[],
  notes: readonly string[],
  known: Partial<ReleaseFinding> & Pick<ReleaseFinding, "version" | "software" | "sentence">,
): ReleaseFinding {
  const { version, previous = null, values = [] } = known;
  const was = previous ?? "Previous";
  const [low, high] = ["low end of 95 %", "high end of 95 %"];
  const columns: [name: string, label: string, unit?: string][] = [
    ["relative", `Change from ${previous ?? "the previous version"}`, "share"],
    ["before", `${was}, before the release`],
    ["previous", was],
    ["now", version],
    ["change", "Change"],
    ["previous_low", `${was}, ${low}`],
    ["previous_high", `${was}, ${high}`],
    ["now_low", `${version}, ${low}`],
    ["now_high", `${version}, ${high}`],
    ["low", `Change, ${low}`],
    ["high", `Change, ${high}`],
    ["relative_low", `Relative change, ${low}`, "share"],
    ["relative_high", `Relative change, ${high}`, "share"],
  ];
  const origin = originOfAll(
    results,
    {
      dimensions: [{ name: "measure", order: values.map((value) => value.measure) }],
      kinds: { unit: "text", told: "text" },
      measures: columns.map(([name, label, unit = ""]) => ({
        name,
        label,
        unit,
        additive: false,
        missing: "gap",
      })),
    },
    [...notes, ...results.flatMap(({ origin }) => origin.notes)],
  );
  return {
    previous,
    since: null,
    runs: { before: 0, previous: 0, now: 0 },
    values,
    found: false,
    ...known,
    kind: "release",
    untold: values.length === 0 || values.some(({ told }) => told === "can't tell"),
    result: new Result(resultOfRows(values).table, origin),
  };
}
