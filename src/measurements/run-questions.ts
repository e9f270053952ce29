import type { Database } from "../database/database.js";
import type { Result, Value } from "../result/result.js";
import { groupedResult, type Measure } from "./grouped-result.js";
import { checkQuestion, type Asked } from "./question.js";
import {
  marginNote,
  quantileColumns,
  quantileLabel,
  runsSql,
  singlesSql,
  type QuantileColumn,
  type RunMeasure,
  type RunOptions,
} from "./run-cells.js";

/** `lab.measurements.runs`: see {@link Measurements.runs}. */
export function runs(database: Database, options: RunOptions): Promise<Result> {
  return quantilesOf(database, options, "count runs", {
    perRun: "_n",
    label: "Measurements per run",
    unit: "measurements",
  });
}

/** `lab.measurements.runDurations`: see {@link Measurements.runDurations}. */
export function runDurations(database: Database, options: RunOptions): Promise<Result> {
  return quantilesOf(database, options, "measure run durations", {
    perRun: "_seconds",
    label: "Run duration",
    unit: "s",
  });
}

/** Quantiles of one thing that each run has, by bucket and group. */
async function quantilesOf(
  database: Database,
  options: RunOptions,
  action: string,
  { perRun, label, unit }: { perRun: string; label: string; unit: string },
): Promise<Result> {
  const defaults = { every: "auto", by: [], top: 6 } as const;
  const asked = await checkQuestion(database, options, action, defaults);
  const quantiles = quantileColumns(options.quantiles ?? [0.1, 0.5, 0.9]);
  const measures = quantileMeasures("_q", quantiles, label, unit);
  return askRuns(database, asked, options, [{ perRun, quantiles, as: "_q" }], measures);
}

/** `lab.measurements.summary`: see {@link Measurements.summary}. */
export async function summary(database: Database, options: RunOptions): Promise<Result> {
  const asked = await checkQuestion(database, options, "summarise runs", {
    every: "all",
    by: ["software_name", "software_version"],
    top: Infinity,
  });
  const quantiles = quantileColumns(options.quantiles ?? [0.1, 0.3, 0.5, 0.7, 0.9]);
  const median = quantileColumns([0.5]);
  return askRuns(
    database,
    asked,
    options,
    [
      { perRun: "_n", quantiles: median, as: "_per_run" },
      { perRun: "_seconds / (_n - 1)", only: "_n > 1", quantiles: median, as: "_pace" },
      { perRun: "_seconds", quantiles, as: "_q" },
    ],
    [
      {
        ...quantileMeasure("_per_run", 0, "Measurements per run, median", "measurements"),
        name: "measurements_per_run",
      },
      {
        ...quantileMeasure("_pace", 0, "Seconds per measurement, median", "s"),
        name: "seconds_per_measurement",
      },
      ...quantileMeasures("_q", quantiles, "Run duration", "s"),
    ],
  );
}

function askRuns(
  database: Database,
  asked: Asked,
  options: RunOptions,
  perRun: readonly RunMeasure[],
  measures: readonly Measure[],
): Promise<Result> {
  const only = singlesSql(options);
  const wanted = perRun.map((measure) =>
    only === undefined || measure.only !== undefined ? measure : { ...measure, only },
  );
  const notes = [
    marginNote(options),
    ...(only === undefined ? [] : ["Runs of a single measurement are left out of the quantiles."]),
  ];
  return groupedResult(
    database,
    asked,
    runsSql(asked, options, wanted),
    [
      count("runs", "_runs", "Runs", "runs"),
      count("measurements", "_measurements", "Measurements", "measurements"),
      {
        name: "single",
        label: "Share of runs with a single measurement",
        unit: "share",
        additive: false,
        missing: "gap",
        value: (row) => Number(row["_single"]) / Number(row["_runs"]),
      },
      ...measures,
    ],
    "by runs in the range",
    notes,
  );
}

function count(name: string, column: string, label: string, unit: string): Measure {
  const value = (row: Readonly<Record<string, Value>>) => Number(row[column]);
  return { name, label, unit, additive: true, missing: "zero", value };
}

function quantileMeasures(
  column: string,
  quantiles: readonly QuantileColumn[],
  label: string,
  unit: string,
): Measure[] {
  const main = Math.max(
    0,
    quantiles.findIndex(({ level }) => level === 0.5),
  );
  return quantiles.map((quantile, index) => ({
    ...quantileMeasure(column, index, `${label}, ${quantileLabel(quantile)}`, unit),
    name: quantile.name,
    ...(index === main && { main: true as const }),
  }));
}

function quantileMeasure(column: string, index: number, label: string, unit: string) {
  return {
    label,
    unit,
    additive: false,
    missing: "gap" as const,
    value(row: Readonly<Record<string, Value>>): number | null {
      const value = (row[column] as ArrayLike<number>)[index];
      return value === undefined || Number.isNaN(value) ? null : value;
    },
  };
}
