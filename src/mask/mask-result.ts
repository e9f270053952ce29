import type { Result, Value } from "../result/result.js";
import { replaceAddresses, type Change } from "./addresses.js";

/** The beginning of the note on masked addresses. */
export const MASKED = "E-mail and IP addresses are masked";

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
  const add = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(add);
    else if (typeof value === "string") {
      replaceAddresses(value, (_, address) => void versions.add(address));
    }
  };
  for (const result of results) {
    const { sql, filter = "", parameters, columns } = result.origin;
    for (const [, compared = ""] of `${sql}\n${filter}`.matchAll(COMPARED))
      add(compared.startsWith("{") ? parameters[compared.slice(1)] : compared);
    for (const name of result.columnNames().filter((each) => VERSION.test(each))) {
      add(result.column(name));
      add(columns.dimensions.find((dimension) => dimension.name === name)?.order);
    }
  }
  return versions;
}

/** The value with every text in it changed, also keys. Keys that would become the same are numbered. */
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
    const names = keptApart(Object.keys(inner), change);
    return Object.fromEntries(
      Object.entries(inner).map(([name, each]) => [names.get(name), map(each)]),
    );
  };
  return map(value) as T;
}

/**
 * The Result with every text changed: values, names of columns, SQL, parameters, filter and notes. Groups
 * and columns stay apart. If an address was masked, a note says so.
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
  const { columns, ...origin } = result.origin;
  const names = keptApart(result.columnNames(), mask);
  const named = (name: string): string => names.get(name) ?? mask(name);
  const data = new Map(
    result
      .columnNames()
      .map((name): [string, Value[]] => [
        name,
        result.column(name).map((value) => mapTexts(value, mask)),
      ]),
  );
  const dimensions = columns.dimensions.map((dimension) => {
    const labels = keptApart(
      dimension.order.filter((value) => value !== null),
      mask,
    );
    const label = <T extends Value>(value: T) =>
      (labels.get(value as string) ?? mapTexts(value, mask)) as T;
    if (data.has(dimension.name)) {
      data.set(dimension.name, result.column(dimension.name).map(label));
    }
    return {
      ...dimension,
      name: named(dimension.name),
      order: dimension.order.map(label),
      ...(dimension.other !== undefined && { other: label(dimension.other) }),
    };
  });
  const measures = columns.measures.map(({ name, label, unit, ...measure }) => ({
    ...measure,
    name: named(name),
    label: mask(label),
    unit: mask(unit),
  }));
  const { time, kinds } = columns;
  const newColumns = {
    ...(time && { time: { ...time, name: named(time.name) } }),
    dimensions,
    measures,
    ...(kinds && {
      kinds: Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [named(name), kind])),
    }),
  };
  const { filter, sql, parameters, reductions, notes } = mapTexts(
    {
      filter: origin.filter,
      sql: origin.sql,
      parameters: origin.parameters,
      reductions: origin.reductions,
      notes: origin.notes,
    },
    mask,
  );
  if (!changed) return result;
  const table = result.table.create({
    data: Object.fromEntries([...data].map(([name, values]) => [named(name), values])),
    names: [...data.keys()].map(named),
  });
  return result.with(table.ungroup().unorder(), {
    ...origin,
    sql,
    parameters,
    reductions,
    columns: newColumns,
    ...(filter !== undefined && { filter }),
    notes: [...notes, ...(masked ? [`${MASKED}.`] : [])],
  });
}

/** Texts by what they become; a changed text that would be the same as another gets a number. */
function keptApart(texts: readonly string[], change: Change): Map<string, string> {
  const changed = texts.map((text) => [text, change(text)] as const);
  const taken = new Set(changed.flatMap(([text, now]) => (text === now ? [text] : [])));
  return new Map(
    changed.map(([text, now]) => {
      let unique = now;
      for (let count = 2; text !== now && taken.has(unique); count++) unique = `${now} ${count}`;
      taken.add(unique);
      return [text, unique];
    }),
  );
}
