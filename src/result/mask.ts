import { mapTexts } from "../base/text.js";
import type { Result } from "./result.js";

type AddressKind = "e-mail" | "IPv4" | "IPv6";

/** Changes a text. */
export type Change = (text: string) => string;

// A letter, also one with accents of their own (\p{M}) or the joiners of Indic scripts.
const LETTER = String.raw`\p{L}\p{M}\p{N}\u200c\u200d`;
const LOCAL = `${LETTER}.!#$%&*+?^_\`{|}~\\\\\\-`;
/** A character as it is, full-width, and as patterns, URLs, HTML and JSON escape it. */
const written = (plain: string, wide: string): string => {
  const code = plain.charCodeAt(0);
  const hex = code.toString(16);
  return String.raw`(?:\\{0,4}(?:${plain === "." ? "\\." : plain}|${wide})|%(?:25)?${hex}|&(?:amp;)?#0{0,4}${code};|&(?:amp;)?#x0{0,4}${hex};|\\{1,4}(?:u00|x)${hex})`;
};
const DOT = written(".", "．");
const COLON = written(":", "：");
const AT = written("@", "＠");
const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|[01]?\d?\d)`;
/** Behind `%20`, `\x20` or `\u0020` an address begins, though a digit or a letter stands before it. */
const ESCAPED = String.raw`(?<=%[0-9a-f]{2}|\\x[0-9a-f]{2}|\\u[0-9a-f]{4})`;

// Each begins where a run of its characters begins: the search of a long text stays linear.
const EMAIL = new RegExp(
  String.raw`(?:"[^"\n]{1,64}"|&quot;[^"&\n]{1,64}&quot;|(?<![${LOCAL}])[${LOCAL}]+(?:['’][${LOCAL}]+)?)${AT}(?:[${LETTER}_\-]+(?:${DOT}[${LETTER}_\-]+)+|localhost\b)`,
  "giu",
);
// More than four numbers go as well: nobody knows which of them are the address.
const IPV4 = new RegExp(
  String.raw`(?:(?<!\d)|${ESCAPED})(?:${OCTET}(?:${DOT}${OCTET}){3,}|(?<!\d-)${OCTET}(?:-${OCTET}){3,}|(?<!\d_)${OCTET}(?:_${OCTET}){3,})(?!\d)`,
  "gi",
);
/** A section, an entry of a list: 1.2.3.4.5. */
const NUMBERING = /^\d(?:[._-]\d){4,}$/;
/** The name of an address in reverse, a digit a label. */
const ARPA = new RegExp(String.raw`(?<![0-9a-z])(?:[0-9a-f]${DOT}){4,32}(?=ip6${DOT}arpa)`, "gi");
const IPV6 = new RegExp(
  String.raw`(?:(?<![0-9a-z]|\d\.)|(?<=\\[nrt])|${ESCAPED}|(?<=[g-z])(?=\d[0-9a-f]{3}${COLON}))((?:[0-9a-f]{0,4}${COLON}){2,}(?:${OCTET}(?:${DOT}${OCTET}){3}|[0-9a-f]{0,4}))(%(?:25)?(?![0-9a-f]{2})[\w-]+(?:\.[\w-]+)*)?`,
  "gi",
);

/** A colon alone at the beginning, the address, a colon alone at its end. */
const EDGES = new RegExp(`^(${COLON}(?!${COLON}))?(.*?)((?<!${COLON})${COLON})?$`, "is");
const PLAIN = [
  [new RegExp(DOT, "gi"), "."],
  [new RegExp(COLON, "gi"), ":"],
  [new RegExp(AT, "gi"), "@"],
] as const;

/**
 * Replaces the addresses in a text by what `write` returns for each; undefined leaves one as it is.
 *
 * @param write gets the address without escapes.
 */
function replaceAddresses(
  text: string,
  write: (kind: AddressKind, address: string) => string | undefined,
): string {
  const plain = (address: string): string =>
    PLAIN.reduce((some, [pattern, character]) => some.replace(pattern, character), address).replace(
      /\\/g,
      "",
    );
  return text
    .replace(EMAIL, (found) => write("e-mail", plain(found)) ?? found)
    .replace(ARPA, (found) => `${write("IPv6", plain(found)) ?? found.slice(0, -1)}.`)
    .replace(IPV6, (found, run: string, zone = "") => {
      // A colon alone at an end is of the text: `client:2001:db8::1: 100 URLs`.
      const [, before = "", address = "", after = ""] = EDGES.exec(run) ?? [];
      if (!isIPv6(plain(address))) return found;
      const written = write("IPv6", plain(address));
      return written === undefined ? found : `${before}${written}${after}${after && zone}`;
    })
    .replace(IPV4, (found) =>
      NUMBERING.test(found) ? found : (write("IPv4", plain(found).replace(/[-_]/g, ".")) ?? found),
    );
}

/** Groups with `::` between them, or eight and more that are not the bytes of a fingerprint. */
function isIPv6(address: string): boolean {
  const groups = address.split(":").filter((group) => group !== "");
  const count = groups.length + (address.includes(".") ? 1 : 0);
  if (address.includes("::")) return groups.length > 0;
  return count >= 8 && !(count > 8 && groups.every((group) => group.length === 2));
}

/**
 * Masks the addresses in a text that leaves the team: e-mail by `[e-mail]`, IPv6 by `[IPv6]` (with its
 * zone), IPv4 by `[IPv4]` (also with hyphens, as in host names). In doubt it masks, so a version of four
 * numbers goes as well. Ports, prefix lengths, dates, times, MAC addresses and fingerprints stay; a part
 * of an address (`203.0.113.`) is none.
 *
 * @example
 * maskAddresses("POST from 203.0.113.7 by jo@example.org via [2001:db8::1]:443");
 * // "POST from [IPv4] by [e-mail] via [[IPv6]]:443"
 */
export function maskAddresses(text: string): string {
  return maskOf()(text);
}

/**
 * Makes a mask.
 *
 * @param options `versions`: texts that are no addresses, as `versionsOf` finds them; `numbered`: each
 *   address has a number, `[IPv4 2]`, the same in all texts that the mask is given.
 */
export function maskOf(
  options: { readonly versions?: ReadonlySet<string>; readonly numbered?: boolean } = {},
): Change {
  const { versions = new Set(), numbered = false } = options;
  const numbers = new Map<string, number>();
  const counts = { "e-mail": 0, IPv4: 0, IPv6: 0 };
  return (text) =>
    replaceAddresses(text, (kind, address) => {
      if (versions.has(address)) return undefined;
      if (!numbered) return `[${kind}]`;
      const number = numbers.get(address) ?? ++counts[kind];
      numbers.set(address, number);
      return `[${kind} ${number}]`;
    });
}

/** The note on masked addresses. */
const MASKED = "E-mail and IP addresses are masked.";

const VERSION = /(?:^|_)version(?:_\d+)?$/i;
/** The texts like addresses in columns of versions (`software_version`), such as `2.1.0.1`. */
export function versionsOf(results: readonly Result[]): ReadonlySet<string> {
  const versions = new Set<string>();
  for (const result of results) {
    const { dimensions } = result.origin.columns;
    const texts: readonly unknown[] = [
      ...result.columnNames().flatMap((name) => (VERSION.test(name) ? result.column(name) : [])),
      ...dimensions.flatMap(({ name, order }) => (VERSION.test(name) ? order : [])),
    ];
    for (const text of texts.filter((each) => typeof each === "string")) {
      replaceAddresses(text, (_, address) => void versions.add(address));
    }
  }
  return versions;
}

/**
 * The Result with every text changed: values, names of columns and what they mean, SQL, parameters,
 * filter and notes. If an address was masked, a note says so.
 *
 * @returns the Result itself if no text changes.
 */
export function maskResult(result: Result, change: Change): Result {
  let [changed, masked] = [false, false];
  const mask: Change = (text) => {
    const now = change(text);
    changed ||= now !== text;
    masked ||= now !== text && /\[(?:IPv[46]|e-mail)\b/.test(now);
    return now;
  };
  const { sql, parameters, filter, columns, reductions, notes, ...origin } = result.origin;
  const texts = mapTexts({ sql, parameters, columns, reductions, notes }, mask);
  const data = result
    .columnNames()
    .map((name) => [mask(name), mapTexts(result.column(name), mask)] as const);
  const newFilter = filter === undefined ? {} : { filter: mask(filter) };
  if (!changed) return result;
  const table = result.table.create({
    data: Object.fromEntries(data),
    names: data.map(([name]) => name),
  });
  return result.with(table.ungroup().unorder(), {
    ...origin,
    ...texts,
    ...newFilter,
    notes: masked ? [...texts.notes, MASKED] : texts.notes,
  });
}
