import { refuseUnknown } from "../base/check-options.js";
import { deprecated } from "../base/deprecated.js";
import { ProbelabError } from "../base/error.js";
import type { Result } from "../result/result.js";
import { changes, churn, churns, type Changes, type ChurnRow, type Entries } from "./churn.js";
import { checkCountry, fetchTestList, type FetchOptions } from "./fetch.js";
import { TestList } from "./test-list.js";

/** Lists by name, such as a country code; an entry is a URL or an object with one. */
type Lists = Readonly<Record<string, readonly (string | { readonly url: string })[]>>;

/** Where a list holds a URL. */
export interface UrlPlace {
  /** The list's name, such as a country code. */
  readonly list: string;
  /** Its place in the list, from 0. */
  readonly index: number;
  /** As the list writes it. */
  readonly url: string;
}

/** A URL that stands in more than one place. */
export interface DuplicateUrl {
  /** In its normal form: host in lower case, no default port, no fragment. */
  readonly url: string;
  readonly places: readonly UrlPlace[];
}

/** Which of the made-up lists of the sample service. */
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
  async fetch(options: FetchOptions): Promise<TestList> {
    const { baseUrl = "", country } = options;
    if (!/^sample(?::|$)/.test(baseUrl)) return fetchTestList(options);
    deprecated('testLists.fetch({ baseUrl: "sample" })', "testLists.sample({ country, poll })");
    const key = `${baseUrl} ${checkCountry(country)}`;
    const poll = (polls.get(key) ?? 0) + 1;
    polls.set(key, poll);
    return testLists.sample({ country, poll });
  },
  /**
   * A made-up list of the sample service, without a network: the same for the same country and poll.
   * From one poll to the next one of the first 100 URLs changes; once, for Georgia, many do.
   *
   * @throws ProbelabError for a country or a poll that can't be.
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
    const { sampleTestList } = await import("../sample/test-lists.js");
    const askedAt = new Date();
    return TestList.of(country, sampleTestList(country, poll), {
      source: "made-up lists of the sample service",
      parameters: { country_code: country, poll },
      bytesRead: 0,
      askedAt,
      answeredAt: askedAt,
    });
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
   * @example
   * const [before, after] = [await testLists.sample({ country: "GE" }), await testLists.sample({ country: "GE", poll: 2 })];
   * chart.line(await testLists.churns([before, after]));
   */
  churns(lists: readonly TestList[]): Promise<Result<ChurnRow>> {
    return churns(lists);
  },
  /**
   * Which URLs came in and went out among the first 100.
   *
   * @example
   * testLists.changes([{ url: "https://a.example/" }], [{ url: "https://b.example/" }]);
   */
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
    const found = new Map<string, UrlPlace[]>();
    for (const [list, entries] of Object.entries(lists)) {
      entries.forEach((entry, index) => {
        const url = typeof entry === "string" ? entry : entry.url;
        const key = normalForm(url);
        found.set(key, [...(found.get(key) ?? []), { list, index, url }]);
      });
    }
    return [...found]
      .filter(([, places]) => places.length > 1)
      .map(([url, places]) => ({ url, places }))
      .sort((a, b) => b.places.length - a.places.length || (a.url < b.url ? -1 : 1));
  },
};

/** How many of the lists of the sample the old call has given, by its name and country. */
const polls = new Map<string, number>();

function normalForm(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = "";
  return url.href;
}

/** @deprecated Use `testLists.duplicateUrls`. */
export function duplicateUrls(lists: Lists): DuplicateUrl[] {
  deprecated("duplicateUrls", "testLists.duplicateUrls");
  return testLists.duplicateUrls(lists);
}
