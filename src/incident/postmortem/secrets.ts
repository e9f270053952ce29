import { withoutCredentials } from "../../chart/origin-record.js";
import { maskAddresses, replaceAddresses } from "../../logs/mask-addresses.js";

/** The text with user names, passwords and secret parameters of its web addresses left out. */
export function withoutSecrets(text: string): string {
  return withoutCredentials(text, Infinity);
}

/** The text without secrets, and with e-mail and IP addresses masked. */
export function maskText(text: string): string {
  return maskAddresses(withoutSecrets(text));
}

/** As `maskText`, with a number for each address: `[IPv4 2]` is the same wherever it stands. */
export function numberedMask(): (text: string) => string {
  const numbers = new Map<string, Map<string, number>>();
  return (text) =>
    replaceAddresses(withoutSecrets(text), (kind, address) => {
      const known = numbers.get(kind) ?? new Map<string, number>();
      numbers.set(kind, known);
      const number = known.get(address.toLowerCase()) ?? known.size + 1;
      known.set(address.toLowerCase(), number);
      return `[${kind} ${number}]`;
    });
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
