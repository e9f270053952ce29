/** Random numbers of a seed (mulberry32). */
export function seeded(seed: number) {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const poisson = (mean: number): number => {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
    const least = Math.exp(-mean);
    let count = -1;
    for (let product = 1; product > least; product *= uniform()) count += 1;
    return Math.max(0, count);
  };
  /** About the mean of counts, as many times as scattered as a Poisson count. */
  const count = (mean: number, dispersion = 1): number =>
    Math.max(0, Math.round(mean + Math.sqrt(mean * dispersion) * normal()));
  const between = (low: number, high: number): number => low + Math.floor(uniform() * (high - low));
  const pick = <Value>(values: readonly Value[]): Value => values[between(0, values.length)]!;
  return { uniform, normal, poisson, count, between, pick };
}
