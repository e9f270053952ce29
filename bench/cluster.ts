/**
 * What crosses the wire between two servers of a cluster, counted by a proxy before the second: bytes
 * for each group that it sends, with its rows by report and by chance; and the memory that both take.
 */
import { connect as dial, createServer, type AddressInfo } from "node:net";
import { Database } from "../src/database/database.js";
import { parseAddress } from "../src/database/address.js";
import { measurementsOf, runsOf } from "../src/sources/measurements/measurements.js";
import { countDistinct } from "../src/query/measure.js";
import { between } from "../src/time/time-range.js";
import { startCluster } from "../test/support/cluster.js";
import { QUERY_LOG } from "./support/logged-server.js";
import { report } from "./support/report.js";

const rows = Number(process.env["ROWS"] ?? 2_000_000);
const range = between("2026-01-05", "2026-07-06");
const wire = { sent: 0, received: 0 };
const proxies: ReturnType<typeof createServer>[] = [];

/** Passes on what comes, and counts it. */
async function through(port: number): Promise<number> {
  const proxy = createServer((near) => {
    const far = dial(port, "127.0.0.1");
    near.on("data", (part) => (wire.sent += part.length)).pipe(far);
    far.on("data", (part) => (wire.received += part.length)).pipe(near);
    near.on("error", () => far.destroy()).on("close", () => far.destroy());
    far.on("error", () => near.destroy()).on("close", () => near.destroy());
  });
  proxies.push(proxy);
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return (proxy.address() as AddressInfo).port;
}

await using cluster = await startCluster(2, {}, {}, { through, config: QUERY_LOG });
const [first, second] = cluster.shards.map(({ admin }) => admin);
if (first === undefined || second === undefined) throw new Error("Two servers are needed.");
for (const [name, key] of [
  ["by_report", "cityHash64(report_id)"],
  ["by_chance", "rand()"],
] as const) {
  for (const server of [first, second]) {
    await server.command({
      query: `CREATE TABLE ${name}_part (measurement_start_time DateTime('UTC'), report_id String, software_name LowCardinality(String),
  software_version LowCardinality(String), probe_cc LowCardinality(String), probe_asn UInt32, test_name LowCardinality(String))
ENGINE = MergeTree ORDER BY measurement_start_time`,
    });
  }
  await first.command({
    query: `CREATE TABLE ${name} AS ${name}_part ENGINE = Distributed(of2, probelab, ${name}_part, ${key})`,
  });
  // 40 measurements a report, a minute apart, over 26 weeks.
  await first.command({
    query: `INSERT INTO ${name} SELECT toDateTime('2026-01-05 00:00:00', 'UTC') + intDiv(run * 15724800, ${rows / 40}) % 15724800 + number % 40 * 60,
  concat(formatDateTime(toDateTime(1767571200 + run), '%Y%m%dT%H%i%SZ'), '_webconnectivity_IT_', toString(run % 65000), '_n1_', substring(hex(sipHash128(run)), 1, 16)),
  'probe-cli', concat('3.', toString(cityHash64(run) % 12), '.0'), ['IT', 'US', 'BR', 'DE'][1 + cityHash64(run, 1) % 4], run % 3000, 'web_connectivity'
FROM (SELECT number, intDiv(number, 40) AS run FROM numbers(${rows}))`,
    clickhouse_settings: { distributed_foreground_insert: 1 },
  });
}

/** Peak memory of the last question at a server, in bytes. */
async function memory(server: typeof first, initial: 0 | 1): Promise<number> {
  await server!.command({ query: "SYSTEM FLUSH LOGS" });
  const answer = await server!.query({
    query: `SELECT toFloat64(argMax(memory_usage, event_time_microseconds)) AS bytes FROM system.query_log
WHERE type = 'QueryFinish' AND is_initial_query = ${initial} AND query LIKE '%measurement_start_time%' AND query NOT LIKE '%query_log%'`,
    format: "JSONEachRow",
  });
  return (await answer.json<{ bytes: number }>())[0]?.bytes ?? 0;
}

async function groupsOf(sql: string): Promise<number> {
  const answer = await second!.query({
    query: `SELECT toFloat64(count()) AS n FROM (${sql})`,
    format: "JSONEachRow",
  });
  return (await answer.json<{ n: number }>())[0]?.n ?? 0;
}

const table: Record<string, string | number>[] = [];
const perGroup = new Map<string, number>();
for (const name of ["by_report", "by_chance"]) {
  const tables = {
    measurements: { table: name, time: "measurement_start_time", columns: {} },
    logs: { table: "logs", time: "__REALTIME_TIMESTAMP", columns: {} },
    testHelpers: { table: "test_helper_instances", time: "draining_at", columns: {} },
  };
  await using database = await Database.open(
    parseAddress(cluster.shards[0]!.url, {
      root: "/",
      name: "the bench",
    }),
    {},
    tables,
  );
  const measurements = measurementsOf(database);
  const question = { range, every: "week", by: "software_version" } as const;
  const part = `${name}_part`;
  const runs = `SELECT 1 FROM ${part} GROUP BY report_id`;
  const questions: Record<string, [() => Promise<unknown>, string]> = {
    counts: [
      () => measurements.counts(question),
      `SELECT 1 FROM ${part} GROUP BY toMonday(measurement_start_time), software_version`,
    ],
    "counts by hour and network": [
      () => measurements.counts({ ...question, every: "hour", by: "probe_asn", top: 6 }),
      `SELECT 1 FROM ${part} GROUP BY toStartOfHour(measurement_start_time), probe_asn`,
    ],
    runDurations: [() => measurements.runDurations(question), runs],
    summary: [() => runsOf(database).summary({ range }), runs],
    "distinct reports": [
      () =>
        measurements.ask({
          range,
          every: "all",
          measures: { reports: countDistinct("report_id") },
        }),
      runs,
    ],
  };
  if (name === "by_report") {
    // What relying on the sharding key would save: each shard's runs are whole.
    questions["runDurations, merged on each shard"] = [
      () =>
        database.ask({
          sql: `SELECT toMonday(start) AS t, version, count() AS runs, quantileExactInclusive(0.5)(seconds) AS q50
FROM cluster(of2, view(SELECT min(measurement_start_time) AS start, dateDiff('second', start, max(measurement_start_time)) AS seconds,
  any(software_version) AS version FROM probelab.${part} GROUP BY report_id)) GROUP BY t, version`,
          parameters: {},
          action: "measure run durations",
        }),
      runs,
    ];
  }
  await measurements.counts(question);
  for (const [label, [ask, groups]] of Object.entries(questions)) {
    Object.assign(wire, { sent: 0, received: 0 });
    await ask();
    const { received } = wire;
    const many = await groupsOf(groups);
    perGroup.set(`${label}, ${name}`, received / many);
    table.push({
      question: label,
      rows: name,
      "groups of the shard": many,
      "wire bytes": received,
      "bytes a group": Number((received / many).toFixed(2)),
      "MB where asked": Number(((await memory(first, 1)) / 1e6).toFixed(1)),
      "MB on the shard": Number(((await memory(second, 0)) / 1e6).toFixed(1)),
    });
  }
}
for (const proxy of proxies) proxy.close();
report("cluster", table, {
  wire_bytes_per_group: perGroup.get("counts, by_chance") ?? NaN,
  runs_wire_bytes_per_group: perGroup.get("runDurations, by_chance") ?? NaN,
  runs_by_report_wire_bytes_per_group: perGroup.get("runDurations, by_report") ?? NaN,
});
