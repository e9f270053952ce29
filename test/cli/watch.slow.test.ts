import { createSocket } from "node:dgram";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "../support/command.js";
import { startListServer, type ListServer } from "../sources/test-lists/start-list-server.js";

let server: ListServer;

beforeAll(async () => {
  server = await startListServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const watch = (...options: string[]) =>
  start(["watch", "test-list", ...options], { env: { PROBELAB_API: "" } });

describe("probelab watch test-list", () => {
  it.each([
    ["SIGINT", "FR"],
    ["SIGTERM", "DE"],
  ] as const)(
    "polls, prints the churn, sends it as a gauge, and ends cleanly on %s",
    async (signal, country) => {
      const statsd = createSocket("udp4");
      const gauges: string[] = [];
      statsd.on("message", (message) => void gauges.push(message.toString()));
      statsd.bind(0, "127.0.0.1");
      await once(statsd, "listening");
      const { child, said, ended } = watch(
        ...["--country", country, "--every", "1s", "--base-url", server.base("changing")],
        ...["--statsd", `127.0.0.1:${statsd.address().port}`],
      );
      try {
        // 25 of the first 100 change with each poll: 50 of 125. The third poll fails.
        const line = new RegExp(
          `UTC {2}${country} {2}churn 40\\.0 % \\(25 in, 25 out, of 125\\)`,
          "g",
        );
        await expect
          .poll(() => said.out.match(line)?.length, { timeout: 120_000 })
          .toBeGreaterThanOrEqual(2);
        await expect.poll(() => gauges.length).toBeGreaterThanOrEqual(2);
        child.kill(signal);
        expect((await ended).code).toBe(0);
      } finally {
        child.kill("SIGKILL");
        statsd.close();
      }
      expect(new Set(gauges)).toEqual(new Set([`probelab.test_list.churn.${country}:40|g`]));
      expect(said.out).toContain("A country-wide list can mislead");
      expect(said.out).toMatch(/Stopped\.\n$/);
      const silent = said.err.trim().split("\n");
      expect(silent).toEqual([
        expect.stringContaining("no number: no list of the poll before"),
        expect.stringContaining("no number: Can't fetch the test list"),
        expect.stringContaining("no number: no list of the poll before"),
      ]);
    },
  );

  it("ends at once in the middle of a poll", async () => {
    const { child, said, ended } = watch("--country", "IT", "--base-url", server.base("silent"));
    await expect
      .poll(async () => Object.keys(await server.asked()), { timeout: 60_000 })
      .toContain("silent /api/v1/test-list/urls?country_code=IT&debug=True");
    child.kill("SIGINT");
    expect((await ended).code).toBe(0);
    expect(said.err).toBe("");
  });

  it.each([
    [["--country", "ITA"], "Write two letters each, such as GE,IT,US."],
    [["--country", "IT", "--every", "soon"], "30s, 10min or 1h"],
    // A timer of so long a time would fire at once.
    [["--country", "IT", "--every", "99999h"], "10min or 1h, a day at most."],
    [["--country", "IT"], "Can't fetch a test list from nowhere: pass the API's address"],
    [["--country", "IT", "--base-url", "http://127.0.0.1:9", "--statsd", "a b"], "write host:port"],
  ])("refuses %j", async (options, message) => {
    const { said, ended } = watch(...options);
    expect((await ended).code).toBe(1);
    expect(said.err).toContain(message);
  });
});
