/**
 * A measurement service in memory: users of five programs on the networks of ten countries, whose
 * runs come by their own clock and hold some dozen rows, and a release whose runs hold more.
 */
import { seeded } from "../../test/support/change/draws.js";
import { ProbelabError } from "../../src/base/error.js";
import type { Finding } from "../../src/change/finding.js";
import { newTable } from "../../src/result/arquero-table.js";
import { resultOfRows } from "../../src/result/own-rows.js";
import type { Measurements } from "../../src/sources/measurements/measurements.js";
import { HOUR } from "../../src/time/span.js";
import type { TimeRange } from "../../src/time/time-range.js";

export { HOUR };
/** A Monday. */
export const START = Date.UTC(2026, 0, 5);

const PROGRAMS = {
  "probe-android": 45,
  "probe-ios": 20,
  "probe-desktop": 15,
  miniprobe: 13,
  "probe-cli": 7,
};
const COUNTRIES = { US: 25, RU: 16, BR: 14, IN: 9, DE: 9, FR: 6.2, IT: 5, GB: 6, ES: 5, UA: 4.8 };
/** How the users of a country stand to its networks. */
const NETWORKS = [60, 40];
const ROWS_A_RUN = 12;
const MORE = 0.08;

/** A group of users, with its runs and rows of each hour. */
export interface Leaf {
  readonly software_name: string;
  readonly probe_cc: string;
  readonly probe_asn: string;
  readonly runs: Int32Array;
  readonly rows: Int32Array;
}

/** What `lab.anomalies` asks of a lab. */
export interface Service {
  readonly measurements: Measurements;
  readonly freshness: (end: number) => Promise<Finding>;
  /** The same service, of whose runs in hours from and up to a share is left. */
  readonly lose: (from: number, to: number, left: (leaf: Leaf) => number) => Service;
}

type By = "software_name" | "probe_cc" | "probe_asn";

/** A service of so many rows an hour; the same for the same seed. The release comes two weeks before its end. */
export function service(size: number, weeks: number, seed: number): Service {
  const { uniform, normal, poisson } = seeded(seed * 7919 + size);
  const hours = weeks * 168;
  const share = (all: Readonly<Record<string, number>>, of: number) =>
    of / Object.values(all).reduce((a, b) => a + b, 0);
  let lasting = 0;
  const common = Array.from({ length: hours }, () =>
    Math.exp((lasting = 0.7 * lasting + 0.015 * normal())),
  );
  const geometric = (mean: number) =>
    1 + Math.floor(Math.log(1 - uniform()) / Math.log(1 - 1 / mean));
  const rowsOf = (runs: number, mean: number): number => {
    if (runs > 40)
      return Math.max(
        runs,
        Math.round(runs * mean + Math.sqrt(runs * mean * (mean - 1)) * normal()),
      );
    return Array.from({ length: runs }, () => geometric(mean)).reduce((a, b) => a + b, 0);
  };
  const leaves: Leaf[] = [];
  for (const [software_name, program] of Object.entries(PROGRAMS)) {
    for (const [place, [probe_cc, country]] of Object.entries(COUNTRIES).entries()) {
      for (const [of, network] of NETWORKS.entries()) {
        // The network of 401 has 3.7 % of all.
        const probe_asn = String(probe_cc === "FR" && of === 0 ? 401 : 1000 + place * 10 + of);
        const usual =
          (size / ROWS_A_RUN) *
          share(PROGRAMS, program) *
          share(COUNTRIES, country) *
          (network / 100);
        let wander = 0;
        const [runs, rows] = [new Int32Array(hours), new Int32Array(hours)];
        for (let at = 0; at < hours; at++) {
          wander = 0.999 * wander + 0.003 * normal();
          const day = 1 + 0.5 * Math.sin((2 * Math.PI * (at - place)) / 24);
          const weekend = Math.floor(at / 24) % 7 > 4 ? 0.85 : 1;
          runs[at] = poisson(usual * day * weekend * common[at]! * Math.exp(wander));
          const adopted = Math.min(1, Math.max(0, (at - hours + 14 * 24) / (10 * 24)));
          const more = software_name === "probe-android" ? MORE * adopted : 0;
          rows[at] = rowsOf(runs[at]!, ROWS_A_RUN * (1 + more));
        }
        leaves.push({ software_name, probe_cc, probe_asn, runs, rows });
      }
    }
  }
  return serviceOf(leaves, seed);
}

