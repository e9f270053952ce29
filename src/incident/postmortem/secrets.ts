import { withoutCredentials } from "../../chart/origin-record.js";
import { maskAddresses, replaceAddresses } from "../../logs/mask-addresses.js";

/** Changes a text: `maskText`, or `withoutSecrets` where addresses may stay. */
export type Change = (text: string) => string;

/** The text with user names, passwords and secret parameters of its web addresses left out. */
export function withoutSecrets(text: string): string {
  return withoutCredentials(text, Infinity);
}

/** The text without secrets, and with e-mail and IP addresses masked. */
export function maskText(text: string): string {
  return maskAddresses(withoutSecrets(text));
}

/** As `maskText`, with a number for each address: `[IPv4 2]` is the same wherever it stands. */
export function numberedMask(): Change {
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

/** The same value with every text in it changed, names of members and keys too; no two become one. */
export function mapTexts<T>(value: T, change: Change): T {
  const mapped = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (typeof inner !== "object" || inner === null || inner instanceof Date) return inner;
    if (Array.isArray(inner)) return inner.map(mapped);
    if (inner instanceof Set) return new Set(Array.from(inner, mapped));
    if (inner instanceof Map) {
      return new Map(Array.from(inner, ([key, each]) => [mapped(key), mapped(each)] as const));
    }
    if (isTypedArray(inner)) return Array.from(inner as Iterable<unknown>, mapped);
    const names = new Set<string>();
    return Object.fromEntries(
      Object.entries(inner).map(([name, each]) => {
        const changed = change(name);
        let unique = changed;
        for (let count = 2; names.has(unique); count++) unique = `${changed} ${count}`;
        names.add(unique);
        return [unique, mapped(each)];
      }),
    );
  };
  return mapped(value) as T;
}

function isTypedArray(value: object): value is Uint8Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}
