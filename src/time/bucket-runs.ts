import type { RangeBucket } from "./bucket.js";

/** Bucket starts at an even distance: from, from + step … from + (count − 1) · step, in ms. */
export interface BucketRun {
  readonly from: number;
  readonly step: number;
  readonly count: number;
}

/** The starts of buckets as few runs: of hours or days one, and two or three more for every change of the clocks. */
export function bucketRuns(all: readonly RangeBucket[]): BucketRun[] {
  const runs: { from: number; step: number; count: number }[] = [];
  for (const { start, end } of all) {
    const from = start.getTime();
    const run = runs.at(-1);
    if (run?.count === 1) run.step = from - run.from;
    if (run && from === run.from + run.count * run.step) run.count += 1;
    else runs.push({ from, step: end.getTime() - from, count: 1 });
  }
  return runs;
}
