/** Pixels from a label to the next: its own height, and as much again. */
const LABEL_HEIGHT = 22;

/**
 * The labels of a log axis: powers of ten, and their double and fivefold where there is room. Where
 * not even the powers have room, every second one, every third and so on.
 *
 * Vega writes all it can from the bottom up, which drops the powers of ten first: 700, 900, 2k, 3k.
 *
 * @param values what is drawn; those above zero count.
 * @param height of the axis in pixels.
 * @returns undefined where less than a decade has too few of them: Vega's own are better then.
 */
export function logTicks(
  values: Iterable<number | null>,
  height: number,
): readonly number[] | undefined {
  let [low, high] = [Infinity, 0];
  for (const value of values) {
    if (value === null || !(value > 0) || value === Infinity) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!(low < high)) return undefined;
  const decades = Math.log10(high) - Math.log10(low);
  const decade = height / decades;
  // From 1 to 2 and from 5 to 10 are the narrowest steps.
  const digits = decade * Math.log10(2) >= LABEL_HEIGHT ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(LABEL_HEIGHT / decade));
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    if (power % every !== 0) continue;
    // Read from text: 10 ** -3 isn't 0.001 in every engine.
    ticks.push(...digits.map((digit) => Number(`${digit}e${power}`)));
  }
  const shown = ticks.filter((tick) => tick >= low && tick <= high);
  return decades >= 1 || shown.length >= 3 ? shown : undefined;
}
