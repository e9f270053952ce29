import { createSocket } from "node:dgram";
import { ProbelabError } from "./error.js";

/** Reads the address of a StatsD server, `host` or `host:port`; default port 8125. */
export function statsdServer(address: string): { readonly host: string; readonly port: number } {
  const [, host, digits = "8125"] = /^\[?([^[\]\s]+?)\]?(?::(\d{1,5}))?$/.exec(address) ?? [];
  const port = Number(digits);
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new ProbelabError(
    `Can't send gauges to ${JSON.stringify(address)}: write host:port, such as 127.0.0.1:8125.`,
  );
}

/**
 * Sends a gauge of StatsD over UDP, `name:12.5|g`: whether it arrives is unknown.
 *
 * Source: https://github.com/statsd/statsd/blob/master/docs/metric_types.md
 *
 * @throws ProbelabError for an address, a name or a value that can't be sent, and where the system can't send it.
 */
export async function sendGauge(address: string, name: string, value: number): Promise<void> {
  const { host, port } = statsdServer(address);
  if (!/^[\w.-]{1,200}$/.test(name) || !Number.isFinite(value)) {
    throw new ProbelabError(
      `Can't send the gauge ${JSON.stringify(name)} with ${value}: a name has letters, digits, dots, - and _; a value is a finite number.`,
    );
  }
  // One below zero would be read as a change of the last: it is set to 0 first.
  const text = value < 0 ? `${name}:0|g\n${name}:${value}|g` : `${name}:${value}|g`;
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  await new Promise<void>((resolve, reject) => {
    const failed = (cause: Error) => {
      const message = `Can't send a gauge to ${address}: ${cause.message}. Check the address.`;
      reject(new ProbelabError(message, { cause }));
    };
    socket.once("error", failed);
    socket.send(text, port, host, (error) => (error ? failed(error) : resolve()));
  }).finally(() => socket.close());
}
