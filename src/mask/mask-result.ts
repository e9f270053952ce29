import type { Result } from "../result/result.js";
import { replaceAddresses, type Change } from "./addresses.js";

/** The note on masked addresses. */
export const MASKED = "E-mail and IP addresses are masked.";

const VERSION = /(?:^|_)version(?:_\d+)?$/i;
/** `software_version = 2.1.0.1 or 2.1.0.2` of a filter, `software_version IN ('2.1.0.1')` of SQL. */
const COMPARED =
  /version(?:_\d+)?["'`]?\s*(?:[=≠<>!≤≥]+|(?:not\s+)?(?:like|in)\b)[\s([]*((?:["']?v?\d[^\s"',)\]]*["']?(?:\s*,\s*|\s+or\s+)?)+|\{\w+)/gi;

/**
 * The versions in Results that look like addresses, such as `2.1.0.1`: the values of columns of versions
 * (`software_version`), and what SQL and filters compare such a column with.
 */
export function versionsOf(results: readonly Result[]): ReadonlySet<string> {
  const versions = new Set<string>();
  for (const result of results) {
    const { sql, filter = "", parameters, columns } = result.origin;
    const texts: unknown[] = [
      ...result.columnNames().map((name) => (VERSION.test(name) ? result.column(name) : [])),
      ...columns.dimensions.map(({ name, order }) => (VERSION.test(name) ? order : [])),
      ...Array.from(`${sql}\n${filter}`.matchAll(COMPARED), ([, compared = ""]) =>
        compared.startsWith("{") ? parameters[compared.slice(1)] : compared,
      ),
    ];
    for (const text of texts.flat(2)) {
      if (typeof text === "string")
        replaceAddresses(text, (_, address) => void versions.add(address));
    }
  }
  return versions;
}

/** The value with every text in it changed, also keys. */
export function mapTexts<T>(value: T, change: Change): T {
  const map = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (typeof inner !== "object" || inner === null || inner instanceof Date) return inner;
    if (Array.isArray(inner)) return inner.map(map);
    if (inner instanceof Set) return new Set(Array.from(inner, map));
    if (inner instanceof Map) {
      return new Map(Array.from(inner, ([key, each]) => [map(key), map(each)] as const));
    }
    if (ArrayBuffer.isView(inner) && !(inner instanceof DataView)) {
      return Array.from(inner as Uint8Array);
    }
    return Object.fromEntries(
      Object.entries(inner).map(([name, each]) => [change(name), map(each)]),
    );
  };
  return map(value) as T;
}

/**
 * The Result with every text changed: values, names of columns and what they mean, SQL, parameters,
 * filter and notes. If an address was masked, a note says so.
 *
 * @returns the Result itself if no text changes.
 */
export function maskResult(result: Result, change: Change): Result {
  let [changed, masked] = [false, false];
  const mask: Change = (text) => {
    const now = change(text);
    changed ||= now !== text;
    masked ||= now !== text && /\[(?:IPv[46]|e-mail)\b/.test(now);
    return now;
  };
  const { sql, parameters, filter, columns, reductions, notes, ...origin } = result.origin;
  const texts = mapTexts({ sql, parameters, columns, reductions, notes }, mask);
  const data = result
    .columnNames()
    .map((name) => [mask(name), mapTexts(result.column(name), mask)] as const);
  const newFilter = filter === undefined ? {} : { filter: mask(filter) };
  if (!changed) return result;
  const table = result.table.create({
    data: Object.fromEntries(data),
    names: data.map(([name]) => name),
  });
  return result.with(table.ungroup().unorder(), {
    ...origin,
    ...texts,
    ...newFilter,
    notes: masked ? [...texts.notes, MASKED] : texts.notes,
  });
}
