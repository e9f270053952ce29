import { once } from "node:events";
import { connect as dial, createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { between, connect } from "../../src/index.js";
import { restrictedServer, type RestrictedServer } from "../support/restricted-server.js";

/** Milliseconds after which the proxy closes a connection on which nothing passed. */
const IDLE = 12_000;
const slow = {
  function_sleep_max_microseconds_per_block: 1e9,
  max_block_size: 100,
  max_threads: 1,
};

let server: RestrictedServer;
beforeAll(async () => {
  server = await restrictedServer({
    fixed: { settings: { ...slow, readonly: 1 } },
    free: { settings: { ...slow, readonly: 2 } },
  });
  await server.admin.command({
    query: `CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
      SELECT toDateTime('2026-05-01 00:00:00', 'UTC') AS measurement_start_time, 'r' AS report_id`,
  });
});
afterAll(() => server[Symbol.asyncDispose]());

/**
 * A question of 18 seconds behind such a proxy.
 * @param silent Milliseconds after which the first connection is closed, without an answer; else none is.
 */
async function askedBehindProxy(user: string, silent?: number) {
  const url = new URL(server.as(user));
  const port = Number(url.port);
  let connections = 0;
  const proxy = createServer((socket) => {
    if (connections++ === 0 && silent !== undefined) {
      socket.resume().on("error", () => socket.destroy());
      setTimeout(() => socket.destroy(), silent);
      return;
    }
    const up = dial(port, "127.0.0.1");
    const close = () => void (socket.destroy(), up.destroy());
    let timer: NodeJS.Timeout | undefined;
    const pass = (to: typeof socket) => (data: Buffer) => {
      clearTimeout(timer);
      timer = setTimeout(close, IDLE);
      to.write(data);
    };
    socket.on("data", pass(up)).on("error", close).on("close", close);
    up.on("data", pass(socket)).on("error", close).on("close", close);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  url.port = String((proxy.address() as AddressInfo).port);
  try {
    await using lab = await connect({ measurements: url.href });
    return await lab.query(
      "SELECT count() AS n, sum(sleepEachRow(0.001)) AS z FROM numbers(18000) WHERE (SELECT count() FROM fastpath WHERE {range}) > 0",
      { range: between("2026-05-01", "2026-05-02") },
    );
  } finally {
    proxy.close();
  }
}

it.concurrent(
  "keeps a connection alive by headers of progress where the user may have them",
  async () => {
    const answer = await askedBehindProxy("free");
    expect(answer.column("n")).toEqual([18_000]);
  },
);

it.concurrent(
  "connects where the first connection is closed late, as by a crowded server",
  async () => {
    const answer = await askedBehindProxy("free", 6_000);
    expect(answer.column("n")).toEqual([18_000]);
  },
);

it.concurrent("says that what stands before the server may have closed it, where not", async () => {
  await expect(askedBehindProxy("fixed")).rejects.toThrow(
    /closed the connection after 12 s, before an answer\. Either the server ended, or what stands before it .* raise its idle limit, allow send_progress_in_http_headers/,
  );
});
