import fc from "fast-check";
import { expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import {
  between,
  type Measurements,
  prefix,
  type Result,
  type Runs,
  type Value,
  type Where,
} from "../../src/index.js";
import { measurementsOf, runsOf } from "../../src/measurements/measurements.js";
import { ownDatabase } from "../support/own-database.js";
import { EPOCH, HOUR, randomTable, writeTable, type RandomTable } from "./random-table.js";
import {
  bucketLabel,
  countGroups,
  incompleteLabels,
  quantile,
  runGroups,
  type Asked,
  type Group,
  type Row,
} from "./reference.js";

const own = ownDatabase();

const COLUMN = { name: "software_name", version: "software_version", asn: "probe_asn" } as const;

interface Filter {
  readonly where: (table: RandomTable) => Where;
  readonly keep: (row: Row) => boolean;
}

const FILTERS: readonly Filter[] = [
  { where: () => ({}), keep: () => true },
  { where: () => ({ software_name: "a" }), keep: (row) => row.name === "a" },
  { where: () => ({ software_name: ["a", "c"] }), keep: (row) => row.name !== "b" },
  {
    where: () => ({ software_version: prefix("3.8") }),
    keep: (row) => row.version === "3.8" || row.version === "3.8.1",
  },
  {
    where: () => ({ software_version: prefix("3.8", { edge: false }) }),
    keep: (row) => row.version?.startsWith("3.8") ?? false,
  },
  {
    where: () => ({ software_version: [null, "3.9"] }),
    keep: (row) => row.version === null || row.version === "3.9",
  },
  {
    where: (table) => ({ probe_asn: /String/.test(table.asn) ? "30722" : 30722 }),
    keep: (row) => row.asn === 30722,
  },
];

const question = fc
  .record({
    first: fc.integer({ min: 0, max: 24 * 6 }),
    hours: fc.integer({ min: 1, max: 24 * 8 }),
    cut: fc.constantFrom(0, 0, 1, 1800_000),
    zone: fc.constantFrom("UTC", "Europe/Rome", "Asia/Kolkata", "America/New_York"),
    every: fc.constantFrom("hour", "day", "week", "month", undefined),
    by: fc.constantFrom<Asked["by"][]>([], ["version"], ["name"], ["asn"], ["name", "version"]),
    top: fc.constantFrom(1, 2, 6, Infinity),
    drop: fc.boolean(),
    filter: fc.constantFrom(...FILTERS),
  })
  .map(({ first, hours, cut, ...rest }) => ({
    ...rest,
    start: EPOCH + first * HOUR + cut,
    end: EPOCH + (first + hours) * HOUR + cut,
    levels: [0.1, 0.5, 0.9],
    keep: rest.filter.keep,
  }));

type Question = Asked & { readonly filter: Filter };

function optionsOf(table: RandomTable, asked: Question): Parameters<Runs["counts"]>[0] {
  return {
    range: between(new Date(asked.start), new Date(asked.end), { timeZone: asked.zone }),
    every: (asked.every ?? "all") as "day",
    by: asked.by.map((key) => COLUMN[key]),
    top: asked.top,
    where: asked.filter.where(table),
    quantiles: asked.levels,
  };
}

/** The same of runs, of which a filter may leave out those of one measurement. */
function runOptions(table: RandomTable, asked: Question): Parameters<Runs["counts"]>[0] {
  const options = optionsOf(table, asked);
  return asked.drop
    ? { ...options, where: { ...options.where, measurements: { gt: 1 } } }
    : options;
}

/** The rows of a result by bucket and group. */
function byKey(result: Result, asked: Asked): Map<string, Record<string, Value>> {
  return new Map(
    result.rows().map((row) => {
      const label =
        asked.every === undefined
          ? ""
          : bucketLabel((row["t"] as Date).getTime(), asked.every, asked.zone);
      const dimensions = asked.by.map((key) => row[COLUMN[key]]);
      return [`${label} ${JSON.stringify(dimensions)}`, row];
    }),
  );
}

function check(
  result: Result,
  asked: Asked,
  groups: readonly Group[],
  compare: (row: Record<string, Value>, group: Group) => void,
): void {
  const found = byKey(result, asked);
  const keys = groups.map((group) => `${group.label} ${JSON.stringify(group.dimensions)}`);
  expect([...found.keys()].sort()).toEqual([...keys].sort());
  expect(result.numRows()).toBe(keys.length);
  groups.forEach((group, index) => {
    compare(found.get(keys[index] ?? "") ?? {}, group);
  });
  if (asked.every !== undefined && result.numRows() > 0) {
    const incomplete = result.origin.columns.time?.incomplete ?? [];
    expect(
      incomplete.map((start) => bucketLabel(start.getTime(), asked.every, asked.zone)),
    ).toEqual(incompleteLabels(asked));
    const times = result.column("t").map(Number);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  }
}

function checkRuns(row: Record<string, Value>, group: Group): void {
  expect(row["runs"]).toBe(group.runs.length);
  expect(row["measurements"]).toBe(group.measurements);
  const single = group.runs.filter((run) => run.n === 1).length / group.runs.length;
  expect(row["single_share"]).toBe(group.runs.length === 0 ? null : single);
}

function near(value: Value, expected: number | null): void {
  if (expected === null) expect(value).toBeNull();
  else expect(Math.abs(Number(value) - expected)).toBeLessThanOrEqual(1e-9 * Math.abs(expected));
  if (expected !== null) expect(value).not.toBeNull();
}

const seconds = (run: { micros: number; last: number }) => (run.last - run.micros) / 1e6;

/** Asks a preset and compares its answer with plain rows. */
type Preset = (
  lab: { readonly measurements: Measurements; readonly runs: Runs },
  table: RandomTable,
  asked: Question,
) => Promise<() => void>;

const PRESETS: Readonly<Record<string, Preset>> = {
  counts: async ({ measurements }, table, asked) => {
    const result: Result = await measurements.counts(optionsOf(table, asked));
    return () => {
      check(result, asked, countGroups(table.rows, asked), (row, group) => {
        expect(row["measurements"]).toBe(group.measurements);
      });
    };
  },
  "runs.counts: whole runs, in the bucket of their start": async ({ runs }, table, asked) => {
    const result: Result = await runs.counts(runOptions(table, asked));
    return () => {
      check(result, asked, runGroups(table.rows, asked), (row, group) => {
        checkRuns(row, group);
        const sizes = group.runs.map((run) => run.n);
        for (const level of asked.levels) near(row[`q${level * 100}`], quantile(sizes, level));
      });
    };
  },
  "runs.durations: exact quantiles (R-7) of last minus first start": async (
    { runs },
    table,
    asked,
  ) => {
    const result: Result = await runs.durations(runOptions(table, asked));
    return () => {
      check(result, asked, runGroups(table.rows, asked), (row, group) => {
        checkRuns(row, group);
        const durations = group.runs.map(seconds);
        for (const level of asked.levels) near(row[`q${level * 100}`], quantile(durations, level));
      });
    };
  },
  "runs.summary: pace over runs of two or more measurements": async ({ runs }, table, asked) => {
    const whole: Question = { ...asked, every: undefined };
    const result: Result = await runs.summary(runOptions(table, whole));
    return () => {
      check(result, whole, runGroups(table.rows, whole), (row, group) => {
        checkRuns(row, group);
        const sizes = group.runs.map((run) => run.n);
        near(row["measurements_per_run"], quantile(sizes, 0.5));
        const paced = group.runs.filter((run) => run.n > 1);
        const pace = paced.map((run) => seconds(run) / (run.n - 1));
        near(row["seconds_per_measurement"], quantile(pace, 0.5));
        for (const level of whole.levels) {
          near(row[`q${level * 100}`], quantile(group.runs.map(seconds), level));
        }
      });
    };
  },
};

// The costs are making a table and learning it, not asking: each is asked many different questions.
const TABLES = 30;
const EACH = 3;

it("counts, runs, runDurations and summary agree with plain rows in every column type, zone, bucket, filter and top", async () => {
  const presets = Object.entries(PRESETS);
  const questions = fc.array(question, {
    minLength: EACH * presets.length,
    maxLength: EACH * presets.length,
  });
  await fc.assert(
    fc.asyncProperty(randomTable, questions, async (table, all) => {
      await writeTable(own.writer, table);
      await using database = await Database.open(own.source);
      const lab = { measurements: measurementsOf(database), runs: runsOf(database) };
      const checks = await Promise.all(
        all.map(async (asked, index) => {
          const [name, preset] = presets[index % presets.length]!;
          return { name, asked, compare: await preset(lab, table, asked) };
        }),
      );
      for (const { name, asked, compare } of checks) {
        try {
          compare();
        } catch (error) {
          throw new Error(`${name} of ${JSON.stringify(asked)}`, { cause: error });
        }
      }
    }),
    { numRuns: TABLES, seed: 20251026 },
  );
}, 300_000);
