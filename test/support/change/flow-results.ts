import { seeded } from "./draws.js";
import { between, type Bucket, type Origin, type Result } from "../../../src/index.js";
import type { MeasureColumn } from "../../../src/result/origin.js";
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

/** How an answer's groups, buckets and measure differ from counts of countries by the hour. */
interface Asked extends Partial<Origin> {
  readonly every?: Bucket;
  readonly step?: number;
  readonly dimension?: string;
  readonly incomplete?: readonly Date[];
  readonly measure?: Partial<MeasureColumn>;
}

/** The answer to a question of counts by the hour: a row for each hour and group; null where nothing is known. */
export function hourlyResult(
  groups: Readonly<Record<string, readonly (number | null)[]>>,
  change: Asked = {},
): Result {
  const { every = "hour", step = HOUR, dimension = "probe_cc", ...more } = change;
  const { incomplete = [], measure: own, ...origin } = more;
  const measure: MeasureColumn = {
    ...{ name: "measurements", label: "Measurements", unit: "measurements" },
    ...{ additive: true, missing: "zero", main: true, ...own },
  };
  const names = Object.keys(groups);
  const one = names.length === 1 && names[0] === "";
  const hours = Math.max(1, ...Object.values(groups).map((values) => values.length));
  const made = resultOfRows(
    names.flatMap((name) =>
      groups[name]!.map((n, at) => ({
        t: new Date(START + at * step),
        ...(!one && { [dimension]: name }),
        [measure.name]: n,
      })),
    ),
  );
  return made.with(made.table, {
    range: between(new Date(START), new Date(START + hours * step)),
    askedAt: new Date(START + hours * step),
    columns: {
      time: { name: "t", every, incomplete },
      dimensions: one ? [] : [{ name: dimension, order: names }],
      measures: [measure],
    },
    ...origin,
  });
}
