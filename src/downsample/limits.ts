import { ProbelabError } from "../base/error.js";

/** A whole number from 1 to `most`. @throws ProbelabError for anything else. */
export function checkCount(value: unknown, name: string, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) {
    return value;
  }
  throw new ProbelabError(
    `Can't downsample with ${name}: ${String(value)}; pass a whole number from 1 to ${most.toLocaleString("en-US")}.`,
  );
}
