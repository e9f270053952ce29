export type AddressKind = "e-mail" | "IPv4" | "IPv6";

/** Changes a text. */
export type Change = (text: string) => string;

// A letter, also one with accents of their own (\p{M}) or the joiners of Indic scripts.
const LETTER = String.raw`\p{L}\p{M}\p{N}\u200c\u200d`;
const LOCAL = `${LETTER}.!#$%&*+?^_\`{|}~\\\\\\-`;
/** A dot, also as patterns escape it. */
const DOT = String.raw`\\{0,4}\.`;
const COLON = "(?::|%3a)";
const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|[01]?\d?\d)`;
/** Behind `%20`, `\x20` or `\u0020` an address begins, though a digit or a letter stands before it. */
const ESCAPED = String.raw`(?<=%[0-9a-f]{2}|\\x[0-9a-f]{2}|\\u[0-9a-f]{4})`;

// Each begins where a run of its characters begins: the search of a long text stays linear.
const EMAIL = new RegExp(
  String.raw`(?:"[^"\n]{1,64}"|(?<![${LOCAL}])[${LOCAL}]+(?:['’][${LOCAL}]+)?)(?:@|%40)[${LETTER}_\-]+(?:${DOT}[${LETTER}_\-]+)+`,
  "giu",
);
// More than four numbers go as well: nobody knows which of them are the address.
const IPV4 = new RegExp(
  String.raw`(?:(?<!\d)|${ESCAPED})(?:${OCTET}(?:${DOT}${OCTET}){3,}|(?<!\d-)${OCTET}(?:-${OCTET}){3,})(?!\d)`,
  "gi",
);
/** A section, an entry of a list: 1.2.3.4.5. */
const NUMBERING = /^\d(?:[.-]\d){4,}$/;
const IPV6 = new RegExp(
  String.raw`(?:(?<![0-9a-z]|\d\.)|(?<=\\[nrt])|${ESCAPED})((?:[0-9a-f]{0,4}${COLON}){2,}(?:${OCTET}(?:${DOT}${OCTET}){3}|[0-9a-f]{0,4}))(%(?:25)?(?![0-9a-f]{2})[\w-]+(?:\.[\w-]+)*)?`,
  "gi",
);

/**
 * Replaces the addresses in a text by what `write` returns for each; undefined leaves one as it is.
 *
 * @param write gets the address without escapes.
 */
export function replaceAddresses(
  text: string,
  write: (kind: AddressKind, address: string) => string | undefined,
): string {
  const plain = (address: string): string => address.replace(/\\/g, "").replace(/%3a/gi, ":");
  return text
    .replace(EMAIL, (found) => write("e-mail", plain(found).replace(/%40/, "@")) ?? found)
    .replace(IPV6, (found, run: string, zone = "") => {
      // A colon alone at an end is of the text: `client:2001:db8::1: 100 URLs`.
      const [, before = "", address = "", after = ""] =
        /^((?::|%3a)(?!:|%3a))?(.*?)((?<!:|%3a)(?::|%3a))?$/is.exec(run) ?? [];
      if (!isIPv6(plain(address))) return found;
      const written = write("IPv6", plain(address));
      return written === undefined ? found : `${before}${written}${after}${after && zone}`;
    })
    .replace(IPV4, (found) =>
      NUMBERING.test(found) ? found : (write("IPv4", plain(found).replaceAll("-", ".")) ?? found),
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
  return maskAllBut(new Set())(text);
}

/** `maskAddresses` that leaves these texts, as `versionsOf` finds them. */
export function maskAllBut(versions: ReadonlySet<string>): Change {
  return (text) =>
    replaceAddresses(text, (kind, address) => (versions.has(address) ? undefined : `[${kind}]`));
}

/**
 * Makes a mask that keeps versions and numbers addresses: `[IPv4 2]`, the same for the same address in
 * all texts that it is given.
 *
 * @param versions texts that are no addresses, as `versionsOf` finds them.
 */
export function numberedMask(versions: ReadonlySet<string>): Change {
  const numbers = new Map<AddressKind, string[]>();
  return (text) =>
    replaceAddresses(text, (kind, address) => {
      if (versions.has(address)) return undefined;
      const known = numbers.get(kind) ?? [];
      if (!known.includes(address)) numbers.set(kind, [...known, address]);
      return `[${kind} ${(numbers.get(kind) ?? []).indexOf(address) + 1}]`;
    });
}
