import { deprecated } from "../base/deprecated.js";
import type { Result } from "../result/result.js";
import { changes, churn, churns, type Changes, type ChurnRow, type Entries } from "./churn.js";
import { duplicateUrls as findDuplicateUrls, type DuplicateUrl } from "./duplicate-urls.js";
import { fetchTestList, type FetchOptions } from "./fetch.js";
import type { TestList } from "./test-list.js";

/** Lists by name, such as a country code; an entry is a URL or an object with one. */
type Lists = Readonly<Record<string, readonly (string | { readonly url: string })[]>>;

/** The lists of URLs that the API gives to probes, by country. */
export const testLists = {
  /**
   * Fetches a country's test list: `GET {baseUrl}/api/v1/test-list/urls?country_code=CC&debug=True`,
   * through the proxy that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`).
   *
   * Limits, and their defaults: `timeoutSeconds` 30 for each attempt, `retries` 3 after it with
   * `backoffSeconds` 1 doubled each time, `maxBytes` 20,000,000 once unpacked. Redirects are refused,
   * with the address to pass instead.
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
   * How much a list changed: the symmetric difference of the URLs of the first 100 entries as a
   * percentage of their union, 0 (the same, in any order) to 100; null where both lists are empty.
   *
   * @example
   * testLists.churn([{ url: "https://a.example/" }], [{ url: "https://b.example/" }]); // 100
   */
  churn(before: Entries, after: Entries): number | null {
    return churn(before, after);
  },
  /**
   * The churn of each list against the one of its country before it: columns `poll` (2 is the second
   * of its country), `t` (when it was asked for), `country`, `churn` in percent, `added` and `removed`
   * (URLs).
   *
   * @param lists in order of time, of one country or several.
   */
  churns(lists: readonly TestList[]): Promise<Result<ChurnRow>> {
    return churns(lists);
  },
  /** Which URLs came in and went out among the first 100. */
  changes(before: Entries, after: Entries): Changes {
    return changes(before, after);
  },
  /**
   * URLs that stand in several lists, or twice in one, those with the most places first. Two texts are
   * one URL where their normal forms (WHATWG URL, without the fragment) are equal:
   * `HTTP://Example.org:80` and `http://example.org/`. A text that is no URL is compared as it is.
   *
   * @param lists name to entries; an entry is a URL or an object with one, as the test list gives.
   * @example
   * testLists.duplicateUrls({ IT: ["http://a.example/"], GE: ["http://A.example"] });
   * // [{ url: "http://a.example/", places: [{ list: "IT", … }, { list: "GE", … }] }]
   */
  duplicateUrls(lists: Lists): DuplicateUrl[] {
    return findDuplicateUrls(lists);
  },
};

/** @deprecated Use `testLists.duplicateUrls`. */
export function duplicateUrls(lists: Lists): DuplicateUrl[] {
  deprecated("duplicateUrls", "testLists.duplicateUrls");
  return findDuplicateUrls(lists);
}
