import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted, lowered } from "../base/text.js";
import type { Database } from "../database/database.js";
import { measurementsOf, runsOf } from "../measurements/measurements.js";
import { count, quantile, type Measure } from "../query/measure.js";
import type { Where } from "../query/where.js";
import { failedWhere } from "../test-helpers/failures.js";
import { CONFIDENCES } from "../query/wilson.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import { DAY, HOUR } from "../time/span.js";
import { between, checkRange, formatRange, type TimeRange } from "../time/time-range.js";
import {
  changeColumns,
  difference,
  originOfAll,
  shareOf,
  type Estimate,
  type Finding,
} from "./finding.js";
import { LEAST_RUNS } from "./thresholds.js";
import { amount, changeText, sentences, signedPercent, spoken, valueText } from "./words.js";

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
  /** Its first hour on the day by which a hundredth of its measurements had come; null without any. */
  readonly since: Date | null;
  /** Runs behind each number: of the previous version, and of the release. */
  readonly runs: { readonly before: number; readonly after: number };
  readonly values: readonly ReleaseValue[];
  /** True where there is too little to decide on one of the values (yet). */
  readonly undecided: boolean;
}

const ACTION = "compare a release with the version before it";
const DAYS = 14;
/** A run that is under way looks like one that ended early. */
const UNDER_WAY = 2 * HOUR;
const COLUMNS = [
  ["duration", "Run duration, median", "s"],
  ["measurements", "Measurements per run, median", "measurements"],
  ["seconds_per_measurement", "Seconds per measurement, median", "s"],
] as const;
const FAILED = ["failed", "Share of failed measurements", "share"] as const;
/** A release is looked at again and again: what moved must lie beyond twice its 95 % interval. */
const STANDS_OUT = 2;
/** Medians that move by less don't matter. */
const MATTERS = 0.1;
/** With fewer hours their scatter isn't known. */
const LEAST_HOURS = 10;

/** The runs of a version. */
interface Side {
  readonly version: string;
  readonly range: TimeRange;
  readonly n: number;
}

/**
 * `lab.release`: how the runs of a new version compare with those of the version before it, in the
 * first two weeks of the release: medians of run duration, measurements per run and seconds per
 * measurement, and the share of failed measurements where the table has `msm_failure`.
 *
 * Both versions are compared in the same hours, so that what happens to the service happens to both;
 * where the previous one has too few runs left, its two weeks before are taken. Intervals of medians
 * are those of order statistics (Conover, Practical Nonparametric Statistics, 3.2), of the share
 * Wilson's with as many trials as the scatter between hours leaves. A value moved where the change
 * matters (10 % of a median, half of a share, at most a percentage point) and lies beyond twice its
 * interval; it is as before where the whole interval doesn't matter; else it can't be told.
 */
