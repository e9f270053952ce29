import { answerOrigin, type Database } from "../database/database.js";
import type { Origin } from "../result/origin.js";
import { question } from "../result/question.js";
import { Result } from "../result/result.js";
import { formatInstant } from "../time/time-zone.js";
import { readInstances, WHOLE_TABLE } from "./instances.js";
import {
  lives,
  rotationEvents,
  staggerOf,
  type Life,
  type RotationEvent,
  type Stagger,
} from "./rotation-facts.js";
import { checkRotation, type RotationOptions, type RotationQuestion } from "./rotation-options.js";

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
  const { range } = asked;
  const { signal } = options;
  const action = "look at rotations";
  const read = await readInstances(database, { action, ...(signal && { signal }) });
  const all = lives(read.instances, now);
  const shown = all.filter(({ drainingAt }) => drainingAt === null || drainingAt >= range.start);
  const events = rotationEvents(read.instances, asked).filter(
    ({ time }) => time >= range.start && time < range.end,
  );
  const origin = {
    ...answerOrigin(database, read, range, read.answer),
    reductions: [],
    notes: [WHOLE_TABLE, ...read.notes],
  };
  const next = all.find((each) => each.next) ?? null;
  const stagger = staggerOf(all, asked);
  const tooClose = events.filter((event) => event.tooClose);
  return {
    instances: asPart("instances", await instancesResult(shown, now, origin), asked),
    rotations: asPart("rotations", await rotationsResult(events, origin), asked),
    next,
    stagger,
    tooClose,
    findings: findings(all, next, stagger, tooClose, asked),
  };
}

/** A part of the rotation, which is asked again by itself: its range stays the one that was looked at. */
function asPart<Row extends object>(
  name: "instances" | "rotations",
  part: Result<Row>,
  asked: RotationQuestion,
): Result<Row> {
  const own = question(`testHelpers.${name}`, [asked]);
  return own === undefined ? part : part.with<Row>(part.table, { question: own });
}

type Asked = Omit<Origin, "columns">;

const host = (each: { rdn: string; dnsZone: string }) => `${each.rdn}.${each.dnsZone}`;

async function instancesResult(shown: readonly Life[], now: Date, origin: Asked) {
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
  return new Result<InstanceRow>(aq.table(columns), {
    ...origin,
    columns: {
      dimensions: (["name", "state"] as const).map((name) => ({
        name,
        order: [...new Set<string>(columns[name])],
      })),
      measures: [{ name: "age_days", label: "Age", unit: "days", additive: false, missing: "gap" }],
    },
  });
}

async function rotationsResult(events: readonly RotationEvent[], origin: Asked) {
  const aq = await import("arquero");
  const columns = {
    t: events.map((event) => event.time),
    host: events.map((event) => host(event.drained)),
    name: events.map((event) => event.drained.name),
    hours: events.map((event) => event.hours),
    too_close: events.map((event) => event.tooClose),
  };
  return new Result<RotationRow>(aq.table(columns), {
    ...origin,
    columns: {
      dimensions: [{ name: "host", order: [...new Set(columns.host)].sort() }],
      measures: [
        {
          name: "hours",
          label: "Hours since the rotation before",
          unit: "hours",
          additive: false,
          missing: "gap",
        },
      ],
    },
  });
}

function findings(
  all: readonly Life[],
  next: Life | null,
  stagger: Stagger,
  tooClose: readonly RotationEvent[],
  { range, closestHours, staggerDays, toleranceDays }: RotationQuestion,
): string[] {
  const live = all.filter(({ state }) => state === "live");
  const days = (value: number) => value.toFixed(1);
  const week = `${staggerDays} ± ${toleranceDays} days`;
  return [
    `${live.length} of ${all.length} test helpers are live.`,
    next !== null
      ? `Next to rotate: ${next.name} (${host(next)}), the oldest live one, ${days(next.ageDays ?? 0)} days old.`
      : live.length === 0
        ? "No test helper is live, so there is none to rotate."
        : "Which live test helper is the oldest is not known: their names don't all end in a time (YYYYMMDDHHMMSS).",
    stagger.staggered === null
      ? "Fewer than two live ages are known: whether they are staggered can't be told."
      : `The ages of the live ones lie ${stagger.gapDays.map(days).join(", ")} days apart: ${stagger.staggered ? "" : "not "}staggered by ${week}.`,
    ...tooClose.map(
      ({ time, drained, hours }) =>
        `${drained.name} (${host(drained)}) began to drain at ${formatInstant(time, range.timeZone)} ${range.timeZone}, ${span(hours ?? 0)} after the rotation before it: less than ${closestHours} hours are too close for DNS to follow.`,
    ),
    ...(tooClose.length === 0
      ? [`No two rotations were less than ${closestHours} hours apart.`]
      : []),
  ];
}

function span(hours: number): string {
  return hours < 2 ? `${Math.round(hours * 60)} minutes` : `${hours.toFixed(1)} hours`;
}
