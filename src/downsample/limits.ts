import { ProbelabError } from "../error.js";

/** Most rows that any reduction gives: a chart takes fewer than 5,000. */
export const MOST_ROWS = 4_999;

/** A whole number from 1 to `most`. @throws ProbelabError for anything else. */
export function checkCount(value: unknown, name: string, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) {
    return value;
  }
  throw new ProbelabError(
    `Can't downsample with ${name}: ${String(value)}; pass a whole number from 1 to ${most.toLocaleString("en-US")}.`,
  );
}
