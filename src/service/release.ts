import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted, grouped, lowered } from "../base/text.js";
import type { Database } from "../database/database.js";
import { measurementsOf, runsOf } from "../sources/measurements/measurements.js";
import { count, quantile, share, type Measure } from "../query/measure.js";
import { whereText, type Where } from "../query/where.js";
import { isSet } from "../sources/measurements/flags.js";
import { CONFIDENCES } from "../query/wilson.js";
import type { Origin } from "../result/origin.js";
import { resultOfRows } from "../result/own-rows.js";
import type { Result } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import { DAY, HOUR } from "../time/span.js";
import { between, checkRange, rangeText, type TimeRange } from "../time/time-range.js";
import {
  changeColumns,
  difference,
  originOfAll,
  shareOf,
  tell,
  type Estimate,
  type Finding,
  type Telling,
} from "../change/finding.js";
import { LEAST_RUNS, LEAST_SHARE } from "../change/cells/thresholds.js";
import { amount, signedPercent } from "../base/numbers.js";
import { changeText, spoken, valueText } from "../change/words.js";

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
  /** The change by `before`; null where that is 0. */
  relative: number | null;
  verdict: "moved" | "as before" | "can't tell";
};

/** The answer of `lab.release`; `found` where something moved. */
export interface ReleaseFinding extends Finding {
  readonly kind: "release";
  readonly software: string | null;
  readonly version: string;
  readonly previous: string | null;
  /** First hour of the day its running total reached 1 %; null where it can't be compared. */
  readonly since: Date | null;
  /** Runs behind each number: of the previous version, and of the release. */
  readonly runs: { readonly before: number; readonly after: number };
  readonly values: readonly ReleaseValue[];
  /** True where there is too little to decide on one of the values (yet). */
  readonly undecided: boolean;
}

const ACTION = "compare a release with the version before it";
const TWO_WEEKS = 14 * DAY;
/** A run that is under way looks like one that ended early. */
const UNDER_WAY = 2 * HOUR;
const MEDIANS = ["duration", "measurements", "seconds_per_measurement"];
/** Labels and units, of the medians and the share. */
const MEASURES = [
  ["Run duration, median", "s"],
  ["Measurements per run, median", "measurements"],
  ["Seconds per measurement, median", "s"],
  ["Share of runs below half the previous median", "share"],
  ["Share of failed measurements", "share"],
] as const;
/** A release is looked at again and again: what moved must lie beyond twice its 95 % interval. */
const STANDS_OUT = 2;
/** Medians that move by less don't matter. */
const MATTERS = 0.1;
/** With fewer hours their scatter isn't known. */
const LEAST_HOURS = 10;

