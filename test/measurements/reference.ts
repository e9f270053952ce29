/** What the questions on measurements mean, over plain rows, written without the library. */

/** A measurement; its time in microseconds since 1970. */
export interface Row {
  readonly micros: number;
  readonly report: string;
  readonly name: string;
  readonly version: string | null;
  readonly asn: number;
}

export interface Asked {
  readonly start: number;
  readonly end: number;
  readonly zone: string;
  readonly every: string | undefined;
  readonly by: readonly ("name" | "version" | "asn")[];
  readonly top: number;
  readonly levels: readonly number[];
  /** Whether runs of one measurement are left out. */
  readonly drop: boolean;
  readonly keep: (row: Row) => boolean;
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
export function allLabels(asked: Asked): string[] {
  const step = asked.every === "minute" ? 60_000 : 900_000;
  const labels = new Set<string>();
  for (let ms = asked.start; ms < asked.end; ms += step) {
    labels.add(bucketLabel(ms, asked.every, asked.zone));
  }
  labels.add(bucketLabel(asked.end - 1, asked.every, asked.zone));
  return [...labels];
}

/** Labels of the buckets at the edges that the range covers only in part. */
export function incompleteLabels(asked: Asked): string[] {
  const label = (ms: number) => bucketLabel(ms, asked.every, asked.zone);
  const cut = new Set<string>();
  if (label(asked.start - 1) === label(asked.start)) cut.add(label(asked.start));
  if (label(asked.end - 1) === label(asked.end)) cut.add(label(asked.end));
  return [...cut];
}

export interface Group {
  readonly label: string;
  readonly dimensions: readonly (string | null)[];
  readonly runs: Run[];
  measurements: number;
}

export interface Run {
  readonly micros: number;
  readonly last: number;
  readonly n: number;
  readonly dimensions: readonly (string | null)[];
}

function dimensionsOf(row: Row, by: Asked["by"]): (string | null)[] {
  return by.map((key) => (row[key] === null ? null : String(row[key])));
}

/** Measurements by bucket and group, the rest of the groups merged. */
export function countGroups(rows: readonly Row[], asked: Asked): Group[] {
  const inside = rows.filter(
    (row) => asked.keep(row) && row.micros >= asked.start * 1000 && row.micros < asked.end * 1000,
  );
  const units = inside.map((row) => ({
    micros: row.micros,
    last: row.micros,
    n: 1,
    dimensions: dimensionsOf(row, asked.by),
  }));
  return group(units, asked);
}

/** Runs are read whole over the range's edges by a day. */
const MARGIN = 24 * 3_600_000;

/** Runs by bucket of their start and group, the rest of the groups merged. */
export function runGroups(rows: readonly Row[], asked: Asked): Group[] {
  const from = (asked.start - MARGIN) * 1000;
  const to = (asked.end + MARGIN) * 1000;
  const reports = new Map<string, Row[]>();
  for (const row of rows) {
    if (!asked.keep(row) || row.micros < from || row.micros >= to) continue;
    reports.set(row.report, [...(reports.get(row.report) ?? []), row]);
  }
  const runs: Run[] = [];
  for (const own of reports.values()) {
    const first = own.reduce((a, b) => (b.micros < a.micros ? b : a));
    const last = own.reduce((a, b) => (b.micros > a.micros ? b : a)).micros;
    if (asked.drop && own.length === 1) continue;
    if (first.micros < asked.start * 1000 || first.micros >= asked.end * 1000) continue;
    runs.push({
      micros: first.micros,
      last,
      n: own.length,
      dimensions: dimensionsOf(first, asked.by),
    });
  }
  return group(runs, asked);
}

/** Each dimension keeps its largest values; a row for every bucket and combination that occurs. */
function group(units: readonly Run[], asked: Asked): Group[] {
  const kept = asked.by.map((_, at) => {
    const sizes = new Map<string | null, number>();
    for (const { dimensions } of units) {
      sizes.set(dimensions[at]!, (sizes.get(dimensions[at]!) ?? 0) + 1);
    }
    const ranked = [...sizes].sort((a, b) => b[1] - a[1] || compareTexts(a[0], b[0]));
    return new Set(ranked.slice(0, asked.top).map(([value]) => value));
  });
  const nameOf = ({ dimensions }: Run): string =>
    JSON.stringify(dimensions.map((value, at) => (kept[at]!.has(value) ? value : "other")));
  const groups = new Map<string, Group>();
  for (const label of units.length === 0 ? [] : allLabels(asked)) {
    for (const name of new Set(units.map(nameOf))) {
      const dimensions = JSON.parse(name) as (string | null)[];
      groups.set(`${label} ${name}`, { label, dimensions, runs: [], measurements: 0 });
    }
  }
  for (const unit of units) {
    const label = bucketLabel(Math.floor(unit.micros / 1000), asked.every, asked.zone);
    const found = groups.get(`${label} ${nameOf(unit)}`);
    found?.runs.push(unit);
    if (found) found.measurements += unit.n;
  }
  return [...groups.values()];
}

/** Null last: as the server orders names of equal size. */
function compareTexts(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
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