export async function release(
  database: Database,
  version: string,
  options: ReleaseOptions,
): Promise<ReleaseFinding> {
  refuseUnknown(options, ["range", "software", "previous", "where", "signal"], ACTION);
  const range = checkRange((options as ReleaseOptions | undefined)?.range, ACTION);
  if (typeof version !== "string" || version === "") {
    throw new ProbelabError(`Can't ${ACTION} without a version: lab.release("3.10.0", { range }).`);
  }
  const [measurements, runs] = [measurementsOf(database), runsOf(database)];
  const failed = await failedWhere(database);
  const stop = options.signal && { signal: options.signal };
  const results: Result<object>[] = [];
  const rowsOf = async <Row extends object>(asked: Promise<Result<Row>>) => {
    const answer = await asked;
    results.push(answer);
    return answer.rows();
  };
  let known: Partial<ReleaseFinding> = {};
  const cantTell = (why: string) => {
    const sentence = `I can't tell yet how ${nameOf(known.software, version)} does, because ${why}`;
    return finding(results, [], { ...known, version, sentence });
  };
  const seen = await rowsOf(
    measurements.ask({
      ...{ range, every: "all", top: Infinity, ...stop },
      by: ["software_name", "software_version", "test_name"],
      where: { ...options.where, ...(options.software && { software_name: options.software }) },
      measures: { n: count() },
    }),
  );
  const chosen = choose(seen, version, options);
  if (chosen === undefined) {
    const others = [...new Set(seen.map((row) => nameOf(row.software_name, row.software_version)))];
    return cantTell(
      `no measurement of it was found, ${formatRange(range)}. There are ${others.slice(-5).join(", ") || "none"} and others; is the version written so?`,
    );
  }
  const { software, previous, test } = chosen;
  const asked = (version: string, range: TimeRange) => {
    const where = { ...options.where, software_name: software, ...test, software_version: version };
    return { range, every: "all" as const, ...stop, where };
  };
  const hourly = measurements.counts({ ...asked(version, range), every: "hour" });
  const since = beginning(await rowsOf(hourly), range);
  known = { software, previous, since };
  if (previous === null) {
    return cantTell(
      `no earlier version of it was found, ${formatRange(range)}: pass a longer range, or name one as previous.`,
    );
  }
  const { timeZone } = range;
  const end = new Date(Math.min(+since + DAYS * DAY, +range.end - UNDER_WAY));
  if (+end <= +since) {
    return cantTell("it began less than two hours ago: its runs may still be under way.");
  }
  const released = between(since, end, { timeZone });
  const earlier = between(new Date(Math.max(0, +since - DAYS * DAY)), since, { timeZone });
  const sideOf = async (version: string, range: TimeRange): Promise<Side> => {
    const question = { ...asked(version, range), measures: { n: count() } };
    const [row] = await rowsOf(runs.ask(question));
    return { version, range, n: row?.n ?? 0 };
  };
  const estimatesOf = async ({ version, range, n }: Side) => {
    const question = asked(version, range);
    const levels = Object.entries(medianLevels(n));
    const medians = COLUMNS.flatMap(([column]) =>
      levels.map(([end, level]): [string, Measure] => [
        `${column}_${end}`,
        quantile<string>(level, column),
      ]),
    );
    const [row] = await rowsOf(runs.ask({ ...question, measures: Object.fromEntries(medians) }));
    const all = COLUMNS.map(([column]): Estimate | null => {
      const [value, low, high] = levels.map(([end]) => row?.[`${column}_${end}`] as number | null);
      return value == null || low == null || high == null ? null : { value, low, high };
    });
    if (failed === null) return all;
    const measures = { failed: count({ where: failed }), n: count() };
    const hours = await rowsOf(measurements.ask({ ...question, every: "hour", measures }));
    return [...all, failureShare(hours, n)];
  };
  const after = await sideOf(version, released);
  const stayed = await sideOf(previous, released);
  const isLeft = stayed.n >= LEAST_RUNS;
  const before = isLeft ? stayed : await sideOf(previous, earlier);
  known = { ...known, runs: { before: before.n, after: after.n } };
  const ofTest = "test_name" in test ? ` of ${valueText(test.test_name)}` : "";
  const few = [after, before].find(({ n }) => n < LEAST_RUNS);
  if (few !== undefined) {
    const remedy = few === after ? "Ask again when there are more." : "Name another as previous.";
    return cantTell(
      `${nameOf(software, few.version)} has ${counted(few.n, "run")}${ofTest}, ${formatRange(few.range)}; ${LEAST_RUNS} are needed. ${remedy}`,
    );
  }
  const [was, is] = [await estimatesOf(before), await estimatesOf(after)];
  const measures = failed === null ? COLUMNS : [...COLUMNS, FAILED];
  const values = measures.map(([, label, unit], at) => valueOf(label, unit, was[at]!, is[at]!));
  const found = values.some(({ verdict }) => verdict === "moved");
  const left = `${valueText(previous)} has ${counted(stayed.n, "run")} left since then: its runs are those of ${formatRange(earlier)}`;
  const compared = sentences([
    `${counted(after.n, "run")}${ofTest} against ${counted(before.n, "run")}, ${formatRange(released)}`,
    ...(isLeft ? [] : [left]),
  ]);
  const sentence = `${nameOf(software, version)} against ${valueText(previous)}: ${lowered(words(values))} ${compared}`;
  const notes = [
    "Whether runs are missing isn't looked at here: ask explain.",
    "Users who upgrade first may differ from the others: compare within one country too (where).",
    +end < +since + DAYS * DAY &&
      "Runs of the range's last 2 hours may be under way and are left out.",
    +since === +range.start && "It was there when the range began.",
    failed === null &&
      "The table has no msm_failure: the share of failed measurements isn't known.",
  ].filter((note) => note !== false);
  return finding(results, notes, { ...known, version, values, found, sentence });
}

function nameOf(software: string | null | undefined, version: string | null): string {
  return `${software === undefined ? "" : `${valueText(software)} `}${valueText(version)}`;
}

interface Seen {
  readonly software_name: string | null;
  readonly software_version: string | null;
  readonly test_name: string | null;
  readonly n: number;
}

