import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, connect, type Limits } from "../../src/index.js";
import { Database } from "../../src/database/database.js";
import { parseAddress } from "../../src/database/address.js";
import { startCluster, type Cluster } from "../support/cluster.js";
import { READERS, type RestrictedServer } from "../support/restricted-server.js";

const PROFILES = {
  ...READERS,
  // Each of these makes some answer of a cluster another one.
  skipping: { settings: { readonly: 2, skip_unavailable_shards: 1 } },
  skippingFixed: { settings: { readonly: 1, skip_unavailable_shards: 1 } },
  local: { settings: { readonly: 2, distributed_product_mode: "local" } },
  unmerged: { settings: { readonly: 2, distributed_group_by_no_merge: 1 } },
};
const ROWS = 300_000;
const range = between("2026-05-01", "2026-05-02");
/** More than a shard holds, less than all. */
const LIMITED = { maxRowsRead: ROWS / 2 };

/** So many servers, each with a part of `fastpath`. */
async function filled(many: number): Promise<Cluster> {
  const cluster = await startCluster(many, PROFILES);
  const run = async (at: number, query: string) => {
    const clickhouse_settings = { distributed_foreground_insert: 1 } as const;
    await cluster.shards[at]!.admin.command({ query, clickhouse_settings });
  };
  const columns =
    "measurement_start_time DateTime('UTC'), report_id String, software_name LowCardinality(String), software_version String, probe_cc String, probe_asn UInt32, test_name String";
  for (const at of cluster.shards.keys()) {
    await run(
      at,
      `CREATE TABLE part (${columns}) ENGINE = MergeTree ORDER BY measurement_start_time`,
    );
  }
  // The key is not how rows are spread: somebody wrote to the servers themselves.
  await run(
    0,
    `CREATE TABLE fastpath (${columns}) ENGINE = Distributed('of${many}', 'probelab', 'part', cityHash64(report_id))`,
  );
  await run(
    0,
    `CREATE TABLE by_chance (${columns}) ENGINE = Distributed('of${many}', 'probelab', 'part', rand())`,
  );
  await run(
    0,
    `INSERT INTO by_chance SELECT toDateTime('2026-05-01 00:00:00', 'UTC') + number % 86400, toString(intDiv(number, 40)), 'probe-cli', concat('3.', toString(number % 25)), 'IT', number % 7, 'web' FROM numbers(${ROWS})`,
  );
  return cluster;
}

const open = (url: string, limits: Partial<Limits> = {}) =>
  Database.open(parseAddress(url, { root: "/", name: "test" }), limits);

describe("a reader of a cluster", () => {
  let cluster: Cluster;
  let first: RestrictedServer;
  beforeAll(async () => {
    cluster = await filled(3);
    first = cluster.shards[0]!;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const answers = async (url: string) => {
    await using lab = await connect({ measurements: url });
    const counts = await lab.measurements.counts({ range, every: "6 hours", by: "probe_asn" });
    const runs = await lab.runs.counts({ range, every: "all" });
    const free = await lab.query(
      "SELECT count() AS n FROM fastpath WHERE {range} AND report_id IN (SELECT report_id FROM fastpath WHERE {range} AND probe_asn = 3 AND software_version = '3.1')",
      { range },
    );
    return [counts.rows(), runs.rows(), free.rows()];
  };

  it.each(["skipping", "local", "unmerged", "ro2"])(
    "%s gets what everybody gets: what its profile changes is overruled",
    async (user) => {
      const all = await answers(first.url);
      expect(all[1]).toMatchObject([{ runs: ROWS / 40, measurements: ROWS }]);
      expect(await answers(first.as(user))).toEqual(all);
    },
  );

  it("skippingFixed is refused, since nobody may overrule its profile", async () => {
    await expect(connect({ measurements: first.as("skippingFixed") })).rejects.toThrow(
      "the profile of its user sets skip_unavailable_shards = 1 as read-only",
    );
  });

  it("with readonly = 1 is told to write GLOBAL, and gets what it then asks", async () => {
    await using lab = await connect({ measurements: first.as("ro1") });
    const sql = (global: string) =>
      `SELECT count() AS n FROM fastpath WHERE {range} AND report_id ${global} IN (SELECT report_id FROM fastpath WHERE {range} AND probe_asn = 3)`;
    await expect(lab.query(sql(""), { range })).rejects.toThrow(
      /DISTRIBUTED_IN_JOIN_SUBQUERY_DENIED, code 288\)\. Remedy: write GLOBAL IN/,
    );
    expect((await lab.query(sql("GLOBAL"), { range })).rows()).toEqual([{ n: ROWS }]);
  });

  it("is told that each shard merges its own rows", async () => {
    const of = "ReplacingMergeTree ORDER BY measurement_start_time";
    for (const { admin } of cluster.shards) {
      await admin.command({
        query: `CREATE TABLE own ENGINE = ${of} AS SELECT * FROM part LIMIT 0`,
      });
    }
    await first.admin.command({
      query:
        "CREATE TABLE merging AS own ENGINE = Distributed(of3, currentDatabase(), own, rand())",
    });
    await using lab = await connect({
      measurements: first.url,
      tables: { measurements: { table: "merging" } },
    });
    const { origin } = await lab.measurements.counts({ range, every: "all" });
    expect(origin.notes.join(" ")).toContain(
      "Each server of the cluster of3 merges its own rows of merging: a row that two of them hold counts twice.",
    );
  });

  // The last: it drops connections in mid-answer.
  it("has a limit of what all shards read", async () => {
    await using lab = await connect({ measurements: first.as("ro2"), limits: LIMITED });
    await expect(lab.runs.counts({ range })).rejects.toThrow(
      /TOO_MANY_ROWS, code 158\)\. Remedy: take a shorter range/,
    );
  });
});

