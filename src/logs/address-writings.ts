/** What an address is, as masks name it. */
export type AddressKind = "e-mail" | "IPv4" | "IPv6";

/** Makes of an address what stands in its place. */
export type WriteAddress = (kind: AddressKind, address: string) => string;

/** A dot as texts, patterns, pages' addresses (encoded also twice) and defanged reports write it. */
export const DOT = String.raw`\\{0,8}(?:\.|\[\\{0,4}\.\\{0,4}\]|\(\.\)|\{\.\}|[[({]dot[\])}])|%(?:25)*2e`;

/** A colon, the same. */
export const COLON = String.raw`:|\[:\]|%(?:25)*3a`;

/** An at sign, the same. */
export const AT = String.raw`@|[[({]at[\])}]|%(?:25)*40`;
