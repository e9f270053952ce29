import type { Result, Value } from "../result/result.js";
import type { Change } from "./addresses.js";

/** How the note on masked addresses begins. */
export const MASKED = "E-mail and IP addresses are masked";

/** The same value with every text in it changed, names of members and keys too; no two become one. */
export function mapTexts<T>(value: T, change: Change): T {
  const mapped = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner);
    if (typeof inner !== "object" || inner === null || inner instanceof Date) return inner;
    if (Array.isArray(inner)) return inner.map(mapped);
    if (inner instanceof Set) return new Set(Array.from(inner, mapped));
    if (inner instanceof Map) {
      return new Map(Array.from(inner, ([key, each]) => [mapped(key), mapped(each)] as const));
    }
    if (ArrayBuffer.isView(inner) && !(inner instanceof DataView)) {
      return Array.from(inner as Uint8Array);
    }
    const names = keptApart(Object.keys(inner), change);
    return Object.fromEntries(
      Object.entries(inner).map(([name, each]) => [names.get(name), mapped(each)]),
    );
  };
  return mapped(value) as T;
}

/**
 * The Result with every text changed: values, names of columns, SQL, parameters, filter and notes; the
 * Result itself where there is nothing to change. Values that rows are grouped by stay apart, and so do
 * columns. What held an address in its question can't be asked again, and a note says so.
 */
export function maskResult(result: Result, change: Change): Result {
  let changed = false;
  let masked = false;
  const told: Change = (text) => {
    const now = change(text);
    changed ||= now !== text;
    masked ||= now !== text && /\[(?:IPv[46]|e-mail)\b/.test(now);
    return now;
  };
  const { columns, question, filter, ...origin } = result.origin;
  const { time, dimensions, measures, kinds } = columns;
  const names = keptApart(result.columnNames, told);
  const named = (name: string): string => names.get(name) ?? told(name);
  const data = new Map(
    result.columnNames.map((name): [string, Value[]] => [
      name,
      result.column(name).map((value) => mapTexts(value, told)),
    ]),
  );
  const apart = dimensions.map((dimension) => {
    const texts = dimension.order.filter((value) => value !== null);
    const labels = keptApart(texts, told);
    const label = (value: Value): Value => labels.get(value as string) ?? mapTexts(value, told);
    if (data.has(dimension.name)) {
      data.set(dimension.name, result.column(dimension.name).map(label));
    }
    return {
      ...dimension,
      name: named(dimension.name),
      order: dimension.order.map((value) => label(value) as string | null),
      ...(dimension.other !== undefined && { other: label(dimension.other) as string }),
    };
  });
  const rest = {
    ...origin,
    ...(filter !== undefined && { filter: told(filter) }),
    sql: told(origin.sql),
    parameters: mapTexts(origin.parameters, told),
    columns: {
      ...(time && { time: { ...time, name: named(time.name) } }),
      dimensions: apart,
      measures: measures.map((measure) => ({
        ...measure,
        name: named(measure.name),
        label: told(measure.label),
        unit: told(measure.unit),
      })),
      ...(kinds && {
        kinds: Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [named(name), kind])),
      }),
    },
    reductions: origin.reductions.map(told),
    notes: origin.notes.map(told),
  };
  const asked = mapTexts(question, told);
  const same = JSON.stringify(asked) === JSON.stringify(question);
  if (!changed) return result;
  const note = same ? `${MASKED}.` : `${MASKED}, also in the question, which can't be asked again.`;
  const order = [...data.keys()].map(named);
  const table = result.table.create({
    data: Object.fromEntries([...data].map(([name, values]) => [named(name), values])),
    names: order,
  });
  return result.with(table.ungroup().unorder(), {
    ...rest,
    notes: [...rest.notes, ...(masked ? [note] : [])],
    // With an address left out, another question would be asked again.
    ...(question && same && { question }),
  });
}

/** Texts and what they become: those that change are numbered where they would be one with another. */
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
