/** Singular and plural names of the values of well-known columns. */
const KNOWN: Readonly<Record<string, readonly [one: string, many: string]>> = {
  t: ["time", "times"],
  n: ["number", "numbers"],
  software_name: ["software", "software names"],
  software_version: ["version", "versions"],
  probe_cc: ["country", "countries"],
  probe_asn: ["network", "networks"],
  test_name: ["test", "tests"],
  hour_of_day: ["hour of the day", "hours of the day"],
  weekday: ["day of the week", "days of the week"],
};

const IDENTIFIER = /^[a-z][a-z0-9]+(?:_[a-z0-9]+)*$/;
const ACRONYM = /^(?:asn|cc|cpu|dns|https?|id|ip|os|rtt|sni|tcp|tls|udp|uid|url|uuid)$/;
const NETWORK = /(?:^|_)asn$/i;
const NAMING = /(?:asn|id|port|code)$/i;

/** True if the numbers of a column name something, such as an AS or a process: they are no amounts. */
export function isNaming(name: string): boolean {
  return NAMING.test(name);
}

/**
 * A column's name within a sentence: `software_version` as `version`, `retry_count` as `retry count`.
 * A name that is no identifier in small letters is somebody's own word, and stays.
 */
export function columnWords(name: string): string {
  if (Object.hasOwn(KNOWN, name)) return KNOWN[name]![0];
  if (!IDENTIFIER.test(name)) return name;
  // The first parts of a version: software_version_2.
  const [, version] = /^(.*version)_\d+$/.exec(name) ?? [];
  if (version !== undefined) return columnWords(version);
  const parts = name.split("_");
  return parts.map((part) => (ACRONYM.test(part) ? part.toUpperCase() : part)).join(" ");
}

/** A column's name as a title: `Version`, `Retry count`. */
export function columnTitle(name: string): string {
  const words = columnWords(name);
  return words === name && !IDENTIFIER.test(name)
    ? name
    : words.charAt(0).toUpperCase() + words.slice(1);
}

/** The plural name of the values of columns: `versions`, `combinations of country and network`. */
export function columnsPlural([first = "", ...more]: readonly string[]): string {
  if (more.length > 0) return `combinations of ${[first, ...more].map(columnWords).join(" and ")}`;
  return Object.hasOwn(KNOWN, first) ? KNOWN[first]![1] : `values of ${columnWords(first)}`;
}

/** A value of a well-known column as people write it: the network 3269 is AS3269. */
export function valueWords<Value>(name: string, value: Value): Value | string {
  const number =
    typeof value === "number" || typeof value === "bigint" || typeof value === "string";
  return number && NETWORK.test(name) && /^\d+$/.test(String(value)) ? `AS${value}` : value;
}
