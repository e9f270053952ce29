import { changes, churn, type Changes, type Entries } from "./churn.js";
import type { Result } from "../result/result.js";
import { churns, type ChurnRow } from "./churns.js";
import { fetchTestList, type FetchOptions } from "./fetch.js";
import type { TestList } from "./test-list.js";

/** The lists of URLs that the API gives to probes, by country. */
export const testLists = {
  /**
   * Fetches a country's test list: `GET {baseUrl}/api/v1/test-list/urls?country_code=CC&debug=True`.
   *
   * Limits, and their defaults: `timeoutSeconds` 30 for each attempt, `retries` 3 after it with
   * `backoffSeconds` 1 doubled each time, `maxBytes` 20,000,000 once unpacked. Redirects are
   * followed on the same host only.
   *
   * @returns a Result with a row per entry, `priority` (1 is the highest), `url`, and the fields
   *   that the endpoint gives besides; its note says how a country-wide list can mislead.
   * @throws ProbelabError where the list can't be had whole, or an entry has no string `url`: it is
   *   named.
   * @example
   * const list = await testLists.fetch({ baseUrl: "https://api.example.org", country: "IT" });
   * table(list, { limit: 20 });
   */
  fetch(options: FetchOptions): Promise<TestList> {
    return fetchTestList(options);
  },
  /**
   * How much a list changed: the symmetric difference of the first 100 URLs as a percentage of
   * their union, 0 to 100; null where both lists are empty.
   */
  churn(before: Entries, after: Entries): number | null {
    return churn(before, after);
  },
  /** The churn of each list against the one of its country before it, as a Result. */
  churns(lists: readonly TestList[]): Promise<Result<ChurnRow>> {
    return churns(lists);
  },
  /** Which URLs came in and went out among the first 100. */
  changes(before: Entries, after: Entries): Changes {
    return changes(before, after);
  },
};
