import { seeded } from "./draws.js";
import { between, type Bucket, type Origin, type Result } from "../../../src/index.js";
import { resultOfRows } from "../../../src/result/own-rows.js";

export const START = Date.UTC(2026, 0, 5);
export const HOUR = 3_600_000;

/** Hourly counts of a service, with a day, a weekend and noise that lasts; the same for the same seed. */
export function serviceCounts(hours: number, seed = 1, level = 1_000): number[] {
  const { poisson, normal } = seeded(seed);
  let lasting = 0;
  return Array.from({ length: hours }, (_, hour) => {
    lasting = 0.6 * lasting + 0.03 * normal();
    const day = 1 + 0.5 * Math.sin((2 * Math.PI * hour) / 24);
    const weekend = Math.floor(hour / 24) % 7 > 4 ? 0.8 : 1;
    return poisson(level * day * weekend * Math.exp(lasting));
  });
}

/** The answer to a question of counts by the hour: a row for each hour and group that has rows. */
export function hourlyResult(
  groups: Readonly<Record<string, readonly number[]>>,
  change: Partial<Origin> & { every?: Bucket; step?: number } = {},
): Result {
  const { every = "hour", step = HOUR, ...origin } = change;
  const names = Object.keys(groups);
  const hours = Math.max(1, ...Object.values(groups).map((values) => values.length));
  const rows = names.flatMap((name) =>
    groups[name]!.flatMap((n, at) =>
      n === 0 ? [] : [{ t: new Date(START + at * step), probe_cc: name, measurements: n }],
    ),
  );
  const one = names.length === 1 && names[0] === "";
  const made = resultOfRows(one ? rows.map(({ t, measurements }) => ({ t, measurements })) : rows);
  return made.with(made.table, {
    range: between(new Date(START), new Date(START + hours * step)),
    askedAt: new Date(START + hours * step),
    columns: {
      time: { name: "t", every, incomplete: [] },
      dimensions: one ? [] : [{ name: "probe_cc", order: names }],
      measures: [
        {
          name: "measurements",
          label: "Measurements",
          unit: "measurements",
          additive: true,
          missing: "zero",
        },
      ],
    },
    ...origin,
  });
}
