import { Command, InvalidArgumentError } from "commander";
import { createSocket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";
import { ProbelabError } from "../base/error.js";
import { checkBaseUrl } from "../sources/test-lists/fetch.js";
import { COUNTRY_WIDE, type TestList } from "../sources/test-lists/test-list.js";
import { testLists } from "../sources/test-lists/test-lists.js";
import { DAY, LENGTHS, readSpan } from "../time/span.js";
import { userInterrupt } from "./terminal.js";

interface StatsdServer {
  readonly host: string;
  readonly port: number;
}

interface Flags {
  readonly country: readonly string[];
  /** In milliseconds. */
  readonly every: number;
  readonly baseUrl?: string;
  readonly statsd?: StatsdServer;
}

const testList = new Command("test-list")
  .description("poll test lists and report the churn of their first 100 URLs, until stopped")
  .requiredOption("--country <codes>", "countries, such as GE,IT,US", countryList)
  .option("--every <span>", "time between polls: 30s, 10min, 1h; default: 10 minutes", every)
  .option("--base-url <url>", "the API's address (default: PROBELAB_API)")
  .option("--statsd <host:port>", "send gauges there over UDP", statsdServer)
  .action(({ every = 600_000, ...flags }: Flags) => watchTestList({ ...flags, every }));

/** `probelab watch test-list`: polls until it is interrupted. */
export const watchCommand = new Command("watch")
  .description("watch an interface of the service")
  .addCommand(testList);

async function watchTestList(flags: Flags): Promise<void> {
  using interrupt = userInterrupt();
  const { signal } = interrupt;
  checkBaseUrl(flags.baseUrl);
  console.log(COUNTRY_WIDE);
  const lists = new Map<string, TestList>();
  for (let due = Date.now(); !signal.aborted;) {
    for (const country of flags.country) {
      if (!signal.aborted) await poll(country, lists, flags, signal);
    }
    // A round that took longer than a step leaves the steps out that it ran over.
    due += flags.every * Math.max(1, Math.ceil((Date.now() - due) / flags.every));
    await sleep(due - Date.now(), undefined, { signal }).catch(() => undefined);
  }
  console.log("Stopped.");
}

/**
 * Polls a country's list and reports its churn against the poll before. A poll that failed has no
 * number, and neither has the one after it: the number would span more than a step.
 */
async function poll(
  country: string,
  lists: Map<string, TestList>,
  { every, baseUrl, statsd }: Flags,
  signal: AbortSignal,
): Promise<void> {
  const when = `${new Date().toISOString().slice(0, 19).replace("T", " ")} UTC  ${country}`;
  const before = lists.get(country);
  lists.delete(country);
  try {
    // A poll must end before the next one is due.
    const retries = every >= 60_000 ? 3 : 0;
    const list = await testLists.fetch({ country, retries, signal, ...(baseUrl && { baseUrl }) });
    lists.set(country, list);
    const churn = before === undefined ? null : testLists.churn(before, list);
    if (before === undefined || churn === null) {
      const why = before ? "both lists are empty" : "no list of the poll before to compare with";
      return console.error(`${when}  no number: ${why}`);
    }
    const { added, removed, union } = testLists.changes(before, list);
    console.log(
      `${when}  churn ${churn.toFixed(1)} % (${added.length} in, ${removed.length} out, of ${union})`,
    );
    const gauge = `probelab.test_list.churn.${country}:${Number(churn.toFixed(4))}|g`;
    if (statsd !== undefined) await sendGauge(statsd, gauge);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ProbelabError)) throw error;
    console.error(`${when}  no number: ${error.message}`);
  }
}

/** Sends a gauge of StatsD over UDP: whether it arrives is unknown. */
async function sendGauge({ host, port }: StatsdServer, gauge: string): Promise<void> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  const error = await new Promise<Error | null>((resolve) =>
    socket.send(gauge, port, host, resolve),
  );
  socket.close();
  if (error === null) return;
  console.error(`Can't send a gauge to ${host}:${port}: ${error.message}. Check the address.`);
}

function statsdServer(text: string): StatsdServer {
  const [, host, digits = "8125"] = /^\[?([^[\]\s]+?)\]?(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = Number(digits);
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new InvalidArgumentError("write host:port, such as 127.0.0.1:8125.");
}

function countryList(text: string): readonly string[] {
  const codes = text.split(",").map((code) => code.trim().toUpperCase());
  if (codes.every((code) => /^[A-Z]{2}$/.test(code))) return [...new Set(codes)];
  throw new InvalidArgumentError("Write two letters each, such as GE,IT,US.");
}

function every(text: string): number {
  const span = readSpan(text);
  const length = span === undefined ? 0 : span.count * LENGTHS[span.unit];
  if (length >= 1_000 && length <= DAY) return length;
  throw new InvalidArgumentError("Write a span such as 30s, 10min or 1h, a day at most.");
}
