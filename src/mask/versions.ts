import type { Result } from "../result/result.js";
import { replaceAddresses } from "./addresses.js";

const VERSION = /(?:^|_)version(?:_\d+)?$/i;

/** `software_version = 2.1.0.1 or 2.1.0.2` of a filter, `software_version IN ('2.1.0.1')` of SQL. */
const COMPARED =
  /version(?:_\d+)?["'`]?\s*(?:[=≠<>!≤≥]+|(?:not\s+)?(?:like|in)\b)[\s([]*((?:["']?v?\d[^\s"',)\]]*["']?(?:\s*,\s*|\s+or\s+)?)+|\{\w+)/gi;

/**
 * The versions of Results that could be taken for addresses, such as `2.1.0.1`: the values of columns
 * of versions (`software_version`, `versionPart`, such a column by another name), and what questions,
 * filters and SQL compare such a column with.
 */
export function versionsOf(results: readonly Result[]): ReadonlySet<string> {
  const versions = new Set<string>();
  const add = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(add);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(add);
    else if (typeof value === "string") {
      replaceAddresses(value, (_, address) => {
        versions.add(address);
        return undefined;
      });
    }
  };
  for (const result of results) {
    const { question, sql, filter = "", parameters, columns } = result.origin;
    const names = new Set([...result.columnNames].filter((name) => VERSION.test(name)));
    eachMember(question?.arguments, (name, value) => {
      const { dimension } = (value ?? {}) as { readonly dimension?: unknown };
      if (VERSION.test(name)) add(value);
      else if (dimension === "versionPart" || (typeof value === "string" && VERSION.test(value)))
        names.add(name);
    });
    for (const [, compared = ""] of `${sql}\n${filter}`.matchAll(COMPARED))
      add(compared.startsWith("{") ? parameters[compared.slice(1)] : compared);
    for (const name of result.columnNames.filter((each) => names.has(each))) {
      add(result.column(name));
      add(columns.dimensions.find((dimension) => dimension.name === name)?.order);
    }
  }
  return versions;
}

/** Calls `found` with each member of a value, at any depth. */
function eachMember(value: unknown, found: (name: string, value: unknown) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    found(name, inner);
    eachMember(inner, found);
  }
}
