import { Command, InvalidArgumentError } from "commander";
import { sendGauge, statsdServer } from "../base/statsd.js";
import { chart } from "../chart/chart.js";
import { checkBaseUrl } from "../test-lists/fetch.js";
import { prometheusText, servePrometheus } from "../test-lists/gauges.js";
import { COUNTRY_WIDE } from "../test-lists/test-list.js";
import { churnResult, newState, watchTestLists } from "../test-lists/watch.js";
import { formatInstant } from "../time/time-zone.js";
import { userInterrupt, wholeNumber } from "./terminal.js";

interface Flags {
  readonly country: readonly string[];
  readonly every: number;
  readonly baseUrl?: string;
  readonly statsd?: string;
  readonly prometheus?: number;
  readonly state: string;
  readonly svg: string;
  readonly timeout: number;
}

const testList = new Command("test-list")
  .description("poll test lists and tell how much their first 100 URLs changed, until stopped")
  .requiredOption("--country <codes>", "countries, such as GE,IT,US", countryList)
  .option("--every <duration>", "from one poll to the next: 30s, 10m, 1h", duration, 600)
  .option("--base-url <url>", "the API's address (default: PROBELAB_API)")
  .option("--statsd <host:port>", "send gauges there over UDP")
  .option("--prometheus <port>", "serve /metrics on this port of the loopback", wholeNumber)
  .option("--state <file>", "keeps the state over restarts", "out/watch-test-list.json")
  .option("--svg <file>", "chart of the last day", "out/watch-test-list.svg")
  .option("--timeout <duration>", "most time of one attempt", duration, 30)
  .action(watchTestList);

/** `probelab watch test-list`: polls until it is interrupted. */
export const watchCommand = new Command("watch")
  .description("watch an interface of the service")
  .addCommand(testList);

async function watchTestList(flags: Flags): Promise<void> {
  using interrupt = userInterrupt();
  let state = newState(checkBaseUrl(flags.baseUrl));
  const warn = (text: string) => console.error(text);
  const { statsd } = flags;
  if (statsd !== undefined) statsdServer(statsd);
  const metrics =
    flags.prometheus === undefined
      ? null
      : await servePrometheus(flags.prometheus, () => prometheusText(state));
  if (metrics !== null) console.log(`Gauges at http://127.0.0.1:${metrics.port}/metrics`);
  console.log(COUNTRY_WIDE);
  try {
    await watchTestLists({
      ...(flags.baseUrl !== undefined && { baseUrl: flags.baseUrl }),
      countries: flags.country,
      everySeconds: flags.every,
      timeoutSeconds: flags.timeout,
      // A poll must be over before the next is due.
      retries: flags.every >= 60 ? 3 : 0,
      state: flags.state,
      signal: interrupt.signal,
      onStart(now) {
        state = now;
      },
      onPoll(poll, changed) {
        const when = `${formatInstant(new Date(poll.at), "UTC").slice(0, 19)} UTC  ${poll.country}`;
        if (poll.churn === null || changed === null) {
          warn(`${when}  no number: ${poll.why ?? ""}`);
          return;
        }
        const { added, removed, union } = changed;
        console.log(
          `${when}  churn ${poll.churn.toFixed(1)} % (${added.length} in, ${removed.length} out, of ${union})`,
        );
        if (statsd !== undefined) {
          const gauge = `probelab.test_list.churn.${poll.country}`;
          const churn = Number(poll.churn.toFixed(4));
          sendGauge(statsd, gauge, churn).catch((error: Error) => warn(error.message));
        }
      },
      async onRound(now) {
        state = now;
        const result = await churnResult(now, new Date());
        if (result.column("churn").every((value) => value === null)) return;
        const title = "Churn of test lists, last day";
        await chart.line(result, { x: "t", y: "churn", colour: "country", title }).save(flags.svg);
      },
    });
    console.log(`Stopped; the state is in ${flags.state}.`);
  } finally {
    await metrics?.close();
  }
}

function countryList(text: string): readonly string[] {
  const codes = text.split(",").map((code) => code.trim());
  if (codes.every((code) => /^[a-z]{2}$/i.test(code))) return codes;
  throw new InvalidArgumentError("Write two letters each, such as GE,IT,US.");
}

const SECONDS = { s: 1, m: 60, h: 3600 } as const;

/** Seconds of 30s, 10m or 1h. */
function duration(text: string): number {
  const [, digits, unit] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  const seconds = Number(digits) * SECONDS[(unit ?? "s") as keyof typeof SECONDS];
  if (!(seconds >= 1 && seconds <= 86_400)) {
    throw new InvalidArgumentError("Write a duration such as 30s, 10m or 1h, a day at most.");
  }
  return seconds;
}
