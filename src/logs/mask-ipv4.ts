import { DOT, escapeAt, type WriteAddress } from "./address-writings.js";

const SEPARATOR = `${DOT}|[-_]`;
// From the first digit of a number only: every other start would read the same digits again.
const NUMBERS = new RegExp(`(?<!\\d)\\d+(?:(?:${SEPARATOR})\\d+){3,}`, "gi");
const SEPARATORS = new RegExp(`(${SEPARATOR})`, "gi");

/** A number among others, and what parts it from the one before. */
interface Part {
  readonly before: string;
  readonly digits: string;
}

/**
 * Replaces four or more numbers of an IPv4 address's size that dots, hyphens or underscores join:
 * which four of five are the address is not to be told. A date before them stays, and what is
 * numbered in single digits (1.2.3.4.5).
 *
 * @param joined "names": only where hyphens or underscores join some of them.
 */
export function replaceIPv4(text: string, write: WriteAddress, joined: "names" | "any"): string {
  return text.replace(NUMBERS, (found, at: number) => {
    const begun = escapeAt(text, at);
    const escape = begun < found.search(/\D/) ? begun : 0;
    const parts = partsOf(found.slice(escape));
    const stretches = merged([
      ...stretchesOf(parts, "-"),
      ...stretchesOf(parts, "_"),
      ...stretchesOf(parts, "."),
    ]);
    const named = stretches.some(([from, to]) =>
      parts.slice(from + 1, to).some(({ before }) => kindOf(before) !== "."),
    );
    if (stretches.length === 0 || (joined === "names" && !named)) return found;
    // In ec2-203-0-113-7 the 2 is of the name.
    const [first] = stretches;
    const ofName =
      /^\d(?!\d)/.test(found) && /(?<!%)[a-z]{2}$/i.test(text.slice(Math.max(0, at - 3), at));
    if (ofName && first?.[0] === 0 && first[1] > 4) first[0] = 1;
    return found.slice(0, escape) + written(parts, stretches, write);
  });
}

function partsOf(found: string): Part[] {
  const pieces = found.split(SEPARATORS);
  const parts: Part[] = [];
  for (let at = 0; at < pieces.length; at += 2)
    parts.push({ before: at === 0 ? "" : (pieces[at - 1] ?? ""), digits: pieces[at] ?? "" });
  return parts;
}

function kindOf(separator: string): string {
  return separator === "-" || separator === "_" ? separator : ".";
}

/** From the first part to after the last of each address that separators of a kind join. */
function stretchesOf(parts: readonly Part[], kind: string): [number, number][] {
  const stretches: [number, number][] = [];
  const close = (from: number, to: number) => {
    const first = isDate(parts, from, to) ? from + 3 : from;
    const strict = runs(parts, first, to, isOctet);
    // 999.1.2.3 is as much an address as a version: in doubt it goes.
    const found = strict.length > 0 || kind !== "." ? strict : runs(parts, first, to, /^\d{1,3}$/);
    stretches.push(...found.filter(([begin, end]) => !isNumbering(parts, begin, end)));
  };
  let from = 0;
  for (let at = 1; at <= parts.length; at++) {
    const part = parts[at];
    if (part !== undefined && kindOf(part.before) === kind) continue;
    close(from, at);
    from = at;
  }
  return stretches;
}

const isOctet = /^(?:25[0-5]|2[0-4]\d|[01]?\d?\d)$/;

function runs(parts: readonly Part[], from: number, to: number, size: RegExp): [number, number][] {
  const found: [number, number][] = [];
  for (let at = from, begin = from; at <= to; at++) {
    if (at < to && size.test(parts[at]?.digits ?? "")) continue;
    if (at - begin >= 4) found.push([begin, at]);
    begin = at + 1;
  }
  return found;
}

/** 2026-05-04-10-11: the date is none of an address. */
function isDate(parts: readonly Part[], from: number, to: number): boolean {
  const [year = "", month = "", day = ""] = parts
    .slice(from, Math.min(to, from + 3))
    .map((part) => part.digits);
  return (
    /^(?:19|20)\d\d$/.test(year) &&
    /^(?:0[1-9]|1[0-2])$/.test(month) &&
    /^(?:0[1-9]|[12]\d|3[01])$/.test(day)
  );
}

/** A section, a list's entry: 1.2.3.4.5. */
function isNumbering(parts: readonly Part[], from: number, to: number): boolean {
  if (to - from < 5) return false;
  const separator = parts[from + 1]?.before;
  for (let at = from; at < to; at++) {
    const part = parts[at];
    if (part?.digits.length !== 1 || (at > from && part.before !== separator)) return false;
  }
  return true;
}

/** Stretches that share a number become one. */
function merged(stretches: readonly [number, number][]): [number, number][] {
  const whole: [number, number][] = [];
  for (const [from, to] of [...stretches].sort((a, b) => a[0] - b[0])) {
    const last = whole.at(-1);
    if (last !== undefined && from < last[1]) last[1] = Math.max(last[1], to);
    else whole.push([from, to]);
  }
  return whole;
}

function written(
  parts: readonly Part[],
  stretches: readonly [number, number][],
  write: WriteAddress,
): string {
  let text = "";
  let at = 0;
  const plain = (to: number) => {
    for (; at < to; at++) text += `${parts[at]?.before ?? ""}${parts[at]?.digits ?? ""}`;
  };
  for (const [from, to] of stretches) {
    plain(from);
    const address = parts.slice(from, to).map(({ digits }) => digits);
    text += `${parts[from]?.before ?? ""}${write("IPv4", address.join("."))}`;
    at = to;
  }
  plain(parts.length);
  return text;
}
