/** What questions on measurements mean, over plain rows, written without the library. */

/** A cell of an answer; instants are milliseconds since 1970. */
export type Cell = number | null;
/** An answer: bucket and dimensions as JSON to its measures. */
type Answer = Map<string, Record<string, Cell>>;
type Dimension = string | null;

/** A measurement; its time in microseconds since 1970, null where it has none. */
export interface Row {
  readonly micros: number | null;
  readonly report: string | null;
  readonly name: Dimension;
  readonly version: Dimension;
  readonly cc: Dimension;
  readonly asn: Dimension;
}

/** A range in milliseconds, and its buckets. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly zone: string;
  readonly every: string | undefined;
}

/** How rows of any kind are grouped and measured; the range in microseconds. */
export interface Grouping<R> extends Span {
  readonly by: (row: R) => readonly Dimension[];
  readonly top: number;
  readonly micros: (row: R) => number;
  readonly measures: Readonly<Record<string, (rows: readonly R[]) => Cell>>;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The bucket of an instant (ms), as text in the zone: found by Intl, not by the library's calendar. */
export function bucketLabel(ms: number, every: string | undefined, zone: string): string {
  if (every === undefined) return "";
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
    });
    formats.set(zone, format);
  }
  const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const { year = "", month = "", day = "", hour = "", minute = "" } = part;
  if (every === "month") return `${year}-${month}`;
  if (every === "week") {
    const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
    const monday = date.getTime() - ((date.getUTCDay() + 6) % 7) * 86_400_000;
    return new Date(monday).toISOString().slice(0, 10);
  }
  if (every === "day") return `${year}-${month}-${day}`;
  // The clock shows some hours twice when summer time ends: the offset tells them apart.
  const offset =
    Date.UTC(+year, +month - 1, +day, +hour, +minute) - Math.floor(ms / 60_000) * 60_000;
  const time = every === "hour" ? hour : `${hour}:${minute}`;
  return `${year}-${month}-${day} ${time} ${offset}`;
}

/** All buckets that a range touches, found by walking through it. */
function allLabels(asked: Span): string[] {
  const step = asked.every === "minute" ? 60_000 : 900_000;
  const labels = new Set<string>();
  for (let ms = asked.start; ms < asked.end; ms += step) {
    labels.add(bucketLabel(ms, asked.every, asked.zone));
  }
  labels.add(bucketLabel(asked.end - 1, asked.every, asked.zone));
  return [...labels];
}

/** Labels of the buckets at the edges that the range covers only in part. */
export function incompleteLabels(asked: Span): string[] {
  const label = (ms: number) => bucketLabel(ms, asked.every, asked.zone);
  const cut = new Set<string>();
  if (label(asked.start - 1) === label(asked.start)) cut.add(label(asked.start));
  if (label(asked.end - 1) === label(asked.end)) cut.add(label(asked.end));
  return [...cut];
}

const labels = new Map<string, string[]>();

function labelsOf({ start, end, zone, every }: Span): string[] {
  const key = JSON.stringify([start, end, zone, every]);
  const asked = { start: start / 1000, end: end / 1000, zone, every };
  const found = labels.get(key) ?? (every === undefined ? [""] : allLabels(asked));
  labels.set(key, found);
  return found;
}

/**
 * Rows of a range by bucket and group: each dimension keeps its largest values, the others are
 * "other"; empty buckets are there too.
 */
export function grouped<R>(all: readonly R[], asked: Grouping<R>): Answer {
  const rows = all.filter((row) => {
    const micros = asked.micros(row);
    return micros >= asked.start && micros < asked.end;
  });
  const kept = (rows[0] === undefined ? [] : asked.by(rows[0])).map((_, at) => {
    const sizes = new Map<Dimension, number>();
    for (const row of rows) {
      const value = asked.by(row)[at]!;
      sizes.set(value, (sizes.get(value) ?? 0) + 1);
    }
    const ranked = [...sizes].sort((a, b) => b[1] - a[1] || compare(a[0], b[0]));
    return new Set(ranked.slice(0, asked.top).map(([value]) => value));
  });
  const nameOf = (row: R) =>
    JSON.stringify(asked.by(row).map((value, at) => (kept[at]!.has(value) ? value : "other")));
  const cells = new Map<string, R[]>();
  for (const name of new Set(rows.map(nameOf))) {
    for (const label of labelsOf(asked)) cells.set(JSON.stringify([label, name]), []);
  }
  for (const row of rows) {
    const label = bucketLabel(Math.floor(asked.micros(row) / 1000), asked.every, asked.zone);
    cells.get(JSON.stringify([label, nameOf(row)]))?.push(row);
  }
  const measured = (own: R[]) =>
    Object.fromEntries(Object.entries(asked.measures).map(([name, of]) => [name, of(own)]));
  return new Map([...cells].map(([name, own]) => [name, measured(own)]));
}

