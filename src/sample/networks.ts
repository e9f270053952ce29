import { COUNTRIES } from "./countries.js";
import { scramble } from "./season.js";

/** A network of a country: one pair of `probe_cc` and `probe_asn`. */
export interface Network {
  /** Index in COUNTRIES. */
  readonly country: number;
  readonly asn: number;
  /** Its share of the runs. */
  readonly weight: number;
}

/** Every network: within a country the shares follow Zipf's law, weight ~ 1 / rank. */
export const NETWORKS: readonly Network[] = COUNTRIES.flatMap((country, index) => {
  const size = Math.max(country.networks.length, Math.round(6 + country.weight));
  const ranks = Array.from({ length: size }, (_, rank) => 1 / (rank + 1));
  const total = ranks.reduce((sum, share) => sum + share, 0);
  return ranks.map((share, rank) => ({
    country: index,
    // beyond the known ones: a number of the range given out since 2009
    asn: country.networks[rank] ?? 196_608 + Math.floor(scramble(index * 1_000 + rank) * 80_000),
    weight: (country.weight * share) / total,
  }));
});