function serviceOf(leaves: readonly Leaf[], seed: number): Service {
  const lose: Service["lose"] = (from, to, left) => {
    const { uniform } = seeded(seed + 1);
    const lost = leaves.map((leaf): Leaf => {
      const kept = left(leaf);
      if (kept === 1) return leaf;
      const [runs, rows] = [leaf.runs.slice(), leaf.rows.slice()];
      for (let at = from; at < to; at++) {
        const some = Array.from({ length: runs[at]! }, uniform).filter((u) => u < kept).length;
        rows[at] = Math.round((rows[at]! * some) / Math.max(1, runs[at]!));
        runs[at] = some;
      }
      return { ...leaf, runs, rows };
    });
    return serviceOf(lost, seed);
  };
  const freshness = (end: number): Promise<Finding> => {
    const newest = new Date(START + end * HOUR);
    const silent = leaves.every(({ rows }) => rows[end - 1] === 0);
    const result = resultOfRows([{ program: null, newest, age: 0, lag_q95: 0, silent }]);
    return Promise.resolve({
      kind: "freshness",
      headline: "",
      evidence: "",
      details: [],
      sentence: "",
      found: false,
      result,
    });
  };
  const counts = ({ range, by = [], top, where = {} }: Asked) =>
    Promise.resolve(countsOf(leaves, range, by, top, where));
  // Nothing but counts is in memory: why something dropped can't be asked.
  const measurements = new Proxy({ counts } as unknown as Measurements, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name) as unknown;
      throw new ProbelabError("Can't ask that of a service in memory: only counts are.");
    },
  });
  return { measurements, freshness, lose };
}

interface Asked {
  readonly range: TimeRange;
  readonly by?: readonly By[];
  readonly top?: number;
  readonly where?: Readonly<Partial<Record<By, string>>>;
}

/** Counts by the hour, the largest groups by themselves and the others as "other". */
function countsOf(
  leaves: readonly Leaf[],
  range: TimeRange,
  by: readonly By[],
  top: number | undefined,
  where: Asked["where"] & object,
) {
  const from = Math.max(0, Math.round((+range.start - START) / HOUR));
  const to = Math.ceil((+range.end - START) / HOUR);
  const own = leaves.filter((leaf) =>
    Object.entries(where).every(([name, value]) => leaf[name as By] === value),
  );
  // The largest values of each dimension, as the engine has them.
  const named = by.map((name) => {
    const sizes = new Map<string, number>();
    for (const leaf of own) {
      const sum = leaf.rows.subarray(from, to).reduce((a, b) => a + b, 0);
      sizes.set(leaf[name], (sizes.get(leaf[name]) ?? 0) + sum);
    }
    const values = [...sizes].sort((a, b) => b[1] - a[1]).map(([value]) => value);
    return new Set(values.length > (top ?? Infinity) ? values.slice(0, top) : values);
  });
  const groups = new Map<string, { names: string[]; sums: number[] }>();
  for (const leaf of own) {
    const names = by.map((name, at) => (named[at]!.has(leaf[name]) ? leaf[name] : "other"));
    const group = groups.get(names.join("|")) ?? { names, sums: Array<number>(to - from).fill(0) };
    groups.set(names.join("|"), group);
    for (let at = from; at < to; at++) group.sums[at - from]! += leaf.rows[at]!;
  }
  const all = [...groups.values()];
  const length = to - from;
  const column = (of: (group: (typeof all)[number], at: number) => unknown) =>
    all.flatMap((group) => Array.from({ length }, (_, at) => of(group, at)));
  const hours = Array.from({ length }, (_, at) => new Date(START + (from + at) * HOUR));
  const made = resultOfRows([{ t: START }]);
  const table = newTable(made.table, [
    ["t", column((_, at) => hours[at])],
    ...by.map((name, place): [string, unknown] => [name, column(({ names }) => names[place])]),
    ["measurements", column(({ sums }, at) => sums[at])],
  ]);
  return made.with(table, {
    range,
    askedAt: range.end,
    columns: {
      time: { name: "t", every: "hour", incomplete: [] },
      dimensions: by.map((name, at) => ({ name, order: [...named[at]!, "other"] })),
      measures: [
        {
          name: "measurements",
          label: "Measurements",
          unit: "measurements",
          additive: true,
          missing: "zero",
          main: true,
        },
      ],
    },
  });
}
