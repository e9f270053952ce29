import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  between,
  compare,
  connect,
  type ConnectOptions,
  count,
  countDistinct,
  explain,
  type Lab,
  quantile,
  type Result,
} from "../../src/index.js";
import { held, HOUR, question, START, told } from "../sources/snapshot/questions.js";
import { KINDS, makeRows } from "../sources/snapshot/rows.js";
import { startCluster, type Cluster } from "../support/cluster.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster(3, undefined, { max_threads: 1, compile_expressions: 0 });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const first = () => cluster.shards[0]!;
const at = (database: string) => first().url.replace(/probelab$/, database);

async function on(index: number, query: string): Promise<void> {
  const clickhouse_settings = {
    distributed_foreground_insert: 1,
    allow_suspicious_low_cardinality_types: 1,
    optimize_on_insert: 0,
  } as const;
  await cluster.shards[index]!.admin.command({ query, clickhouse_settings });
}

/** Spreads a table of the database `whole` over so many shards: `DATABASE.TABLE`, Distributed over `DATABASE.part_TABLE`. */
async function spread(table: string, into: string, many: number, key: string): Promise<void> {
  const answer = await first().admin.query({
    query: `SHOW CREATE TABLE whole.${table}`,
    format: "TabSeparatedRaw",
  });
  const created = await answer.text();
  for (let index = 0; index < many; index++) {
    await on(index, `CREATE DATABASE IF NOT EXISTS ${into}`);
    await on(index, created.replace(`whole.${table}`, `${into}.part_${table}`));
    await on(index, `SYSTEM STOP MERGES ${into}.part_${table}`);
  }
  await on(
    0,
    `CREATE TABLE ${into}.${table} AS ${into}.part_${table} ENGINE = Distributed('of${many}', '${into}', 'part_${table}', ${key})`,
  );
  await on(0, `INSERT INTO ${into}.${table} SELECT * FROM whole.${table}`);
}

/** As much as one part of it is the same however rows are added up. */
function near(found: readonly unknown[], wanted: readonly unknown[]): void {
  expect(found.length).toBe(wanted.length);
  found.forEach((row, index) => {
    for (const [name, value] of Object.entries(wanted[index] as Record<string, unknown>)) {
      const own = (row as Record<string, unknown>)[name];
      if (typeof value === "number") expect(own, name).toBeCloseTo(value, 9);
      else expect(own, name).toEqual(value);
    }
  });
}

async function same(
  labs: readonly [Lab, Lab],
  ask: (lab: Lab) => Promise<Result<object> | { result: Result<object> }>,
): Promise<void> {
  const [wanted, found] = (await Promise.all(labs.map(ask))).map(
    (one) => ("result" in one ? one.result : one) as Result,
  );
  near(found!.rows(), wanted!.rows());
  const { notes, ...rest } = told(wanted!);
  const own = told(found!);
  expect(own).toMatchObject(rest);
  expect(own.notes.filter((note) => !note.startsWith("Each server"))).toEqual(notes);
}

/** Every kind of rows, and each way to spread them over two and over three shards. */
const PLACES = [
  { many: 2, kind: KINDS[0]!, key: "cityHash64(report_id)", presets: false },
  { many: 3, kind: KINDS[1]!, key: "rand()", presets: false },
  { many: 2, kind: KINDS[2]!, key: "rand()", presets: false },
  { many: 3, kind: KINDS[3]!, key: "intHash64(n)", presets: true },
] as const;

