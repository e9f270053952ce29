import type { Deployment } from "./deployment.js";
import { random } from "./deployment.js";

/** A measurement as it is meant; `micros` null: its time is none. */
export interface Measured {
  readonly seq: number;
  readonly micros: number | null;
  readonly report: string | null;
  readonly name: string | null;
  readonly version: string | null;
  readonly test: string;
  readonly cc: string;
  readonly asn: string | null;
  readonly uid: string;
  readonly helper: string;
  readonly failed: boolean;
  readonly runtime: number | null;
}

/** A log line as it is meant. */
export interface Line {
  readonly micros: number | null;
  readonly program: string;
  readonly priority: number | null;
  readonly host: string;
  readonly message: string | null;
  /** The length of a check-in list that it tells. */
  readonly urls?: number;
  /** The report that it submits, and whether that was accepted. */
  readonly report?: string;
  readonly accepted?: boolean;
}

export const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;
/** Begins amid a week and a day; in it summer time ends in Europe and America. */
export const START = Date.UTC(2025, 9, 15, 5, 30) * 1000;
export const END = START + 26 * DAY;
export const LOG_START = Date.UTC(2025, 9, 25, 20) * 1000;
export const LOG_END = LOG_START + DAY;
const FUTURE = Date.UTC(2099, 0, 1) * 1000;

const NAMES = ["probe-cli", "probe-cli", 'O\'Brien "x"', "naïve`tick", "\uFEFFbom", "", null];
const VERSIONS = ["3.9", "3.10", "3.10", "3.8.0-rc1", "3.10.2", "", "odd one", null];
const CODES = ["IT", "IT", "FR", "DE", "ZZ"];

/** What a type without nulls has in their place. */
const fit = (value: string | null, type: string, none = "") =>
  value === null && !type.includes("Nullable") ? none : value;

/** The measurements of a deployment, each once. */
export function measuredRows(one: Deployment): Measured[] {
  const next = random(one.id + 1);
  const pick = <T>(values: readonly T[]) => values[Math.floor(next() * values.length)] as T;
  const floor = (micros: number) => Math.floor(micros / one.time.step) * one.time.step;
  const rows: Measured[] = [];
  const add = (
    micros: number | null,
    run: Pick<Measured, "report" | "name" | "version" | "asn">,
    cc = pick(CODES),
  ) =>
    rows.push({
      ...run,
      seq: rows.length,
      micros: micros === null ? null : floor(micros),
      test: pick(["web_connectivity", "signal", "tor"]),
      cc,
      uid: `uid-${one.id}-${rows.length}`,
      helper: pick(["https://0.th.example", "https://1.th.example", "d33d.example", ""]),
      failed: next() < 0.2,
      runtime: next() < 0.1 ? null : Math.round(next() * 4000) / 8,
    });
  const runs = 40;
  for (let run = 0; run < runs; run++) {
    // Some begin at the range's edges, some before and after it.
    const edge = [START, END, END - 1000, START - HOUR, END - HOUR][run] ?? 0;
    const start = edge || START - 2 * DAY + Math.floor(next() * 30 * DAY);
    const asn = pick(["0", "30722", "18182", "1", null]);
    const stamp = new Date(start / 1000).toISOString().replace(/[-:]|\.\d+/g, "");
    const own = {
      report: `${stamp}_webconnectivity_${pick(CODES)}_${asn ?? 0}_n1_r${run}`,
      name: fit(pick(NAMES), one.name),
      version: fit(pick(VERSIONS), one.version),
      asn: fit(asn, one.asn, "0"),
    };
    const size = run % 7 === 0 ? 1 : 1 + Math.floor(next() * 6);
    let at = start;
    const first = pick(CODES);
    for (let n = 0; n < size; n++) {
      // Some share an instant; some cross a bucket's edge. Which of two countries at a run's first
      // instant counts is an order of the engine's own, so they agree there.
      add(at, own, floor(at) === floor(start) ? first : pick(CODES));
      at += next() < 0.2 ? 0 : Math.floor(next() * next() * 5 * HOUR);
    }
  }
  if (one.dirty === "clean") return rows;
  const stray = { name: "", version: "", asn: "0" };
  for (let n = 0; n < 7; n++) {
    add(START + Math.floor(next() * 25 * DAY), {
      ...stray,
      report: n % 2 === 0 ? "" : fit(null, one.report),
    });
  }
  one.time.none.forEach((_, at) => add(null, { ...stray, report: `none-${at}` }));
  add(FUTURE, { ...stray, report: "future" });
  return rows;
}

