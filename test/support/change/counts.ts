import type { Result } from "../../../src/index.js";
import { seeded } from "./draws.js";
import { HOUR, hourlyResult } from "./flow-results.js";

/** Counts of a seed, and where their drop begins. */
export interface SeededCounts {
  readonly every: "hour" | "day";
  readonly values: readonly number[];
  /** The first bucket of the drop; the number of buckets where there is none. */
  readonly at: number;
}

/**
 * Counts by hour over 1 to 6 weeks or by day over 4 to 13: a day (a wave or a working day), a week, AR(1)
 * noise of 2 to 6 % beside that of counting, 3 outliers in 1,000; a drop lasts 4 buckets or more.
 */
export function seededCounts(seed: number, every: "hour" | "day", drop: number): SeededCounts {
  const { uniform, normal, poisson, between: whole, pick } = seeded(seed);
  const hourly = every === "hour";
  const days = hourly ? pick([7, 14, 28, 42]) : pick([28, 60, 90]);
  const n = hourly ? days * 24 : days;
  const level = hourly ? pick([200, 600, 2_000, 8_000]) : pick([1_000, 5_000, 50_000]);
  const [swing, peak, working] = [0.2 + 0.6 * uniform(), whole(0, 24), uniform() < 0.3];
  const weekend = days < 14 ? 0 : 0.4 * uniform();
  const [correlation, spread] = [pick([0, 0.3, 0.5, 0.6]), pick([0.02, 0.04, 0.06])];
  const at = drop > 0 ? whole(Math.max(6, Math.floor(n / 10)), n - Math.max(5, n >> 3)) : n;
  const end = uniform() < 0.5 ? n : at + Math.max(4, Math.floor(n * pick([0.05, 0.1, 0.3])));
  let noise = normal();
  const values = Array.from({ length: n }, (_, i) => {
    const [hour, day] = hourly ? [i % 24, Math.floor(i / 24) % 7] : [0, i % 7];
    const away = (hour - peak + 36) % 24;
    const wave = working
      ? Math.abs(away - 12) < 4
        ? swing
        : -swing
      : swing * Math.cos((2 * Math.PI * (hour - peak)) / 24);
    noise = correlation * noise + Math.sqrt(1 - correlation ** 2) * normal();
    const mean =
      level *
      (hourly ? 1 + wave : 1) *
      (day >= 5 ? 1 - weekend : 1) *
      (i >= at && i < end ? 1 - drop : 1) *
      Math.exp(spread * noise);
    return poisson(uniform() < 0.003 ? 0.3 * mean : mean);
  });
  return { every, values, at };
}

/** Counts as the question engine answers them. */
export function asResult({ every, values }: Pick<SeededCounts, "every" | "values">): Result {
  return hourlyResult({ "": values }, { every, step: every === "hour" ? HOUR : 24 * HOUR });
}
