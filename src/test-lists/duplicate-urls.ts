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

/** `testLists.duplicateUrls`: see {@link testLists}. */
export function duplicateUrls(
  lists: Readonly<Record<string, readonly (string | { readonly url: string })[]>>,
): DuplicateUrl[] {
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
}

function normalForm(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = "";
  return url.href;
}
