/** M4 as the paper says it, over plain arrays: the reference that the kernel is tested against. */
export function plainM4(
  x: readonly number[],
  y: readonly number[],
  columns: number,
  start: number,
  end: number,
): number[] {
  const scale = end > start ? columns / (end - start) : 0;
  const groups = new Map<number, number[]>();
  x.forEach((value, row) => {
    const column = Math.min(columns, Math.max(0, Math.floor((value - start) * scale)));
    groups.set(column, [...(groups.get(column) ?? []), row]);
  });
  const kept = new Set<number>();
  for (const rows of groups.values()) {
    const finite = rows.filter((row) => Number.isFinite(y[row]));
    const gaps = rows.filter((row) => !Number.isFinite(y[row]));
    const values = finite.map((row) => y[row]!);
    const [first, last] = [finite[0], finite.at(-1)];
    if (first === undefined || last === undefined) {
      kept.add(gaps[0]!);
      continue;
    }
    kept.add(first).add(last);
    kept.add(finite[values.indexOf(Math.min(...values))]!);
    kept.add(finite[values.indexOf(Math.max(...values))]!);
    if (gaps[0] !== undefined && gaps[0] < first) kept.add(gaps[0]);
    if (gaps.length > 0 && gaps.at(-1)! > last) kept.add(gaps.at(-1)!);
  }
  return [...kept].sort((a, b) => a - b);
}
