import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import type { Logs } from "../logs/logs.js";
import type { Measurements } from "../measurements/measurements.js";
import { count, countDistinct } from "../query/measure.js";
import { partialOf, type Origin } from "../result/origin.js";
import { Result } from "../result/result.js";
import { between, checkRange, formatRange, type TimeRange } from "../time/time-range.js";
import type { Finding } from "./finding.js";
import { HOUR, WEEK } from "../time/span.js";

/** What `lab.funnel` takes. */
export interface FunnelOptions {
  /** The time to ask about; the same hours of the week before are what is usual. */
  readonly range: TimeRange;
}

/** The answer of `lab.funnel`; `found` where a step lost reports or, in a range up to now, somebody is silent. */
export interface FunnelFinding extends Finding {
  readonly kind: "funnel";
  /** How fresh the data is now: a row for the measurement table and for each program that logs. */
  readonly freshness: Finding;
}

/** A row of the funnel: a step. */
export type FunnelRow = {
  step: string;
  now: number | null;
  before: number | null;
  /** The share of the step before that came through; of the first step, of the week before. */
  passed: number | null;
  passed_before: number | null;
  /** By how much the share that came through changed: −0.3 is 30 % fewer than usual. */
  change: number | null;
};

const STEPS = ["check-in", "submit", "accepted", "stored"] as const;
/** Who lost them, where a step is the one that did. */
const CULPRITS: Readonly<Record<(typeof STEPS)[number], string>> = {
  "check-in": "It is the probes: fewer check in, or check-in doesn't answer them",
  submit: "It is the probes or their way to the collector: they check in and don't submit",
  accepted: "It is the pipeline: reports are submitted and not accepted",
  stored: "It is ingestion: reports are accepted and not stored",
};
/** A smaller loss, or one within so many standard errors, is none. */
const LEAST_LOSS = 0.05;
const ERRORS = 4;

/**
 * `lab.funnel({ range })`: how many check-ins, submitted, accepted and stored reports there were, by
 * the forms of the deployment's log lines, against the same hours of the week before; and which
 * step lost them. What is stored is the product of the shares that each step lets through, so the
 * step whose share fell most lost most.
 */
export async function funnel(
  logs: Logs,
  measurements: Measurements,
  freshness: () => Promise<Finding>,
  options: FunnelOptions,
): Promise<FunnelFinding> {
  const action = "tell which step lost reports";
  refuseUnknown(options, ["range"], action);
  const range = checkRange((options as FunnelOptions | undefined)?.range, action);
  const before = between(
    new Date(range.start.getTime() - WEEK),
    new Date(range.end.getTime() - WEEK),
    { timeZone: range.timeZone },
  );
  const [now, then] = [
    await stepsOf(logs, measurements, range),
    await stepsOf(logs, measurements, before),
  ];
  const rows = STEPS.map((step, at): FunnelRow => {
    const earlier = STEPS.slice(0, at).findLast(
      (each) => now.counts[each] !== null && then.counts[each] !== null,
    );
    const passed = share(
      now.counts[step],
      earlier === undefined ? then.counts[step] : now.counts[earlier],
    );
    const usual =
      earlier === undefined
        ? share(then.counts[step], then.counts[step])
        : share(then.counts[step], then.counts[earlier]);
    const change = passed === null || usual === null || usual === 0 ? null : passed / usual - 1;
    return {
      step,
      now: now.counts[step],
      before: then.counts[step],
      passed,
      passed_before: usual,
      change,
    };
  });
  const aq = await import("arquero");
  const names = ["step", "now", "before", "passed", "passed_before", "change"] as const;
  const first = [...now.asked, ...then.asked].map((result) => result.origin);
  const reports = { unit: "reports", additive: false, missing: "gap" } as const;
  const shares = { unit: "share", additive: false, missing: "gap" } as const;
  const base = first[0];
  const origin: Origin = {
    source: "",
    server: "",
    askedAt: new Date(),
    ...base,
    range,
    ...partialOf(...first),
    parameters: Object.assign(
      {},
      ...first.map(({ parameters }) => parameters),
    ) as Origin["parameters"],
    sql: [...new Set(first.map(({ sql }) => sql))].join("\n\n-- and:\n"),
    rowsRead: first.reduce((all, origin) => all + origin.rowsRead, 0),
    bytesRead: first.reduce((all, origin) => all + origin.bytesRead, 0),
    seconds: first.reduce((all, origin) => all + origin.seconds, 0),
    columns: {
      dimensions: [{ name: "step", order: [...STEPS] }],
      measures: [
        { name: "now", label: "Now", main: true, ...reports },
        { name: "before", label: "The week before", ...reports },
        { name: "passed", label: "Share that came through", ...shares },
        { name: "passed_before", label: "The same, the week before", ...shares },
        { name: "change", label: "Change of that share", ...shares },
      ],
    },
    reductions: [],
    notes: [...new Set([...now.untold, ...then.untold])],
  };
  const { text, found } = verdict(rows, [...new Set([...now.untold, ...then.untold])], range);
  const table = aq.table(
    Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])),
  );
  const fresh = await freshness();
  // Who is silent now says nothing about a range that ended long ago.
  const isNow = +range.end > +fresh.result.origin.range!.end - HOUR;
  return {
    kind: "funnel",
    sentence: isNow ? `${text} ${fresh.sentence}` : text,
    found: found || (isNow && fresh.found),
    result: new Result(table, origin),
    freshness: fresh,
  };
}

