import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import type { Measurements, Runs } from "../measurements/measurements.js";
import { count, quantile, type Measure } from "../query/measure.js";
import type { Where } from "../query/where.js";
import { partialOf, type Origin } from "../result/origin.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import { between, checkRange, formatRange, last, type TimeRange } from "../time/time-range.js";
import type { Finding } from "./finding.js";
import {
  failureShare,
  lower,
  medianLevels,
  valueOf,
  words,
  type Estimate,
  type ReleaseValue,
} from "./release-values.js";
import { changeText, valueText } from "./words.js";
import { DAY } from "../time/span.js";

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

/**
 * `lab.release`: how the runs of a new version compare with those of the version before it, in the
 * first two weeks of the release: medians of run duration, measurements per run and seconds per
 * measurement, and the share of failed measurements.
 *
 * Both versions are compared in the same days, so that what happens to the service happens to both;
 * what the previous one was in the two weeks before stands beside. Intervals of medians are those of
 * order statistics (Conover, Practical Nonparametric Statistics, 3.2), of the share Wilson's with as
 * many trials as the scatter between hours leaves (quasi-binomial; McCullagh and Nelder 1989, 4.5),
 * since failures of one run hang together; of differences those that follow from the two (Zou and
 * Donner, Statistics in Medicine 27, 2008). A value moved where the change matters (10 % of a median,
 * half of a share, at most a percentage point) and lies beyond twice its interval; it is as before
 * where the whole interval doesn't matter; else it can't be told.
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
  const all = seen.rows();
  const chosen = choose(all, version, options);
  const done = (parts: Partial<ReleaseFinding> & { sentence: string }, notes: string[] = []) =>
    answer({ version, asked: results, notes, software: chosen?.software ?? null, ...parts });
  if (chosen === undefined) {
    const newest = [...new Set(all.map(nameOf))].slice(-5).join(", ");
    return done({
      sentence: `I can't tell yet how ${valueText(version)} does, because no measurement of it was found, ${formatRange(range)}. ${newest === "" ? "There is no measurement at all: see probelab doctor." : `There are ${newest} and others; is the version written so?`}`,
    });
  }
  const { software, previous, test } = chosen;
  const where = { ...options.where, software_name: software, ...test };
  const name = `${valueText(software)} ${valueText(version)}`;
  const days = await measurements.counts({
    range,
    every: "day",
    ...stop,
    where: { ...where, software_version: version },
  });
  results.push(days);
  const since = beginning(days.rows(), range);
  // A run that is under way looks like one that ended early.
  const whole = last("2 hours", { now: range.end }).start;
  const end = new Date(Math.min(+since + DAYS * DAY, +whole));
  if (previous === undefined) {
    return done({
      since,
      sentence: `I can't tell how ${name} does, because no earlier version of it was found, ${formatRange(range)}: pass a longer range.`,
    });
  }
  if (+end <= +since) {
    return done({
      since,
      previous,
      sentence: `I can't tell yet how ${name} does, because it began less than two hours ago: its runs may still be under way.`,
    });
  }
  const from = new Date(Math.max(+since - DAYS * DAY, +range.start - DAYS * DAY, 0));
  const { timeZone } = range;
  const released = between(since, end, { timeZone });
  const span = between(from, end, { timeZone });
  const rest = { range: span, ...stop, where: { ...where, software_version: [previous, version] } };
  const cells = {
    before: { software_version: previous, start: { lt: since } },
    previous: { software_version: previous, start: { gte: since } },
    now: { software_version: version, start: { gte: since } },
  };
  type Cell = keyof typeof cells;
  const names = Object.keys(cells) as Cell[];
  const askRuns = async (measures: Readonly<Record<string, Measure<number | null>>>) => {
    const found = await runs.ask({ ...rest, every: "all", measures });
    results.push(found);
    return found.rows()[0] ?? {};
  };
  const sizes = await askRuns(
    Object.fromEntries(names.map((cell) => [cell, count({ where: cells[cell] })])),
  );
  const size = (cell: Cell) => Number(sizes[cell] ?? 0);
  const rowCounts = { before: size("before"), previous: size("previous"), now: size("now") };
  const base = rowCounts.previous >= LEAST_RUNS ? "previous" : "before";
  const few = [
    [name, rowCounts.now] as const,
    [valueText(previous), Math.max(rowCounts.previous, rowCounts.before)] as const,
  ].find(([, runs]) => runs < LEAST_RUNS);
  if (few !== undefined) {
    return done({
      since,
      previous,
      runs: rowCounts,
      sentence: `I can't tell yet how ${name} does, because ${few[0]} has ${counted(few[1], "run")}${testText(test)}, ${formatRange(few[0] === name ? released : span)}; ${LEAST_RUNS} are needed. ${few[0] === name ? "Ask again when there are more." : "Name an earlier version to compare with."}`,
    });
  }
  const medians = await askRuns(
    Object.fromEntries(
      names.flatMap((cell) =>
        COLUMNS.flatMap(([column]) =>
          Object.entries<number>(medianLevels(rowCounts[cell])).map(([end, level]) => [
            `${cell}_${column}_${end}`,
            quantile<string>(level, column, { where: cells[cell] }),
          ]),
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
  const notes = [
    `Both versions in the same days; runs of the last 2 hours are left out, as they may be under way.`,
  ];
  if (failed === null) {
    notes.push("The table has no msm_failure: the share of failed measurements isn't told.");
  } else {
    const failures = await measurements.ask({
      ...rest,
      every: "hour",
      by: "software_version",
      top: Infinity,
      measures: { failed: count({ where: failed }), n: count() },
    });
    results.push(failures);
    const hours = failures.rows();
    estimates.push([
      "Share of failed measurements",
      "share",
      (cell) =>
        failureShare(
          hours.filter(
            ({ t, software_version: of }) =>
              of === (cell === "now" ? version : previous) && t < since === (cell === "before"),
          ),
          rowCounts[cell],
        ),
    ]);
  }
  const values = estimates.map(([measure, unit, of]) =>
    valueOf(measure, unit, { before: of("before"), previous: of(base), now: of("now") }),
  );
  const compared = `${counted(rowCounts.now, "run")}${testText(test)} against ${counted(rowCounts[base], "run")}`;
  const itself =
    base === "before"
      ? [
          `${valueText(previous)} has ${counted(rowCounts.previous, "run")} left since then and is taken from the two weeks before.`,
        ]
      : estimates.flatMap(([measure, unit, of]) => {
          const own = valueOf(measure, unit, {
            before: null,
            previous: of("before"),
            now: of("previous"),
          });
          return own.told === "moved" && rowCounts.before >= LEAST_RUNS
            ? [
                `Since then ${valueText(previous)} itself changed, too: its ${lower(measure)} ${changeText(own.previous, own.now, unit)}, which isn't the release.`,
              ]
            : [];
        });
  return done(
    {
      since,
      previous,
      runs: rowCounts,
      values,
      found: values.some(({ told }) => told === "moved"),
      sentence: [
        `${name} against ${valueText(previous)}, ${formatRange(released)} (${compared}): ${words(values)}.`,
        ...itself,
      ].join(" "),
    },
    notes,
  );
}

interface Seen {
  readonly software_name: string | null;
  readonly software_version: string | null;
  readonly test_name: string | null;
  readonly n: number;
}
const nameOf = ({ software_name: of, software_version: version }: Seen) =>
  `${valueText(of)} ${valueText(version)}`;
const testText = ({ test_name: test }: { test_name?: string | null }) =>
  test === undefined ? "" : ` of ${valueText(test)}`;

/** Whose release it is, what came before it, and its commonest test. Undefined where nothing is of that version. */
function choose(
  all: readonly Seen[],
  version: string,
  { software, previous, where }: ReleaseOptions,
) {
  const sum = (rows: readonly Seen[]) => rows.reduce((n, row) => n + row.n, 0);
  const own = all.filter((row) => row.software_version === version);
  const programs = [...new Set(own.map((row) => row.software_name))];
  if (programs.length === 0) return undefined;
  if (programs.length > 1) {
    const listed = programs.map(
      (program) =>
        `${valueText(program)} (${counted(sum(own.filter((row) => row.software_name === program)), "measurement")})`,
    );
    throw new ProbelabError(
      `Can't ${ACTION}: several programs have a version ${valueText(version)}: ${listed.join(", ")}. Name one: software: ${JSON.stringify(programs[0])}, or --software in a shell.`,
    );
  }
  const [program = null] = programs;
  const others = all.filter(
    (row) => row.software_name === program && compareVersions(row.software_version, version) < 0,
  );
  const versions = [...new Set(others.map((row) => row.software_version ?? ""))]
    .map((one) => ({ one, n: sum(others.filter((row) => row.software_version === one)) }))
    .sort((a, b) => compareVersions(b.one, a.one));
  const usual = sum(others) / 100;
  const before = previous ?? versions.find(({ n }) => n >= usual)?.one;
  if (previous !== undefined && !all.some((row) => row.software_version === previous)) {
    throw new ProbelabError(
      `Can't ${ACTION}: no measurement of ${valueText(program)} ${valueText(previous)} in the range. There are ${versions
        .slice(0, 5)
        .map(({ one }) => valueText(one))
        .join(", ")}.`,
    );
  }
  const [commonest] = own.toSorted((a, b) => b.n - a.n);
  const test =
    where !== undefined && "test_name" in where ? {} : { test_name: commonest!.test_name };
  return { software: software ?? program, previous: before, test };
}

