import { AT, DOT, type AddressKind, type WriteAddress } from "./address-writings.js";
import { replaceIPv4 } from "./mask-ipv4.js";
import { replaceIPv6 } from "./mask-ipv6.js";

export type { AddressKind };

// Accents may be letters of their own (\p{M}), and joiners stand within words of Indic scripts.
const WORD = String.raw`\p{L}\p{M}\p{N}\u200c\u200d`;
const LOCAL = `${WORD}.!#$%&*+?^_\`{|}~\\\\\\-`;
// A letter before it would belong to the address: looking back keeps the search linear.
const EMAIL = new RegExp(
  String.raw`(?:"(?:[^"\\\n]|\\.){1,64}"|"[^"\n]{1,64}"|(?<![${LOCAL}])[${LOCAL}]+(?:['’][${LOCAL}]+){0,2})(?:${AT})(?:\[(?:IPv6:)?[0-9a-f]*[.:][0-9a-f:.]+\]|[${WORD}_\-]+(?:(?:${DOT})[${WORD}_\-]+)+)`,
  "giu",
);

const DOTS = new RegExp(DOT, "gi");
const AT_SIGN = new RegExp(AT, "i");

/**
 * Replaces the addresses in a text, for what leaves the team: e-mail by `[e-mail]`, IPv6 by `[IPv6]`
 * (in any notation, also with a zone), IPv4 by `[IPv4]`, also as `203-0-113-7`, `203_0_113_7`,
 * `203[.]0.113.7` and percent-encoded. In doubt it masks: a version of four numbers goes as well,
 * and of `203.0.113.7.80` all, since four of five numbers may be the address. Ports after a colon
 * and prefix lengths stay, and so do numberings in single digits (`1.2.3.4.5`), dates, times, MAC
 * addresses and fingerprints. A part of an address (`203.0.113.`) is none.
 *
 * @example
 * maskAddresses("POST from 203.0.113.7 by jo@example.org via [2001:db8::1]:443");
 * // "POST from [IPv4] by [e-mail] via [[IPv6]]:443"
 */
export function maskAddresses(text: string): string {
  return replaceAddresses(text, (kind) => `[${kind}]`);
}

/** Replaces the addresses in a text by what `write` makes of each, which it is given plainly written. */
export function replaceAddresses(text: string, write: WriteAddress): string {
  const mailless = AT_SIGN.test(text)
    ? text.replace(EMAIL, (address) =>
        write("e-mail", address.replace(DOTS, ".").replace(AT_SIGN, "@")),
      )
    : text;
  const named = replaceIPv4(mailless, write, "names");
  // An IPv6 address may end with an IPv4 one.
  return replaceIPv4(replaceIPv6(named, write), write, "any");
}