/** Whose release it is, what came before it, and its commonest test. Undefined where nothing is of that version. */
function choose(all: readonly Seen[], version: string, { previous, where }: ReleaseOptions) {
  const countsBy = (
    name: "software_name" | "software_version" | "test_name",
    rows: readonly Seen[],
  ) => {
    const counts = new Map<string | null, number>();
    for (const row of rows) counts.set(row[name], (counts.get(row[name]) ?? 0) + row.n);
    return [...counts].sort(([, a], [, b]) => b - a);
  };
  const released = all.filter((row) => row.software_version === version);
  const programs = countsBy("software_name", released);
  if (programs[0] === undefined) return undefined;
  const [program] = programs[0];
  if (programs.length > 1) {
    const listed = programs.map(([each, n]) => `${valueText(each)} (${counted(n, "measurement")})`);
    throw new ProbelabError(
      `Can't ${ACTION}: several programs have a version ${valueText(version)}: ${listed.join(", ")}. Name one: software: ${JSON.stringify(program)}, or --software in a shell.`,
    );
  }
  // Rows without a version are of no release.
  const isOlder = (row: Seen) =>
    row.software_name === program &&
    row.software_version &&
    compareVersions(row.software_version, version) < 0;
  const older = countsBy("software_version", all.filter(isOlder));
  const least = older.reduce((sum, [, n]) => sum + n, 0) / 100;
  const [usual = null] = older
    .flatMap(([each, n]) => (n >= least ? [each] : []))
    .sort((a, b) => compareVersions(b, a));
  const [[commonest]] = countsBy("test_name", released) as [[string | null, number]];
  const test = where !== undefined && "test_name" in where ? {} : { test_name: commonest };
  return { software: program, previous: previous ?? usual, test };
}

/** When the day began by which a hundredth of the measurements had come: a wrong clock is no release. */
function beginning(
  hours: readonly { readonly t: Date; readonly measurements: number }[],
  range: TimeRange,
): Date {
  const all = hours.reduce((n, { measurements }) => n + measurements, 0);
  let so = 0;
  const reached = hours.find(({ measurements: n }) => (so += n) > all / 100);
  const from = +(reached?.t ?? 0) - DAY;
  const first = hours.find(({ t, measurements }) => +t > from && measurements > 0);
  return new Date(Math.max(+(first?.t ?? 0), +range.start));
}

/** The quantiles between which the true median lies, 19 times in 20, of so many independent rows. */
export function medianLevels(size: number): Readonly<Record<keyof Estimate, number>> {
  const half = Math.min(0.5, CONFIDENCES[0.95] / (2 * Math.sqrt(Math.max(1, size))));
  return { value: 0.5, low: 0.5 - half, high: 0.5 + half };
}

/**
 * The share of failed measurements. Failures of one run hang together: the interval is as wide as
 * its hours scatter (quasi-binomial; McCullagh and Nelder, Generalized Linear Models, 1989, 4.5), of
 * few hours as if a run's measurements were one trial.
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
  const squares = some.reduce((sum, hour) => sum + (hour.failed - hour.n * value) ** 2 / hour.n, 0);
  const scatter = squares / (value * (1 - value) * (some.length - 1));
  const isKnown = some.length >= LEAST_HOURS && Number.isFinite(scatter);
  const trials = n / Math.max(1, isKnown ? scatter : n / Math.max(1, runs));
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
    verdict: change === null ? "can't tell" : verdictOf(change, before!.value, unit),
  };
}

function verdictOf(
  { value, low, high }: Estimate,
  before: number,
  unit: string,
): ReleaseValue["verdict"] {
  const isShare = unit === "share";
  const least = isShare ? Math.max(0.001, Math.min(0.01, before / 2)) : MATTERS * before;
  const [far, reach] = [Math.abs(value), value < 0 ? high - value : value - low];
  if (far > STANDS_OUT * reach && far >= least && value !== 0) return "moved";
  return low >= -least && high <= least ? "as before" : "can't tell";
}

/** What moved, what didn't and what can't be told, a sentence each. */
export function words(values: readonly ReleaseValue[]): string {
  const texts = (verdict: ReleaseValue["verdict"], text: (value: ReleaseValue) => string) =>
    values
      .filter((value) => value.verdict === verdict)
      .map((value) => `${lowered(spoken(value.measure))} ${text(value)}`);
  const interval = ({ before, low, high, unit }: ReleaseValue) => {
    const [from, to] = [low!, high!].map((end) => {
      if (end === 0) return "0";
      if (unit === "share") return `${signedPercent(end).replace(" %", "")} points`;
      return before === 0 ? amount(end, unit) : signedPercent(end / before!);
    });
    return `95 %: ${from} to ${to}`;
  };
  const moved = texts("moved", ({ before, after, unit }) => changeText(before, after, unit));
  const same = texts("as before", (of) => `(${amount(of.after, of.unit)}; ${interval(of)})`);
  const open = texts("can't tell", (of) =>
    of.change === null ? "(no run has one)" : `(${interval(of)})`,
  );
  return sentences([
    ...moved,
    ...(same.length === 0 ? [] : [`as before: ${same.join(", ")}`]),
    ...(open.length === 0 ? [] : [`I can't tell yet from so few runs: ${open.join(", ")}`]),
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
      ["low", "Low end of the 95 % interval", ""],
      ["high", "High end of the 95 % interval", ""],
      ["relative_low", "Low end of the relative 95 % interval", "share"],
      ["relative_high", "High end of the relative 95 % interval", "share"],
    ]),
  };
  const origins = results.map(({ origin }) => origin);
  const all = [...notes, ...origins.flatMap(({ notes }) => notes)];
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
    result: new Result(resultOfRows(values).table, originOfAll(origins, columns, all)),
  };
}
