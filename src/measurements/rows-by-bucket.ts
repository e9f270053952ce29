import type { ColumnTable } from "arquero";
import { ProbelabError } from "../error.js";
import type { Value } from "../result/result.js";
import { formatInstant } from "../time/time-zone.js";
import type { Measure } from "./grouped-result.js";
import type { Asked } from "./question.js";

/** The key of a bucket, null for the whole range, and a group's place. */
export function bucketKey(start: Date | null, place: number): string {
  return `${start === null ? "" : start.getTime()} ${place}`;
}

/**
 * The measures' values by bucket and group, of an answer with a row for each (`_t`, `_place`).
 *
 * The server cuts time where `bucketSql` told it to. Should a row begin elsewhere, since the server
 * knows another history of the zone, it belongs to the bucket that holds its beginning, where
 * measures are added up, and a note says so: no row is ever left out.
 *
 * @param starts of all buckets of the range, in order; `[null]` where the range is one.
 * @throws ProbelabError where a row begins elsewhere and a measure can't be added up.
 */
export function rowsByBucket(
  answer: ColumnTable,
  asked: Pick<Asked, "action" | "every" | "range">,
  starts: readonly (Date | null)[],
  measures: readonly Measure[],
): { found: ReadonlyMap<string, readonly (number | null)[]>; moved: readonly string[] } {
  const found = new Map<string, (number | null)[]>();
  const times = Float64Array.from(starts, Number);
  const elsewhere = new Set<number>();
  for (const row of answer.objects() as Record<string, Value>[]) {
    const at = asked.every === null ? 0 : Number(row["_t"]);
    const index = lastUpTo(times, at);
    if (times[index] !== at) {
      elsewhere.add(at);
      if (!measures.every(({ additive }) => additive)) throw refusal(asked, at);
    }
    const key = bucketKey(starts[index] ?? null, Number(row["_place"]));
    const values = measures.map(({ value }) => value(row));
    const before = found.get(key);
    found.set(key, before ? values.map((value, i) => add(before[i] ?? null, value)) : values);
  }
  return { found, moved: elsewhere.size === 0 ? [] : [note(asked, elsewhere)] };
}

/** The last of ascending numbers that is at most `value`; the first where none is. */
function lastUpTo(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! <= value) low = middle;
    else high = middle;
  }
  return low;
}

function add(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}

function refusal({ action, every, range }: Pick<Asked, "action" | "every" | "range">, at: number) {
  const start = formatInstant(new Date(at), range.timeZone);
  return new ProbelabError(
    `Can't ${action} by ${every} in ${range.timeZone}: the database begins a bucket at ${start}, where none begins, and quantiles or shares can't be added up. Take another every, or timeZone "UTC".`,
  );
}

function note({ every, range }: Pick<Asked, "every" | "range">, elsewhere: ReadonlySet<number>) {
  const first = formatInstant(new Date(Math.min(...elsewhere)), range.timeZone);
  const many = elsewhere.size.toLocaleString("en-US");
  return `The database begins ${many} of its buckets where none of ${range.timeZone} by ${every} begins, the first at ${first}: each is counted in the bucket in which it begins; timeZone "UTC" counts exactly.`;
}
