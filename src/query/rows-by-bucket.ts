import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import type { Bucket } from "../time/bucket.js";
import type { TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import type { AnswerRow, PlannedMeasure } from "./plan.js";

/** The part of a question that cuts time. */
export interface Cut {
  readonly action: string;
  /** Null where the range is one bucket. */
  readonly every: Bucket | null;
  readonly range: TimeRange;
}

/** What a measure found in a cell. */
export type CellValue = number | Date | null;

/** The key of a bucket, null for the whole range, and a group. */
export function bucketKey(start: Date | null, group: number | string): string {
  return `${start === null ? "" : start.getTime()} ${group}`;
}

/**
 * The measures' values by bucket and group, of an answer with a row for each (`_t`, `_place`).
 *
 * The server cuts time where `bucketSql` told it to. Should a row begin elsewhere, since the server
 * knows another history of the zone, it belongs to the bucket that holds its beginning, where
 * measures are added up, and a note says so: no row is ever left out.
 *
 * @param starts of all buckets of the range, in order; `[null]` where the range is one.
 * @param groupOf what tells the groups of rows apart; default: their place.
 * @param minutesOf how many minutes of a bucket the range covers.
 * @throws ProbelabError where a row begins elsewhere and a measure can't be added up.
 */
export function rowsByBucket(
  answer: ColumnTable,
  asked: Cut,
  starts: readonly (Date | null)[],
  measures: readonly PlannedMeasure[],
  groupOf: (row: AnswerRow) => number | string = (row) => Number(row["_place"]),
  minutesOf: (start: Date | null) => number = () => 1,
): { found: ReadonlyMap<string, readonly CellValue[]>; moved: readonly string[] } {
  const found = new Map<string, CellValue[]>();
  const times = Float64Array.from(starts, Number);
  const elsewhere = new Set<number>();
  for (const row of answer.objects() as AnswerRow[]) {
    const at = asked.every === null ? 0 : Number(row["_t"]);
    const index = lastUpTo(times, at);
    if (times[index] !== at) {
      elsewhere.add(at);
      if (!measures.every(({ add }) => add)) throw refusal(asked, at);
    }
    const start = starts[index] ?? null;
    const key = bucketKey(start, groupOf(row));
    const minutes = minutesOf(start);
    const values = measures.map(({ value }) => value(row, minutes));
    const before = found.get(key);
    found.set(
      key,
      before ? values.map((value, i) => measures[i]!.add!(before[i] ?? null, value)) : values,
    );
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

function refusal({ action, every, range }: Cut, at: number) {
  const start = formatInstant(new Date(at), range.timeZone);
  return new ProbelabError(
    `Can't ${action} by ${every} in ${range.timeZone}: the database begins a bucket at ${start}, where none begins, and quantiles or shares can't be added up. Take another every, or timeZone "UTC".`,
  );
}

function note({ every, range }: Cut, elsewhere: ReadonlySet<number>) {
  const first = formatInstant(new Date(Math.min(...elsewhere)), range.timeZone);
  const many = elsewhere.size.toLocaleString("en-US");
  return `The database begins ${many} of its buckets where none of ${range.timeZone} by ${every} begins, the first at ${first}: each is counted in the bucket in which it begins; timeZone "UTC" counts exactly.`;
}
