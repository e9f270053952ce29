import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { table, testLists } from "../../../src/index.js";
import { startListServer, type ListServer } from "./start-list-server.js";

let server: ListServer;
beforeAll(async () => {
  server = await startListServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const fast = { timeoutSeconds: 10 };
const get = (kind: string, options = {}, country = "IT") =>
  testLists.fetch({ baseUrl: server.base(kind), country, ...fast, ...options });
/** How often the list of a country was asked for. */
const times = async (kind: string, country: string) =>
  (await server.asked())[`${kind} /api/v1/test-list/urls?country_code=${country}&debug=True`] ?? 0;

describe("testLists.fetch({ baseUrl, country })", () => {
  it("asks the documented address and gives a row per entry, its other fields kept", async () => {
    const list = await get("good", { baseUrl: `${server.base("good")}/` }, "ge");
    expect(await times("good", "GE")).toBe(1);
    expect(list.country).toBe("GE");
    expect(list.entries[2]).toEqual({
      category_code: "NEWS",
      country_code: "XX",
      domain: "www2.example",
      priority: 99.998,
      url: "https://www2.example/",
    });
    expect(list.rows().map((row) => [row["priority"], row["url"], row["domain"]])).toEqual([
      [1, "https://www0.example/", "www0.example"],
      [2, "https://www1.example/", "www1.example"],
      [3, "https://www2.example/", "www2.example"],
    ]);
    expect(list.origin.source).toBe(`${server.base("good")}/api/v1/test-list/urls`);
    expect(list.origin.notes[0]).toContain("per country and network (probe_cc, probe_asn)");
    expect(table(list).markdown).toContain("https://www1.example/");
  });

  it("reads gzip, long and empty lists, and one with a byte order mark", async () => {
    expect((await get("gzip")).numRows()).toBe(3);
    expect((await get("bom")).numRows()).toBe(3);
    expect((await get("long")).numRows()).toBe(1200);
    expect((await get("empty")).numRows()).toBe(0);
  });

  it("tries again when the server is busy or cuts the answer", async () => {
    expect((await get("recovers")).numRows()).toBe(3);
    expect(await times("recovers", "IT")).toBe(3);
  });

  it.each([
    ["500", "tried 2 times, the server answered 500."],
    ["cut", "tried 2 times, the connection failed ("],
    ["cut-gzip", "bytes is not whole JSON."],
    ["half", "tried 2 times, the answer of 35 bytes is not whole JSON."],
  ])("gives up on %s after the retries", async (kind, message) => {
    await expect(get(kind, { retries: 1 })).rejects.toThrow(message);
    expect(await times(kind, "IT")).toBe(2);
  });

  it.each(["slow", "silent"])("gives up on a %s answer after the time-out", async (kind) => {
    await expect(get(kind, { timeoutSeconds: 0.3, retries: 1 })).rejects.toThrow(
      "Can't fetch the test list of IT: tried 2 times, no whole answer within 0.3 s.",
    );
    expect(await times(kind, "IT")).toBe(2);
  });

  it.each([
    ["404", "the server answered 404. Check the baseUrl and the country."],
    ["html", "the answer is of type text/html, not JSON."],
    ["large", "the answer is larger than 20,000,000 bytes."],
    ["bomb", "the answer is larger than 20,000,000 bytes."],
    [
      "elsewhere",
      "redirects to http://localhost:9/x, and redirects are not followed. Pass that baseUrl",
    ],
    ["moved", "/good, and redirects are not followed. Pass that baseUrl if it is the right one."],
    ["no-url", 'entry 2 of 2 has no string url: {"domain":"b.example"}.'],
    ["number-url", 'entry 1 of 1 has no string url: {"url":7}.'],
    ["no-object", 'entry 1 of 1 has no string url: "https://a.example/".'],
    ["no-results", 'the answer has no array "results"'],
  ])("does not ask again for %s, and says what came", async (kind, message) => {
    await expect(get(kind)).rejects.toThrow(message);
    expect(await times(kind, "IT")).toBe(1);
  });

  it("goes through the proxy of the environment, but not to this machine", async () => {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.once("data", (head) => {
        asked.push(head.toString().split("\r\n")[0] ?? "");
        socket.end("HTTP/1.1 403 no\r\n\r\n");
      });
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:9");
    try {
      const far = { baseUrl: "https://api.example.org", country: "IT", ...fast };
      await expect(testLists.fetch({ ...far, retries: 0 })).rejects.toThrow(
        "tried once, the connection failed (",
      );
      expect(asked).toEqual(["CONNECT api.example.org:443 HTTP/1.1"]);
      expect((await get("good", {}, "PT")).numRows()).toBe(3);
    } finally {
      vi.unstubAllEnvs();
      proxy.close();
    }
  });

  it("ends at once when it is interrupted", async () => {
    const interrupt = new AbortController();
    const waiting = get("silent", { signal: interrupt.signal }, "FR");
    interrupt.abort();
    await expect(waiting).rejects.toMatchObject({ name: "ProbelabError", code: "ABORTED" });
  });

  it.each([
    [{ timeoutSeconds: 0 }, "with timeoutSeconds: 0: pass a number from 0.001 to 86400."],
    [{ timeoutSeconds: 1e9 }, "with timeoutSeconds: 1000000000: pass"],
    [{ retries: -1 }, "with retries: -1: pass a number from 0 to 100."],
    [{ retires: 1 }, "did you mean retries?"],
  ])("refuses the limits %o", async (limits, message) => {
    await expect(get("good", limits, "ES")).rejects.toThrow(message);
    expect(await times("good", "ES")).toBe(0);
  });

  it("says that nobody listens, and refuses what is no country or no address", async () => {
    const nobody = { baseUrl: "http://127.0.0.1:9", country: "IT", retries: 0 };
    await expect(testLists.fetch(nobody)).rejects.toThrow("tried once, the connection failed (");
    await expect(get("good", {}, "ITA")).rejects.toThrow(
      'Can\'t fetch the test list of "ITA": pass a country of two letters, such as "IT".',
    );
    const secret = { baseUrl: "https://me:hunter2@api.example.org", country: "IT" };
    await expect(testLists.fetch(secret)).rejects.toThrow(/^(?!.*hunter2).*user or password/);
    const wrong = { baseUrl: "ftp://me:hunter2@api.example.org", country: "IT" };
    await expect(testLists.fetch(wrong)).rejects.toThrow(/^(?!.*hunter2).*pass the API's address/);
    const bare = { baseUrl: "hunter2", country: "IT" };
    await expect(testLists.fetch(bare)).rejects.toThrow(/^(?!.*hunter2).*pass the API's address/);
  });
});
