import fc from "fast-check";
import { expect, it } from "vitest";
import { Database } from "../../../src/database/database.js";
import {
  between,
  type Measurements,
  prefix,
  type Result,
  type Runs,
  type Where,
} from "../../../src/index.js";
import { measurementsOf, runsOf } from "../../../src/sources/measurements/measurements.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, HOUR, randomTable, writeTable, type RandomTable } from "./random-table.js";
import {
  answered,
  bucketLabel,
  differences,
  grouped,
  incompleteLabels,
  quantile,
  runsOf as plainRuns,
  type Grouping,
  type Row,
  type Run,
  type Span,
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
    keep: (row) => row.asn === "30722",
  },
];

const question = fc
  .record({
    first: fc.integer({ min: 0, max: 24 * 6 }),
    hours: fc.integer({ min: 1, max: 24 * 8 }),
    cut: fc.constantFrom(0, 0, 1, 1800_000),
    zone: fc.constantFrom("UTC", "Europe/Rome", "Asia/Kolkata", "America/New_York"),
    every: fc.constantFrom("hour", "day", "week", "month", undefined),
    by: fc.constantFrom<(keyof typeof COLUMN)[]>(
      [],
      ["version"],
      ["name"],
      ["asn"],
      ["name", "version"],
    ),
    top: fc.constantFrom(1, 2, 6, Infinity),
    drop: fc.boolean(),
    filter: fc.constantFrom(...FILTERS),
  })
  .map(({ first, hours, cut, ...rest }) => ({
    ...rest,
    start: EPOCH + first * HOUR + cut,
    end: EPOCH + (first + hours) * HOUR + cut,
  }));

interface Question extends Span {
  readonly by: readonly (keyof typeof COLUMN)[];
  readonly top: number;
  /** Whether runs of one measurement are left out. */
  readonly drop: boolean;
  readonly filter: Filter;
}

const LEVELS = [0.1, 0.5, 0.9];

function optionsOf(table: RandomTable, asked: Question): Parameters<Runs["counts"]>[0] {
  return {
    range: between(new Date(asked.start), new Date(asked.end), { timeZone: asked.zone }),
    every: (asked.every ?? "all") as "day",
    by: asked.by.map((key) => COLUMN[key]),
    top: asked.top,
    where: asked.filter.where(table),
    quantiles: LEVELS,
  };
}

/** The same of runs, of which a filter may leave out those of one measurement. */
function runOptions(table: RandomTable, asked: Question): Parameters<Runs["counts"]>[0] {
  const options = optionsOf(table, asked);
  return asked.drop
    ? { ...options, where: { ...options.where, measurements: { gt: 1 } } }
    : options;
}

function check<R extends Omit<Row, "report">>(
  result: Result,
  asked: Question,
  rows: readonly R[],
  measures: Grouping<R>["measures"],
): void {
  const { every, zone } = asked;
  const by = asked.by.map((key) => COLUMN[key]);
  const expected = grouped(rows, {
    ...asked,
    start: asked.start * 1000,
    end: asked.end * 1000,
    by: (row) => asked.by.map((key) => row[key]),
    micros: ({ micros }) => micros ?? NaN,
    measures,
  });
  expect(differences(answered(result.rows(), by, every, zone), expected)).toEqual([]);
  expect(result.numRows()).toBe(expected.size);
  if (every === undefined || result.numRows() === 0) return;
  const incomplete = result.origin.columns.time?.incomplete ?? [];
  expect(incomplete.map((start) => bucketLabel(start.getTime(), every, zone))).toEqual(
    incompleteLabels(asked),
  );
  const times = result.column("t").map(Number);
  expect(times).toEqual([...times].sort((a, b) => a - b));
}

/** The runs of a question, and what every question on runs counts of them. */
function runsAsked(table: RandomTable, { start, end, drop, filter }: Question): Run[] {
  const kept = table.rows.filter(filter.keep);
  return plainRuns(kept, start * 1000, end * 1000).filter(({ n }) => !drop || n > 1);
}
const share = (some: number, all: number) => (all === 0 ? null : some / all);
const COUNTED: Grouping<Run>["measures"] = {
  runs: (own) => own.length,
  measurements: (own) => own.reduce((sum, { n }) => sum + n, 0),
  single_share: (own) => share(own.filter(({ n }) => n === 1).length, own.length),
};
const quantiles = (of: (run: Run) => number): Grouping<Run>["measures"] =>
  Object.fromEntries(
    LEVELS.map((level) => [
      `q${level * 100}`,
      (own: readonly Run[]) => quantile(own.map(of), level),
    ]),
  );

/** Asks a preset and compares its answer with plain rows. */
type Preset = (
  lab: { readonly measurements: Measurements; readonly runs: Runs },
  table: RandomTable,
  asked: Question,
) => Promise<() => void>;

const PRESETS: Readonly<Record<string, Preset>> = {
  counts: async ({ measurements }, table, asked) => {
    const result: Result = await measurements.counts(optionsOf(table, asked));
    const rows = table.rows.filter(asked.filter.keep);
    return () => check(result, asked, rows, { measurements: (own) => own.length });
  },
  "runs.counts: whole runs, in the bucket of their start": async ({ runs }, table, asked) => {
    const result: Result = await runs.counts(runOptions(table, asked));
    const measures = { ...COUNTED, ...quantiles(({ n }) => n) };
    return () => check(result, asked, runsAsked(table, asked), measures);
  },
  "runs.durations: exact quantiles (R-7) of last minus first start": async (
    { runs },
    table,
    asked,
  ) => {
    const result: Result = await runs.durations(runOptions(table, asked));
    const measures = { ...COUNTED, ...quantiles(({ seconds }) => seconds) };
    return () => check(result, asked, runsAsked(table, asked), measures);
  },
  "runs.summary: pace over runs of two or more measurements": async ({ runs }, table, asked) => {
    const whole: Question = { ...asked, every: undefined };
    const result: Result = await runs.summary(runOptions(table, whole));
    const pace = ({ seconds, n }: Run) => seconds / (n - 1);
    const measures: Grouping<Run>["measures"] = {
      ...COUNTED,
      measurements_per_run: (own) =>
        quantile(
          own.map(({ n }) => n),
          0.5,
        ),
      seconds_per_measurement: (own) => quantile(own.filter(({ n }) => n > 1).map(pace), 0.5),
      ...quantiles(({ seconds }) => seconds),
    };
    return () => check(result, whole, runsAsked(table, whole), measures);
  },
};

// The costs are making a table and learning it, not asking: each is asked many different questions.
const TABLES = 15;
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
