/** What an address is, as masks name it. */
export type AddressKind = "e-mail" | "IPv4" | "IPv6";

/** Makes of an address what stands in its place. */
export type WriteAddress = (kind: AddressKind, address: string) => string;

/** A dot as texts, patterns, pages (also encoded twice) and defanged reports write it. */
export const DOT = String.raw`\\{0,8}(?:[.。．｡]|\[\\{0,4}\.\\{0,4}\]|\(\.\)|\{\.\}|[[({]dot[\])}])|%(?:25)*2e|&#(?:46|x2e);`;

/** A colon, the same. */
export const COLON = String.raw`:|\[:\]|%(?:25)*3a`;

/** An at sign, the same. */
export const AT = String.raw`[@＠]|[[({]at[\])}]|%(?:25)*40|&#(?:64|x40);`;

/**
 * How many characters at a place belong to an escape that began before it, as the `20` of `%20203`,
 * a space and 203.
 */
export function escapeAt(text: string, at: number): number {
  const [begun] =
    /(?:%|\\x)[0-9a-f]?$|\\u[0-9a-f]{0,3}$/i.exec(text.slice(Math.max(0, at - 5), at)) ?? [];
  if (begun === undefined) return 0;
  return (begun.startsWith("%") ? 3 : begun.startsWith("\\x") ? 4 : 6) - begun.length;
}