interface Steps {
  readonly counts: Readonly<Record<(typeof STEPS)[number], number | null>>;
  /** Why steps can't be told, a clause each. */
  readonly untold: readonly string[];
  readonly asked: readonly Result<object>[];
}

async function stepsOf(logs: Logs, measurements: Measurements, range: TimeRange): Promise<Steps> {
  const untold: string[] = [];
  const results: Result<object>[] = [];
  const attempt = async <Row extends object>(what: string, ask: () => Promise<Result<Row>>) => {
    try {
      const answer = await ask();
      results.push(answer);
      return answer;
    } catch (error) {
      if (!(error instanceof ProbelabError) || error.code === "ABORTED") throw error;
      untold.push(`${what} can't be told, because: ${error.message}`);
      return undefined;
    }
  };
  const lists = await attempt("check-ins", () => logs.checkIn({ range, every: "all" }));
  const submitted = await attempt("submissions", () => logs.submissions({ range }));
  const reports = submitted?.rows() ?? [];
  const ofKind = (...kinds: string[]) =>
    reports.filter((row) => kinds.includes(row.finding)).length;
  const refused = ofKind("refused");
  const checkIns = Number(lists?.rows()[0]?.lists ?? 0);
  if (lists !== undefined && checkIns === 0)
    untold.push(`check-ins can't be told: no line has their form, ${formatRange(range)}`);
  if (reports.length > 0) {
    const accepted = reports.length - refused - ofKind("unreadable");
    return {
      counts: {
        "check-in": checkIns || null,
        submit: reports.length,
        accepted,
        stored: accepted - ofKind("missing"),
      },
      untold,
      asked: results,
    };
  }
  if (submitted !== undefined)
    untold.push(`submissions can't be told: no line has their form, ${formatRange(range)}`);
  const stored = await attempt("stored reports", () =>
    measurements.ask({
      range,
      every: "all",
      measures: { reports: countDistinct("report_id"), measurements: count() },
    }),
  );
  return {
    counts: {
      "check-in": checkIns || null,
      submit: null,
      accepted: null,
      stored: stored === undefined ? null : Number(stored.rows()[0]?.reports ?? 0),
    },
    untold,
    asked: results,
  };
}

function share(part: number | null, whole: number | null): number | null {
  return part === null || whole === null || whole === 0 ? null : part / whole;
}

function verdict(rows: readonly FunnelRow[], untold: readonly string[], range: TimeRange) {
  const span = formatRange(range);
  const steps = rows
    .map(({ step, now, before }) => `${step} ${shown(now)} (${shown(before)} the week before)`)
    .join(", ");
  const why = untold.length === 0 ? "" : ` ${untold.join("; ")}.`;
  const known = rows.filter((row) => row.change !== null);
  if (known.length === 0) {
    const text = `Can't tell which step lost reports, because no step is known in both ${span} and the week before: ${steps}.${why}`;
    return { text, found: false };
  }
  const lost = known
    .filter((row) => row.change! < -LEAST_LOSS && errors(row) > ERRORS)
    .sort((a, b) => a.change! - b.change!);
  const [worst] = lost;
  if (worst === undefined) {
    return {
      text: `No step lost reports against the week before, ${span}: ${steps}.${why}`,
      found: false,
    };
  }
  const step = worst.step as (typeof STEPS)[number];
  const at = rows.indexOf(worst);
  const gap = rows
    .slice(0, at)
    .filter((row) => row.change === null)
    .map((row) => row.step);
  const where =
    step === "stored" && gap.includes("accepted")
      ? "Fewer reports are stored, but which step lost them can't be told"
      : CULPRITS[step];
  const more = lost.slice(1).map((row) => `${row.step} too (${percent(row.change!)})`);
  return {
    text: `${where}: ${percent(worst.change!)} against the week before, ${span}${more.length === 0 ? "" : `; ${more.join(", ")}`}: ${steps}.${why}`,
    found: true,
  };
}

/**
 * How many standard errors the share that came through lies below the usual one, on the log scale:
 * of what can only get fewer (accepted of submitted, stored of accepted) binomial, else Poisson.
 */
function errors({ step, now, before, passed, passed_before: usual, change }: FunnelRow): number {
  const part = step === "accepted" || step === "stored";
  const variance = (count: number | null, share: number | null) =>
    (part && share !== null && share <= 1 ? 1 - share + 1 / (count! + 1) : 1) / Math.max(1, count!);
  const error = Math.sqrt(variance(now, passed) + variance(before, usual));
  return -Math.log(Math.max(1e-9, 1 + change!)) / error;
}

function shown(value: number | null): string {
  return value === null ? "unknown" : value.toLocaleString("en-US");
}

function percent(change: number): string {
  return `${(100 * change).toFixed(0).replace("-", "−")} %`;
}
