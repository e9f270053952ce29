import { ProbelabError } from "../base/error.js";
import { getJson, type GetLimits } from "./http-get.js";
import { readAnswer } from "./read-answer.js";
import { TestList } from "./test-list.js";

/** Which list to fetch, and the limits of it. */
export interface FetchOptions extends GetLimits {
  /**
   * The API's address, without `/api/v1`; default `PROBELAB_API`. `sample`, or `sample:NAME`, gives
   * made-up lists of the sample service without a network: each fetch of a country is its next poll,
   * of each NAME from the first.
   */
  readonly baseUrl?: string;
  /** Two letters, such as `IT`. */
  readonly country: string;
}

/** `testLists.fetch`: see {@link testLists}. */
export async function fetchTestList(options: FetchOptions): Promise<TestList> {
  const country = checkCountry(options.country);
  if (options.baseUrl?.startsWith("sample") === true) return sampleList(options.baseUrl, country);
  const base = checkBaseUrl(options.baseUrl);
  const action = `fetch the test list of ${country}`;
  const parameters = { country_code: country, debug: "True" };
  const url = new URL(
    `${base}/api/v1/test-list/urls?${new URLSearchParams(parameters).toString()}`,
  );
  const answer = await getJson(url, action, options);
  const entries = await readAnswer(answer.body, action);
  return TestList.of(country, entries, {
    source: `${url.origin}${url.pathname}`,
    parameters,
    bytesRead: answer.bytes,
    askedAt: answer.askedAt,
    answeredAt: answer.answeredAt,
  });
}

async function sampleList(baseUrl: string, country: string): Promise<TestList> {
  const { nextSampleTestList } = await import("../sample/test-lists.js");
  const askedAt = new Date();
  return TestList.of(country, nextSampleTestList(baseUrl, country), {
    source: "made-up lists of the sample service",
    parameters: { country_code: country },
    bytesRead: 0,
    askedAt,
    answeredAt: askedAt,
  });
}

/** A country code in capitals. @throws ProbelabError for anything but two letters. */
export function checkCountry(country: unknown): string {
  if (typeof country === "string" && /^[a-z]{2}$/i.test(country)) return country.toUpperCase();
  throw new ProbelabError(
    `Can't fetch the test list of ${JSON.stringify(country) ?? "undefined"}: pass a country of two letters, such as "IT".`,
  );
}

/** The address without a slash at its end. @throws ProbelabError for another than http(s). */
export function checkBaseUrl(baseUrl: string | undefined = process.env["PROBELAB_API"]): string {
  const url = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || /@|\/\//.test(url.pathname)) {
    throw new ProbelabError(
      `Can't fetch a test list from ${baseUrl ? JSON.stringify(baseUrl.replace(/\/\/[^/@]*@/, "//***@")) : "nowhere"}: pass the API's address as baseUrl (or PROBELAB_API), such as "https://api.example.org".`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new ProbelabError(
      `Can't fetch a test list with a user or password in the address of ${url.host}: leave them out, the endpoint needs none.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
