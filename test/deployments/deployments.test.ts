import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  between,
  connect,
  count,
  countDistinct,
  type Lab,
  mean,
  min,
  quantile,
  type Result,
  share,
  sum,
  type TimeRange,
} from "../../src/index.js";
import { quoteIdentifier } from "../../src/database/time-column.js";
import {
  answered,
  differences,
  grouped,
  quantile as r7,
  runsOf,
  type Cell,
  type Grouping,
  type Run,
} from "../sources/measurements/reference.js";
import { startCluster, type Cluster } from "../support/cluster.js";
import { READERS, restrictedServer, type RestrictedServer } from "../support/restricted-server.js";
import { deployments, describeDeployment, uncovered, type Deployment } from "./deployment.js";
import { countedRows, duplicatesOf } from "./reference.js";
import {
  END,
  LOG_END,
  LOG_START,
  logLines,
  measuredRows,
  START,
  type Line,
  type Measured,
} from "./rows.js";
import { makeTables, namesOf, sourceOf, tablesOf, type Held, type Spread } from "./tables.js";

/** Every time type and most pairs of the other factors. */
const MATRIX = deployments(26);

// For few rows the engine compiles an expression longer than it runs it: half of all the time.
const SETTINGS = {
  max_threads: 1,
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
};
let single: RestrictedServer;
let cluster: Cluster;
beforeAll(async () => {
  single = await restrictedServer(READERS, SETTINGS);
  cluster = await startCluster(3, READERS, SETTINGS);
});
afterAll(async () => {
  await single[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

type Timed = Measured & { readonly micros: number };

/** A deployment that is there, a lab on it, and what it holds. */
interface Given {
  readonly one: Deployment;
  readonly server: RestrictedServer;
  readonly lab: Lab;
  readonly held: readonly Held[];
  /** What questions count. */
  readonly rows: readonly Timed[];
  readonly runs: readonly Run[];
  readonly lines: readonly (Line & { micros: number })[];
  readonly range: TimeRange;
  readonly logRange: TimeRange;
}

async function given(
  one: Deployment,
  spread: Spread | undefined,
  open: (given: Given) => Promise<void>,
): Promise<void> {
  const server = spread?.shards[0] ?? single;
  const measured = measuredRows(one);
  const lines = logLines(one, measured);
  const held = await makeTables(server.admin, one, measured, lines, spread);
  await using lab = await connect({ measurements: sourceOf(server, one), tables: tablesOf(one) });
  const timed = <R extends { micros: number | null }>(row: R): row is R & { micros: number } =>
    row.micros !== null;
  const rows = countedRows(one, held).filter(timed);
  const at = (micros: number) => new Date(micros / 1000);
  const zone = { timeZone: one.zone };
  await open({
    one,
    server,
    lab,
    held,
    rows,
    runs: runsOf(rows, START, END),
    lines: lines.filter(timed),
    range: between(at(START), at(END), zone),
    logRange: between(at(LOG_START), at(LOG_END), zone),
  });
}

const size = (rows: readonly unknown[]) => rows.length;
const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);
const part = (some: number, all: number): Cell => (all === 0 ? null : some / all);
/** The quantile of a row's number. */
const quantileOf =
  <R>(p: number, of: (row: R) => number) =>
  (own: readonly R[]) =>
    r7(own.map(of), p);
const least = (micros: readonly number[]): Cell =>
  micros.length === 0 ? null : Math.floor(Math.min(...micros) / 1000);

/** How measurements and runs are grouped here, unless told otherwise. */
function over<R extends { micros: number }>(
  one: Deployment,
  own: Partial<Grouping<R>> & Pick<Grouping<R>, "measures">,
): Grouping<R> {
  const all = { start: START, end: END, zone: one.zone, every: undefined, top: Infinity };
  return { ...all, by: () => [], micros: ({ micros }) => micros, ...own };
}

/** Compares an answer with what the rows give; `what` names it where they differ. */
function isRight<R>(
  what: string,
  found: Pick<Result<object>, "rows">,
  rows: readonly R[],
  asked: Grouping<R>,
  by: readonly string[] = [],
): void {
  const told = answered(found.rows() as Record<string, unknown>[], by, asked.every, asked.zone);
  expect.soft(differences(told, grouped(rows, asked)), what).toEqual([]);
}

const PLACES = [
  ...MATRIX.map((one) => [describeDeployment(one), one, 1, "rand"] as const),
  ...MATRIX.slice(0, 5).map((one) => {
    const [many, by] = [one.id % 2 === 0 ? 2 : 3, one.id % 4 < 2 ? "rand" : "report"] as const;
    return [`on ${many} shards by ${by}, ${describeDeployment(one)}`, one, many, by] as const;
  }),
];

describe.each(PLACES)("%s", (_name, one, many, by) => {
  it("answers every question as the rows say, or refuses with the remedy", async () => {
    const spread = many === 1 ? undefined : { shards: cluster.shards.slice(0, many), by };
    await given(one, spread, async (own) => {
      const asked = await Promise.allSettled([
        countsAreRight(own),
        freeSqlIsRight(own),
        runsAreRight(own),
        ownQuestionsAreRight(own),
        logsAreRight(own),
      ]);
      for (const one of asked) if (one.status === "rejected") throw one.reason;
    });
  });
});

describe("the matrix", () => {
  it("has nine of ten pairs of values that deployments differ in", () => {
    expect(uncovered(MATRIX).length / uncovered([]).length).toBeLessThan(0.11);
  });
});

async function countsAreRight({ one, lab, rows, held, range }: Given): Promise<void> {
  const counted = { measures: { measurements: size } };
  for (const every of ["week", "day"] as const) {
    const found = await lab.measurements.counts({ range, every });
    isRight("counts", found, rows, over(one, { ...counted, every }));
  }
  for (const [name, of] of [
    ["software_version", (row: Timed) => row.version],
    ["software_name", (row: Timed) => row.name],
    ["probe_asn", (row: Timed) => row.asn],
  ] as const) {
    const found = await lab.measurements.counts({ range, every: "week", by: name, top: 3 });
    const expected = over<Timed>(one, {
      ...counted,
      every: "week",
      by: (row) => [of(row)],
      top: 3,
    });
    isRight(name, found, rows, expected, [name]);
  }
  const text = /String/.test(one.asn);
  const some = await lab.measurements.counts({
    range,
    every: "all",
    where: { probe_asn: { ne: text ? "0" : 0 }, software_name: ["probe-cli", 'O\'Brien "x"'] },
  });
  const kept = rows.filter(
    (row) => row.asn !== "0" && ["probe-cli", 'O\'Brien "x"'].includes(row.name ?? ""),
  );
  isRight("counts", some, kept, over(one, counted));
  const seen = await lab.measurements.firstSeen({ range, by: "software_version" });
  const first = over<Timed>(one, {
    by: ({ version }) => [version],
    measures: { measurements: size, first: (own) => least(own.map(({ micros }) => micros)) },
  });
  isRight("firstSeen", seen, rows, first, ["software_version"]);
  const twice = await lab.measurements.duplicates({ range });
  expect.soft(twice.rows()[0], "duplicates").toMatchObject(duplicatesOf(one, held, START, END));
}

/** Free SQL names tables and columns itself, and counts each row that a table holds. */
async function freeSqlIsRight({ one, lab, held, lines, range, logRange }: Given): Promise<void> {
  const { column, measurements, logs, database } = namesOf(one);
  const [test, program, at] = ["test_name", "SYSLOG_IDENTIFIER", "__REALTIME_TIMESTAMP"]
    .map(column)
    .map(quoteIdentifier);
  const place = `${quoteIdentifier(database)}.${quoteIdentifier(measurements)}`;
  const tests = await lab.query(
    `SELECT ${test} AS test, count() AS n FROM ${place} WHERE {range} GROUP BY test`,
    { range },
  );
  const programs = await lab.query(
    `SELECT ${program} AS program, count() AS n FROM {database:Identifier}.${quoteIdentifier(logs)}
    WHERE {range:${at}} GROUP BY program`,
    { range: logRange, params: { database } },
  );
  const rows = held.map(({ row }) => row).filter((row): row is Timed => row.micros !== null);
  const n = { measures: { n: size } };
  const byTest = over<Timed>(one, { ...n, by: (row) => [row.test] });
  const times = { start: LOG_START, end: LOG_END };
  type TimedLine = Given["lines"][number];
  const byProgram = over<TimedLine>(one, { ...n, ...times, by: ({ program }) => [program] });
  isRight("query test", tests, rows, byTest, ["test"]);
  isRight("query program", programs, lines, byProgram, ["program"]);
  for (const found of [tests, programs]) {
    const told = found.origin.notes.join(" ");
    const says = one.dirty === "dirty" ? expect.soft(told) : expect.soft(told).not;
    says.toMatch(/rows? of .* ha(s|ve) no usable .* left out/);
  }
}

async function runsAreRight({ one, lab, runs, range }: Given): Promise<void> {
  const measures = {
    runs: size,
    measurements: (own: readonly Run[]) => own.reduce((all, { n }) => all + n, 0),
    single_share: (own: readonly Run[]) => part(own.filter(({ n }) => n === 1).length, own.length),
  };
  const quantiles = (levels: readonly number[], of: (run: Run) => number) =>
    Object.fromEntries(levels.map((p) => [`q${p * 100}`, quantileOf(p, of)]));
  const sizes = await lab.runs.counts({ range, every: "week", by: "probe_cc", top: 2 });
  const counted = over<Run>(one, {
    every: "week",
    by: ({ cc }) => [cc],
    top: 2,
    measures: { ...measures, ...quantiles([0.1, 0.5, 0.9], ({ n }) => n) },
  });
  isRight("runs", sizes, runs, counted, ["probe_cc"]);
  const long = lab.measurements.runDurations({
    range,
    every: "week",
    by: "software_version",
    top: 2,
  });
  const summary = lab.runs.summary({ range });
  const short = lab.runs.ask({
    range,
    every: "all",
    where: { duration: { gt: 0 } },
    measures: {
      runs: count(),
      short: share({ duration: { lt: 7200 } }),
      p90: quantile(0.9, "duration"),
    },
  });
  if (one.time.days === true) {
    for (const question of [long, summary, short]) {
      await expect
        .soft(question)
        .rejects.toThrow(/Can't tell how long runs take: .* is a Date.*Count runs/s);
    }
    return;
  }
  const seconds = over<Run>(one, {
    every: "week",
    by: ({ version }) => [version],
    top: 2,
    measures: { ...measures, ...quantiles([0.1, 0.5, 0.9], (run) => run.seconds) },
  });
  isRight("runDurations", await long, runs, seconds, ["software_version"]);
  const table = over<Run>(one, {
    by: ({ name, version }) => [name, version],
    measures: {
      ...measures,
      measurements_per_run: quantileOf(0.5, ({ n }) => n),
      seconds_per_measurement: (own) =>
        quantileOf(0.5, (run: Run) => run.seconds / (run.n - 1))(own.filter(({ n }) => n > 1)),
      ...quantiles([0.1, 0.3, 0.5, 0.7, 0.9], (run) => run.seconds),
    },
  });
  isRight("summary", await summary, runs, table, ["software_name", "software_version"]);
  const asked = over<Run>(one, {
    measures: {
      runs: size,
      short: (own) => part(own.filter((run) => run.seconds < 7200).length, own.length),
      p90: quantileOf(0.9, (run) => run.seconds),
    },
  });
  const some = runs.filter((run) => run.seconds > 0);
  isRight("runs.ask", await short, some, asked);
}

async function ownQuestionsAreRight({ one, lab, rows, range }: Given): Promise<void> {
  const found = await lab.measurements.ask({
    range,
    every: "day",
    by: "test_name",
    measures: {
      n: count(),
      italian: share({ probe_cc: "IT" }),
      versions: countDistinct("software_version"),
      first: min("time"),
    },
  });
  const expected = over<Timed>(one, {
    every: "day",
    by: ({ test }) => [test],
    top: 6,
    measures: {
      n: size,
      italian: (own) => part(own.filter(({ cc }) => cc === "IT").length, own.length),
      versions: (own) => new Set(own.map(({ version }) => version).filter((v) => v !== null)).size,
      first: (own) => least(own.map(({ micros }) => micros)),
    },
  });
  isRight("ask", found, rows, expected, ["test_name"]);
  const numbers = lab.measurements.ask({
    range,
    every: "week",
    measures: {
      total: sum("test_runtime"),
      mean: mean("test_runtime"),
      q25: quantile(0.25, "test_runtime"),
    },
  });
  const values = lab.measurements.values({ range, y: "test_runtime", by: "test_name", top: 1 });
  const failures = lab.testHelpers.failureRate({ range, every: "week" });
  // Each is awaited below, some after others have failed.
  for (const asked of [numbers, values, failures]) asked.catch(() => undefined);
  if (one.optional !== "all") {
    await expect
      .soft(failures)
      .rejects.toThrow(
        /Can't ask for the failure rate.* has no column .*(ask lab|Pass the condition)/s,
      );
  }
  if (one.optional === "none") {
    for (const question of [numbers, values]) {
      await expect.soft(question).rejects.toThrow(/Can't find a column "test_runtime".*It has/s);
    }
    return;
  }
  const runtimes = (own: readonly Timed[]) => known(own.map(({ runtime }) => runtime));
  const total = (own: readonly Timed[]) => runtimes(own).reduce((a, b) => a + b, 0);
  const weekly = over<Timed>(one, {
    every: "week",
    measures: {
      total,
      mean: (own) => part(total(own), runtimes(own).length),
      q25: (own) => r7(runtimes(own), 0.25),
    },
  });
  isRight("numbers", await numbers, rows, weekly);
  expect.soft((await values).numRows(), "values").toBeGreaterThan(0);
  if (one.optional !== "all") return;
  const named = rows.filter(({ helper }) => helper !== "");
  const rates = over<Timed>(one, {
    every: "week",
    by: ({ helper }) => [helper],
    measures: {
      measurements: size,
      failed: (own) => own.filter(({ failed }) => failed).length,
      rate: (own) => part(own.filter(({ failed }) => failed).length, own.length),
    },
  });
  isRight("failureRate", await failures, named, rates, ["test_helper_address"]);
}

async function logsAreRight({ one, lab, lines: all, rows, logRange: range }: Given): Promise<void> {
  type Timed = (typeof all)[number];
  const lines = all.filter(({ micros }) => micros >= LOG_START && micros < LOG_END);
  const logs = (own: Partial<Grouping<Timed>> & Pick<Grouping<Timed>, "measures">) =>
    over<Timed>(one, { start: LOG_START, end: LOG_END, every: "hour", ...own });
  const rates = await lab.logs.rates({ range, every: "hour", by: "identifier", top: 2 });
  const programs = logs({ by: ({ program }) => [program], top: 2, measures: { messages: size } });
  isRight("rates", rates, lines, programs, ["identifier"]);
  const severe = lab.logs.ask({ range, every: "hour", priority: "err", measures: { n: count() } });
  if (one.priority === "missing") {
    await expect
      .soft(severe)
      .rejects.toThrow(/Can't use priority: .* has no column .*leave priority out/s);
  } else if (one.priority.includes("'none'") || one.priority === "UInt8") {
    await expect
      .soft(severe)
      .rejects.toThrow(
        /Can't filter by priority: .*no syslog priority: ("none"|99 ).*Leave priority out/s,
      );
  } else {
    const errors = lines.filter(({ priority }) => priority === 3);
    isRight("priority", await severe, errors, logs({ measures: { n: size } }));
  }
  const hosts = lab.logs.ask({
    range,
    every: "all",
    by: "host",
    measures: { n: count(), programs: countDistinct("identifier") },
  });
  if (one.optional === "none") {
    await expect
      .soft(hosts)
      .rejects.toThrow(/Can't use host: .* has no column host.*leave host out/s);
  } else {
    const expected = logs({
      every: undefined,
      by: ({ host }) => [host],
      measures: { n: size, programs: (own) => new Set(own.map(({ program }) => program)).size },
    });
    isRight("hosts", await hosts, lines, expected, ["host"]);
  }
  const told = (t: unknown, program: unknown, message: unknown) =>
    JSON.stringify([Number(t), program, message]);
  const whole = await lab.logs.search({ range, limit: Infinity });
  const found = whole.rows();
  expect
    .soft(found.map((row) => told(row["t"], row["identifier"], row["message"])).sort(), "search")
    .toEqual(
      lines.map((line) => told(Math.floor(line.micros / 1000), line.program, line.message)).sort(),
    );
  const merging =
    / is a (Distributed over )?ReplacingMergeTree: lines that it will merge .* are counted each/;
  for (const { origin } of [rates, whole]) {
    const notes = origin.notes.join(" ");
    if (one.engine === "ReplacingMergeTree") expect.soft(notes).toMatch(merging);
    else expect.soft(notes).not.toMatch(merging);
    const left = /rows? of .* ha(s|ve) no usable .* left out/;
    if (one.dirty === "dirty") expect.soft(notes).toMatch(left);
    else expect.soft(notes).not.toMatch(left);
  }
  const lists = await lab.logs.checkIn({ range });
  const urls = (own: readonly Timed[]) => own.map((line) => line.urls ?? 0);
  const lengths = logs({
    measures: {
      lists: size,
      hundred: (own) => part(urls(own).filter((n) => n === 100).length, own.length),
      fewest: (own) => r7(urls(own), 0),
      q10: (own) => r7(urls(own), 0.1),
      q50: (own) => r7(urls(own), 0.5),
      q90: (own) => r7(urls(own), 0.9),
      most: (own) => r7(urls(own), 1),
    },
  });
  isRight(
    "checkIn",
    lists,
    lines.filter((line) => line.urls !== undefined),
    lengths,
  );
  await submissionsAreRight(lab, range, lines, rows);
}

async function submissionsAreRight(
  lab: Lab,
  range: TimeRange,
  lines: readonly (Line & { micros: number })[],
  rows: readonly Timed[],
): Promise<void> {
  // Read are measurements from a day before the range to an hour after it.
  const near = rows.filter(
    ({ micros }) => micros >= LOG_START - 86_400_000_000 && micros < LOG_END + 3_600_000_000,
  );
  const joined = (values: readonly (string | null)[]) =>
    [...new Set(values.filter((value) => value !== null))].sort().join("+");
  const expected = lines
    .filter(({ report }) => report !== undefined)
    .map(({ report = "", accepted }) => {
      const stored = near.filter((row) => row.report === report);
      const [, , cc = "", asn = ""] = report.split("_");
      const finding =
        report === "not-an-id"
          ? "unreadable"
          : stored.length === 0
            ? accepted === true
              ? "missing"
              : "refused"
            : joined(stored.map((row) => row.cc)) !== cc
              ? "country"
              : joined(stored.map((row) => row.asn)) !== asn
                ? "network"
                : "stored";
      return `${report} ${finding} ${stored.length}`;
    });
  const found = await lab.logs.submissions({ range });
  const told = found
    .rows()
    .map((row) => [row["report_id"], row["finding"], row["measurements"]].map(String).join(" "));
  expect.soft(told.sort(), "submissions").toEqual(expected.sort());
}
