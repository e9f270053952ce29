import { refuseUnknown } from "../../base/check-options.js";
import type { Database } from "../../database/database.js";
import { ProbelabError } from "../../base/error.js";
import { counted } from "../../base/text.js";
import {
  askSource,
  GROUP_OPTIONS,
  type By,
  type GroupOptions,
  type Preset,
} from "../../query/ask.js";
import type { ColumnOf } from "../../query/row-types.js";
import { askExplore, EXPLORE_OPTIONS, type ExploreOptions } from "../../query/explore.js";
import { count, min, quantile, ratio, share, sum, type Measure } from "../../query/measure.js";
import type { Result } from "../../result/result.js";
import type { TimeRange } from "../../time/time-range.js";
import type { Source } from "../../query/source.js";
import {
  measurementOnceSource,
  measurementSource,
  type MeasurementFilter,
} from "./measurement-source.js";
import { runSource, type RUN_COLUMNS } from "./run-source.js";

/** The columns of the measurement table. */
export type MeasurementColumn = ColumnOf<"measurements">;

/** The columns of a run: its own, and those of its first measurement. */
export type RunColumn = MeasurementColumn | (typeof RUN_COLUMNS)[number];

/** Options of every question on measurements. */
export interface MeasurementOptions<
  Name extends string = MeasurementColumn,
  B extends By<Name> = By<Name>,
> extends GroupOptions<Name, B> {
  /**
   * True counts a measurement once that the table holds twice. Default: true where the table's
   * engine merges rows (Replacing and the like), else false.
   */
  readonly dedupe?: boolean;
}

/** Options of questions on runs. A run is the measurements that share a report_id. */
export type RunOptions<
  Name extends string = RunColumn,
  B extends By<Name> = By<Name>,
> = MeasurementOptions<Name, B>;

/** More options of questions on quantiles of runs. */
export interface RunQuantileOptions<
  B extends By<RunColumn> = By<RunColumn>,
  Levels extends readonly number[] = readonly number[],
> extends MeasurementOptions<RunColumn, B> {
  /** Quantile levels from 0 to 1; exact, interpolated linearly. @default 0.1, 0.5, 0.9 */
  readonly quantiles?: Levels;
}

/** Options of `duplicates`; the whole range is one bucket unless `every` is given. */
export type DuplicateOptions<B extends By<MeasurementColumn> = By<MeasurementColumn>> = Omit<
  MeasurementOptions<MeasurementColumn, B>,
  "dedupe"
>;

/** Options of `firstSeen`. */
export type FirstSeenOptions<B extends By<MeasurementColumn> = By<MeasurementColumn>> = Omit<
  MeasurementOptions<MeasurementColumn, B>,
  "every"
>;

type Measures = Readonly<Record<string, Measure<unknown>>>;
type Room = "measurements" | "runs";

export const MEASUREMENT_OPTIONS = [...GROUP_OPTIONS, "dedupe"];
/** One object of options may serve counts, durations and summary alike. */
const FAMILY = [...MEASUREMENT_OPTIONS, "quantiles"];
/** Of questions on the whole range. */
export const ONE_BUCKET = MEASUREMENT_OPTIONS.filter((name) => name !== "every");

/** The source of questions on measurements and runs: a table, or a snapshot of it. */
export interface QuestionSource {
  readonly database: Database;
  measurements(filter: MeasurementFilter): Promise<Source>;
  runs(filter: MeasurementFilter): Promise<Source>;
}

/** The measurement table of a database. */
export function askedTable(database: Database): QuestionSource {
  const table = () => database.table("measurements");
  return {
    database,
    measurements: async (filter) => measurementSource(await table(), filter),
    runs: async (filter) => runSource(await table(), filter),
  };
}

/** Asks the measurements or the runs. */
export async function askRoom(
  of: QuestionSource,
  room: Room,
  options: MeasurementOptions<string>,
  measures: Measures,
  preset: Preset,
): Promise<Result> {
  // The options are read only then, after the range was checked.
  const open = (range: TimeRange) => {
    const { where = {}, dedupe } = options;
    return of[room]({ range, where, dedupe });
  };
  return askSource(of.database, open, options, measures, preset);
}

/** `lab.measurements.ask` and `lab.runs.ask`: see {@link Measurements.ask}. */
export async function askOwn(
  of: QuestionSource,
  options: RunOptions & { readonly measures: Measures },
  room: Room,
): Promise<Result> {
  const action = `ask the ${room}`;
  refuseUnknown(options, [...MEASUREMENT_OPTIONS, "measures"], action);
  return askRoom(of, room, options, options.measures, { action });
}

/** `lab.measurements.explore` and `lab.runs.explore`: see {@link Measurements.explore}. */
export async function explore(
  of: QuestionSource,
  options: ExploreOptions & Pick<RunOptions, "dedupe">,
  room: Room,
): Promise<Result> {
  const { dedupe, ...asked } = options ?? {};
  const action = `explore the ${room}`;
  refuseUnknown(asked, EXPLORE_OPTIONS, action);
  const open = (range: TimeRange) => of[room]({ range, where: asked.where ?? {}, dedupe });
  return askExplore(of.database, open, asked, action);
}

/** `lab.measurements.counts`: see {@link Measurements.counts}. */
export async function counts(of: QuestionSource, options: MeasurementOptions): Promise<Result> {
  const action = "count measurements";
  refuseUnknown(options, FAMILY, action);
  const measures = { measurements: count() };
  return askRoom(of, "measurements", options, measures, { action, main: "measurements" });
}