describe.each(
  PLACES.map(
    (place) => [`${place.many} shards by ${place.key}, ${place.kind.time}`, place] as const,
  ),
)("a Distributed table on %s", (_name, { many, kind, key, presets }) => {
  const into = `s${KINDS.indexOf(kind)}`;
  let labs: readonly [Lab, Lab];
  beforeAll(async () => {
    await on(0, "CREATE DATABASE IF NOT EXISTS whole");
    await makeRows(
      { command: (sql: string) => on(0, sql.replaceAll("fastpath", "whole.fastpath")) } as never,
      kind,
    );
    await on(0, "DROP TABLE IF EXISTS whole.logs");
    await on(
      0,
      `CREATE TABLE whole.logs ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP AS
      SELECT toInt64(1000) * (${START} + (cityHash64(number) % (5 * 86400000))) AS __REALTIME_TIMESTAMP,
        concat(['timed out after ', 'connected in '][1 + number % 2], toString(number % 17), ' s') AS message,
        ['collector', 'nginx', 'sshd'][1 + cityHash64(number, 1) % 3] AS SYSLOG_IDENTIFIER, toUInt8(number % 8) AS PRIORITY
      FROM numbers(3000)`,
    );
    await spread("fastpath", into, many, key);
    await spread("logs", into, many, "rand()");
    labs = [
      await connect({ measurements: at("whole") }),
      await connect({ measurements: at(into) }),
    ];
  });
  afterAll(async () => {
    for (const lab of labs ?? []) await lab.close();
  });

  it("answers questions at random as the table that holds all rows", async () => {
    await fc.assert(
      fc.asyncProperty(question, (ask) => same(labs, ask)),
      { seed: 155, numRuns: Number(process.env["RUNS"] ?? 8) },
    );
  });

  it.runIf(presets)("answers the presets, comparisons and free SQL as that table", async () => {
    const range = held;
    const days = (from: number, to: number) =>
      between(new Date(START + from * HOUR), new Date(START + to * HOUR));
    const moved = { before: days(0, 48), after: days(48, 96) };
    const asks: readonly ((lab: Lab) => Promise<Result<object> | { result: Result<object> }>)[] = [
      (lab) => lab.runs.counts({ range, every: "day", by: "probe_cc" }),
      (lab) => lab.measurements.runDurations({ range, every: "day", by: "software_version" }),
      (lab) => lab.measurements.counts({ range, every: "day", dedupe: true }),
      (lab) => lab.measurements.duplicates({ range }),
      (lab) => lab.measurements.histogram({ range, column: "probe_asn" }),
      (lab) => lab.measurements.values({ range, y: "n" as never, by: "probe_cc" as never }),
      // Too long a list for a URL and for a field.
      (lab) => {
        const many = Array.from({ length: 9_000 }, (_, each) => `https://example.org/${each}`);
        const where = { input: [...many, "https://1", "https://2"] } as never;
        return lab.runs.ask({
          range,
          every: "all",
          where,
          measures: { runs: count(), p90: quantile(0.9, "measurements") },
        });
      },
      (lab) => explain(lab.measurements, moved),
      (lab) => explain(lab.runs, moved),
      (lab) => compare(lab.measurements, { before: moved.before, now: moved.after }),
      (lab) => lab.logs.search({ range, contains: "timed out", limit: 20 }),
      (lab) => lab.logs.rates({ range, every: "hour", by: "identifier" as never }),
      (lab) => lab.logs.bursts({ range }),
      (lab) => lab.logs.rates({ range, every: "all", by: ["identifier", "pattern"] }),
      (lab) =>
        lab.logs.ask({
          range,
          every: "day",
          by: "SYSLOG_IDENTIFIER" as never,
          measures: { n: count(), m: countDistinct("message" as never) },
        }),
      ...[
        "SELECT probe_cc, count() AS n FROM fastpath WHERE {range} GROUP BY probe_cc ORDER BY probe_cc",
        `SELECT a.probe_cc AS cc, count() AS n FROM (SELECT * FROM fastpath WHERE {range}) AS a
        INNER JOIN (SELECT report_id, max(n) AS m FROM fastpath WHERE {range} GROUP BY report_id) AS b ON a.report_id = b.report_id AND a.n = b.m
        GROUP BY cc ORDER BY cc`,
        // A table of the asked server alone.
        `SELECT name, count() AS n FROM fastpath INNER JOIN probelab.countries USING (probe_cc)
        WHERE {range} GROUP BY name ORDER BY name`,
        "SELECT count() AS n FROM logs WHERE {range:logs.__REALTIME_TIMESTAMP} AND PRIORITY < 4",
      ].map((sql) => (lab: Lab) => lab.query(sql, { range })),
    ];
    await on(
      0,
      "CREATE OR REPLACE TABLE probelab.countries ENGINE = Memory AS SELECT 'IT' AS probe_cc, 'Italy' AS name",
    );
    for (const ask of asks) await same(labs, ask);
    await using directory = await temporaryDirectory();
    const snapshot = await labs[1].snapshot({ range, into: `embedded:${directory.path}` });
    await same([labs[0], snapshot as never], (lab) =>
      lab.measurements.counts({ range, every: "day", by: "probe_cc" }),
    );
    await same([labs[0], snapshot as never], (lab) =>
      lab.runs.ask({
        range,
        every: "day",
        measures: { runs: count(), p50: quantile(0.5, "duration") },
      }),
    );
  });

  it.runIf(presets)("answers by the cluster's name as by a Distributed table", async () => {
    const table = (name: string) => ({ table: `${into}.part_${name}`, cluster: `of${many}` });
    const tables: ConnectOptions["tables"] = {
      measurements: table("fastpath"),
      logs: table("logs"),
    };
    await using lab = await connect({ measurements: at(into), tables });
    const range = held;
    for (const ask of [
      (one) => one.measurements.runDurations({ range, every: "day", by: "probe_cc" }),
      (one) => one.measurements.counts({ range, every: "day", dedupe: true }),
      (one) => one.logs.rates({ range, every: "hour" }),
    ] satisfies ((one: Lab) => Promise<Result<object>>)[]) {
      near((await ask(lab)).rows(), (await ask(labs[0])).rows());
    }
    const own = lab.query(`SELECT count() AS n FROM part_fastpath WHERE {range}`, { range });
    await expect(own).rejects.toThrow(
      `Can't run a query on ${into}.part_fastpath: questions read it from all servers of the cluster of${many}, and SQL that names it reads the rows of one. Ask with lab.measurements or lab.logs, or have a Distributed table made, and configure that one without "cluster".`,
    );
  });
});
