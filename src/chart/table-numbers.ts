import type { Value } from "../result/result.js";

/** How a column of numbers is written. */
interface NumberStyle {
  /** True for parts of one, written in percent. */
  readonly share: boolean;
  /** True for amounts, with separators of thousands; false for numbers that name something. */
  readonly grouped: boolean;
}

const MOST_DECIMALS = 6;

/** Whether a table aligns the value as a number. */
export function isNumber(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/**
 * Writes the numbers of a column: with the same decimals, three or four digits of the largest, or
 * all with an exponent where that needs too many. Of whole numbers every digit is written, of
 * bigint too. What isn't zero never reads as zero: what would be is `<0.01` or `>-0.01`.
 */
export function numberWriter(
  values: readonly (number | bigint)[],
  { share, grouped }: NumberStyle,
): (value: number | bigint) => string {
  const numbers = values.map(Number);
  const largest = numbers.reduce(
    (most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
    0,
  );
  const whole = numbers.every((value) => Number.isInteger(value));
  const wanted = whole || largest >= 100 ? 0 : 2 - Math.floor(Math.log10(largest || 1));
  // Two digits of the largest are enough.
  if (!share && wanted > MOST_DECIMALS + 1) {
    return (value) => (Number(value) === 0 ? "0" : Number(value).toExponential(2));
  }
  const decimals = share ? 1 : Math.min(MOST_DECIMALS, wanted);
  const numberFormat = new Intl.NumberFormat("en-US", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping: grouped,
  });
  const format = (value: number | bigint): string => numberFormat.format(value);
  const unit = share ? " %" : "";
  const least = format(10 ** -decimals);
  return (value) => {
    const amount = share ? Number(value) * 100 : value;
    // Minus zero is zero.
    if (Number(amount) === 0) return `${format(0)}${unit}`;
    const text = format(amount);
    if (/[^-0.,]/.test(text)) return `${text}${unit}`;
    return `${amount < 0 ? ">-" : "<"}${least}${unit}`;
  };
}