/** The first day by whose end a hundredth of the measurements had come: a wrong clock is no release. */
function beginning(days: readonly { t: Date; measurements: number }[], range: TimeRange): Date {
  const all = days.reduce((n, day) => n + day.measurements, 0);
  let so = 0;
  const first = days.find(({ measurements: n }) => (so += n) > all / 100);
  return new Date(Math.max(+(first?.t ?? range.start), +range.start));
}

function answer(
  given: Partial<ReleaseFinding> & {
    readonly sentence: string;
    readonly version: string;
    readonly asked: readonly Result<object>[];
    readonly notes: readonly string[];
  },
): ReleaseFinding {
  const { version, asked, notes, sentence, found = false, values = [] } = given;
  const { software = null, previous = null, since = null } = given;
  const origins = asked.map(({ origin }) => origin);
  const sum = (of: (origin: Origin) => number) => origins.reduce((n, origin) => n + of(origin), 0);
  const measure = (name: string, label: string, unit = "") =>
    ({ name, label, unit, additive: false, missing: "gap" }) as const;
  const origin: Origin = {
    ...origins.at(-1)!,
    ...partialOf(...origins),
    sql: [...new Set(origins.map(({ sql }) => sql))].join("\n\n-- and:\n"),
    parameters: Object.assign(
      {},
      ...origins.map((origin) => origin.parameters),
    ) as Origin["parameters"],
    rowsRead: sum(({ rowsRead }) => rowsRead),
    bytesRead: sum(({ bytesRead }) => bytesRead),
    seconds: sum(({ seconds }) => seconds),
    columns: {
      dimensions: [{ name: "measure", order: values.map((value) => value.measure) }],
      kinds: { unit: "text", told: "text" },
      measures: [
        measure("relative", `Change from ${previous ?? "the previous version"}`, "share"),
        measure("before", `${previous ?? "Previous"}, before the release`),
        measure("previous", previous ?? "Previous"),
        measure("now", version),
        measure("change", "Change"),
        ...(["previous", "now"] as const).flatMap((of) => [
          measure(
            `${of}_low`,
            `${of === "now" ? version : (previous ?? "Previous")}, low end of 95 %`,
          ),
          measure(
            `${of}_high`,
            `${of === "now" ? version : (previous ?? "Previous")}, high end of 95 %`,
          ),
        ]),
        measure("low", "Change, low end of 95 %"),
        measure("high", "Change, high end of 95 %"),
        measure("relative_low", "Relative change, low end of 95 %", "share"),
        measure("relative_high", "Relative change, high end of 95 %", "share"),
      ],
    },
    reductions: [],
    notes: [...new Set([...notes, ...origins.flatMap((origin) => origin.notes)])],
  };
  const table = resultOfRows(values).table;
  return {
    kind: "release",
    sentence,
    found,
    software,
    version,
    previous,
    since,
    values,
    runs: given.runs ?? { before: 0, previous: 0, now: 0 },
    untold: values.length === 0 || values.some(({ told }) => told === "can't tell"),
    result: new Result(table, origin),
  };
}
