import { withoutCredentials } from "../../chart/origin-record.js";
import { maskAddresses } from "../../logs/mask-addresses.js";

/** The text with user names, passwords and secret parameters of its web addresses left out. */
export function withoutSecrets(text: string): string {
  // Word by word: what is asked for one address is cut after 20,000 characters.
  return text.replace(/\S+/g, (word) =>
    word.includes("://") || word.includes("=") ? withoutCredentials(word) : word,
  );
}

/** The text without secrets, and with e-mail and IP addresses masked. */
export function maskText(text: string): string {
  return maskAddresses(withoutSecrets(text));
}

/** The same value with every text in it changed; names of members stay. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  const mapped = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (typeof inner !== "object" || inner === null || inner instanceof Date) return inner;
    if (Array.isArray(inner)) return inner.map(mapped);
    return Object.fromEntries(Object.entries(inner).map(([name, each]) => [name, mapped(each)]));
  };
  return mapped(value) as T;
}
