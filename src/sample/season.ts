/** Days that the sample covers: 26 weeks. */
export const SAMPLE_DAYS = 182;

const BY_WEEKDAY = [0.95, 1.03, 1.04, 1.03, 1.02, 1.0, 0.94]; // Sunday first, as Date.getUTCDay

/**
 * How many runs start on each day of the sample, as weights: a slow growth, a weekly season and a
 * few percent of chance.
 */
export function dayWeights(end: Date, seed: number): number[] {
  const midnight = Math.ceil(end.getTime() / 86_400_000) * 86_400_000;
  return Array.from({ length: SAMPLE_DAYS }, (_, day) => {
    const date = new Date(midnight - (SAMPLE_DAYS - day) * 86_400_000);
    const growth = 1 + 0.05 * (day / SAMPLE_DAYS);
    const chance = 1 + 0.05 * (scramble(seed * SAMPLE_DAYS + day) - 0.5);
    return growth * chance * (BY_WEEKDAY[date.getUTCDay()] ?? 1);
  });
}

/** How many runs start in each local hour of a day, as weights. */
export function hourWeights(startedBy: "person" | "timer"): number[] {
  // people measure in the evening; timers wait for a charger and a free network, most by night
  const [peak, swing] = startedBy === "person" ? [20, 0.75] : [1, 0.3];
  return Array.from(
    { length: 24 },
    (_, hour) => 1 + swing * Math.cos(((hour - peak) / 24) * 2 * Math.PI),
  );
}

/** A number in [0, 1) that looks random: the finisher of MurmurHash3. */
export function scramble(value: number): number {
  let bits = Math.imul((value ^ Math.floor(value / 2 ** 32)) >>> 0, 0x9e3779b1) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
