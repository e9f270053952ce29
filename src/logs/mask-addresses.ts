import { isIPv6 } from "node:net";

// A letter before it would belong to the address: looking back keeps the search linear.
const EMAIL =
  /(?<![\p{L}\p{N}.!#$%&*+?^_`{|}~-])[\p{L}\p{N}.!#$%&*+?^_`{|}~-]+(?:@|%40)[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
const IPV4 = /(?<!\d\.|\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)/g;
// As names in DNS, regular expressions, addresses of pages and defanged reports write it.
const IPV4_OTHERWISE =
  /(?<!\d-|\d)(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:(?:-|\\+\.|\[\.\]|\(\.\)|%2e)(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?!\d|-\d)/gi;
const IPV6_CANDIDATE =
  /(?<![0-9A-Za-z])[0-9A-Fa-f]*:[0-9A-Fa-f:.]+(?:%[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*)?/g;
const IPV6_ENCODED = /(?<![0-9A-Za-z%])(?:[0-9a-f]{0,4}%3a){2,7}[0-9a-f]{0,4}(?![0-9a-z%])/gi;

/** What an address is, as masks name it. */
export type AddressKind = "e-mail" | "IPv4" | "IPv6";

/**
 * Replaces the addresses in a text, for what leaves the team: e-mail by `[e-mail]`, IPv6 by `[IPv6]`
 * (in any notation, also with a zone), IPv4 by `[IPv4]`, also as `203-0-113-7`, `203[.]0[.]113[.]7`
 * and percent-encoded; ports and prefix lengths stay. In doubt it masks: a version of four numbers
 * goes as well. A part of an address (`203.0.113.`) is none.
 *
 * @example
 * maskAddresses("POST from 203.0.113.7 by jo@example.org via [2001:db8::1]:443");
 * // "POST from [IPv4] by [e-mail] via [[IPv6]]:443"
 */
export function maskAddresses(text: string): string {
  return replaceAddresses(text, (kind) => `[${kind}]`);
}

/** Replaces the addresses in a text by what `write` makes of each. */
export function replaceAddresses(
  text: string,
  write: (kind: AddressKind, address: string) => string,
): string {
  return text
    .replace(EMAIL, (address) => write("e-mail", address))
    .replace(IPV6_CANDIDATE, (candidate) => maskIPv6(candidate, write))
    .replace(IPV6_ENCODED, (candidate) => {
      const address = candidate.replace(/%3a/gi, ":");
      return isIPv6(address) ? write("IPv6", address) : candidate;
    })
    .replace(IPV4, (address) => write("IPv4", address))
    .replace(IPV4_OTHERWISE, (address) =>
      write(
        "IPv4",
        address
          .split(/\D+(?:2e)?/i)
          .filter(Boolean)
          .join("."),
      ),
    );
}

/** Most characters of an IPv6 address with an embedded IPv4 one, and some for what stands around it. */
const LONGEST = 80;

function maskIPv6(
  candidate: string,
  write: (kind: AddressKind, address: string) => string,
): string {
  const [, address = "", behind = ""] = /^([^%]*?)(\.*)(?:%.*)?$/.exec(candidate) ?? [];
  if (address.length > LONGEST || address === "::") return candidate;
  const groups = address.split(":");
  // A port or a number before it may not belong to the address: which of them is not to be told.
  for (const [before, after] of [
    [0, 0],
    [0, 1],
    [1, 0],
    [0, 2],
    [1, 1],
    [2, 0],
  ] as const) {
    const found = groups.slice(before, groups.length - after).join(":");
    if (!isIPv6(found)) continue;
    const colon = after > 0 && address.endsWith(":") ? ":" : "";
    return `${write("IPv6", found)}${colon}${behind}`;
  }
  return candidate;
}
