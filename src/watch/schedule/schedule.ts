import { createRequire } from "node:module";
import type * as Croner from "croner";
import { checkOptions } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import type { Notebook } from "../../notebook/notebook-file.js";
import { bucketStart, checkBucket, nextBucket, type Bucket } from "../../time/bucket.js";
import { LENGTHS, readSpan } from "../../time/span.js";
import { usualLength } from "../../time/step.js";

/** How often a notebook wants to run, and how much it may take. */
export interface Schedule {
  /** `"30 minutes"`: at :00 and :30, UTC; as the buckets of a question. Or `cron`. */
  readonly every?: Bucket;
  /** Five fields, such as `"0 6 * * 1"`: Mondays at 6. */
  readonly cron?: string;
  /** Of `cron`, by its IANA name; default UTC. */
  readonly zone: string;
  /** Most resident memory of all of the run's processes together, in bytes; default 1 GB. */
  readonly memory: number;
  /** Most time of a run, in ms; default 10 minutes. */
  readonly timeout: number;
  /** Where whoever is called reads what to do; default `"runbook"` of `"alerts"` in probelab.config.json. */
  readonly runbook?: string;
}

const MINUTE = LENGTHS.minute;
const GB = 10 ** 9;
const SIZES: Record<string, number> = { MB: 10 ** 6, GB, MiB: 2 ** 20, GiB: 2 ** 30 };
const text = (value: unknown) => typeof value === "string";
const RULES = {
  every: { fits: text, pass: 'a period, such as "30 minutes"' },
  cron: { fits: text, pass: 'five fields, such as "0 6 * * 1"' },
  zone: { fits: text, pass: 'a time zone, such as "Europe/Berlin"' },
  memory: { fits: (value: unknown) => sizeOf(value) > 0, pass: 'a size, such as "1 GB"' },
  timeout: {
    fits: (value: unknown) => readSpan(value) !== undefined,
    pass: 'a time, such as "10 minutes"',
  },
  runbook: {
    fits: (value: unknown) => text(value) && /^https?:\/\//.test(String(value)),
    pass: "a whole address, https://…",
  },
};
const ACTION = "schedule the notebook";

/**
 * The schedule of a notebook: `probelab.schedule` of its metadata, or else a comment on a line of
 * its first code cell. Undefined where it has none.
 *
 * @throws ProbelabError for a schedule that can't be used.
 * @example
 * // schedule: { "every": "30 minutes", "memory": "1 GB", "timeout": "10 minutes" }
 * // schedule: { "cron": "0 6 * * 1", "zone": "Europe/Berlin" }
 */
export function scheduleOf({ metadata, cells }: Notebook): Schedule | undefined {
  const own = (metadata["probelab"] as { schedule?: unknown } | undefined)?.schedule;
  if (own !== undefined) return readSchedule(own);
  const first = cells.find(({ cell_type: type }) => type === "code")?.source ?? "";
  const comment = /^\s*\/\/\s*schedule\s*:(.*)$/im.exec(first)?.[1];
  if (comment === undefined) return undefined;
  try {
    return readSchedule(JSON.parse(comment));
  } catch (cause) {
    if (cause instanceof ProbelabError) throw cause;
    throw new ProbelabError(
      `Can't ${ACTION}: // schedule:${comment} is no JSON. Write it on one line, such as // schedule: { "every": "30 minutes" }`,
      { cause },
    );
  }
}

function readSchedule(given: unknown): Schedule {
  checkOptions(given, RULES, ACTION);
  const { every, cron, zone, memory, timeout, runbook } = given as Record<string, string>;
  if ((every === undefined) === (cron === undefined) || (every !== undefined && zone)) {
    throw new ProbelabError(
      `Can't ${ACTION} with ${shownValue(given)}: pass either every, which counts in UTC, or cron with or without a zone.`,
    );
  }
  const span = readSpan(timeout ?? "10 minutes")!;
  const schedule: Schedule = {
    ...(every === undefined ? { cron: cron! } : { every: checkBucket(every) }),
    zone: zone ?? "UTC",
    memory: sizeOf(memory ?? "1 GB"),
    timeout: Math.min(span.count * LENGTHS[span.unit], LENGTHS.day),
    ...(runbook !== undefined && { runbook }),
  };
  if (schedule.every !== undefined && usualLength(schedule.every) < MINUTE) {
    throw new ProbelabError(`Can't ${ACTION} every ${every}: the shortest period is a minute.`);
  }
  if (schedule.cron !== undefined) checkCron(schedule);
  return schedule;
}

function checkCron({ cron, zone }: Schedule): void {
  let next: Date | null = null;
  try {
    next = cronOf(cron!, zone).nextRun();
  } catch (cause) {
    throw new ProbelabError(
      `Can't ${ACTION} with cron: ${shownValue(cron)}, zone: ${shownValue(zone)}: ${(cause as Error).message.split(". ")[0]}. Pass five fields, such as "0 6 * * 1", and a zone such as "Europe/Berlin".`,
      { cause },
    );
  }
  if (next !== null) return;
  throw new ProbelabError(`Can't ${ACTION} with cron: ${shownValue(cron)}: no day is ever such.`);
}

const crons = new Map<string, Croner.Cron>();

function cronOf(cron: string, zone: string): Croner.Cron {
  const key = `${cron}\n${zone}`;
  const known = crons.get(key);
  if (known !== undefined) return known;
  const { Cron } = createRequire(import.meta.url)("croner") as typeof Croner;
  const made = new Cron(cron, { timezone: zone, mode: "5-part", paused: true });
  crons.set(key, made);
  return made;
}

/** The start of the period that an instant falls in, in ms; undefined before the first. */
export function periodAt(schedule: Schedule, at: number): number | undefined {
  const { every, cron, zone } = schedule;
  if (every !== undefined) return bucketStart(new Date(at), every, "UTC").getTime();
  const after = new Date(Math.floor(at / MINUTE) * MINUTE + MINUTE);
  return cronOf(cron!, zone).previousRuns(1, after)[0]?.getTime();
}

/** The start of the next period after an instant, in ms; undefined after the last. */
export function periodAfter(schedule: Schedule, at: number): number | undefined {
  const { every, cron, zone } = schedule;
  if (every === undefined) return cronOf(cron!, zone).nextRun(new Date(at))?.getTime();
  return nextBucket(bucketStart(new Date(at), every, "UTC"), every, "UTC").getTime();
}

function sizeOf(value: unknown): number {
  const [, count, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([MG]i?B)\s*$/.exec(String(value)) ?? [];
  return Number(count) * (SIZES[unit] ?? NaN);
}

/** `every 30 minutes`, `0 6 * * 1 (Europe/Berlin)`. */
export function scheduleText({ every, cron, zone }: Schedule): string {
  return every === undefined ? `${cron} (${zone})` : `every ${every}`;
}
