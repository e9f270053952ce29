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

/**
 * URLs that stand in several lists, or twice in one, those with the most places first.
 *
 * Two texts are one URL where their normal forms (WHATWG URL, without the fragment) are equal:
 * `HTTP://Example.org:80` and `http://example.org/`. A text that is no URL is compared as it is.
 *
 * @param lists name to entries; an entry is a URL or an object with one, as the test list gives.
 * @example
 * duplicateUrls({ IT: ["http://a.example/"], GE: ["http://A.example", "http://b.example/"] });
 * // [{ url: "http://a.example/", places: [{ list: "IT", … }, { list: "GE", … }] }]
 */
export function duplicateUrls(
  lists: Readonly<Record<string, readonly (string | { readonly url: string })[]>>,
): DuplicateUrl[] {
  const found = new Map<string, UrlPlace[]>();
  for (const [list, entries] of Object.entries(lists)) {
    entries.forEach((entry, index) => {
      const url = typeof entry === "string" ? entry : entry.url;
      const key = normalForm(url);
      const places = found.get(key);
      if (places === undefined) found.set(key, [{ list, index, url }]);
      else places.push({ list, index, url });
    });
  }
  return [...found]
    .filter(([, places]) => places.length > 1)
    .map(([url, places]) => ({ url, places }))
    .sort((a, b) => b.places.length - a.places.length || (a.url < b.url ? -1 : 1));
}

function normalForm(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = "";
  return url.href;
}
