import { answerOrigin, type Database } from "../database/database.js";
import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import type { Origin } from "../result/origin.js";
import { question } from "../result/question.js";
import { Result } from "../result/result.js";
import { checkRange, last, type TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { readInstances, WHOLE_TABLE, type Instance } from "./instances.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What `lab.testHelpers.rotation` takes; everything has a default. */
export interface RotationOptions {
  /** The rotations to look at; live instances are always in. Default: the last 6 months before `lab.now`. */
  readonly range?: TimeRange;
  /**
   * Rotations fewer hours apart than this are too close for DNS to follow. Default 24: typical
   * times to live are one to five days (RFC 1912, section 2.2), so a day is the least after which
   * resolvers have asked again. With shorter records in your zone, pass their time to live.
   */
  readonly closestHours?: number;
  /** How far apart in age neighbours should be, in days. Default 7: the seed document's "about one week". */
  readonly staggerDays?: number;
  /** How far from that still counts as staggered, in days. Default 3: 4 to 10 days apart. */
  readonly toleranceDays?: number;
  readonly signal?: AbortSignal;
}

/** What is known of an instance at a moment. */
export interface Life extends Instance {
  /** `live` until draining_at is set; `destroyed` where the table says so. */
  readonly state: "live" | "draining" | "destroyed";
  /** Days from its making to now, or to its draining; null where its name tells no time. */
  readonly ageDays: number | null;
  /** True for the live instance that the rotation tool takes next: the oldest. */
  readonly next: boolean;
}

/** A rotation: the moment at which an instance began to drain, its name pointing to another. */
export interface RotationEvent {
  readonly time: Date;
  readonly drained: Instance;
  /** Hours since the rotation before it; null for the first that is known. */
  readonly hours: number | null;
  readonly tooClose: boolean;
}

/** How far apart the live instances are in age. */
export interface Stagger {
  /** Days between neighbours, from the youngest on. */
  readonly gapDays: readonly number[];
  /** Whether all of them are about a week; null where fewer than two ages are known. */
  readonly staggered: boolean | null;
}

/** Whether the next may be rotated, and from when on. */
export interface RotationTurn {
  /** Null where it isn't known which is next, or when DNS changed last. */
  readonly now: boolean | null;
  /** The earliest safe moment: `closestHours` after a helper was made or began to drain; null where none is known. */
  readonly from: Date | null;
  /** From then on the ages stay staggered, too: `staggerDays` − `toleranceDays` after the youngest was made. */
  readonly staggeredFrom: Date | null;
}

/** A row of `instances`. */
export type InstanceRow = {
  name: string;
  host: string;
  region: string;
  state: Life["state"];
  made_at: Date | null;
  until: Date;
  age_days: number | null;
  next: boolean;
};

/** A row of `rotations`. */
export type RotationRow = {
  t: Date;
  host: string;
  name: string;
  hours: number | null;
  too_close: boolean;
};

/** What the table of test helpers tells of their rotation. */
export interface Rotation {
  /**
   * A row per instance, name descending: `name`, `host` (`<rdn>.<dns_zone>`), `region`, `state`,
   * `made_at`, `until` (when it began to drain, else now), `age_days`, `next`.
   */
  readonly instances: Result<InstanceRow>;
  /**
   * A row per rotation of the range, in order of time: `t`, `host`, `name` (of the instance that
   * began to drain), `hours` since the rotation before it, `too_close`.
   */
  readonly rotations: Result<RotationRow>;
  /** The next to rotate: the oldest live instance; null where there is none or ages aren't known. */
  readonly next: Life | null;
  /** Whether that one may be rotated now, and the earliest moment at which it may. */
  readonly turn: RotationTurn;
  readonly stagger: Stagger;
  /** Rotations that came too soon after the one before them. */
  readonly tooClose: readonly RotationEvent[];
  /** All of that, a sentence each. */
  readonly findings: readonly string[];
}

/** `lab.testHelpers.rotation`: see {@link TestHelpers.rotation}. */
export async function rotation(
  database: Database,
  now: Date,
  options: RotationOptions = {},
): Promise<Rotation> {
  const asked = checkRotation(options, now);
  const { range, closestHours, staggerDays, toleranceDays } = asked;
  const { signal } = options;
  const action = "look at rotations";
  const read = await readInstances(database, { action, ...(signal && { signal }) });
  const all = lives(read.instances, now);
  const events = rotationEvents(read.instances, closestHours).filter(
    ({ time }) => time >= range.start && time < range.end,
  );
  const next = all.find((each) => each.next) ?? null;
  const turn = turnOf(all, next, now, asked);
  const gapDays = gapsOf(all);
  const isWithin = (gap: number): boolean => Math.abs(gap - staggerDays) <= toleranceDays;
  const stagger = { gapDays, staggered: gapDays.length === 0 ? null : gapDays.every(isWithin) };
  const tooClose = events.filter((event) => event.tooClose);
  // Each part is asked again by itself: its range stays the one that was looked at.
  const origin = (part: "instances" | "rotations") => {
    const own = question(`testHelpers.${part}`, [asked]);
    return {
      ...answerOrigin(database, read, range, read.answer),
      ...(own && { question: own }),
      reductions: [],
      notes: [WHOLE_TABLE, ...read.notes],
    };
  };
  const shown = all.filter(({ drainingAt }) => drainingAt === null || drainingAt >= range.start);
  return {
    instances: await instancesResult(shown, now, origin("instances")),
    rotations: await rotationsResult(events, origin("rotations")),
    next,
    turn,
    stagger,
    tooClose,
    findings: [...findings(all, next, stagger, tooClose, asked), turnText(turn, now, asked)],
  };
}

type RotationQuestion = Required<Omit<RotationOptions, "signal">>;

/** The options, checked. @throws ProbelabError for a number that is no span of time. */
function checkRotation(options: RotationOptions, now: Date): RotationQuestion {
  const action = "look at rotations";
  const known = ["range", "closestHours", "staggerDays", "toleranceDays", "signal"];
  refuseUnknown(options, known, action);
  const { closestHours = 24, staggerDays = 7, toleranceDays = 3 } = options;
  for (const [name, value] of Object.entries({ closestHours, staggerDays, toleranceDays })) {
    if (Number.isFinite(value) && value >= 0) continue;
    throw new ProbelabError(
      `Can't ${action} with ${name}: ${String(value)}: pass a number from 0, such as ${name}: 7.`,
    );
  }
  const range = options.range ? checkRange(options.range, action) : last("6 months", { now });
  return { range, closestHours, staggerDays, toleranceDays };
}

/** State, age and turn of each instance, in the given order. */
function lives(instances: readonly Instance[], now: Date): Life[] {
  const live = instances.filter(({ drainingAt, destroyedAt }) => !drainingAt && !destroyedAt);
  const [oldest] = live.every(({ madeAt }) => madeAt !== null)
    ? live.sort((a, b) => Number(a.madeAt) - Number(b.madeAt) || (a.name < b.name ? -1 : 1))
    : [];
  return instances.map((each) => {
    const { madeAt, drainingAt, destroyedAt } = each;
    const until = drainingAt ?? destroyedAt ?? now;
    return {
      ...each,
      state: destroyedAt ? "destroyed" : drainingAt ? "draining" : "live",
      ageDays: madeAt === null ? null : (until.getTime() - madeAt.getTime()) / DAY,
      next: each === oldest,
    };
  });
}

/** The rotations in order of time. */
function rotationEvents(instances: readonly Instance[], closestHours: number): RotationEvent[] {
  const drained = instances.flatMap((each) =>
    each.drainingAt === null ? [] : [{ drained: each, time: each.drainingAt }],
  );
  drained.sort((a, b) => +a.time - +b.time || (a.drained.name < b.drained.name ? -1 : 1));
  return drained.map((each, index) => {
    const before = drained[index - 1];
    const hours = before === undefined ? null : (+each.time - +before.time) / HOUR;
    return { ...each, hours, tooClose: hours !== null && hours < closestHours };
  });
}

/** Each instance that is made or begins to drain changes DNS. */
function turnOf(
  all: readonly Life[],
  next: Life | null,
  now: Date,
  { closestHours, staggerDays, toleranceDays }: RotationQuestion,
): RotationTurn {
  const changes = all
    .flatMap(({ madeAt, drainingAt }) => [madeAt, drainingAt])
    .filter((at) => at !== null);
  const made = all.flatMap(({ state, madeAt }) => (state === "live" && madeAt ? [+madeAt] : []));
  const after = (times: readonly number[], ms: number) =>
    times.length === 0 ? null : new Date(Math.max(...times) + ms);
  const from = after(changes.map(Number), closestHours * HOUR);
  return {
    now: next === null || from === null ? null : now >= from,
    from,
    staggeredFrom: after(made, Math.max(0, staggerDays - toleranceDays) * DAY),
  };
}

function turnText(
  { now: may, from, staggeredFrom }: RotationTurn,
  now: Date,
  { range, closestHours }: RotationQuestion,
): string {
  const at = (time: Date) =>
    `${formatInstant(time, range.timeZone).slice(0, 16)} ${range.timeZone}`;
  if (may === null || from === null) {
    return "Whether the next may be rotated now can't be told: ask whoever runs the rotation tool when it ran last.";
  }
  const spread =
    staggeredFrom !== null && staggeredFrom > now && staggeredFrom > from
      ? ` To keep the ages staggered wait until ${at(staggeredFrom)}.`
      : "";
  const since = timeBetween((+now - (+from - closestHours * HOUR)) / HOUR);
  return may
    ? `It may be rotated now: DNS changed ${since} ago.${spread}`
    : `Don't rotate now: DNS changed ${since} ago. The earliest safe moment is ${at(from)}.${spread}`;
}

/** Days between the ages of the live instances, from the youngest on. */
function gapsOf(all: readonly Life[]): number[] {
  const ages = all.flatMap(({ state, ageDays }) =>
    state === "live" && ageDays !== null ? [ageDays] : [],
  );
  ages.sort((a, b) => a - b);
  return ages.slice(1).map((age, index) => age - (ages[index] ?? 0));
}

const host = (each: { rdn: string; dnsZone: string }) => `${each.rdn}.${each.dnsZone}`;

async function instancesResult(
  shown: readonly Life[],
  now: Date,
  origin: Omit<Origin, "columns">,
): Promise<Result<InstanceRow>> {
  const aq = await import("arquero");
  const columns = {
    name: shown.map((each) => each.name),
    host: shown.map(host),
    region: shown.map((each) => each.region),
    state: shown.map((each) => each.state),
    made_at: shown.map((each) => each.madeAt),
    until: shown.map((each) => each.drainingAt ?? each.destroyedAt ?? now),
    age_days: shown.map((each) => each.ageDays),
    next: shown.map((each) => each.next),
  };
  const dimensions = (["name", "state"] as const).map((name) => ({
    name,
    order: [...new Set<string>(columns[name])],
  }));
  const age = { name: "age_days", label: "Age", unit: "days" };
  return new Result(aq.table(columns), {
    ...origin,
    columns: { dimensions, measures: [{ ...age, additive: false, missing: "gap" }] },
  });
}

async function rotationsResult(
  events: readonly RotationEvent[],
  origin: Omit<Origin, "columns">,
): Promise<Result<RotationRow>> {
  const aq = await import("arquero");
  const columns = {
    t: events.map((event) => event.time),
    host: events.map((event) => host(event.drained)),
    name: events.map((event) => event.drained.name),
    hours: events.map((event) => event.hours),
    too_close: events.map((event) => event.tooClose),
  };
  const dimensions = [{ name: "host", order: [...new Set(columns.host)].sort() }];
  const hours = { name: "hours", label: "Hours since the rotation before", unit: "hours" };
  return new Result(aq.table(columns), {
    ...origin,
    columns: { dimensions, measures: [{ ...hours, additive: false, missing: "gap" }] },
  });
}

function findings(
  all: readonly Life[],
  next: Life | null,
  { gapDays, staggered }: Stagger,
  tooClose: readonly RotationEvent[],
  { range, closestHours, staggerDays, toleranceDays }: RotationQuestion,
): string[] {
  const live = all.filter(({ state }) => state === "live");
  const days = (value: number) => value.toFixed(1);
  const ages = gapDays.map(days).join(", ");
  return [
    `${live.length} of ${all.length} test helpers are live.`,
    next !== null
      ? `Next to rotate: ${next.name} (${host(next)}), the oldest live one, ${days(next.ageDays ?? 0)} days old.`
      : live.length === 0
        ? "No test helper is live, so there is none to rotate."
        : "Which live test helper is the oldest is not known: their names don't all end in a time (YYYYMMDDHHMMSS).",
    staggered === null
      ? "Fewer than two live ages are known: whether they are staggered can't be told."
      : `The ages of the live ones lie ${ages} days apart: ${staggered ? "" : "not "}staggered by ${staggerDays} ± ${toleranceDays} days.`,
    ...tooClose.map(
      ({ time, drained, hours }) =>
        `${drained.name} (${host(drained)}) began to drain at ${formatInstant(time, range.timeZone)} ${range.timeZone}, ${timeBetween(hours ?? 0)} after the rotation before it: less than ${closestHours} hours are too close for DNS to follow.`,
    ),
    ...(tooClose.length === 0
      ? [`No two rotations were less than ${closestHours} hours apart.`]
      : []),
  ];
}

/** `40 minutes`, `20.5 hours`. */
function timeBetween(hours: number): string {
  return hours < 2 ? `${Math.round(hours * 60)} minutes` : `${hours.toFixed(1)} hours`;
}
