import { InvalidArgumentError } from "commander";

/** Reads 5000000 or 5_000_000. */
export function wholeNumber(text: string): number {
  const value = /^\d[\d_]*$/.test(text) ? Number(text.replaceAll("_", "")) : NaN;
  if (!Number.isSafeInteger(value)) {
    throw new InvalidArgumentError("Write a whole number, such as 5000000.");
  }
  return value;
}
