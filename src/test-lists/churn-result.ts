import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";
import { COUNTRY_WIDE } from "./test-list.js";
import type { WatchState } from "./watch-state.js";

/**
 * The polls of the last day as a Result: `t`, `country`, `churn` in percent, null (a gap) where a
 * poll failed or had nothing to compare with.
 */
export async function churnResult(state: WatchState, now: Date): Promise<Result> {
  const aq = await import("arquero");
  const { polls } = state;
  const columns = {
    t: polls.map(({ at }) => new Date(at)),
    country: polls.map(({ country }) => country),
    churn: polls.map((poll) => poll.churn),
  };
  const failed = polls.filter(({ churn }) => churn === null).length;
  return new Result(aq.table(columns), {
    sql: "",
    parameters: {},
    range: between(new Date(now.getTime() - 86_400_000), now),
    source: state.baseUrl,
    server: "",
    rowsRead: polls.length,
    bytesRead: 0,
    seconds: 0,
    askedAt: now,
    columns: {
      dimensions: [{ name: "country", order: [...new Set(columns.country)].sort() }],
      measures: [
        {
          name: "churn",
          label: "Churn of the first 100",
          unit: "%",
          additive: false,
          missing: "gap",
        },
      ],
    },
    reductions: [],
    notes: [
      ...(failed === 0
        ? []
        : [`${failed} of ${polls.length} polls have no number: they are gaps.`]),
      COUNTRY_WIDE,
    ],
  });
}
