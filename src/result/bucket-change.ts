import { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import { buckets as allBuckets, checkBucket, type Bucket } from "../time/bucket.js";
import { bucketNoun, isMultiple, stepOf } from "../time/step.js";
import { columnValues, newTable, rowKeys, rowsByKey, unusedName } from "./arquero-table.js";
import { gapMeasure, zoneOf, type MeasureColumn } from "./origin.js";
import { isResult, type Result, type Value } from "./result.js";

/**
 * A measure against its bucket before: adds the columns `before` and `change`, 0.25 for a quarter more.
 * Both are null where nothing was measured before, and where one of the two buckets is covered only in part
 * by the range. Where a count has no row any more it gets one, of 0 and −100 %.
 *
 * @param period how long before, a multiple of the result's buckets; default the bucket itself. Days
 *   against `"week"` compare each with the same weekday.
 * @param measure default the one that the question is about.
 * @throws ProbelabError for a result without time, another measure, or a period that isn't made of its buckets.
 * @example
 * const counts = await lab.measurements.counts({ range, every: "week", by: "probe_cc" });
 * chart.line(change(counts, "week"), { facet: "probe_cc" });
 */
export function change(
  result: Result<object>,
  period?: Bucket,
  measure?: string,
): Result<Record<string, Value>> {
  if (!isResult(result)) {
    throw new ProbelabError(
      `Can't take the change of ${shownValue(result)}: pass a Result by time, change(await lab.measurements.counts({ range, every: "week" })).`,
    );
  }
  const { table, origin } = result;
  const { time, dimensions, measures, ...rest } = origin.columns;
  const refusal = (why: string): ProbelabError =>
    new ProbelabError(`Can't take the change: ${why}.`);
  if (time === undefined) {
    throw refusal('the result has no buckets of time; ask with every: "week"');
  }
  const back = period === undefined ? time.every : checkBucket(period);
  if (!isMultiple(back, time.every)) {
    throw refusal(`${bucketNoun(back, true)} aren't made of ${bucketNoun(time.every, true)}`);
  }
  const of = measures.find(({ name, main }) => (measure === undefined ? main : name === measure));
  const own = of ?? (measure === undefined ? measures[0] : undefined);
  if (own === undefined) {
    throw refusal(
      `it has no measure ${measure ?? ""}; its measures are ${measures.map(({ name }) => name).join(", ")}`,
    );
  }
  const names = dimensions.map(({ name }) => name);
  const zone = zoneOf(origin);
  const asked = origin.range === undefined ? [] : allBuckets(origin.range, time.every);
  const cut = asked.filter(({ complete }) => !complete).map(({ start }) => +start);
  const incomplete = new Set([...time.incomplete.map(Number), ...cut]);
  const columns = new Map(table.columnNames().map((name) => [name, columnValues(table, name)]));
  const starts = columns.get(time.name)!.map(Number);
  const values = columns.get(own.name)!;
  const groups = [...rowsByKey(rowKeys(table, names)).values()];
  const shift = shifter(back, zone);
  const buckets = [...new Set([...starts, ...asked.map(({ start }) => +start)])].sort(
    (a, b) => a - b,
  );
  const known = new Set(buckets);
  // A row for each bucket of a group: where there is none, a count was zero, of others nothing is known.
  const rows = groups.flatMap((group) => {
    const at = new Map(group.map((row) => [starts[row]!, row]));
    if (at.size < group.length) {
      throw refusal(
        "it has several rows for one bucket and the same dimensions; add them up first",
      );
    }
    const value = (start: number): number | null => {
      if (incomplete.has(start) || !known.has(start)) return null;
      const row = at.get(start);
      const held = row === undefined ? undefined : values[row];
      if (held !== undefined && held !== null) return Number(held);
      return row === undefined && own.missing === "zero" ? 0 : null;
    };
    const found = own.missing === "zero" ? buckets : buckets.filter((start) => at.has(start));
    return found.flatMap((start) => {
      const earlier = shift(start);
      const [now, before] = [value(start), value(earlier)];
      const row = at.get(start);
      if (row === undefined && (before === null || before === 0)) return [];
      const change = now === null || before === null || before === 0 ? null : now / before - 1;
      return [{ row, start, first: group[0]!, before: now === null ? null : before, change }];
    });
  });
  rows.sort((a, b) => a.start - b.start);
  const cell = (name: string, { row, start, first }: (typeof rows)[number]): Value => {
    if (row !== undefined) return columns.get(name)![row];
    if (name === time.name) return new Date(start);
    return names.includes(name) ? columns.get(name)![first] : name === own.name ? 0 : null;
  };
  const made = ["before", "change"].map((name) => unusedName(table.columnNames(), name));
  const next = newTable(table, [
    ...table
      .columnNames()
      .map((name): [string, Value[]] => [name, rows.map((row) => cell(name, row))]),
    [made[0]!, rows.map(({ before }) => before)],
    [made[1]!, rows.map(({ change }) => change)],
  ]);
  const than = `the ${back} before`;
  const meaning: MeasureColumn[] = [
    gapMeasure(made[0]!, `${own.label}, ${than}`, own.unit),
    { ...gapMeasure(made[1]!, `${own.label}, change from ${than}`, "share"), main: true },
  ];
  const others = measures.map(({ main: _, ...each }) => each);
  const parts =
    incomplete.size > 0 ? `, nor in or from an incomplete ${bucketNoun(time.every, false)}` : "";
  const note = `Change: from ${than}; none where there was nothing before${parts}.`;
  return result.with(next, {
    columns: { ...rest, time, dimensions, measures: [...meaning.toReversed(), ...others] },
    notes: [...origin.notes, note],
  });
}

/** The start of the bucket that is a period before another, by the calendar and the clock of a zone. */
function shifter(period: Bucket, timeZone: string): (start: number) => number {
  const { count, unit } = stepOf(period);
  return (start) =>
    Temporal.Instant.fromEpochMilliseconds(start)
      .toZonedDateTimeISO(timeZone)
      .subtract({ [`${unit}s`]: count }).epochMilliseconds;
}
