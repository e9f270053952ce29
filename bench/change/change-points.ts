/**
 * Change points: the public series of TCPD (only what stands in the benchmark folder), and counts
 * made here, with day, week, autocorrelated noise, outliers, and one drop or none.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { changePoints } from "../../src/change/series/change-points.js";
import { segments } from "../../src/change/series/segments.js";
import { asResult, seededCounts } from "../../test/support/change/counts.js";
import { HOUR, START } from "../../test/support/change/flow-results.js";

/** Metrics `tcpd_f1`, `tcpd_covering`, `change_point_hit`, `quiet_share`; prints the table of series. */
export async function changePointMetrics(): Promise<Record<string, number>> {
  const rows = scoreTcpd();
  console.table(rows);
  const mean = (name: "f1" | "covering"): number =>
    rows.reduce((sum, row) => sum + row[name], 0) / rows.length;
  const counts = await scoreCounts(Number(process.env["SEEDS"] ?? 300));
  return { tcpd_f1: mean("f1"), tcpd_covering: mean("covering"), ...counts };
}

interface TcpdCase {
  readonly case: string;
  readonly values: readonly (number | null)[];
}

interface TcpdTruth {
  readonly case: string;
  readonly n: number;
  readonly annotations: Readonly<Record<string, readonly number[]>>;
  readonly core: boolean;
}

/** A row for each series of the folder with one variable and nothing missing. */
function scoreTcpd() {
  const folder = process.env["PROBELAB_BENCHMARKS"] ?? join("..", "shared", "benchmarks");
  const lines = <Row>(text: string): Row[] =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
  const cases = lines<TcpdCase>(
    gunzipSync(readFileSync(join(folder, "changepoints.jsonl.gz"))).toString(),
  );
  const truths = new Map(
    lines<TcpdTruth>(readFileSync(join(folder, "changepoints.truth.jsonl"), "utf8")).map(
      (truth) => [truth.case, truth],
    ),
  );
  return cases.flatMap(({ case: name, values }) => {
    const truth = truths.get(name);
    if (truth?.core !== true) return [];
    const { steps } = segments(values.map((value) => (value === null ? NaN : Number(value))));
    const found = rising(steps.map(({ at }) => at));
    const annotations = Object.values(truth.annotations);
    return [
      {
        name,
        f1: f1(annotations, found),
        covering: covering(annotations, found, truth.n),
        found: found.join(" "),
      },
    ];
  });
}

/** F1 of TCPDBench with margin 5: precision against all annotators together, recall the mean of theirs. */
function f1(annotations: readonly (readonly number[])[], found: readonly number[]): number {
  const given = rising([0, ...found]);
  const hits = (truth: readonly number[]): number => {
    const left = new Set(given);
    let count = 0;
    for (const tau of truth) {
      const near = [...left].filter((x) => Math.abs(tau - x) <= 5);
      const [best] = near.sort((a, b) => Math.abs(tau - a) - Math.abs(tau - b));
      if (best === undefined) continue;
      left.delete(best);
      count += 1;
    }
    return count;
  };
  const each = annotations.map((truth) => rising([0, ...truth]));
  const precision = hits(rising(each.flat())) / given.length;
  const recall = each.reduce((sum, truth) => sum + hits(truth) / truth.length, 0) / each.length;
  return (2 * precision * recall) / (precision + recall);
}

/** Mean over the annotators of the covering of their pieces by those that were found. */
function covering(
  annotations: readonly (readonly number[])[],
  found: readonly number[],
  n: number,
): number {
  const pieces = (cuts: readonly number[]): [number, number][] => {
    const edges = rising([0, ...cuts, n]);
    return edges.slice(1).map((end, at) => [edges[at]!, end]);
  };
  const ours = pieces(found);
  const one = (truth: readonly number[]): number =>
    pieces(truth).reduce((sum, [a, b]) => {
      const best = ours.map(([c, d]) => {
        const both = Math.max(0, Math.min(b, d) - Math.max(a, c));
        return both / (b - a + d - c - both);
      });
      return sum + ((b - a) / n) * Math.max(...best);
    }, 0);
  return annotations.reduce((sum, truth) => sum + one(truth), 0) / annotations.length;
}

function rising(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** Share of series with a drop whose change is within a bucket, and of those without one that give none. */
async function scoreCounts(seeds: number): Promise<Record<string, number>> {
  const rows: Record<string, string | number>[] = [];
  for (const every of ["hour", "day"] as const) {
    for (const drop of [0, 0.3, 0.5, 0.8]) {
      let good = 0;
      for (let seed = 0; seed < seeds; seed++) {
        const counts = seededCounts(9_000_000 + seed, every, drop);
        const { result } = await changePoints(asResult(counts));
        const times = (result.column("t") as Date[]).map(Number);
        const size = every === "hour" ? HOUR : 24 * HOUR;
        const planted = START + counts.at * size;
        const near = times.some((time) => Math.abs(time - planted) <= size);
        good += Number(drop === 0 ? times.length === 0 : near);
      }
      rows.push({ every, drop, [drop === 0 ? "quiet" : "hit"]: good / seeds });
    }
  }
  console.table(rows);
  const mean = (name: string): number => {
    const some = rows.flatMap((row) => (name in row ? [Number(row[name])] : []));
    return some.reduce((sum, value) => sum + value, 0) / some.length;
  };
  return { change_point_hit: mean("hit"), quiet_share: mean("quiet") };
}
