import type { WriteOptions, Writer } from "../database/writer.js";
import type { SamplePlan } from "./plan.js";
import { runsInsert } from "./runs.js";

/** Which of the runs that were made are the sample's. */
export interface MadeRuns {
  /** Number of the last run that belongs to it. */
  readonly last: number;
  /** Measurements that the last run has too many. */
  readonly excess: number;
}

/**
 * Makes runs, in their order, until they hold as many measurements as the plan says, and tells
 * where to cut. Each run is drawn by its number alone, so how many are made at once is no matter.
 */
export async function makeRuns(
  writer: Writer,
  runs: string,
  plan: SamplePlan,
  options: WriteOptions,
): Promise<MadeRuns> {
  let made = 0;
  for (let missing = plan.rows; ;) {
    const to = made + Math.ceil(missing / FEWEST_PER_RUN) + 10;
    await writer.command(runsInsert(runs, new Date(plan.end * 1000), plan.seed), {
      ...options,
      parameters: { seed: plan.seed, end: plan.end, from: made, to },
    });
    made = to;
    const measurements = await total(writer, runs, options);
    if (measurements >= plan.rows) return cut(writer, runs, plan.rows, options);
    missing = plan.rows - measurements;
  }
}

/** Measurements of a mean run, estimated low: to make a few runs too many costs next to nothing. */
const FEWEST_PER_RUN = 20;

async function total(writer: Writer, runs: string, options: WriteOptions): Promise<number> {
  const [row] = await writer.rows<{ total: number | string }>(
    `SELECT sum(length) AS total FROM ${runs}`,
    options,
  );
  return Number(row?.total ?? 0);
}

/** Finds the run with which the sample is complete. */
async function cut(
  writer: Writer,
  runs: string,
  rows: number,
  options: WriteOptions,
): Promise<MadeRuns> {
  const [row] = await writer.rows<{ last: number | string; excess: number | string }>(
    `SELECT run AS last, so_far - {rows:UInt64} AS excess
     FROM (SELECT run, sum(length) OVER (ORDER BY run) AS so_far FROM ${runs})
     WHERE so_far >= {rows:UInt64} ORDER BY run LIMIT 1`,
    { ...options, parameters: { rows } },
  );
  return { last: Number(row?.last), excess: Number(row?.excess) };
}
