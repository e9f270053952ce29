import { ProbelabError } from "../../base/error.js";
import { greatest } from "../../base/statistics.js";
import { costOf, gapMeasure } from "../../result/origin.js";
import { resultOfRows } from "../../result/own-rows.js";
import type { Result } from "../../result/result.js";
import { between } from "../../time/time-range.js";
import type { TestList, TestListEntry } from "./test-list.js";

/** Number of entries that are compared: the monitoring window of the service's documentation. */
const WINDOW = 100;

/** A TestList, or its entries. */
export type Entries =
  | readonly Pick<TestListEntry, "url">[]
  | { readonly entries: readonly Pick<TestListEntry, "url">[] };

/** The difference of two polls, over the first 100 entries of each. */
export interface Changes {
  /** URLs that came in, the highest priority first. */
  readonly added: readonly string[];
  /** URLs that went out. */
  readonly removed: readonly string[];
  /** Number of URLs in either. */
  readonly union: number;
}

/** A row of `churns`: a list against the one of its country before it. */
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
export function churns(lists: readonly TestList[]): Result<ChurnRow> {
  const [first] = lists;
  if (first === undefined) {
    throw new ProbelabError(
      "Can't compare test lists without a list: pass those that testLists.fetch gave, in order of time.",
    );
  }
  const byCountry = new Map<string, TestList[]>();
  const rows = lists.flatMap((list): ChurnRow[] => {
    const { country } = list;
    const earlier = byCountry.get(country) ?? [];
    byCountry.set(country, [...earlier, list]);
    const before = earlier.at(-1);
    if (before === undefined) return [];
    const { added, removed } = changes(before, list);
    return [
      {
        poll: earlier.length + 1,
        t: list.origin.askedAt,
        country,
        churn: churn(before, list),
        added: added.length,
        removed: removed.length,
      },
    ];
  });
  const { start } = first.origin.range;
  const end = greatest(lists.map(({ origin }) => origin.range.end.getTime()));
  const origin = {
    ...first.origin,
    range: between(start, new Date(end)),
    ...costOf(...lists.map(({ origin }) => origin)),
    columns: {
      dimensions: [{ name: "country", order: [...byCountry.keys()] }],
      measures: [
        gapMeasure("churn", "Churn of the first 100", "%"),
        gapMeasure("added", "URLs that came in", "URLs"),
        gapMeasure("removed", "URLs that went out", "URLs"),
      ],
    },
  };
  return resultOfRows(rows, origin, ["poll", "t", "country", "churn", "added", "removed"]);
}

/** The URLs that are compared. */
function firstUrls(list: Entries): Set<string> {
  // An array has a method named `entries`.
  const entries = "length" in list ? list : list.entries;
  return new Set(entries.slice(0, WINDOW).map(({ url }) => url));
}
