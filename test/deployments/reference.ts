import { allLabels, bucketLabel, type Asked } from "../measurements/reference.js";
import type { Deployment } from "./deployment.js";
import type { Measured } from "./rows.js";
import type { Held } from "./tables.js";

/** A cell of an answer; instants are milliseconds since 1970. */
export type Cell = number | null;
/** An answer: bucket and dimensions as JSON to its measures. */
export type Answer = Map<string, Record<string, Cell>>;
type Dimension = string | null;

/** How rows of any kind are grouped and measured. */
export interface Grouping<R> {
  readonly start: number;
  readonly end: number;
  readonly zone: string;
  readonly every: "week" | "day" | "hour" | undefined;
  readonly by: (row: R) => readonly Dimension[];
  readonly top: number;
  readonly micros: (row: R) => number;
  readonly measures: Readonly<Record<string, (rows: readonly R[]) => Cell>>;
}

const labels = new Map<string, string[]>();

function labelsOf({ start, end, zone, every }: Grouping<never>): string[] {
  const key = JSON.stringify([start, end, zone, every]);
  const asked = { start: start / 1000, end: end / 1000, zone, every } as Asked;
  const found = labels.get(key) ?? (every === undefined ? [""] : allLabels(asked));
  labels.set(key, found);
  return found;
}

/** Rows of a range by bucket and group; beyond the top they are "other"; empty buckets are there too. */
export function grouped<R>(all: readonly R[], asked: Grouping<R>): Answer {
  const rows = all.filter((row) => {
    const micros = asked.micros(row);
    return micros >= asked.start && micros < asked.end;
  });
  const key = (row: R) => JSON.stringify(asked.by(row));
  const sizes = new Map<string, number>();
  for (const row of rows) sizes.set(key(row), (sizes.get(key(row)) ?? 0) + 1);
  const ranked = [...sizes].sort((a, b) => b[1] - a[1] || byText(a[0], b[0])).map(([name]) => name);
  const kept = new Set(ranked.slice(0, asked.top));
  const rest = (name: string) => JSON.stringify((JSON.parse(name) as unknown[]).map(() => "other"));
  const cells = new Map<string, R[]>();
  for (const name of ranked) {
    for (const label of labelsOf(asked)) {
      cells.set(JSON.stringify([label, kept.has(name) ? name : rest(name)]), []);
    }
  }
  for (const row of rows) {
    const name = kept.has(key(row)) ? key(row) : rest(key(row));
    const label = bucketLabel(Math.floor(asked.micros(row) / 1000), asked.every, asked.zone);
    cells.get(JSON.stringify([label, name]))?.push(row);
  }
  const measured = (own: R[]) =>
    Object.fromEntries(Object.entries(asked.measures).map(([name, of]) => [name, of(own)]));
  return new Map([...cells].map(([name, own]) => [name, measured(own)]));
}

/** By each dimension's bytes, null last. */
function byText(a: string, b: string): number {
  const [left, right] = [JSON.parse(a) as Dimension[], JSON.parse(b) as Dimension[]];
  return left.reduce<number>((order, x, at) => order || compare(x, right[at] ?? null), 0);
}

function compare(a: Dimension, b: Dimension): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** An answer of the library in the same form; `measures` are those to compare. */
export function answered(
  rows: readonly Readonly<Record<string, unknown>>[],
  by: readonly string[],
  every: Grouping<never>["every"],
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

/** A run of a deployment: the measurements of one report. */
export interface Run {
  readonly micros: number;
  readonly seconds: number;
  readonly n: number;
  /** Of its first measurement; of several at that instant the smallest value. */
  readonly name: Dimension;
  readonly version: Dimension;
  readonly cc: Dimension;
}

/** The runs of measurements that a question keeps, up to a day beyond its range. */
export function runsOf(rows: readonly Measured[], start: number, end: number): Run[] {
  const DAY = 86_400_000_000;
  const reports = new Map<string, (Measured & { micros: number })[]>();
  for (const row of rows) {
    const { micros, report } = row;
    if (micros === null || report === null || report === "") continue;
    if (micros < start - DAY || micros >= end + DAY) continue;
    reports.set(report, [...(reports.get(report) ?? []), { ...row, micros }]);
  }
  return [...reports.values()].map((own) => {
    const times = own.map(({ micros }) => micros);
    const micros = Math.min(...times);
    const first = own.filter((row) => row.micros === micros);
    const least = (of: (row: Measured) => Dimension) => first.map(of).sort(compare)[0] ?? null;
    return {
      micros,
      seconds: (Math.max(...times) - micros) / 1e6,
      n: own.length,
      name: least((row) => row.name),
      version: least((row) => row.version),
      cc: least((row) => row.cc),
    };
  });
}

/** The measurements as a table's questions count them: merged where its engine merges, else each row. */
export function countedRows(one: Deployment, held: readonly Held[]): Measured[] {
  const rows = held.map(({ row }) => row);
  return /^(Replacing|Collapsing)/.test(one.engine) ? [...new Set(rows)] : rows;
}

/** What `duplicates` tells: rows of one measurement by uid, or equal in every column. */
export function duplicatesOf(one: Deployment, held: readonly Held[], start: number, end: number) {
  const inside = held.filter(
    ({ row: { micros } }) => micros !== null && micros >= start && micros < end,
  );
  const groups = new Map<string, number>();
  for (const { row, sign } of inside) {
    const key = one.optional === "all" ? row.uid : `${row.seq} ${sign}`;
    groups.set(key, (groups.get(key) ?? 0) + 1);
  }
  const measurements = groups.size;
  return {
    measurements,
    rows: inside.length,
    duplicated: [...groups.values()].filter((n) => n > 1).length,
    share: (inside.length - measurements) / inside.length,
  };
}
