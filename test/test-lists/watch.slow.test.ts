import { spawn, type ChildProcess } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { prometheusText } from "../../src/test-lists/gauges.js";
import {
  churnResult,
  readState,
  watchTestLists,
  type Poll,
  type WatchState,
} from "../../src/test-lists/watch.js";
import { startListServer, type ListServer } from "./start-list-server.js";

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
let server: ListServer;
let folder: string;
let test = 0;
let state: string;

beforeAll(async () => {
  server = await startListServer();
  folder = await mkdtemp(join(tmpdir(), "probelab-watch-"));
});
beforeEach(() => {
  state = join(folder, `${(test += 1)}.json`);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Watches in this process until it has made that many polls. */
async function polls(
  count: number,
  kind: string,
  country: string,
  everySeconds = 1,
): Promise<Poll[]> {
  const made: Poll[] = [];
  const end = new AbortController();
  await watchTestLists({
    baseUrl: server.base(kind),
    countries: [country],
    everySeconds,
    retries: 0,
    state,
    signal: end.signal,
    onPoll: (poll) => void made.push(poll),
    onRound: () => {
      if (made.length >= count) end.abort();
    },
  });
  return made;
}

describe("watchTestLists(options)", () => {
  it("tells the churn of each poll, and no number for the first and for a failed one", async () => {
    const made = await polls(4, "changing", "IT");
    // 25 of 100 are new: 50 of 125; over the failed poll 50 are: 100 of 150
    expect(made.map(({ churn }) => churn)).toEqual([null, 40, null, (100 * 100) / 150]);
    expect(made[0]?.why).toBe("the first poll, nothing to compare with");
    expect(made[2]?.why).toContain("the server answered 500");
    const kept = await readState(state, server.base("changing"));
    expect(kept.polls).toEqual(made);
    expect(kept.lists["IT"]?.at).toBe(made[3]?.at);
  });

  it("goes on after a restart with what it knew, when the next poll is due", async () => {
    const [first] = await polls(1, "changing", "GE");
    const [second] = await polls(1, "changing", "GE");
    expect(second?.churn).toBe(40);
    expect(Date.parse(second?.at ?? "") - Date.parse(first?.at ?? "")).toBeGreaterThanOrEqual(990);
  });

  it("tells what it knew before the next poll", async () => {
    const known: WatchState = { ...sample, baseUrl: server.base("good") };
    await writeFile(state, JSON.stringify(known));
    const end = new AbortController();
    await watchTestLists({
      baseUrl: server.base("good"),
      countries: ["IT"],
      state,
      signal: end.signal,
      onStart: (now) => {
        expect(prometheusText(now)).toContain('probelab_test_list_churn_percent{country="IT"} 0');
        end.abort();
      },
    });
    expect(JSON.parse(await readFile(state, "utf8"))).toEqual(known);
  });

  it("refuses a state that another watch uses", async () => {
    const end = new AbortController();
    const options = {
      ...{ baseUrl: server.base("good"), countries: ["IT"], everySeconds: 60, state },
      signal: end.signal,
    };
    let started = () => {};
    const going = new Promise<void>((resolve) => (started = resolve));
    const first = watchTestLists({ ...options, onStart: () => started() });
    await going;
    await expect(watchTestLists(options)).rejects.toThrow(
      /another watch uses it\. End that one, or name another file/,
    );
    end.abort();
    await first;
  });

  it("does not compare with a list of long ago", async () => {
    const old = new Date(Date.now() - 3_600_000).toISOString();
    const lists = { US: { at: old, urls: ["https://a.example/"] } };
    const baseUrl = server.base("good");
    await writeFile(state, JSON.stringify({ version: 1, baseUrl, lists, polls: [] }));
    const [poll] = await polls(1, "good", "US");
    expect(poll).toMatchObject({ churn: null });
    expect(poll?.why).toContain("too long ago to compare with");
  });

  it("ends at once when it is stopped, also in the middle of a poll", async () => {
    const end = new AbortController();
    const watching = watchTestLists({
      baseUrl: server.base("silent"),
      countries: ["IT"],
      state,
      signal: end.signal,
    });
    await expect
      .poll(async () => Object.keys(await server.asked()))
      .toContain("silent /api/v1/test-list/urls?country_code=IT&debug=True");
    end.abort();
    await watching;
    await expect(readFile(state)).rejects.toThrow("ENOENT");
  });

  it("refuses a state that is broken or of another API, and leaves it as it is", async () => {
    await writeFile(state, '{"version": 1, "lists"');
    await expect(polls(1, "good", "IT")).rejects.toThrow("it is no such state");
    expect(await readFile(state, "utf8")).toBe('{"version": 1, "lists"');
    await writeFile(state, JSON.stringify({ ...sample, baseUrl: "https://x.example" }));
    await expect(polls(1, "good", "IT")).rejects.toThrow(
      "it belongs to a watch of https://x.example",
    );
  });
});

const sample: WatchState = {
  version: 1,
  baseUrl: "https://x.example",
  lists: {
    GE: { at: "2026-05-01T00:00:00.000Z", urls: [] },
    IT: { at: "2026-05-01T00:10:00.000Z", urls: [] },
  },
  polls: [
    { at: "2026-05-01T00:00:00.000Z", country: "GE", churn: 12.34567 },
    { at: "2026-05-01T00:10:00.000Z", country: "GE", churn: null, why: "no" },
    { at: "2026-05-01T00:10:00.000Z", country: "IT", churn: 0 },
  ],
};

describe("prometheusText(state)", () => {
  it("gives the last churn of each country, none where the last poll failed", () => {
    const lines = prometheusText(sample).split("\n");
    expect(lines.filter((line) => !line.startsWith("#"))).toEqual([
      'probelab_test_list_churn_percent{country="IT"} 0',
      'probelab_test_list_last_success_timestamp_seconds{country="GE"} 1777593600',
      'probelab_test_list_last_success_timestamp_seconds{country="IT"} 1777594200',
      "",
    ]);
  });
});

describe("churnResult(state, now)", () => {
  it("has a gap where a poll has no number, and says so", async () => {
    const result = await churnResult(sample, new Date("2026-05-01T00:20:00Z"));
    expect(result.column("churn")).toEqual([12.34567, null, 0]);
    expect(result.origin.notes[0]).toBe("1 of 3 polls have no number: they are gaps.");
    expect(result.origin.notes[1]).toContain("per country and network");
  });
});

describe("probelab watch test-list", () => {
  const stop = async (child: ChildProcess, signal: NodeJS.Signals) => {
    child.kill(signal);
    return ((await once(child, "close")) as [number | null, string | null])[0];
  };

  it.each(["SIGINT", "SIGTERM"] as const)(
    "polls, prints, sends gauges, serves them, draws the day and ends cleanly on %s",
    async (signal) => {
      const statsd = createSocket("udp4");
      const gauges: string[] = [];
      statsd.on("message", (message) => void gauges.push(message.toString()));
      statsd.bind(0, "127.0.0.1");
      await once(statsd, "listening");
      const svg = join(folder, `${signal}.svg`);
      const [city] = signal === "SIGINT" ? ["FR"] : ["DE"];
      const child = spawn(
        process.execPath,
        [
          main,
          "watch",
          "test-list",
          "--country",
          city,
          "--every",
          "1s",
          "--base-url",
          server.base("changing"),
          "--statsd",
          `127.0.0.1:${statsd.address().port}`,
          "--prometheus",
          "0",
          "--state",
          state,
          "--svg",
          svg,
        ],
        { stdio: ["ignore", "pipe", "pipe"] },
      );
      let [out, err] = ["", ""];
      child.stdout.on("data", (part: Buffer) => (out += part.toString()));
      child.stderr.on("data", (part: Buffer) => (err += part.toString()));
      try {
        const line = new RegExp(`UTC {2}${city} {2}churn 66\\.7 % \\(50 in, 50 out, of 150\\)`);
        await expect.poll(() => out, { timeout: 120_000 }).toMatch(line);
        await expect.poll(() => gauges).toContain(`probelab.test_list.churn.${city}:66.6667|g`);
        const metrics = /http:\S+metrics/.exec(out)?.[0] ?? "";
        await expect
          .poll(async () => (await fetch(metrics)).text())
          .toContain(`probelab_test_list_churn_percent{country="${city}"}`);
        expect((await fetch(metrics.replace("metrics", "x"))).status).toBe(404);
        await expect
          .poll(() => readFile(svg, "utf8").catch(() => ""))
          .toContain("Churn of test lists, last day");
        expect(await stop(child, signal)).toBe(0);
      } finally {
        child.kill("SIGKILL");
        statsd.close();
      }
      expect(gauges[0]).toBe(`probelab.test_list.churn.${city}:40|g`);
      expect(out).toContain("A country-wide list can mislead");
      expect(out).toContain(`Stopped; the state is in ${state}.`);
      expect(err).toContain(`${city}  no number: the first poll, nothing to compare with`);
      expect(err).toContain("no number: Can't fetch the test list");
      await readState(state, server.base("changing"));
    },
  );

  it("says what is wrong with its options", async () => {
    const run = async (...options: string[]) => {
      const child = spawn(process.execPath, [main, "watch", "test-list", ...options], {
        stdio: ["ignore", "ignore", "pipe"],
        env: { ...process.env, PROBELAB_API: "" },
      });
      let err = "";
      child.stderr.on("data", (part: Buffer) => (err += part.toString()));
      const [code] = (await once(child, "close")) as [number];
      return { code, err };
    };
    expect((await run("--country", "ITA")).err).toContain(
      "Write two letters each, such as GE,IT,US.",
    );
    expect((await run("--country", "IT", "--every", "soon")).err).toContain("30s, 10m or 1h");
    // A timer of so long a time would fire at once.
    const long = await run("--country", "IT", "--every", "99999h");
    expect(long.err).toContain("10m or 1h, a day at most.");
    const none = await run("--country", "IT");
    expect(none.err).toContain("Can't fetch a test list from nowhere: pass the API's address");
    expect(none.code).toBe(1);
  });
});
