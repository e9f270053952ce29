import type { TestListEntry } from "./test-list.js";

/** How many entries are compared: the monitoring window of the service's documentation. */
export const WINDOW = 100;

/** A TestList, or its entries. */
export type Entries =
  | readonly Pick<TestListEntry, "url">[]
  | { readonly entries: readonly Pick<TestListEntry, "url">[] };

/** What changed between two polls, over the first 100 entries of each. */
export interface Changes {
  /** URLs that came in, the highest priority first. */
  readonly added: readonly string[];
  /** URLs that went out. */
  readonly removed: readonly string[];
  /** How many URLs either has. */
  readonly union: number;
}

/** URLs that came in and went out between two polls, over the first 100 entries of each. */
export function changes(before: Entries, after: Entries): Changes {
  const [old, now] = [firstUrls(before), firstUrls(after)];
  return {
    added: [...now].filter((url) => !old.has(url)),
    removed: [...old].filter((url) => !now.has(url)),
    union: new Set([...old, ...now]).size,
  };
}

/**
 * Churn between two polls of a test list: the symmetric difference of the URLs of the first 100
 * entries, as a percentage of their union; null where both are empty, which has no percentage.
 *
 * @returns 0 (the same URLs, in any order) to 100 (none in common).
 * @example
 * churn([{ url: "https://a.example/" }], [{ url: "https://b.example/" }]); // 100
 */
export function churn(before: Entries, after: Entries): number | null {
  const { added, removed, union } = changes(before, after);
  return union === 0 ? null : (100 * (added.length + removed.length)) / union;
}

/** The URLs that are compared. */
function firstUrls(list: Entries): Set<string> {
  const entries = isList(list) ? list.entries : list;
  return new Set(entries.slice(0, WINDOW).map(({ url }) => url));
}

// An array has a method of the name `entries`.
function isList(list: Entries): list is Exclude<Entries, readonly unknown[]> {
  return !Array.isArray(list);
}
