import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { parseAddress } from "../../src/database/address.js";
import { between, connect } from "../../src/index.js";
import { answerGate } from "../support/answer-gate.js";
import {
  READERS,
  restrictedServer,
  type Profile,
  type RestrictedServer,
} from "../support/restricted-server.js";

/** Profiles that cut answers or change what they mean, by what they set. */
const CHANGED = {
  reading: { max_rows_to_read: 100_000, read_overflow_mode: "break" },
  groups: { max_rows_to_group_by: 10, group_by_overflow_mode: "any" },
  results: { max_result_rows: 10, result_overflow_mode: "break" },
  limited: { limit: 3 },
  skipping: { offset: 2 },
  nulls: { aggregate_functions_null_for_empty: 1, join_use_nulls: 1 },
  forms: {
    output_format_arrow_string_as_string: 0,
    output_format_arrow_fixed_string_as_fixed_byte_array: 0,
    output_format_json_quote_64bit_integers: 1,
    date_time_output_format: "iso",
    extremes: 1,
  },
  approximate: { count_distinct_implementation: "uniqHLL12" },
  zone: { session_timezone: "Asia/Tokyo" },
  cached: { use_query_cache: 1 },
} as const;

/** Profiles that give tables other rows. */
const ROWS = {
  merged: { final: 1 },
  undeleted: { apply_deleted_mask: 0 },
  unpatched: { apply_patch_parts: 0 },
  apart: { do_not_merge_across_partitions_select_final: 1 },
  hidden: { additional_result_filter: "1 = 0" },
  filtered: {
    additional_table_filters: "{'probelab.twice': 'report_id != \\'r1\\''}",
  },
};

/** What no list of this library names, and yet changes answers. */
const UNLISTED = { any_join_distinct_right_table_keys: 1, decimal_check_overflow: 0 };

let server: RestrictedServer;
/** What a user without limits is answered. */
let expected: Awaited<ReturnType<typeof answersOf>>;
beforeAll(async () => {
  const changed = Object.entries(CHANGED).flatMap(([name, settings]) => [
    [name, { settings: { readonly: 2, ...settings } }] as const,
    [`${name}_fixed`, { settings: { readonly: 1, ...settings } }] as const,
  ]);
  server = await restrictedServer({
    ...READERS,
    ...(Object.fromEntries(changed) as Record<string, Profile>),
    ...Object.fromEntries(
      Object.entries(ROWS).flatMap(([name, settings]) => [
        [name, { settings: { readonly: 2, ...settings } }],
        [`${name}_fixed`, { settings: { readonly: 1, ...settings } }],
      ]),
    ),
    unlisted: { settings: { readonly: 2, ...UNLISTED } },
    unlisted_fixed: { settings: { readonly: 1, ...UNLISTED } },
    granted: {
      settings: { readonly: 1 },
      grants: ["GRANT SELECT ON probelab.fastpath"],
    },
    columns: {
      settings: { readonly: 1 },
      grants: [
        "GRANT SELECT(measurement_start_time, report_id, software_name) ON probelab.fastpath",
      ],
    },
    policed: { settings: { readonly: 1 }, rows: { fastpath: "software_version = '3.1'" } },
    // It may be changed, but not to none.
    bounded: { settings: { readonly: 2, limit: 50 }, constraints: { limit: { min: 10 } } },
    // The default of older servers.
    uncompressed: { settings: { readonly: 1, enable_http_compression: 0 } },
    elements: { settings: { readonly: 1, max_ast_elements: 60 } },
    analyzer: { settings: { readonly: 1, allow_experimental_analyzer: 0 } },
  });
  await server.admin.command({
    query: `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, software_name LowCardinality(String), software_version String)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  });
  await server.admin.command({
    query: `INSERT INTO fastpath SELECT toDateTime('2026-05-01 00:00:00', 'UTC') + number % 86400, toString(intDiv(number, 40)), 'probe-cli', concat('3.', toString(number % 25)) FROM numbers(400000)`,
  });
  expected = await answersOf(server.url);
});
afterAll(() => server[Symbol.asyncDispose]());

const openAs = (user: string) =>
  Database.open(parseAddress(server.as(user), { root: "/", name: "test" }));

async function answersOf(url: string) {
  await using lab = await connect({ measurements: url });
  const range = between("2026-05-01", "2026-05-02");
  const counts = await lab.measurements.counts({ range, every: "6 hours", by: "software_version" });
  const free = await lab.query(
    "SELECT count(DISTINCT report_id) AS reports, max(length(software_name)) AS text, toFixedString('ab', 4) AS fixed, (SELECT sum(1) FROM fastpath WHERE {range} AND report_id = '') AS nothing FROM fastpath WHERE {range}",
    { range },
  );
  return { counts: counts.rows(), free: free.rows() };
}

describe("connect() as a restricted reader", () => {
  it.each(["ro1", "ro2", "bound", "granted", "uncompressed", "analyzer"])(
    "answers %s as it answers everybody",
    async (user) => {
      expect(expected.counts.length).toBeGreaterThan(20);
      expect(expected.free).toMatchObject([{ reports: 10_000, text: 9, fixed: "ab" }]);
      expect(await answersOf(server.as(user))).toEqual(expected);
    },
  );

  it.each(Object.keys(CHANGED))(
    "answers right where the profile sets %s, or refuses where nobody may change it",
    async (name) => {
      const answers = answersOf(server.as(name));
      if (["reading", "groups"].includes(name))
        await expect(answers).rejects.toThrow(
          /TOO_MANY_ROWS.*max_rows_to_read \(of groups: max_rows_to_group_by\) in the profile/,
        );
      else expect(await answers).toEqual(expected);
      if (name === "forms") return;
      const [setting] = Object.keys(CHANGED[name as keyof typeof CHANGED]).slice(-1);
      await expect(openAs(`${name}_fixed`)).rejects.toThrow(
        new RegExp(`Can't (use|connect).*${setting}( = .*as read-only)?.*readonly = 2`),
      );
    },
  );
});

