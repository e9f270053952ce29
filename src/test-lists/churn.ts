import { ProbelabError } from "../base/error.js";
import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";
import type { TestList, TestListEntry } from "./test-list.js";

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

/** A row of `churns`: a list and the one before it. */
export type ChurnRow = {
  poll: number;
  t: Date;
  country: string;
  churn: number | null;
  added: number;
  removed: number;
};

/** `testLists.changes`: see {@link testLists}. */
export function changes(before: Entries, after: Entries): Changes {
  const [old, now] = [firstUrls(before), firstUrls(after)];
  return {
    added: [...now].filter((url) => !old.has(url)),
    removed: [...old].filter((url) => !now.has(url)),
    union: new Set([...old, ...now]).size,
  };
}

/** `testLists.churn`: see {@link testLists}. */
export function churn(before: Entries, after: Entries): number | null {
  const { added, removed, union } = changes(before, after);
  return union === 0 ? null : (100 * (added.length + removed.length)) / union;
}

/** `testLists.churns`: see {@link testLists}. */
export async function churns(lists: readonly TestList[]): Promise<Result<ChurnRow>> {
  const [first] = lists;
  const last = lists.at(-1);
  if (first === undefined || last === undefined) {
    throw new ProbelabError(
      "Can't compare test lists without a list: pass those that testLists.fetch gave, in order of time.",
    );
  }
  const before = new Map<string, { readonly list: TestList; readonly poll: number }>();
  const rows = lists.flatMap((list): ChurnRow[] => {
    const old = before.get(list.country);
    const poll = (old?.poll ?? 0) + 1;
    before.set(list.country, { list, poll });
    if (old === undefined) return [];
    const { added, removed } = changes(old.list, list);
    const { country } = list;
    const value = churn(old.list, list);
    const t = list.origin.askedAt;
    return [{ poll, t, country, churn: value, added: added.length, removed: removed.length }];
  });
  const column = (name: keyof ChurnRow) => rows.map((row) => row[name]);
  const names = ["poll", "t", "country", "churn", "added", "removed"] as const;
  const aq = await import("arquero");
  const table = aq.table(names.map((name) => [name, column(name)]));
  const end = new Date(Math.max(+last.origin.range.end, +first.origin.range.start + 1));
  return new Result(table, {
    ...first.origin,
    range: between(first.origin.range.start, end),
    rowsRead: lists.reduce((sum, { origin }) => sum + origin.rowsRead, 0),
    bytesRead: lists.reduce((sum, { origin }) => sum + origin.bytesRead, 0),
    columns: {
      dimensions: [{ name: "country", order: [...new Set(lists.map(({ country }) => country))] }],
      measures: [
        CHURN,
        { ...CHURN, name: "added", label: "URLs that came in", unit: "URLs" },
        { ...CHURN, name: "removed", label: "URLs that went out", unit: "URLs" },
      ],
    },
  });
}

/** What the column `churn` means. */
export const CHURN = {
  name: "churn",
  label: "Churn of the first 100",
  unit: "%",
  additive: false,
  missing: "gap",
} as const;

/** The URLs that are compared. */
function firstUrls(list: Entries): Set<string> {
  // An array has a method of the name `entries`.
  const entries = "length" in list ? list : list.entries;
  return new Set(entries.slice(0, WINDOW).map(({ url }) => url));
}