/** The numbers of priorities as a column's type writes them; null where it has none. */
export function priorityText(one: Deployment, priority: number | null): string | null {
  if (priority === null) {
    if (one.priority.includes("Nullable")) return null;
    if (one.priority === "UInt8") return "99";
    return one.priority.startsWith("Enum") ? "none" : "";
  }
  if (one.priority.includes("UInt8") || one.priority === "String") return String(priority);
  return { 3: "err", 4: "warning", 6: "info" }[priority] ?? "";
}

/** The lines of a deployment's logs. */
export function logLines(one: Deployment, measured: readonly Measured[]): Line[] {
  const next = random(one.id + 1000);
  const pick = <T>(values: readonly T[]) => values[Math.floor(next() * values.length)] as T;
  const floor = (micros: number) => Math.floor(micros / one.logTime.step) * one.logTime.step;
  const lines: Line[] = [];
  const add = (micros: number | null, line: Partial<Line>) =>
    lines.push({
      program: pick(["api", "test-helper", "O'Neil `x`", ""]),
      priority: pick([3, 4, 6, 6, null]),
      host: pick(["api1", "api2"]),
      message: fit(pick(["timed out 203.0.113.9", "ok", "ünï 100%", "", null]), one.message),
      ...line,
      micros: micros === null ? null : floor(micros),
    });
  for (let n = 0; n < 80; n++) add(LOG_START - HOUR + Math.floor(next() * 26 * HOUR), {});
  for (let n = 0; n < 30; n++) {
    const urls = next() < 0.7 ? 100 : Math.floor(next() * 99);
    add(LOG_START + Math.floor(next() * DAY), {
      program: "api",
      urls,
      message: checkIn(one, urls),
    });
  }
  const reports = [...new Set(measured.map(({ report }) => report ?? ""))].filter((id) =>
    id.includes("_n1_"),
  );
  const lost = ["20251025T210000Z_signal_IT_30722_n1_lost", "20251025T210000Z_signal_IT_1_n1_gone"];
  for (const [at, report] of [...reports.slice(0, 12), ...lost, "not-an-id"].entries()) {
    const accepted = !report.endsWith("gone");
    add(LOG_START + at * HOUR, {
      program: "api",
      report,
      accepted,
      message: submission(one, report, accepted),
    });
  }
  if (one.dirty === "clean") return lines;
  one.logTime.none.forEach(() => add(null, {}));
  add(FUTURE, {});
  return lines;
}

/** The patterns of a deployment whose lines look as nobody else's. */
export const OWN_FORMS = {
  submission: "^stored=(?P<report>\\S+) code=(?P<status>\\d+)$",
  checkIn: "^gave (?P<urls>\\d+) links$",
};

function checkIn({ form }: Deployment, urls: number): string {
  if (form === "own") return `gave ${urls} links`;
  if (form === "json") return JSON.stringify({ path: "/api/v1/check-in", status: 200, urls });
  return `check-in probe-cli/3.20 probe_cc=IT from 203.0.113.9: ${urls} URLs`;
}

function submission({ form }: Deployment, report: string, accepted: boolean): string {
  const status = accepted ? 200 : 502;
  switch (form) {
    case "own":
      return `stored=${report} code=${status}`;
    case "json":
      return JSON.stringify({ method: "POST", path: `/report/${report}`, status });
    case "combined":
      return `203.0.113.9 - - [01/May/2026:12:00:00 +0000] "POST /report/${report} HTTP/1.1" ${status} 157 "-" "probe/3.20"`;
    case "collector":
      return `POST /report/${report} from 203.0.113.9: ${status}, ${accepted ? "3 measurements" : "the queue is full"}`;
  }
}
