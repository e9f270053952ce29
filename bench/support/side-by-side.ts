/** Processor time of this process in ms: what it computes itself, also on a machine that does other work. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Milliseconds of each variant: the middle of `rounds` runs, taken in turn so that all share the weather.
 *
 * @param clock what tells milliseconds: of the wall, or `ownCpu`.
 */
export async function sideBySide(
  variants: Readonly<Record<string, () => Promise<unknown>>>,
  rounds: number,
  clock: () => number = () => performance.now(),
): Promise<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of Object.entries(variants)) {
      const started = clock();
      await run();
      // The first round warms caches and compilers.
      if (round >= 0) (times[name] ??= []).push(clock() - started);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? NaN) + high) / 2;
}