it("a limit of the profile that no option names is said to be raised there", async () => {
  await expect(answersOf(server.as("elements"))).rejects.toThrow(
    /Can't count measurements: .*Maximum: 60.*TOO_BIG_AST.*have the limit raised .* in the profile/s,
  );
});

it("connect() refuses a profile's limit that nobody may lift", async () => {
  await expect(openAs("bounded")).rejects.toThrow(/Can't use .* sets limit = … as read-only/);
});

describe("connect() where the profile gives tables other rows", () => {
  beforeAll(async () => {
    const columns =
      "measurement_start_time DateTime('UTC'), report_id String, software_name String, software_version String";
    await server.admin.command({
      query: `CREATE TABLE twice (${columns}) ENGINE = ReplacingMergeTree PARTITION BY software_version ORDER BY (measurement_start_time, report_id)`,
    });
    for (let time = 0; time < 2; time++) {
      await server.admin.command({
        query: `INSERT INTO twice SELECT toDateTime('2026-05-01', 'UTC') + number, concat('r', toString(number % 2)), '', '${time}' FROM numbers(100)`,
      });
    }
    await server.admin.command({ query: "DELETE FROM twice WHERE report_id = 'r0'" });
  });

  const measurements = async (user: string) => {
    const tables = { measurements: { table: "twice" } };
    await using lab = await connect({ measurements: server.as(user), tables });
    const range = between("2026-05-01", "2026-05-02");
    const answer = await lab.query("SELECT count() AS n FROM twice WHERE {range}", { range });
    return { rows: answer.rows()[0]?.["n"] };
  };

  it("overrules it where the user may change the setting", async () => {
    for (const user of ["ro1", ...Object.keys(ROWS)]) {
      expect((await measurements(user)).rows, user).toBe(100);
    }
  });

  it.each(Object.entries(ROWS))("refuses the user where not: %s", async (name, settings) => {
    const [setting = ""] = Object.keys(settings);
    await expect(openAs(`${name}_fixed`)).rejects.toThrow(
      new RegExp(`Can't (use|connect).*${setting}( = .*as read-only)?.*readonly = 2`),
    );
  });
});

it("sets back whatever else a profile sets that may change answers, or says that it can't", async () => {
  await using free = await openAs("unlisted");
  const changed =
    "SELECT name FROM system.settings WHERE changed AND name IN ('any_join_distinct_right_table_keys', 'decimal_check_overflow') AND value != default";
  expect(await free.rows(changed)).toEqual([]);
  expect(free.notes.join(" ")).not.toContain("decimal_check_overflow");
  await using fixed = await openAs("unlisted_fixed");
  expect(fixed.notes.join(" ")).toMatch(
    /sets any_join_distinct_right_table_keys = 1, which may change answers and can't be overruled\./,
  );
});

it("a user with grants of single columns is answered on those, and told of the others", async () => {
  await using lab = await connect({ measurements: server.as("columns") });
  const range = between("2026-05-01", "2026-05-02");
  const counts = await lab.measurements.counts({ range, every: "all", by: "software_name" });
  expect(counts.rows()).toMatchObject([{ software_name: "probe-cli", measurements: 400_000 }]);
  const free = "SELECT count(DISTINCT report_id) AS n FROM fastpath WHERE {range}";
  expect((await lab.query(free, { range })).rows()).toEqual([{ n: 10_000 }]);
  await expect(
    lab.measurements.counts({ range, every: "all", by: "software_version" }),
  ).rejects.toThrow(/Can't find a column "software_version" in fastpath.*It has measurement_/);
  await expect(
    lab.query("SELECT software_version FROM fastpath WHERE {range}", { range }),
  ).rejects.toThrow(
    /ACCESS_DENIED.*Of fastpath it may read measurement_start_time, report_id, software_name\.$/,
  );
});

it("a row policy that hides rows is said in each answer", async () => {
  await using lab = await connect({ measurements: server.as("policed") });
  const range = between("2026-05-01", "2026-05-02");
  const counts = await lab.measurements.counts({ range, every: "all" });
  expect(counts.rows()).toMatchObject([{ measurements: 16_000 }]);
  expect(counts.origin.notes.join()).toContain(
    "A row policy hides rows of fastpath from the database's user: answers are of those left.",
  );
});

it("a table whose name holds a dot is asked by its quoted name, which the error gives", async () => {
  await server.admin.command({ query: "CREATE TABLE `fast.path` AS fastpath" });
  await server.admin.command({ query: "INSERT INTO `fast.path` SELECT * FROM fastpath LIMIT 10" });
  const ask = async (table: string) => {
    await using lab = await connect({
      measurements: server.as("ro1"),
      tables: { measurements: { table } },
    });
    const range = between("2026-05-01", "2026-05-02");
    return (await lab.measurements.counts({ range, every: "all" })).rows();
  };
  await expect(ask("fast.path")).rejects.toThrow(/in backquotes: "`fast\.path`"/);
  expect(await ask("`fast.path`")).toMatchObject([{ measurements: 10 }]);
});

it("a proxy's path before the server's own is kept", async () => {
  await using gate = await answerGate(server.url.replace("/probelab", ""));
  const paths: string[] = [];
  gate.ask((url) => {
    paths.push(url.pathname);
    url.pathname = "/";
  });
  const behind = gate.url.replace(/\/*$/, "");
  for (const path of ["/click/house/probelab", "/click/house?database=probelab"]) {
    expect(await answersOf(`${behind}${path}`)).toEqual(expected);
  }
  expect(new Set(paths)).toEqual(new Set(["/click/house"]));
});

it("a server that hangs is asked once, and waited for as long as one answer may take", async () => {
  await using gate = await answerGate(server.url);
  await using lab = await connect({
    measurements: gate.url,
    limits: { maxSeconds: 1 },
  });
  const range = between("2026-05-01", "2026-05-09");
  await lab.measurements.counts({ range, every: "all" });
  let asked = 0;
  gate.on("GROUP BY", () => {
    asked += 1;
    return new Promise(() => undefined);
  });
  const counts = lab.measurements.counts({ range, every: "day" });
  await expect(counts).rejects.toThrow(/gave no whole answer within 3 s/);
  expect(asked).toBe(1);
});

describe("Database.notes", () => {
  it("says once what the user can't have", async () => {
    await using free = await openAs("ro2");
    expect(free.notes).toEqual([]);
    await using bound = await openAs("bound");
    expect(bound.notes).toEqual([
      "The database's user may have at most 30 seconds a question.",
      "The database's user may have at most 51,000 rows an answer.",
      "The database's user may have at most 1,000,000,000 bytes of memory a question.",
    ]);
    await using fixed = await openAs("ro1");
    expect(fixed.notes[0]).toMatch(/may change no setting \(readonly = 1\).*hold here/);
  });
});

describe("the limits of a user who may change none hold on this side", () => {
  it("maxResultRows and maxMemory refuse what is too large", async () => {
    const source = parseAddress(server.as("ro1"), { root: "/", name: "test" });
    await using database = await Database.open(source, { maxResultRows: 1_000 });
    const ask = (rows: number) =>
      database.ask({ sql: `SELECT * FROM numbers(${rows})`, parameters: {}, action: "read" });
    expect((await ask(1_000)).table.numRows()).toBe(1_000);
    await expect(ask(1_001)).rejects.toThrow(
      /1,001 rows, more than the limit of 1,000\. Aggregate/,
    );
    await using small = await Database.open(source, { maxMemory: 200_000 });
    const sql = "SELECT generateUUIDv4() FROM numbers(100000)";
    await expect(small.ask({ sql, parameters: {}, action: "read" })).rejects.toThrow(
      /sends more than 200,000 bytes/,
    );
  });

  it("maxRowsRead is refused where only the user's profile can have it", async () => {
    await expect(
      connect({ measurements: server.as("ro1"), limits: { maxRowsRead: 200_000 } }),
    ).rejects.toThrow(/Can't limit the rows .*max_rows_to_read.*user's profile, or leave/);
  });
});

describe("long values", () => {
  it.each(["default", "ro1"])("are bound as %s", async (user) => {
    const url = user === "default" ? server.url : server.as(user);
    await using database = await Database.open(parseAddress(url, { root: "/", name: "test" }));
    const list = Array.from({ length: 5_000 }, (_, i) => `it's\ta\\${i}\n`);
    const [row] = await database.rows(
      "SELECT length({list:Array(String)}) AS items, {list:Array(String)}[2] AS second, length({text:String}) AS size, {short:String} AS short, toUInt8({none:Nullable(String)} IS NULL) AS none",
      { list, text: "é".repeat(40_000), short: "a'b\r\n\tc", none: null },
    );
    expect(row).toEqual({
      items: 5_000,
      second: "it's\ta\\1\n",
      size: 80_000,
      short: "a'b\r\n\tc",
      none: 1,
    });
    await expect(database.rows("SELECT 1", { long: "é".repeat(60_000) })).rejects.toThrow(
      "Can't ask with 120,000 bytes in long: a server takes 100,000 of one value.",
    );
  });

  it("are sent in several lists where a filter has many", async () => {
    await using lab = await connect({ measurements: server.as("ro1") });
    const none = Array.from({ length: 100_000 }, (_, i) => `it's\ta\\${i}\n`);
    const ids = ["7", ...none, "9999"];
    const day = between("2026-05-01", "2026-05-02");
    const counts = (report_id: string[] | { ne: string[] }) =>
      lab.measurements.counts({ range: day, every: "all", where: { report_id } });
    expect((await counts(ids)).column("measurements")).toEqual([80]);
    expect((await counts({ ne: ids })).column("measurements")).toEqual([399_920]);
  });
});
