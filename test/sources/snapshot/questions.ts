import fc from "fast-check";
import {
  between,
  bins,
  count,
  countDistinct,
  hourOfDay,
  max,
  mean,
  min,
  prefix,
  quantile,
  rate,
  ratio,
  type Result,
  share,
  type Snapshot,
  sum,
  versionPart,
  weekday,
} from "../../../src/index.js";

export const HOUR = 3_600_000;
export const START = Date.UTC(2026, 4, 2);
export const HOURS = 5 * 24;
/** What the rows of `makeRows` are asked about. */
export const held = between(new Date(START), new Date(START + HOURS * HOUR));

const NAMES = ["software_name", "software_version", "probe_cc", "probe_asn", "test_name"] as const;
const shared = {
  range: fc
    .record({
      from: fc.nat(HOURS - 1),
      length: fc.integer({ min: 1, max: HOURS }),
      timeZone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York"),
    })
    .map(({ from, length, timeZone }) => {
      const end = Math.min(HOURS, from + length);
      return between(new Date(START + from * HOUR), new Date(START + end * HOUR), { timeZone });
    }),
  every: fc.constantFrom("all", "hour", "3 hours", "day", "week", "36 hours" as const),
  by: fc.oneof(
    fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 3 }),
    fc.constantFrom([weekday(), hourOfDay()], [versionPart("software_version", 2)]),
    fc.constant({ net: bins("probe_asn", [1, 10_000]), country: "probe_cc" }),
  ),
  top: fc.constantFrom(1, 3, Infinity),
  other: fc.boolean(),
};
const where = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  fc.record(
    {
      software_version: fc.constantFrom(null, "3.9.0", prefix("3.10"), ["3.9.0", "9.9"], {
        ne: null,
      }),
      probe_cc: fc.constantFrom("IT", ["IT", "DE"], { ne: "IT" }, "XX"),
      probe_asn: fc.constantFrom({ gt: 0 }, null, [0, 3320]),
      test_name: fc.constantFrom("web", { ne: "dns" }),
    },
    { requiredKeys: [] },
  ),
);
const ofRuns = fc.record(
  {
    measurements: fc.constantFrom({ gt: 1 }, 1),
    duration: fc.constantFrom({ lt: 600 }, { gte: 86_400 }),
    start: fc.constant({ gte: new Date(START + 30.5 * HOUR) }),
  },
  { requiredKeys: [] },
);

type Room = Pick<Snapshot, "measurements" | "runs">;
type Ask = (lab: Room) => Promise<Result>;

const asks = <T>(options: fc.Arbitrary<T>, ask: (lab: Room, options: never) => Promise<Result>) =>
  options.map(
    (options): Ask =>
      (lab) =>
        ask(lab, options as never),
  );
const whole = { range: shared.range, where };
const grouped = fc.record({ ...shared, where });

/** Questions of every kind, at random. */
export const question: fc.Arbitrary<Ask> = fc.oneof(
  asks(
    grouped.map((options) => ({
      ...options,
      measures: {
        n: count(),
        italian: share({ probe_cc: "IT" }),
        networks: countDistinct("probe_asn"),
        sum: sum("probe_asn"),
        mean: mean<"probe_asn" | "test_name">("probe_asn", { where: { test_name: "web" } }),
        least: min("probe_asn"),
        most: max("probe_asn"),
        rate: rate(count({ where: { software_version: null } }), "minute"),
        ratio: ratio(sum("probe_asn"), count()),
        first: min("time"),
        last: max("time", { where: { probe_cc: "DE" } }),
      },
    })),
    ({ measurements }, options) => measurements.ask(options),
  ),
  asks(grouped, ({ measurements }, options) => measurements.counts(options)),
  asks(
    fc.tuple(grouped, ofRuns).map(([options, own]) => ({
      ...options,
      where: { ...options.where, ...own },
      measures: {
        runs: count(),
        measurements: sum("measurements"),
        p90: quantile(0.9, "duration"),
        pace: quantile(0.5, "seconds_per_measurement"),
        long: share({ duration: { gt: 3600 } }),
        versions: countDistinct("software_version"),
        first: min("time"),
      },
    })),
    ({ runs }, options) => runs.ask(options),
  ),
  asks(grouped, ({ runs }, options) => runs.summary(options)),
  asks(fc.record({ ...whole, by: fc.constant("software_version") }), ({ measurements }, options) =>
    measurements.firstSeen(options),
  ),
  asks(
    fc.record({
      ...whole,
      every: fc.constant("hour"),
      by: fc.constant(["probe_cc", "software_version"]),
    }),
    ({ measurements }, options) => measurements.explore(options),
  ),
  asks(
    fc.record({
      ...whole,
      every: fc.constant("hour"),
      by: fc.constant(["probe_cc"]),
      measure: fc.constant(sum("measurements")),
    }),
    ({ runs }, options) => runs.explore(options),
  ),
  asks(
    fc.record({ ...whole, column: fc.constant("duration"), by: fc.constant("probe_cc") }),
    ({ runs }, options) => runs.histogram(options),
  ),
);

/** What an answer tells, but for where it is from. */
export function told({ origin }: Result) {
  const { reductions, columns, filter } = origin;
  const notes = origin.notes
    .filter((note) => !note.startsWith("Snapshot "))
    // Which of the values that it holds are named first follows their number of rows.
    .map((note) =>
      note
        .replace(/; the range holds .*/, "")
        .replace(/^Snapshot \w+|fastpath|Distributed over /g, ""),
    );
  return {
    columns,
    reductions,
    filter,
    notes: notes.filter((note) => !note.startsWith(" holds no")),
  };
}