describe("a question that is stopped", () => {
  it("stops at the server that was asked and on every shard", async () => {
    await using cluster = await filled(3);
    const [first, ...others] = cluster.shards;
    await using database = await open(first!.url);
    const mark = "stopped on the cluster";
    const stop = new AbortController();
    const asked = database.ask({
      sql: `SELECT '${mark}' AS m, max(sipHash64(report_id, a.number, b.number)) FROM fastpath CROSS JOIN numbers(100000) AS a CROSS JOIN numbers(100000) AS b`,
      parameters: {},
      action: "ask",
      signal: stop.signal,
    });
    const refused = expect(asked).rejects.toThrow("Stopped: ask.");
    for (const shard of cluster.shards) await until(shard, mark, (n) => n > 0);
    stop.abort();
    await refused;
    await until(first!, mark, (n) => n === 0);
    // This kind of server may end itself over it (see startCluster): then nothing runs there either.
    const ABORTED = "236"; // what it answers while it ends
    const ended = (error: unknown) => {
      const { code = "" } = error as { code?: string };
      if (!["ECONNREFUSED", "ECONNRESET", ABORTED].includes(code)) throw error;
    };
    for (const shard of others) await until(shard, mark, (n) => n === 0).catch(ended);
  });
});

describe("a shard that is down", () => {
  let cluster: Cluster;
  let first: RestrictedServer;
  let down: string;
  beforeAll(async () => {
    cluster = await filled(2);
    first = cluster.shards[0]!;
    down = cluster.places[1]!;
    cluster.shards[1]!.signal("SIGKILL");
    const gone = async () =>
      fetch(cluster.shards[1]!.url).then(
        () => false,
        () => true,
      );
    while (!(await gone())) await setTimeout(20);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(["default", "ro1", "skipping"])("is an error that names it, for %s", async (user) => {
    const url = user === "default" ? first.url : first.as(user);
    await using lab = await connect({ measurements: url });
    const told = new RegExp(
      `Connection refused.*${down}.*ALL_CONNECTION_TRIES_FAILED, code 279\\)\\. Remedy: have the shard started`,
    );
    await expect(lab.measurements.counts({ range })).rejects.toThrow(told);
    await expect(
      lab.query("SELECT count() AS n FROM fastpath WHERE {range}", { range }),
    ).rejects.toThrow(told);
  });
});

/** Waits for so many queries with the mark at a server. */
async function until(
  { admin }: RestrictedServer,
  mark: string,
  is: (queries: number) => boolean,
): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    const answer = await admin.query({
      query:
        "SELECT toUInt32(count()) AS n FROM system.processes WHERE query LIKE {mark:String} AND query NOT LIKE '%system.processes%'",
      query_params: { mark: `%${mark}%` },
      format: "JSONEachRow",
    });
    if (is((await answer.json<{ n: number }>())[0]?.n ?? 0)) return;
    await setTimeout(20);
  }
  throw new Error(`${mark}: not as wanted in system.processes`);
}

it("says where a shard has other columns", async () => {
  await using cluster = await filled(2);
  await cluster.shards[1]!.admin.command({
    query: "ALTER TABLE part RENAME COLUMN probe_asn TO asn",
  });
  await using lab = await connect({ measurements: cluster.shards[0]!.as("ro2") });
  await expect(lab.measurements.counts({ range, every: "all", by: "probe_asn" })).rejects.toThrow(
    /^Can't count measurements: .*probe_asn.*\(UNKNOWN_IDENTIFIER, code 47\)/,
  );
});
