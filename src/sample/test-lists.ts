import { COUNTRIES, DOMAINS, INPUTS, INPUT_SPANS, PRIORITY_SITES } from "./service.js";

/** The change that is planted: at that poll (from 1) so many of a country's first URLs are others. */
export const REPLACED_URLS = { country: "GE", poll: 6, urls: 45 } as const;

const LENGTH = 200;
const CATEGORIES = ["NEWS", "COMT", "HUMR", "MMED", "GRP", "POLR"];
const SITES = PRIORITY_SITES + INPUT_SPANS.urls.size;

/**
 * The entries that the sample service gives for a country at its `poll`-th poll, from 1, with fields
 * besides `url` as services give them. From one poll to the next one URL of the first 100 changes;
 * once, as `REPLACED_URLS` says, many do.
 */
export function sampleTestList(country: string, poll: number) {
  const own = COUNTRIES.findIndex(({ code }) => code === country) + 1;
  return Array.from({ length: LENGTH }, (_, place) => {
    const site = (siteAt(country, poll, place) + own * 17) % SITES;
    return {
      category_code: CATEGORIES[site % CATEGORIES.length] ?? "NEWS",
      country_code: "ZZ",
      domain: DOMAINS[site] ?? "",
      priority: LENGTH - place,
      url: INPUTS[site] ?? "",
    };
  });
}

function siteAt(country: string, poll: number, place: number): number {
  if (place >= 100) return place;
  let site = place;
  // the newest change of a place wins
  for (let step = 2; step <= poll; step += 1) {
    if ((step * 7) % 100 === place) site = 250 + step;
    const { country: struck, poll: at, urls } = REPLACED_URLS;
    if (country === struck && step === at && place < urls) site = 600 + place;
  }
  return site;
}
