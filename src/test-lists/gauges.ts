import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ProbelabError } from "../base/error.js";
import type { WatchState } from "./watch.js";

/**
 * The state in the text format of Prometheus (version 0.0.4). A country whose last poll failed has
 * no churn, so that an old number is not taken for a new one.
 */
export function prometheusText(state: WatchState): string {
  const last = new Map(state.polls.map((poll) => [poll.country, poll]));
  const churns = [...last.values()].flatMap(({ country, churn }) =>
    churn === null
      ? []
      : [`probelab_test_list_churn_percent{country="${country}"} ${Number(churn.toFixed(4))}`],
  );
  const successes = Object.entries(state.lists).map(
    ([country, { at }]) =>
      `probelab_test_list_last_success_timestamp_seconds{country="${country}"} ${Date.parse(at) / 1000}`,
  );
  return [
    "# HELP probelab_test_list_churn_percent Symmetric difference of the first 100 URLs of two polls, percent of their union.",
    "# TYPE probelab_test_list_churn_percent gauge",
    ...churns,
    "# HELP probelab_test_list_last_success_timestamp_seconds When the list was last fetched.",
    "# TYPE probelab_test_list_last_success_timestamp_seconds gauge",
    ...successes,
    "",
  ].join("\n");
}

/** Serves `GET /metrics` on loopback. @param port 0 for any free one. */
export async function servePrometheus(
  port: number,
  text: () => string,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const known = request.method === "GET" && request.url?.split("?")[0] === "/metrics";
    const type = known ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain";
    response.writeHead(known ? 200 : 404, { "content-type": type });
    response.end(known ? text() : "The gauges are at /metrics.\n");
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new ProbelabError(
      `Can't serve gauges on 127.0.0.1:${port}: ${(cause as Error).message}. Take another port, or 0 for any free one.`,
      { cause },
    );
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}
