import { Temporal } from "temporal-polyfill";
import { optional } from "../../base/error.js";
import { whereText } from "../../query/where.js";
import { resultOfRows } from "../../result/own-rows.js";
import { isVersionColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { compareVersions } from "../../result/version-order.js";
import { buckets } from "../../time/bucket.js";
import { DAY } from "../../time/span.js";
import { between, rangeText } from "../../time/time-range.js";
import type { Part } from "./account.js";
import type { ChangeCells, ChangeSource } from "./cells.js";
import { leavesBy, total } from "./cube.js";
import { releaseDimensions } from "./releases.js";
import { LEAST_RUNS } from "./thresholds.js";
import type { Compared } from "./run-evidence.js";
import { foundTable } from "../finding.js";

/** What shows the first cause of a change best, for its chart. */
export interface Evidence {
  /** `runs by version`: runs, and what each holds, before and after. `flow`: the rows along time, and what was expected. */
  readonly of: "runs by version" | "flow";
  readonly result: Result;
}

const RUN_SIZE = "measurements_per_run";
/** Versions of the program that are shown. */
const MOST_VERSIONS = 5;

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
  const held = [...leavesBy(leaves.codes[version]!, inPlace)].map(([code, own]) => {
    const [was, is] = [total(runs.before, own), total(runs.after, own)];
    const text = values[version]![code] ?? null;
    const sides = [
      { range: rangeText(cells.earlier), many: was, by: ratio, of: total(cells.before, own) },
      { range: rangeText(cells.later), many: is, by: 1, of: total(cells.after, own) },
    ];
    return { text, size: text === release ? Infinity : Math.max(was, is), sides };
  });
  const shown = held
    .filter(({ size }) => size >= LEAST_RUNS)
    .sort((a, b) => b.size - a.size)
    .slice(0, MOST_VERSIONS)
    .sort((a, b) => compareVersions(a.text, b.text));
  const rows = shown.flatMap(({ text, sides }) =>
    sides.map(({ range, many, by, of }) => ({
      [name]: text,
      range,
      runs: many * by,
      // The mean of a few runs says nothing.
      [RUN_SIZE]: many < LEAST_RUNS ? null : of / many,
    })),
  );
  const { range: _, ...known } = origin;
  const measure = { additive: false, missing: "gap" } as const;
  const filter = whereText(place);
  const left = held.length - shown.length;
  const result = resultOfRows(rows, {
    ...known,
    ...(filter !== "" && { filter }),
    columns: {
      dimensions: [
        { name, order: shown.map(({ text }) => text) },
        { name: "range", order: [rangeText(cells.earlier), rangeText(cells.later)] },
      ],
      measures: [
        { ...measure, name: "runs", label: "Runs", unit: "runs", main: true },
        { ...measure, name: RUN_SIZE, label: "Measurements a run", unit: "measurements" },
      ],
    },
    reductions: [
      ...(left > 0 ? [`The ${shown.length} of ${held.length} versions with most runs.`] : []),
      ...(rows.some((row) => row.runs > 0 && row[RUN_SIZE] === null)
        ? [`Not drawn: what fewer than ${LEAST_RUNS} runs held.`]
        : []),
    ],
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
  const own = Object.entries(part.where);
  // Of a release fewer or more were expected, as users come and go.
  if (own.some(([name]) => isVersionColumn(name))) return undefined;
  const range = between(before.start, after.end, { timeZone: after.timeZone });
  const [whole, lasts] = [+range.end - +range.start, +after.end - +after.start];
  const every = lasts <= 3 * DAY && whole <= 60 * DAY ? "hour" : "day";
  const filter = { ...where, ...Object.fromEntries(own) };
  const question = { range, every, where: filter, measures: { observed: measure }, signal };
  const asked = await optional(() => source.ask(question as never));
  const time = asked?.origin.columns.time;
  if (asked === null || time === undefined) return undefined;
  const came = asked.rows() as { readonly [column: string]: Date | number }[];
  const byStart = new Map(came.map((row) => [Number(row[time.name]), Number(row["observed"])]));
  const flow = buckets(range, every).map(({ start, end, complete }) => {
    return { start, end, complete, observed: byStart.get(+start) ?? 0 };
  });
  const later = flow.filter(({ start }) => start >= after.start);
  const [known, seen] = [
    total(cells.after, part.leaves),
    later.reduce((n, row) => n + row.observed, 0),
  ];
  // Another measure, or a dimension that is called as a column: these are other rows.
  const isSame = +(later[0]?.start ?? 0) !== +after.start || Math.abs(seen - known) <= known / 50;
  if (!isSame) return undefined;
  const isWeekly = +before.end - +before.start > 6.9 * DAY;
  const placed = flow.map((bucket) => {
    const instant = Temporal.Instant.fromEpochMilliseconds(+bucket.start);
    const { dayOfWeek, hour } = instant.toZonedDateTimeISO(after.timeZone);
    return { ...bucket, place: `${isWeekly ? dayOfWeek : ""} ${hour}` };
  });
  const earlier = placed.filter(({ end, complete }) => complete && end <= before.end);
  const rows = placed.map(({ start, observed, place }) => {
    const alike = earlier.filter((one) => start >= after.start && one.place === place);
    const all = alike.reduce((sum, one) => sum + one.observed, 0);
    return { [time.name]: start, observed, expected: alike.length > 0 ? all / alike.length : null };
  });
  const counted = { unit: cells.unit, additive: true } as const;
  const hours = isWeekly ? "same hours of the week" : "same hours";
  const places = every === "hour" ? hours : isWeekly ? "same weekdays" : "days";
  return {
    of: "flow",
    result: asked.with(foundTable(asked.table, [time.name, "observed", "expected"], rows), {
      columns: {
        time,
        dimensions: [],
        measures: [
          { ...counted, name: "observed", label: cells.label, missing: "zero", main: true },
          { ...counted, name: "expected", label: "Expected", missing: "gap" },
        ],
      },
      notes: [
        ...asked.origin.notes,
        `Expected: the mean of the ${places} in ${rangeText(before)}.`,
      ],
    }),
  };
}
