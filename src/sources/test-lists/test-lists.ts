import { refuseUnknown } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { changes, churn, churns } from "./churn.js";
import { checkCountry, fetchTestList } from "./fetch.js";
import { TestList } from "./test-list.js";

/** A made-up list of the sample service. */
export interface SampleListOptions {
  /** Two letters, such as `GE`. */
  readonly country: string;
  /** 1 (default) is the first poll, 2 the next one; up to 1,000. */
  readonly poll?: number;
}

/** The lists of URLs that the API gives to probes, by country. */
export const testLists = {
  /**
   * Fetches a country's test list: `GET {baseUrl}/api/v1/test-list/urls?country_code=CC&debug=True`,
   * through the proxy of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`).
   *
   * An attempt takes at most `timeoutSeconds` (30). It is made again `retries` (3) times after 1, 2,
   * 4 … seconds. Redirects are refused with the address to pass instead, and so is an answer of more
   * than 20 MB.
   *
   * @returns a Result with a row per entry: `priority` (1 is the highest), `url`, and the other
   *   fields that the endpoint gives. Its note says that a country-wide list can mislead.
   * @throws ProbelabError where the list can't be had whole, or an entry has no string `url`.
   * @example
   * const list = await testLists.fetch({ baseUrl: "https://api.example.org", country: "IT" });
   * table(list, { limit: 20 });
   */
  fetch: fetchTestList,
  /**
   * Makes up a list of the sample service, without a network: the same for the same country and poll.
   * One of the first 100 URLs changes from a poll to the next; once, for Georgia, many do.
   *
   * @throws ProbelabError for a country that isn't two letters, or a poll outside 1 to 1,000.
   * @example
   * const before = await testLists.sample({ country: "GE" });
   * const after = await testLists.sample({ country: "GE", poll: 2 });
   * testLists.churn(before, after); // 1.98…
   */
  async sample(options: SampleListOptions): Promise<TestList> {
    refuseUnknown(options, ["country", "poll"], "make a test list up");
    const country = checkCountry(options.country);
    const { poll = 1 } = options;
    if (!Number.isInteger(poll) || poll < 1 || poll > 1_000) {
      throw new ProbelabError(
        `Can't make the test list of ${country} up for poll ${String(poll)}: pass a whole number from 1 to 1,000.`,
      );
    }
    const { sampleTestList } = await import("../../sample/test-lists.js");
    return TestList.of(country, sampleTestList(country, poll), {
      source: "made-up lists of the sample service",
      parameters: { country_code: country, poll },
      bytesRead: 0,
      askedAt: new Date(),
    });
  },
  /**
   * Computes the symmetric difference of the first 100 URLs of two lists as a percentage of their
   * union: 0 for the same URLs in any order, 100 for none in common, null for two empty lists.
   *
   * @example
   * testLists.churn([{ url: "https://a.example/" }], [{ url: "https://b.example/" }]); // 100
   */
  churn,
  /**
   * Computes the churn of each list against the one of its country before it: columns `poll` (2 is
   * the second of its country), `t` (when it was asked for), `country`, `churn` (%), `added` and
   * `removed` (URLs).
   *
   * @param lists in order of time, of one country or several.
   * @throws ProbelabError without a list.
   * @example
   * const [before, after] = [await testLists.sample({ country: "GE" }), await testLists.sample({ country: "GE", poll: 2 })];
   * chart.line(testLists.churns([before, after]));
   */
  churns,
  /**
   * Lists the URLs that came into the first 100 and went out of them.
   *
   * @example
   * testLists.changes([{ url: "https://a.example/" }], [{ url: "https://b.example/" }]);
   */
  changes,
};
