import { optional } from "../../base/error.js";
import { whereText, type Where } from "../../query/where.js";
import { resultOfRows } from "../../result/own-rows.js";
import { isVersionColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { compareVersions } from "../../result/version-order.js";
import { buckets, offsetAt } from "../../time/bucket.js";
import { DAY, HOUR, WEEK } from "../../time/span.js";
import { between, rangeText, type TimeRange } from "../../time/time-range.js";
import type { Part, RunsHold } from "./account.js";
import type { ChangeCells, ChangeSource } from "./cells.js";
import { leavesBy, total } from "./cube.js";
import { releaseDimensions } from "./releases.js";
import { LEAST_RUNS } from "./thresholds.js";

/** The ranges that were compared, and which rows count. */
export interface Compared {
  readonly before: TimeRange;
  readonly after: TimeRange;
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

/** What shows the first cause of a change best, for its chart. */
export interface Evidence {
  /** `runs by version`: runs, and what each holds, before and after. `flow`: the rows along time, and what was expected. */
  readonly of: "runs by version" | "flow";
  readonly result: Result;
}

const RUN_SIZE = "measurements_per_run";
/** Versions of the program that are shown. */
const MOST_VERSIONS = 5;
/** Duplicates tell why runs hold more if they are this part of what is more. */
const LEAST_REPEATED = 0.5;
/** So many causes are asked about. */
const MOST_ASKED = 3;

type Ask = (options: object) => Promise<Result<object>>;

/**
 * Asks of parts whose runs hold fewer measurements how long the runs last, of those that hold more how
 * many rows are duplicates: two narrow questions a part. What can't be asked stays unknown.
 */
export async function withRunEvidence(
  source: ChangeSource,
  { before, after, where = {}, signal }: Compared,
  parts: readonly Part[],
): Promise<Part[]> {
  const asks = { ...source } as Partial<Record<"durations" | "runDurations" | "duplicates", Ask>>;
  const seenOf = async (part: Part & RunsHold): Promise<Part> => {
    const isFewer = part.holds < part.held;
    const ask = isFewer ? (asks.durations ?? asks.runDurations) : asks.duplicates;
    if (ask === undefined) return part;
    /** The one number that is asked of rows of a range. */
    const numberOf = async (range: TimeRange, own: object) => {
      const question = { range, every: "all", where: { ...where, ...own } };
      const more = { ...(isFewer && { quantiles: [0.5] }), ...(signal && { signal }) };
      const [row] = (await ask({ ...question, ...more })).rows();
      const { q50, share } = (row ?? {}) as Partial<Record<string, number | null>>;
      return q50 ?? share ?? NaN;
    };
    // Of a release that is new its program shows what was.
    const all = Object.entries(part.where).filter(([name]) => !isVersionColumn(name));
    const was = await numberOf(before, Object.fromEntries(all));
    const is = await numberOf(after, part.where);
    // Duplicates tell it only where they are enough of it.
    const least = isFewer ? -Infinity : LEAST_REPEATED * (1 - part.before! / part.after!);
    return is - was > least ? { ...part, shown: { was, is } } : part;
  };
  const known: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const isNamed = Object.values(part.where).every((value) => typeof value === "string");
    const canAsk = part.kind === "runs hold" && at < MOST_ASKED && isNamed;
    known.push((canAsk && (await optional(() => seenOf(part)))) || part);
  }
  return known;
}

/** Runs and measurements a run of each version of a release's program, where its runs are known. */
export function runsByVersion(cells: ChangeCells, part: Part | undefined): Evidence | undefined {
  const { names, values, leaves, runs, ratio, origin } = cells;
  const { version } = releaseDimensions(cells);
  const name = names[version];
  if (part === undefined || runs === undefined || name === undefined) return undefined;
  const { [name]: release, ...place } = part.where;
  if (typeof release !== "string") return undefined;
  // The other releases of its program, in its country if it names one.
  const wanted = Object.entries(place).map(([column, value]) => {
    const at = names.indexOf(column);
    return { codes: leaves.codes[at], code: values[at]?.indexOf(value) ?? -1 };
  });
  const inPlace = [...cells.after.keys()].filter((leaf) =>
    wanted.every(({ codes, code }) => codes?.[leaf] === code),
  );
  const ranges = [rangeText(cells.earlier), rangeText(cells.later)];
  const versions = [...leavesBy(leaves.codes[version]!, inPlace)].map(([code, own]) => {
    const held = [total(runs.before, own), total(runs.after, own)] as const;
    const text = values[version]![code] ?? null;
    return { text, own, held, size: text === release ? Infinity : Math.max(held[0], held[1]) };
  });
  const shown = versions
    .filter(({ size }) => size >= LEAST_RUNS)
    .sort((a, b) => b.size - a.size)
    .slice(0, MOST_VERSIONS)
    .sort((a, b) => compareVersions(a.text, b.text));
  const rows = shown.flatMap(({ text, own, held }) =>
    ranges.map((range, at) => ({
      [name]: text,
      range,
      runs: held[at]! * (at === 0 ? ratio : 1),
      // The mean of a few runs says nothing.
      [RUN_SIZE]:
        held[at]! < LEAST_RUNS
          ? null
          : total(at === 0 ? cells.before : cells.after, own) / held[at]!,
    })),
  );
  const { range: _, ...known } = origin;
  const measure = { additive: false, missing: "gap" } as const;
  const filter = whereText(place);
  const result = resultOfRows(rows, {
    ...known,
    ...(filter !== "" && { filter }),
    columns: {
      dimensions: [
        { name, order: shown.map(({ text }) => text) },
        { name: "range", order: ranges },
      ],
      measures: [
        { ...measure, name: "runs", label: "Runs", unit: "runs", main: true },
        { ...measure, name: RUN_SIZE, label: "Measurements a run", unit: "measurements" },
      ],
    },
    reductions: [
      shown.length < versions.length &&
        `The ${shown.length} of ${versions.length} versions with most runs.`,
      rows.some((row) => row.runs > 0 && row[RUN_SIZE] === null) &&
        `Not drawn: what fewer than ${LEAST_RUNS} runs held.`,
    ].filter((text) => text !== false),
    notes: [],
  });
  return { of: "runs by version", result };
}

/**
 * The rows of a part along time, and from the later range on what was expected: the mean of the same
 * hours (or days) of the week in the earlier one. Undefined where it can't be asked.
 */
export async function flowOf(
  source: ChangeSource,
  { before, after, where = {}, signal }: Compared,
  cells: ChangeCells,
  part: Part,
  measure: unknown,
): Promise<Evidence | undefined> {
  // Of a release fewer or more were expected, as users come and go.
  if (Object.keys(part.where).some(isVersionColumn)) return undefined;
  const { timeZone } = after;
  const range = between(before.start, after.end, { timeZone });
  const [whole, lasts] = [+range.end - +range.start, +after.end - +after.start];
  const every = lasts <= 3 * DAY && whole <= 60 * DAY ? "hour" : "day";
  const filter = { ...where, ...part.where };
  const question = { range, every, where: filter, measures: { observed: measure }, signal };
  const asked = await optional(() => source.ask(question as never));
  const time = asked?.origin.columns.time;
  if (asked === null || time === undefined) return undefined;
  const came = asked.rows() as { readonly [column: string]: Date | number }[];
  const byStart = new Map(came.map((row) => [Number(row[time.name]), Number(row["observed"])]));
  const isWeekly = +before.end - +before.start > 6.9 * DAY;
  const flow = buckets(range, every).map(({ start, end, complete }) => {
    const local = +start + offsetAt(+start, timeZone);
    const place = Math.floor((local % (isWeekly ? WEEK : DAY)) / HOUR);
    const isEarlier = complete && end <= before.end;
    return { start, observed: byStart.get(+start) ?? 0, place, isEarlier };
  });
  const later = flow.filter(({ start }) => start >= after.start);
  const seen = later.reduce((n, row) => n + row.observed, 0);
  const known = total(cells.after, part.leaves);
  // Another measure, or a dimension that is called as a column: these are other rows.
  const isSame = +(later[0]?.start ?? 0) !== +after.start || Math.abs(seen - known) <= known / 50;
  if (!isSame) return undefined;
  const rows = flow.map(({ start, observed, place }) => {
    const alike = flow.filter(
      (one) => start >= after.start && one.isEarlier && one.place === place,
    );
    const all = alike.reduce((sum, one) => sum + one.observed, 0);
    return { [time.name]: start, observed, expected: alike.length > 0 ? all / alike.length : null };
  });
  const counted = { unit: cells.unit, additive: true } as const;
  const hours = isWeekly ? "same hours of the week" : "same hours";
  const places = every === "hour" ? hours : isWeekly ? "same weekdays" : "days";
  const note = `Expected: the mean of the ${places} in ${rangeText(before)}.`;
  return {
    of: "flow",
    result: resultOfRows(rows, {
      ...asked.origin,
      columns: {
        time,
        dimensions: [],
        measures: [
          { ...counted, name: "observed", label: cells.label, missing: "zero", main: true },
          { ...counted, name: "expected", label: "Expected", missing: "gap" },
        ],
      },
      notes: [...asked.origin.notes, note],
    }),
  };
}