/** `lab.measurements.duplicates`: see {@link Measurements.duplicates}. */
export async function duplicates(
  { database }: QuestionSource,
  options: DuplicateOptions,
): Promise<Result> {
  const action = "count duplicates";
  refuseUnknown(options, GROUP_OPTIONS, action);
  const open = async (range: TimeRange) =>
    measurementOnceSource(await database.table("measurements"), range, options.where ?? {});
  const measures = {
    measurements: count({ label: "Measurements, each once" }),
    rows: sum("rows", { label: "Rows of the table" }),
    duplicated: count({ where: { rows: { gt: 1 } }, label: "Measurements held more than once" }),
    share: ratio(sum("surplus_rows"), sum("rows"), {
      label: "Share of rows that are surplus",
      unit: "share",
    }),
  };
  const answer = await askSource(database, open, options, measures, { action, every: "all" });
  const table = await database.table("measurements");
  if (!table.columns.has("measurement_uid")) return answer;
  const note = await copiesNote(database, options);
  return answer.with(answer.table, { notes: [...answer.origin.notes, note] });
}

/** Says how many rows are the same measurement under another measurement_uid. */
async function copiesNote(database: Database, options: DuplicateOptions): Promise<string> {
  const { range, where = {}, signal } = options;
  const surplus = async (byUid: boolean) => {
    const open = async (range: TimeRange) =>
      measurementOnceSource(await database.table("measurements"), range, where, byUid);
    const asked = { range, where, every: "all", ...(signal && { signal }) } as const;
    const measures = { surplus: sum("surplus_rows") };
    const answer = await askSource(database, open, asked, measures, { action: "count duplicates" });
    return Number((answer.rows()[0] as { surplus?: number } | undefined)?.surplus ?? 0);
  };
  try {
    const copies = (await surplus(false)) - (await surplus(true));
    return copies > 0
      ? `${counted(copies, "more row")} ${copies === 1 ? "is" : "are"} equal to another in every column but measurement_uid: the same measurement may be stored again under another.`
      : "No more rows are equal in every column but measurement_uid.";
  } catch (error) {
    if (!(error instanceof ProbelabError) || error.code === "ABORTED") throw error;
    return "Whether a measurement is stored again under another measurement_uid wasn't looked at: it takes more memory than the server gives.";
  }
}

/** `lab.measurements.firstSeen`: see {@link Measurements.firstSeen}. */
export async function firstSeen(of: QuestionSource, options: FirstSeenOptions): Promise<Result> {
  const action = "find when measurements were first seen";
  refuseUnknown(options, ONE_BUCKET, action);
  const measures = { first: min("time", { label: "First measurement" }), measurements: count() };
  const preset = { action, top: Infinity, main: "measurements" };
  return askRoom(of, "measurements", { ...options, every: "all" }, measures, preset);
}

/** `lab.runs.counts`: see {@link Runs.counts}. */
export async function runCounts(of: QuestionSource, options: RunQuantileOptions): Promise<Result> {
  return askQuantiles(of, options, "measurements", LEVELS, { action: "count runs" });
}

/** `lab.runs.durations`: see {@link Runs.durations}. */
export async function runDurations(
  of: QuestionSource,
  options: RunQuantileOptions,
): Promise<Result> {
  return askQuantiles(of, options, "duration", LEVELS, { action: "measure run durations" });
}

/** `lab.runs.summary`: see {@link Runs.summary}. */
export async function summary(of: QuestionSource, options: RunQuantileOptions): Promise<Result> {
  const by = ["software_name", "software_version"];
  const preset = { action: "summarise runs", every: "all", by, top: Infinity } as const;
  return askQuantiles(of, options, "duration", [0.1, 0.3, 0.5, 0.7, 0.9], preset, {
    measurements_per_run: quantile(0.5, "measurements", { label: "Measurements per run, median" }),
    seconds_per_measurement: quantile(0.5, "seconds_per_measurement", {
      label: "Seconds per measurement, median",
    }),
  });
}

const LEVELS = [0.1, 0.5, 0.9];

/** Asks for quantiles of something that each run has, as measures `q10`, `q50`, `q2_5` … */
async function askQuantiles(
  of: QuestionSource,
  options: RunQuantileOptions,
  column: "measurements" | "duration",
  levels: readonly number[],
  preset: Preset,
  more: Measures = {},
): Promise<Result> {
  refuseUnknown(options, FAMILY, preset.action);
  const wanted = options?.quantiles ?? levels;
  const name = (level: number) =>
    `q${String(Number((level * 100).toPrecision(12))).replace(".", "_")}`;
  const quantiles = wanted.map((level, index) => {
    if (level >= 0 && level <= 1 && wanted.indexOf(level) === index) {
      return [name(level), quantile(level, column)] as const;
    }
    throw new ProbelabError(
      `Can't give the quantile ${String(level)}: pass different numbers from 0 to 1, such as quantiles: [0.1, 0.5, 0.9].`,
    );
  });
  const measures = {
    runs: count(),
    measurements: sum("measurements", { label: "Measurements" }),
    single_share: share({ measurements: 1 }, { label: "Share of runs with a single measurement" }),
    ...more,
    ...Object.fromEntries(quantiles),
  };
  const main = name(wanted.includes(0.5) ? 0.5 : (wanted[0] ?? 0.5));
  return askRoom(of, "runs", options, measures, { ...preset, main });
}