/**
 * `lab.release`: how the runs of a new version compare with those of the version before it, in the
 * first two weeks of the release (of the range, if it was there before): medians of run duration,
 * measurements per run and seconds per measurement, the share of runs with under half as many
 * measurements as the previous median (a release that crashes for some of its users), and the share
 * of failed measurements where the table has `msm_failure`.
 *
 * Both versions are compared in the same hours, so that what happens to the service happens to both;
 * where the previous one has too few runs left, its two weeks before are taken. Intervals of medians
 * are those of order statistics (Conover, Practical Nonparametric Statistics, 3.2), of the share
 * Wilson's with as many trials as the scatter between hours leaves. A value moved where the change
 * matters (10 % of a median, half of a share, at most a percentage point) and lies beyond twice its
 * interval; it is as before where the whole interval doesn't matter; else there is no answer.
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
  const { software: named, where: chosen = {}, signal } = options;
  const [measurements, runs] = [measurementsOf(database), runsOf(database)];
  const answers: Result<object>[] = [];
  const keep = async <Row extends object>(asked: Promise<Result<Row>>) => {
    answers.push(await asked);
    return asked;
  };
  let known: Known = { version, software: named ?? null };
  const cantTell = (why: string) =>
    finding(answers, known, tell(`I can't tell yet how ${releaseName(known)} does`, why, []));
  const asked = { range, every: "all", top: Infinity, ...(signal && { signal }) } as const;
  const measures = { n: count() };

  const seen = await keep(
    measurements.ask({
      ...{ ...asked, measures, by: ["software_name", "test_name"] },
      where: { ...chosen, ...(named && { software_name: named }), software_version: version },
    }),
  );
  // By size.
  const [programs, tests] = seen.origin.columns.dimensions.map(({ order }) => order);
  const [software, ...others] = programs!;
  if (software === undefined) {
    const why = seen.origin.notes.find((note) => note.startsWith("No measurement "));
    return cantTell(lowered(why ?? "No measurement of it was found."));
  }
  if (others.length > 0) {
    throw new ProbelabError(
      `Can't ${ACTION}: several programs have a version ${valueText(version)}: ${programs!.map(valueText).join(", ")}. Name one: software: ${JSON.stringify(software)}, or --software in a shell.`,
    );
  }
  const test = "test_name" in chosen ? undefined : tests![0]!;
  const versions = await keep(
    measurements.ask({
      ...{ ...asked, measures, by: "software_version" },
      where: { ...chosen, software_name: software },
    }),
  );
  const previous = options.previous ?? versionBefore(version, versions.rows());
  known = { ...known, software, previous };
  if (previous === null) {
    return cantTell(
      `no earlier version of it was found, ${rangeText(range)}: pass a longer range, or name one as previous.`,
    );
  }

  // What a flag's odd spellings mean isn't known: failures are left out, as where there is no flag.
  const failed = await isSet(database, "msm_failure", range).catch(() => null);
  const where = {
    ...{ ...chosen, software_name: software },
    ...(test !== undefined && { test_name: test }),
  };
  const both = { ...where, software_version: [previous, version] };
  const { timeZone } = range;
  const hours = await keep(
    measurements.ask({
      ...{ ...asked, range: between(twoWeeksBefore(range.start), range.end, { timeZone }) },
      ...{ every: "hour", by: "software_version", where: both },
      measures: { ...measures, failed: count({ where: failed ?? {} }) },
    }),
  );
  // The hour in which a range begins is one of it.
  const hoursOf = (version: string, { start, end }: TimeRange) =>
    hours
      .rows()
      .filter((row) => row.software_version === version && +row.t > +start - HOUR && row.t < end);
  const since = beginning(hoursOf(version, range));
  known = { ...known, since };
  const span = Math.min(TWO_WEEKS, Math.floor((+range.end - UNDER_WAY - +since) / HOUR) * HOUR);
  if (!(span > 0)) {
    return cantTell("it began less than three hours ago: its runs may still be under way.");
  }
  const released = between(since, new Date(+since + span), { timeZone });
  const earlier = between(twoWeeksBefore(since), since, { timeZone });
  const sideOf = async (version: string, range: TimeRange) => {
    const question = { ...asked, range, where: { ...where, software_version: version } };
    const [{ n } = { n: 0 }] = (await keep(runs.ask({ ...question, measures }))).rows();
    const levels = Object.entries(medianLevels(n));
    const quantiles = MEDIANS.flatMap((column) =>
      levels.map(([end, level]): [string, Measure] => [
        `${column}_${end}`,
        quantile<string>(level, column),
      ]),
    );
    const medians = await keep(runs.ask({ ...question, measures: Object.fromEntries(quantiles) }));
    const [row = {}] = medians.rows();
    const estimates = MEDIANS.map((column): Estimate | null => {
      const [value, low, high] = levels.map(([end]) => row[`${column}_${end}`] as number | null);
      return value == null || low == null || high == null ? null : { value, low, high };
    });
    return { version, question, n, estimates };
  };
  const is = await sideOf(version, released);
  const stayed = await sideOf(previous, released);
  const isLeft = stayed.n < LEAST_RUNS;
  const was = isLeft ? await sideOf(previous, earlier) : stayed;
  known = { ...known, runs: { before: was.n, after: is.n } };
  const few = [is, was].find(({ n }) => n < LEAST_RUNS);
  if (few !== undefined) {
    const remedy = few === is ? "Ask again when there are more." : "Name another as previous.";
    const ofTest = test === undefined ? "" : ` of ${valueText(test)}`;
    return cantTell(
      `${releaseName({ software, version: few.version })} has ${counted(few.n, "run")}${ofTest}, ${rangeText(few.question.range)}; ${LEAST_RUNS} are needed. ${remedy}`,
    );
  }
  const [held, holds] = [was.estimates[1], is.estimates[1]];
  if (held && holds?.high === 1 && is.estimates[0]?.high === 0 && held.high > 2) {
    return cantTell(
      `its measurements have a report_id each: its runs aren't known, where those of ${valueText(previous)} held ${grouped(held.value)} measurements in the median.`,
    );
  }
  // Medians don't show what a few runs do.
  for (const { version, question, n, estimates } of [was, is]) {
    const measures = { short: share({ measurements: { lt: (held?.value ?? 0) / 2 } }) };
    const [row] = held ? (await keep(runs.ask({ ...question, measures }))).rows() : [];
    estimates.push(row?.short == null ? null : shareOf(row.short * n, n));
    if (failed !== null) estimates.push(failureShare(hoursOf(version, question.range), n));
  }
  const values = is.estimates.map((estimate, at) => {
    const [label, unit] = MEASURES[at]!;
    return valueOf(label, unit, was.estimates[at]!, estimate);
  });
  const left = `${valueText(previous)} has ${counted(stayed.n, "run")} left since then: its runs are those of ${rangeText(earlier)}`;
  const early = `That is the ${span < TWO_WEEKS ? "beginning" : "first two weeks"} of the range, not of the release, which was there before`;
  const inTest = test === undefined ? "" : ` in ${valueText(test)}`;
  const compared = `${counted(is.n, "run")} against ${grouped(was.n)} of ${valueText(previous)}${inTest}, ${rangeText(released)}`;
  const [first, ...more] = valueTexts(values);
  const telling = tell(`${releaseName(known)}${first!.headline}`, first!.evidence, [
    ...more.map(({ evidence }) => evidence),
    compared,
    +since < +range.start + HOUR && early,
    isLeft && left,
  ]);
  const notes = [
    "This doesn't look for missing runs; explain does.",
    "Users who upgrade first may differ from the others: compare within one country too (where).",
    span < TWO_WEEKS && "Runs of the range's last 2 hours may be under way and are left out.",
    failed === null &&
      "The table has no msm_failure: the share of failed measurements isn't known.",
  ].filter((note) => note !== false);
  const about = { range: released, filter: whereText(both) };
  return finding(answers, { ...known, values }, telling, { notes, ...about });
}

/** Two weeks before. */
function twoWeeksBefore(time: Date): Date {
  return new Date(Math.max(0, +time - TWO_WEEKS));
}