/** By their bytes, null last: as the server orders names of equal size. */
function compare(a: Dimension, b: Dimension): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** An answer of the library in the same form; `measures` are those to compare. */
export function answered(
  rows: readonly Readonly<Record<string, unknown>>[],
  by: readonly string[],
  every: string | undefined,
  zone: string,
): Answer {
  return new Map(
    rows.map((row) => {
      const { t, ...rest } = row;
      const label = every === undefined ? "" : bucketLabel(Number(t), every, zone);
      const dimensions = by.map((name) => rest[name] as Dimension);
      const measures = Object.entries(rest).filter(([name]) => !by.includes(name));
      const cells = measures.map(([name, cell]) => [name, cell === null ? null : Number(cell)]);
      const key = JSON.stringify([label, JSON.stringify(dimensions)]);
      return [key, Object.fromEntries(cells) as Record<string, Cell>];
    }),
  );
}

/** What differs between an answer and what it should be, a line each; none where they are equal. */
export function differences(found: Answer, expected: Answer): string[] {
  const told: string[] = [];
  for (const [key, cells] of expected) {
    const own = found.get(key);
    if (own === undefined) told.push(`${key} is missing`);
    for (const [name, cell] of Object.entries(own === undefined ? {} : cells)) {
      const got = own?.[name];
      const same =
        got === cell ||
        (typeof got === "number" &&
          cell !== null &&
          Math.abs(got - cell) <= 2e-6 + 1e-9 * Math.abs(cell));
      if (!same) told.push(`${key} ${name} is ${got}, not ${cell}`);
    }
  }
  for (const key of found.keys()) if (!expected.has(key)) told.push(`${key} is too much`);
  return told;
}

/** A run: the measurements of one report. */
export interface Run {
  readonly micros: number;
  readonly seconds: number;
  readonly n: number;
  /** Of its first measurement; of several at that instant the smallest value. */
  readonly name: Dimension;
  readonly version: Dimension;
  readonly cc: Dimension;
  readonly asn: Dimension;
}

/** The runs of measurements that a question keeps, up to a day beyond its range. What shares a report over more than a day is none. */
export function runsOf(rows: readonly Row[], start: number, end: number): Run[] {
  const DAY = 86_400_000_000;
  const reports = new Map<string, (Row & { micros: number })[]>();
  for (const row of rows) {
    const { micros, report } = row;
    if (micros === null || report === null || report === "") continue;
    if (micros < start - DAY || micros >= end + DAY) continue;
    reports.set(report, [...(reports.get(report) ?? []), { ...row, micros }]);
  }
  return [...reports.values()].flatMap((own) => {
    const times = own.map(({ micros }) => micros);
    const micros = Math.min(...times);
    if (Math.max(...times) - micros > DAY) return [];
    const first = own.filter((row) => row.micros === micros);
    const least = (of: (row: Row) => Dimension) => first.map(of).sort(compare)[0] ?? null;
    return {
      micros,
      seconds: (Math.max(...times) - micros) / 1e6,
      n: own.length,
      name: least((row) => row.name),
      version: least((row) => row.version),
      cc: least((row) => row.cc),
      asn: least((row) => row.asn),
    };
  });
}

/** Quantile R-7: linear between the order statistics around (n − 1) p. */
export function quantile(values: readonly number[], p: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * p;
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.min(sorted.length - 1, Math.floor(at) + 1)] as number;
  return low + (high - low) * (at - Math.floor(at));
}
