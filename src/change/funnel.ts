import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import type { Logs } from "../logs/logs.js";
import type { Measurements } from "../measurements/measurements.js";
import { countDistinct } from "../query/measure.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { between, checkRange, formatRange, type TimeRange } from "../time/time-range.js";
import { HOUR, WEEK } from "../time/span.js";
import { originOfAll, type Finding } from "./finding.js";
import { signedPercent } from "./words.js";

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
  step: Step;
  now: number | null;
  before: number | null;
  /** The share of the step before that came through; of the first step, of the week before. */
  passed: number | null;
  passed_before: number | null;
  /** By how much the share that came through changed: −0.3 is 30 % fewer than usual. */
  change: number | null;
};

/** The steps in order, and who lost reports where a step is the one that did. */
const CULPRITS = {
  "check-in": "It is the probes: fewer check in, or check-in doesn't answer them",
  submit: "It is the probes or their way to the collector: they check in and don't submit",
  accepted: "It is the pipeline: reports are submitted and not accepted",
  stored: "It is ingestion: reports are accepted and not stored",
};
type Step = keyof typeof CULPRITS;
const STEPS = Object.keys(CULPRITS) as Step[];
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
  const { timeZone } = range;
  const earlier = between(new Date(+range.start - WEEK), new Date(+range.end - WEEK), { timeZone });
  const now = await stepsOf(logs, measurements, range);
  const then = await stepsOf(logs, measurements, earlier);
  const rows: FunnelRow[] = [];
  for (const step of STEPS) {
    const [n, m] = [now.counts[step], then.counts[step]];
    const from = rows.findLast((row) => row.now !== null && row.before !== null);
    const passed = share(n, from === undefined ? m : from.now);
    const usual = share(m, from === undefined ? m : from.before);
    const change = passed === null || usual === null || usual === 0 ? null : passed / usual - 1;
    rows.push({ step, now: n, before: m, passed, passed_before: usual, change });
  }
  const untold = [...new Set([...now.untold, ...then.untold])];
  const { text, found } = verdict(rows, untold, formatRange(range));
  const fresh = await freshness();
  // Who is silent now says nothing about a range that ended long ago.
  const isNow = +range.end > +fresh.result.origin.range!.end - HOUR;
  const asked = [...now.asked, ...then.asked];
  const column = (name: string, label: string, unit: string) =>
    ({ name, label, unit, additive: false, missing: "gap" }) as const;
  const origin = originOfAll(
    asked.length > 0 ? asked : [fresh.result],
    {
      dimensions: [{ name: "step", order: STEPS }],
      measures: [
        { ...column("now", "Now", "reports"), main: true },
        column("before", "The week before", "reports"),
        column("passed", "Share that came through", "share"),
        column("passed_before", "The same, the week before", "share"),
        column("change", "Change of that share", "share"),
      ],
    },
    untold,
  );
  return {
    kind: "funnel",
    sentence: isNow ? `${text} ${fresh.sentence}` : text,
    found: found || (isNow && fresh.found),
    result: new Result(resultOfRows(rows).table, { ...origin, range }),
    freshness: fresh,
  };
}

interface Steps {
  readonly counts: Readonly<Record<Step, number | null>>;
  /** Why steps can't be told, a clause each. */
  readonly untold: readonly string[];
  readonly asked: readonly Result<object>[];
}

async function stepsOf(logs: Logs, measurements: Measurements, range: TimeRange): Promise<Steps> {
  const untold: string[] = [];
  const asked: Result<object>[] = [];
  const attempt = async <Row extends object>(what: string, ask: () => Promise<Result<Row>>) => {
    try {
      const answer = await ask();
      asked.push(answer);
      return answer.rows();
    } catch (error) {
      if (!(error instanceof ProbelabError) || error.code === "ABORTED") throw error;
      untold.push(`${what} can't be told, because: ${error.message}`);
      return undefined;
    }
  };
  const noForm = (what: string) =>
    untold.push(`${what} can't be told: no line has their form, ${formatRange(range)}`);
  const lists = await attempt("check-ins", () => logs.checkIn({ range, every: "all" }));
  const submitted = await attempt("submissions", () => logs.submissions({ range }));
  const checkIns = Number(lists?.[0]?.lists ?? 0);
  if (lists !== undefined && checkIns === 0) noForm("check-ins");
  const first = { "check-in": checkIns || null };
  if (submitted !== undefined && submitted.length > 0) {
    const without = (...kinds: string[]) =>
      submitted.filter(({ finding }) => !kinds.includes(finding)).length;
    const accepted = without("refused", "unreadable");
    const stored = without("refused", "unreadable", "missing");
    return { counts: { ...first, submit: submitted.length, accepted, stored }, untold, asked };
  }
  if (submitted !== undefined) noForm("submissions");
  const measures = { reports: countDistinct("report_id") };
  const question = { range, every: "all", measures } as const;
  const reports = await attempt("stored reports", () => measurements.ask(question));
  const stored = reports === undefined ? null : Number(reports[0]?.reports ?? 0);
  return { counts: { ...first, submit: null, accepted: null, stored }, untold, asked };
}

function share(part: number | null, whole: number | null): number | null {
  return part === null || whole === null || whole === 0 ? null : part / whole;
}

function verdict(rows: readonly FunnelRow[], untold: readonly string[], span: string) {
  const shown = (value: number | null) => value?.toLocaleString("en-US") ?? "unknown";
  const steps = rows
    .map(({ step, now, before }) => `${step} ${shown(now)} (${shown(before)} the week before)`)
    .join(", ");
  const tail = `${steps}.${untold.length === 0 ? "" : ` ${untold.join("; ")}.`}`;
  const known = rows.filter((row) => row.change !== null);
  if (known.length === 0) {
    const text = `Can't tell which step lost reports, because no step is known in both ${span} and the week before: ${tail}`;
    return { text, found: false };
  }
  const lost = known
    .filter((row) => row.change! < -LEAST_LOSS && errors(row) > ERRORS)
    .sort((a, b) => a.change! - b.change!);
  const [worst, ...others] = lost;
  if (worst === undefined) {
    const lacking = rows.filter((row) => row.change === null).map(({ step }) => step);
    const none =
      lacking.length === 0
        ? "No step lost reports"
        : `No step that can be told lost reports (not told: ${lacking.join(", ")})`;
    return { text: `${none} against the week before, ${span}: ${tail}`, found: false };
  }
  const isOpen =
    worst.step === "stored" &&
    rows.some(({ step, change }) => step === "accepted" && change === null);
  const where = isOpen
    ? "Fewer reports are stored, but which step lost them can't be told"
    : CULPRITS[worst.step];
  const more = others.map(({ step, change }) => `; ${step} too (${signedPercent(change!)})`);
  return {
    text: `${where}: ${signedPercent(worst.change!)} against the week before, ${span}${more.join("")}: ${tail}`,
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