function releaseName({ software, version }: Pick<Known, "software" | "version">): string {
  return `${software === null ? "" : `${valueText(software)} `}${valueText(version)}`;
}

/** The newest of the earlier versions that have a hundredth of their measurements; null without any. */
function versionBefore(
  version: string,
  all: readonly { readonly software_version: string | null; readonly n: number }[],
): string | null {
  // Rows without a version are of no release.
  const older = all.filter(({ software_version: own }) => own && compareVersions(own, version) < 0);
  const least = LEAST_SHARE * older.reduce((sum, { n }) => sum + n, 0);
  const usual = older.filter(({ n }) => n >= least).map((row) => row.software_version);
  return usual.sort(compareVersions).at(-1) ?? null;
}

/** The first hour on the day by which a hundredth of the measurements had come: a wrong clock is no release. */
function beginning(hours: readonly { readonly t: Date; readonly n: number }[]): Date {
  const some = hours.filter(({ n }) => n > 0);
  let left = some.reduce((sum, { n }) => sum + n, 0) / 100;
  const reached = some.find(({ n }) => (left -= n) < 0)!;
  return some.find(({ t }) => +t > +reached.t - DAY)!.t;
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
  const change = before && after && difference(before, after);
  return {
    measure,
    unit,
    before: before?.value ?? null,
    after: after?.value ?? null,
    change: change?.value ?? null,
    low: change?.low ?? null,
    high: change?.high ?? null,
    relative: change && before?.value ? change.value / before.value : null,
    verdict: change ? verdictOf(change, before.value, unit) : "can't tell",
  };
}

