import type { Instance } from "./instances.js";
import type { RotationQuestion } from "./rotation-options.js";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

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

/** State, age and turn of each instance, in the given order. */
export function lives(instances: readonly Instance[], now: Date): Life[] {
  const live = instances.filter(({ drainingAt, destroyedAt }) => !drainingAt && !destroyedAt);
  const oldest = live.every(({ madeAt }) => madeAt !== null)
    ? [...live].sort((a, b) => made(a) - made(b) || (a.name < b.name ? -1 : 1))[0]
    : undefined;
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
export function rotationEvents(
  instances: readonly Instance[],
  { closestHours }: Pick<RotationQuestion, "closestHours">,
): RotationEvent[] {
  const drained = instances
    .flatMap((each) => (each.drainingAt === null ? [] : [{ drained: each, time: each.drainingAt }]))
    .sort(
      (a, b) => a.time.getTime() - b.time.getTime() || (a.drained.name < b.drained.name ? -1 : 1),
    );
  return drained.map(({ drained: instance, time }, index) => {
    const before = drained[index - 1];
    const hours = before === undefined ? null : (time.getTime() - before.time.getTime()) / HOUR;
    return { time, drained: instance, hours, tooClose: hours !== null && hours < closestHours };
  });
}

/** Whether the ages of the live instances lie about a week apart. */
export function staggerOf(
  all: readonly Life[],
  { staggerDays, toleranceDays }: Pick<RotationQuestion, "staggerDays" | "toleranceDays">,
): Stagger {
  const ages = all
    .flatMap(({ state, ageDays }) => (state === "live" && ageDays !== null ? [ageDays] : []))
    .sort((a, b) => a - b);
  const gapDays = ages.slice(1).map((age, index) => age - (ages[index] ?? 0));
  return {
    gapDays,
    staggered:
      gapDays.length === 0
        ? null
        : gapDays.every((gap) => Math.abs(gap - staggerDays) <= toleranceDays),
  };
}

function made({ madeAt }: Instance): number {
  return madeAt?.getTime() ?? 0;
}
