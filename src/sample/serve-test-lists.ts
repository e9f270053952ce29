import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { sampleTestList } from "./test-lists.js";

/** The sample service's API, while it runs. */
export interface SampleApi extends AsyncDisposable {
  /** What `testLists.fetch` takes. */
  readonly baseUrl: string;
  close(): Promise<void>;
}

/**
 * Serves the test lists of the sample service on loopback, so that there is something to ask
 * without a network: `GET /api/v1/test-list/urls?country_code=CC`. Each request of a country is its
 * next poll, however soon it comes. It keeps no process alive.
 *
 * @example
 * const api = await serveSampleTestLists();
 * const list = await testLists.fetch({ baseUrl: api.baseUrl, country: "GE" });
 */
export async function serveSampleTestLists(): Promise<SampleApi> {
  const polls = new Map<string, number>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const country = url.searchParams.get("country_code") ?? "";
    const known = url.pathname === "/api/v1/test-list/urls" && /^[A-Z]{2}$/.test(country);
    response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
    if (!known) return void response.end('{"error": "not found"}');
    const poll = (polls.get(country) ?? 0) + 1;
    polls.set(country, poll);
    const results = sampleTestList(country, poll);
    response.end(JSON.stringify({ metadata: { count: results.length }, results }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await once(server.close(), "close");
  };
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}