function verdictOf(
  { value, low, high }: Estimate,
  before: number,
  unit: string,
): ReleaseValue["verdict"] {
  const least = unit === "share" ? Math.max(0.001, Math.min(0.01, before / 2)) : MATTERS * before;
  const [far, reach] = [Math.abs(value), value < 0 ? high - value : value - low];
  if (far > STANDS_OUT * reach && far >= least && value !== 0) return "moved";
  return low >= -least && high <= least ? "as before" : "can't tell";
}

/** What moved, what didn't, and where the rows can't tell; the first with a headline that follows the release's name. */
export function valueTexts(
  values: readonly ReleaseValue[],
): { readonly headline: string; readonly evidence: string }[] {
  const few = "I can't tell yet from so few runs";
  const list = (verdict: ReleaseValue["verdict"], text: (value: ReleaseValue) => string) =>
    values
      .filter((value) => value.verdict === verdict)
      .map((value) => `${lowered(spoken(value.measure))} (${text(value)})`)
      .join(", ");
  const same = list("as before", (of) => `${amount(of.after, of.unit)}; ${intervalText(of)}`);
  const open = list("can't tell", intervalText);
  return [
    ...values
      .filter(({ verdict }) => verdict === "moved")
      .map((value) => ({
        headline: `: ${lowered(spoken(value.measure))} ${changeOf(value)}`,
        evidence: `${spoken(value.measure)} ${changeText(value.before, value.after, value.unit)}`,
      })),
    ...(same === ""
      ? []
      : [{ headline: " does as the release before", evidence: `As before: ${same}` }]),
    ...(open === "" ? [] : [{ headline: `: ${few}`, evidence: `${few}: ${open}` }]),
  ];
}

/** "−59 %"; of a share "1.2 % → 8 %". */
function changeOf({ before, after, relative, unit }: ReleaseValue): string {
  if (unit === "share" || relative === null)
    return `${amount(before, unit)} → ${amount(after, unit)}`;
  return signedPercent(relative);
}

/** "95 %: −6.2 % to +4.7 %" of the change. */
function intervalText({ before, low, high, unit }: ReleaseValue): string {
  if (before === null || low === null || high === null) return "no run has one";
  const isShare = unit === "share";
  const [from, to] = [low, high].map((end) => {
    if (end === 0) return "0";
    if (isShare) return signedPercent(end).replace(" %", "");
    return before === 0 ? amount(end, unit) : signedPercent(end / before);
  });
  return `95 %: ${from} to ${to}${isShare ? " points" : ""}`;
}

/** What is known of a release, before the rest is asked. */
type Known = Partial<ReleaseFinding> & Pick<ReleaseFinding, "software" | "version">;

function finding(
  answers: readonly Result<object>[],
  known: Known,
  telling: Telling,
  { notes = [], ...about }: Partial<Pick<Origin, "notes" | "range" | "filter">> = {},
): ReleaseFinding {
  const { previous = null, values = [] } = known;
  const columns = {
    dimensions: [{ name: "measure", order: values.map(({ measure }) => measure) }],
    kinds: { unit: "text", verdict: "text" } as const,
    measures: changeColumns([
      ["before", previous ?? "Previous", ""],
      ["after", releaseName(known), ""],
      ["change", "Change", ""],
      ["low", "Low end of the 95 % interval", ""],
      ["high", "High end of the 95 % interval", ""],
      ["relative", `Change from ${previous ?? "the previous version"}`, "share"],
    ]),
  };
  const origins = answers.map(({ origin }) => origin);
  const all = [...notes, ...origins.flatMap(({ notes }) => notes)].filter(
    (note) => !telling.evidence.endsWith(note.slice(1)),
  );
  return {
    ...{ previous, since: null, runs: { before: 0, after: 0 }, values, ...known },
    kind: "release",
    ...telling,
    found: values.some(({ verdict }) => verdict === "moved"),
    undecided: values.length === 0 || values.some(({ verdict }) => verdict === "can't tell"),
    result: resultOfRows(values, { ...originOfAll(origins, columns, all), ...about }),
  };
}
