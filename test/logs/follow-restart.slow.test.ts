import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@clickhouse/client";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { parseSource } from "../../src/database/source.js";
import type { LogLine } from "../../src/index.js";
import { follow, LogFollower } from "../../src/logs/follow.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";
import { EPOCH } from "./log-rows.js";

/** A ClickHouse server of its own port, which is killed and started again as a deployment's is. */
let directory: TemporaryDirectory;
let port: number;
let server: ChildProcess | undefined;

const ENGINE = `
  const { createRequire } = require("node:module");
  const require2 = createRequire(process.env.FROM);
  const { open, load, DataType } = require2("ffi-rs");
  open({ library: "chdb", path: require2("chdb/libchdb").libchdbPath() });
  const argv = ["clickhouse", "--path=" + process.env.DATA, "--listen_host=127.0.0.1", "--http_port=" + process.env.PORT,
    "--query=SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM system.numbers SETTINGS max_block_size=1 FORMAT Null"];
  load({ library: "chdb", funcName: "chdb_query_cmdline", retType: DataType.I64, runInNewThread: true,
    paramsType: [DataType.I32, DataType.StringArray], paramsValue: [argv.length, argv] });
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
`;

async function start(): Promise<void> {
  const script = join(directory.path, "engine.cjs");
  await writeFile(script, ENGINE);
  server = fork(script, {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env: {
      ...process.env,
      FROM: fileURLToPath(import.meta.url),
      DATA: join(directory.path, "data"),
      PORT: String(port),
    },
  });
  for (;;) {
    const up = await fetch(`http://127.0.0.1:${port}/ping`).catch(() => null);
    if (up?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function kill(): Promise<void> {
  const ended = server && once(server, "exit");
  server?.kill("SIGKILL");
  await ended;
  server = undefined;
}

async function command(query: string): Promise<void> {
  await using client = createClient({ url: `http://127.0.0.1:${port}` });
  await client.command({ query });
}

const open = () =>
  Database.open(parseSource(`http://127.0.0.1:${port}/default`, { root: "/", name: "the test" }));

async function insert(lines: readonly (readonly [ms: number, message: string])[]): Promise<void> {
  const values = lines.map(([ms, message]) => `(${ms * 1000}, 'nginx', '${message}')`);
  await command(`INSERT INTO logs VALUES ${values.join(", ")}`);
}

const anew = () =>
  command(
    "CREATE OR REPLACE TABLE logs (__REALTIME_TIMESTAMP Int64, SYSLOG_IDENTIFIER String, message String) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP",
  );

beforeAll(async () => {
  directory = await temporaryDirectory();
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  port = (free.address() as AddressInfo).port;
  free.close();
  await start();
}, 240_000);
afterAll(async () => {
  await kill();
  await directory[Symbol.asyncDispose]();
});

it("follow outlives a restart of the server: it says so, and gives each line once", async () => {
  await anew();
  const stop = new AbortController();
  const said: string[] = [];
  const since = new Date();
  const seen: string[] = [];
  await using database = await open();
  const following = (async () => {
    const lines = follow(() => Promise.resolve(database), {
      since,
      every: "1 second",
      lateness: "1 minute",
      signal: stop.signal,
      onOutage: (sentence) => said.push(sentence),
    });
    for await (const line of lines) seen.push(line.message);
  })();
  await insert([[Date.now(), "before"]]);
  await expect.poll(() => seen, { timeout: 20_000 }).toEqual(["before"]);
  await kill();
  await expect.poll(() => said, { timeout: 20_000 }).toHaveLength(1);
  const during = Date.now();
  await start();
  await insert([
    [Date.now(), "after"],
    [during, "during"],
  ]);
  await expect
    .poll(() => [...seen].sort(), { timeout: 40_000 })
    .toEqual(["after", "before", "during"]);
  expect(said[0]).toMatch(/^Can't follow the logs: .* Asking again until it answers\.$/);
  expect(said[1]).toMatch(/answers again after \d+ s; lines stored meanwhile follow\.$/);
  await command("DROP TABLE logs SYNC");
  await expect(following).rejects.toThrow(/Can't follow the logs: Unknown table/);
}, 300_000);

it("a follower gives each line once though restarts take longer than the lateness", async () => {
  const LATENESS = 10_000;
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          // How long the server is away, and how much of that the senders of lines slept too.
          away: fc.constantFrom(0, 3_000, 60_000),
          polls: fc.integer({ min: 1, max: 3 }),
          late: fc.integer({ min: 0, max: LATENESS - 1 }),
          pass: fc.integer({ min: 1, max: 15_000 }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      async (rounds) => {
        await anew();
        let present = EPOCH;
        const given: LogLine[] = [];
        const wanted: string[] = [];
        await using database = await open();
        const follower = new LogFollower(database, {
          filter: {},
          since: new Date(EPOCH),
          lateness: LATENESS,
          now: () => new Date(present),
        });
        const store = async (ms: number) => {
          const message = `n${wanted.length}`;
          wanted.push(message);
          await insert([[ms, message]]);
        };
        for (const { away, polls, late, pass } of rounds) {
          await store(present);
          if (present > EPOCH + LATENESS) await store(present - late);
          given.push(...(await follower.poll()));
          const lost = present;
          if (away > 0) {
            await kill();
            for (let poll = 0; poll < polls; poll++) {
              present += away / polls;
              await expect(follower.poll()).rejects.toThrow(/does not answer/);
            }
            await start();
            // Once before the senders have stored what they kept, once after.
            given.push(...(await follower.poll()));
            present += late;
            await store(lost + away / 2);
            given.push(...(await follower.poll()));
          }
          present += pass;
          given.push(...(await follower.poll()));
        }
        expect(given.map(({ message }) => message).sort()).toEqual([...wanted].sort());
      },
    ),
    { numRuns: 8, seed: 17 },
  );
}, 300_000);
