import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted, lowered } from "../base/text.js";
import type { Measurements, Runs } from "../measurements/measurements.js";
import { count, quantile, type Measure } from "../query/measure.js";
import type { Where } from "../query/where.js";
import { CONFIDENCES } from "../query/wilson.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import { between, checkRange, formatRange, last, type TimeRange } from "../time/time-range.js";
import { DAY } from "../time/span.js";
import {
  changeColumns,
  difference,
  originOfAll,
  shareOf,
  type Estimate,
  type Finding,
} from "./finding.js";
import { amount, changeText, percent, sentences, spoken, valueText } from "./words.js";

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

/** A number of each of the two versions, and the change with its 95 % interval. */
export type ReleaseValue = {
  measure: string;
  unit: string;
  /** Of the previous version in the days of the release (in the two weeks before, where too few runs are left). */
  before: number | null;
  /** Of the release. */
  after: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
  /** The change and its ends by `before`; null where that is 0. */
  relative: number | null;
  relative_low: number | null;
  relative_high: number | null;
  verdict: "moved" | "as before" | "can't tell";
};

/** The answer of `lab.release`; `found` where something moved. */
export interface ReleaseFinding extends Finding {
  readonly kind: "release";
  readonly software: string | null;
  readonly version: string;
  readonly previous: string | null;
  /** The first day on which more than a hundredth of its measurements had come; null without any. */
  readonly since: Date | null;
  /** Runs behind each number: of the previous version, and of the release. */
  readonly runs: { readonly before: number; readonly after: number };
  readonly values: readonly ReleaseValue[];
  /** True where there is too little to decide on one of the values (yet). */
  readonly undecided: boolean;
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
 * where the previous one has too few runs left, it is taken from the two weeks before. Intervals of medians are those of
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
  const results: Result<object>[] = [];
  const kept = async <Answer extends Result<object>>(asked: Promise<Answer>) => {
    const answer = await asked;
    results.push(answer);
    return answer;
  };
  const seen = await kept(
    measurements.ask({
      range,
      every: "all",
      top: Infinity,
      ...stop,
      by: ["software_name", "software_version", "test_name"],
      where: { ...options.where, ...(options.software && { software_name: options.software }) },
      measures: { n: count() },
    }),
  );
  const chosen = choose(seen.rows(), version, options);
  const { software = null, previous = null } = chosen ?? {};
  let known: Partial<ReleaseFinding> = { software, previous };
  const answer = (text: string, notes: readonly string[] = []) =>
    finding(results, notes, { ...known, version, sentence: text });
  const name = `${valueText(software)} ${valueText(version)}`;
  const cantTell = (why: string) =>
    answer(`I can't tell yet how ${chosen ? name : valueText(version)} does, because ${why}`);
  if (chosen === undefined) {
    const others = [...new Set(seen.rows().map(nameOf))].slice(-5).join(", ");
    return cantTell(
      `no measurement of it was found, ${formatRange(range)}. ${others === "" ? "There is no measurement at all: see probelab doctor." : `There are ${others} and others; is the version written so?`}`,
    );
  }
  const where = { ...options.where, software_name: software, ...chosen.test };
  const own = { ...where, software_version: version };
  const days = await kept(measurements.counts({ range, every: "day", ...stop, where: own }));
  const since = beginning(days.rows(), range);
  known = { ...known, since };
  if (previous === null) {
    return cantTell(
      `no earlier version of it was found, ${formatRange(range)}: pass a longer range.`,
    );
  }
  // A run that is under way looks like one that ended early.
  const whole = last("2 hours", { now: range.end }).start;
  const end = new Date(Math.min(+since + DAYS * DAY, +whole));
  if (+end <= +since) {
    return cantTell("it began less than two hours ago: its runs may still be under way.");
  }
  const from = new Date(Math.max(+since - DAYS * DAY, +range.start - DAYS * DAY, 0));
  const span = between(from, end, { timeZone: range.timeZone });
  const released = between(since, end, { timeZone: range.timeZone });
  const rest = { range: span, ...stop, where: { ...where, software_version: [previous, version] } };
  const cell = (version: string, start: object) => ({ software_version: version, start });
  const askRuns = async (measures: readonly [string, Measure][]) => {
    const asked = { ...rest, every: "all" as const, measures: Object.fromEntries(measures) };
    return (await kept(runs.ask(asked))).rows()[0] ?? {};
  };
  const places = {
    after: cell(version, { gte: since }),
    since: cell(previous, { gte: since }),
    earlier: cell(previous, { lt: since }),
  };
  const sizes = await askRuns(
    Object.entries(places).map(([name, where]) => [name, count({ where })]),
  );
  const size = (name: keyof typeof places) => Number(sizes[name] ?? 0);
  const base = size("since") >= LEAST_RUNS ? "since" : "earlier";
  const many = { before: size(base), after: size("after") };
  known = { ...known, runs: many };
  const test = "test_name" in chosen.test ? ` of ${valueText(chosen.test.test_name)}` : "";
  const tooFew = (whose: string, n: number, when: TimeRange, remedy: string) =>
    cantTell(
      `${whose} has ${counted(n, "run")}${test}, ${formatRange(when)}; ${LEAST_RUNS} are needed. ${remedy}`,
    );
  if (many.after < LEAST_RUNS) {
    return tooFew(name, many.after, released, "Ask again when there are more.");
  }
  if (many.before < LEAST_RUNS) {
    const remedy = "Name an earlier version to compare with.";
    return tooFew(valueText(previous), Math.max(many.before, size("since")), span, remedy);
  }
  const sides = { before: places[base], after: places.after };
  const [before, after] = ["before", "after"] as const;
  const medians = await askRuns(
    [before, after].flatMap((side) =>
      COLUMNS.flatMap(([column]) =>
        Object.entries(medianLevels(many[side])).map(([end, level]): [string, Measure] => [
          `${side}_${column}_${end}`,
          quantile<string>(level, column, { where: sides[side] }),
        ]),
      ),
    ),
  );
  const values = COLUMNS.map(([column, measure, unit]) => {
    const of = (side: string) => {
      const at = (end: string) => medians[`${side}_${column}_${end}`] as number | null;
      const [value, low, high] = [at("value"), at("low"), at("high")];
      return value === null || low === null || high === null ? null : { value, low, high };
    };
    return valueOf(measure, unit, of(before), of(after));
  });
  if (failed !== null) {
    const asked = measurements.ask({
      ...rest,
      every: "hour",
      by: "software_version",
      top: Infinity,
      measures: { failed: count({ where: failed }), n: count() },
    });
    const hours = (await kept(asked)).rows();
    const of = (side: "before" | "after", whose: string) => {
      const early = side === "before" && base === "earlier";
      const own = hours.filter(
        (hour) => hour.software_version === whose && hour.t < since === early,
      );
      return failureShare(own, many[side]);
    };
    const label = "Share of failed measurements";
    values.push(valueOf(label, "share", of(before, previous), of(after, version)));
  }
  known = { ...known, values, found: values.some(({ verdict }) => verdict === "moved") };
  const left = `${valueText(previous)} has ${counted(size("since"), "run")} left since then and is taken from the two weeks before.`;
  const compared = sentences([
    `${counted(many.after, "run")}${test} against ${counted(many.before, "run")}, ${formatRange(released)}`,
    ...(base === "earlier" ? [left] : []),
  ]);
  return answer(`${name} against ${valueText(previous)}: ${lowered(words(values))} ${compared}`, [
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
  const usual = versions.find(({ n }) => n >= sum(others) / 100)?.each ?? null;
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
  if (n === 0) return null;
  const value = some.reduce((sum, hour) => sum + hour.failed, 0) / n;
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
  before: Estimate | null,
  after: Estimate | null,
): ReleaseValue {
  const change = before === null || after === null ? null : difference(before, after);
  const by = (end: number | undefined) =>
    end === undefined || !before?.value ? null : end / before.value;
  return {
    measure,
    unit,
    before: before?.value ?? null,
    after: after?.value ?? null,
    change: change?.value ?? null,
    low: change?.low ?? null,
    high: change?.high ?? null,
    relative: by(change?.value),
    relative_low: by(change?.low),
    relative_high: by(change?.high),
    verdict: change === null ? "can't tell" : verdictOf(change, matters(before!.value, unit)),
  };
}

/** The least change that matters. */
function matters(value: number, unit: string): number {
  return unit === "share" ? Math.max(0.001, Math.min(0.01, value / 2)) : MATTERS * value;
}

function verdictOf({ value, low, high }: Estimate, least: number): ReleaseValue["verdict"] {
  const reach = value < 0 ? high - value : value - low;
  const far = Math.abs(value);
  if (far > STANDS_OUT * reach && far >= least && value !== 0) return "moved";
  return low >= -least && high <= least ? "as before" : "can't tell";
}

/** What moved, what didn't and what can't be told, a sentence each. */
export function words(values: readonly ReleaseValue[]): string {
  const texts = (verdict: ReleaseValue["verdict"], text: (value: ReleaseValue) => string) =>
    values
      .filter((value) => value.verdict === verdict)
      .map((value) => `${lowered(spoken(value.measure))} ${text(value)}`);
  const moved = texts("moved", ({ before, after, unit }) => changeText(before, after, unit));
  const same = texts("as before", ({ after, unit }) => `(${amount(after, unit)})`).join(", ");
  const open = texts("can't tell", ({ before, low, high, unit }) => {
    if (before === null || low === null || high === null) return "(no value)";
    const by = (end: number) => (unit === "share" ? percent(end) : percent(end / before));
    const times = Math.ceil(((high - low) / matters(before, unit)) ** 2);
    return `(95 % interval of the change ${by(low)} to ${by(high)}${unit === "share" ? " points" : ""}; about ${Math.max(2, times).toLocaleString("en-US")} times as many runs would tell)`;
  }).join(", ");
  return sentences([
    ...moved,
    ...(same === "" ? [] : [`as before: ${same}`]),
    ...(open === "" ? [] : [`I can't tell yet, because there are too few runs: ${open}`]),
  ]);
}

function finding(
  results: readonly Result<object>[],
  notes: readonly string[],
  known: Partial<ReleaseFinding> & Pick<ReleaseFinding, "version" | "sentence">,
): ReleaseFinding {
  const { version, previous = null, values = [] } = known;
  const columns = {
    dimensions: [{ name: "measure", order: values.map(({ measure }) => measure) }],
    kinds: { unit: "text", verdict: "text" } as const,
    measures: changeColumns([
      ["relative", `Change from ${previous ?? "the previous version"}`, "share"],
      ["before", previous ?? "Previous", ""],
      ["after", version, ""],
      ["change", "Change", ""],
      ["low", "Low end of the change", ""],
      ["high", "High end of the change", ""],
      ["relative_low", "Low end of the relative change", "share"],
      ["relative_high", "High end of the relative change", "share"],
    ]),
  };
  const all = [...notes, ...results.flatMap(({ origin }) => origin.notes)];
  return {
    software: null,
    previous,
    since: null,
    runs: { before: 0, after: 0 },
    values,
    found: false,
    ...known,
    kind: "release",
    undecided: values.length === 0 || values.some(({ verdict }) => verdict === "can't tell"),
    result: new Result(resultOfRows(values).table, originOfAll(results, columns, all)),
  };
}
