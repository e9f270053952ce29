import { ProbelabError } from "../base/error.js";
import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";
import { changes, churn } from "./churn.js";
import type { TestList } from "./test-list.js";

/** A row of `churns`: a list and the one before it. */
export type ChurnRow = {
  poll: number;
  t: Date;
  country: string;
  churn: number | null;
  added: number;
  removed: number;
};

/**
 * The churn of each list against the one of its country before it: columns `poll` (2 is the second
 * of its country), `t` (when it was asked for), `country`, `churn` in percent, `added` and
 * `removed` (URLs).
 *
 * @param lists in order of time, of one country or several.
 */
export async function churns(lists: readonly TestList[]): Promise<Result<ChurnRow>> {
  const [first] = lists;
  const last = lists.at(-1);
  if (first === undefined || last === undefined) {
    throw new ProbelabError(
      "Can't compare test lists without a list: pass those that testLists.fetch gave, in order of time.",
    );
  }
  const before = new Map<string, { list: TestList; poll: number }>();
  const rows: ChurnRow[] = [];
  for (const list of lists) {
    const { country } = list;
    const old = before.get(country);
    const poll = (old?.poll ?? 0) + 1;
    before.set(country, { list, poll });
    if (old === undefined) continue;
    const { added, removed } = changes(old.list, list);
    rows.push({
      poll,
      t: list.origin.askedAt,
      country,
      churn: churn(old.list, list),
      added: added.length,
      removed: removed.length,
    });
  }
  const { from } = await import("arquero");
  const names = ["poll", "t", "country", "churn", "added", "removed"];
  const table = from(
    rows.length > 0 ? rows : [Object.fromEntries(names.map((name) => [name, null]))],
  );
  const end = new Date(Math.max(+last.origin.range.end, +first.origin.range.start + 1));
  const measure = (name: string, label: string, unit: string) =>
    ({ name, label, unit, additive: false, missing: "gap" }) as const;
  return new Result(rows.length > 0 ? table : table.slice(0, 0), {
    ...first.origin,
    range: between(first.origin.range.start, end),
    rowsRead: lists.reduce((sum, { origin }) => sum + origin.rowsRead, 0),
    bytesRead: lists.reduce((sum, { origin }) => sum + origin.bytesRead, 0),
    columns: {
      dimensions: [{ name: "country", order: [...new Set(lists.map(({ country }) => country))] }],
      measures: [
        measure("churn", "Churn of the first 100", "%"),
        measure("added", "URLs that came in", "URLs"),
        measure("removed", "URLs that went out", "URLs"),
      ],
    },
  });
}
