import { isIPv6 } from "node:net";

// A letter before it would belong to the address: looking back keeps the search linear.
const EMAIL =
  /(?<![\p{L}\p{N}.!#$%&*+?^_`{|}~-])[\p{L}\p{N}.!#$%&*+?^_`{|}~-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
const IPV4 = /(?<!\d\.|\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)/g;
const IPV6_CANDIDATE =
  /(?<![0-9A-Za-z])[0-9A-Fa-f]*:[0-9A-Fa-f:.]+(?:%[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*)?/g;

/**
 * Replaces the addresses in a text, for what leaves the team: e-mail by `[e-mail]`, IPv6 by `[IPv6]`
 * (in any notation, also with a zone), IPv4 by `[IPv4]`; ports and prefix lengths stay. In doubt it
 * masks: a version of four numbers goes as well.
 *
 * @example
 * maskAddresses("POST from 203.0.113.7 by jo@example.org via [2001:db8::1]:443");
 * // "POST from [IPv4] by [e-mail] via [[IPv6]]:443"
 */
export function maskAddresses(text: string): string {
  return text.replace(EMAIL, "[e-mail]").replace(IPV6_CANDIDATE, maskIPv6).replace(IPV4, "[IPv4]");
}

/** Most characters of an IPv6 address with an embedded IPv4 one, and some for what stands around it. */
const LONGEST = 80;

function maskIPv6(candidate: string): string {
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
    if (!isIPv6(groups.slice(before, groups.length - after).join(":"))) continue;
    const colon = after > 0 && address.endsWith(":") ? ":" : "";
    return `[IPv6]${colon}${behind}`;
  }
  return candidate;
}
