import type { SourceKind } from "../../query/source.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import { askCube, cubeSourceOf, type Cube, type CubeSource } from "../../query/cube.js";
import type { LogGroup } from "../../sources/logs/ask.js";
import type { RunColumn } from "../../sources/measurements/questions.js";
import { nameOf, type Dimension } from "../../query/dimension.js";
import { count, sum, type Measure } from "../../query/measure.js";
import { whereText, type Where } from "../../query/where.js";
import { costOf, type MeasureColumn, type Origin } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { checkRange, formatRange, type TimeRange } from "../../time/time-range.js";
import { offsetAt } from "../../time/bucket.js";
import { HOUR } from "../../time/span.js";
import { cuboid, leavesBy, sums, total, type Leaves } from "./cube.js";
import { changeColumns } from "../finding.js";
import { releaseDimensions } from "./releases.js";
import { amount, percent } from "../../base/numbers.js";

/** A source of questions: `lab.measurements`, `lab.runs`, `lab.logs`. */
export interface ChangeSource {
  ask(options: never): Promise<Result<object>>;
}

/** A column of the table that is asked, by its name, or a dimension. */
export type ChangeDimension = RunColumn | LogGroup | Dimension;

/** What is asked of two ranges. */
export interface ChangeQuestion {
  readonly measure: Measure<unknown>;
  readonly before: TimeRange;
  readonly after: TimeRange;
  readonly dimensions: readonly (string | Dimension)[] | undefined;
  readonly where: Where;
  /** For errors: "explain a change". */
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** True if runs are counted beside a count of measurements, for what each holds: a third more time of the server. */
  readonly runs?: boolean;
}

/** The cells of two ranges side by side: a leaf for each combination of the dimensions' values. */
export interface ChangeCells {
  readonly kind: "flow" | "rate";
  readonly leaves: Leaves;
  readonly names: readonly string[];
  /** The texts of each dimension's values, by number; null where rows have none. */
  readonly values: readonly (readonly (string | null)[])[];
  /** A flow: what each leaf amounted to. A rate: the rows that it is of. */
  readonly before: Float64Array;
  readonly after: Float64Array;
  /** A rate: the part of those rows. */
  readonly partBefore: Float64Array;
  readonly partAfter: Float64Array;
  /** A count of measurements: the runs of each leaf that they are of; missing where runs aren't known. */
  readonly runs?: { readonly before: Float64Array; readonly after: Float64Array };
  /** Variance of one row's value, of a mean; missing for a share. */
  readonly variance?: number;
  /** The length of after by that of before. */
  readonly ratio: number;
  readonly label: string;
  /** `measurements`, `share`, `s`. */
  readonly unit: string;
  /** Rows of the source: "measurements". */
  readonly source: SourceKind | "rows";
  readonly rowNoun: string;
  /** Of a quantile: what it was, and the value whose share stands for it. */
  readonly quantile?: { readonly before: number; readonly after: number; readonly at: number };
  /** Why runs aren't counted, where ids mean something else in one of the ranges. */
  readonly unlike?: string;
  /** Why the later range holds no such row, where it holds none. */
  readonly whyEmpty?: string;
  /** What the first sentence says of the ranges: " (other days of the week)". */
  readonly caution?: string;
  readonly earlier: TimeRange;
  readonly later: TimeRange;
  /** Of the later answer, with what both cost. */
  readonly origin: Omit<Origin, "columns" | "reductions">;
}

/** @throws ProbelabError for what is no source of questions. */
export function checkSource(source: unknown, action: string): CubeSource {
  const found = cubeSourceOf(source);
  if (found !== undefined) return found;
  throw new ProbelabError(
    `Can't ${action} of ${shownValue(source)}: pass lab.measurements, lab.runs or lab.logs.`,
  );
}

/** @throws ProbelabError where the two ranges, or no dimension, can't be compared. */
function checkPeriods({ action, measure, dimensions, ...asked }: ChangeQuestion) {
  const before = checkRange(asked.before, action, "before");
  const after = checkRange(asked.after, action, "after");
  checkDimensions(dimensions, action);
  const ratio = (+after.end - +after.start) / (+before.end - +before.start);
  // An hour that the clocks leave out makes no other length of a day.
  if (measure.measure === "countDistinct" && Math.abs(ratio - 1) > 0.05) {
    throw new ProbelabError(
      `Can't ${action} by different values where the ranges differ in length (${formatRange(before)} and ${formatRange(after)}): a longer range holds more of them by itself. Take ranges of the same length.`,
    );
  }
  if (before.start > after.start) {
    throw new ProbelabError(
      `Can't ${action}: before (${formatRange(before)}) begins later than the range in question (${formatRange(after)}). Swap them.`,
    );
  }
  return { before, after, ratio };
}

/** What the ranges' places make of a comparison that was asked at a time. */
function cautions(before: TimeRange, after: TimeRange, askedAt: Date): string[] {
  const overlap = before.start < after.end && after.start < before.end;
  const [then, now] = [weekendPart(before), weekendPart(after)];
  // Of a month and the one before it weekends are up to a twentieth more.
  const otherDays = Math.abs(now - then) > 0.1;
  return [
    ...(overlap ? ["the ranges overlap, so that rows of both count on both sides"] : []),
    ...(otherDays
      ? [
          `Saturdays and Sundays are ${percent(now)} of the later range and ${percent(then)} of the earlier one, so that the week's own rhythm is in the change`,
        ]
      : []),
    ...(after.end > askedAt
      ? ["the later range ends in the future, so that rows are still to come"]
      : []),
  ];
}

/** So many dimensions have 127 combinations, which can be searched in about a second. */
const MOST_DIMENSIONS = 7;

/** @throws ProbelabError for what is no list, for none, for too many, and for one given twice. */
function checkDimensions(dimensions: ChangeQuestion["dimensions"], action: string): void {
  if (dimensions === undefined) return;
  const names = Array.isArray(dimensions) ? dimensions.map(nameOf) : [];
  const isOnce = new Set(names).size === names.length;
  if (names.length > 0 && names.length <= MOST_DIMENSIONS && isOnce) return;
  throw new ProbelabError(
    `Can't ${action} by dimensions: ${shownValue(dimensions)}. Pass a list of up to ${MOST_DIMENSIONS} columns and dimensions, each once, such as dimensions: ["probe_cc"].`,
  );
}

/** The part of a range that lies on Saturdays and Sundays of its zone. */
function weekendPart({ start, end, timeZone }: TimeRange): number {
  const hours = Math.max(1, Math.min(500, Math.round((+end - +start) / HOUR)));
  const days = Array.from({ length: hours }, (_, at) => {
    const time = +start + ((at + 0.5) / hours) * (+end - +start);
    return new Date(time + offsetAt(time, timeZone)).getUTCDay();
  });
  return days.filter((day) => day % 6 === 0).length / hours;
}

/** Asks the cells of both ranges: a scan of each, and one more of each where the measure is a quantile. */
export async function askCells(
  source: ChangeSource,
  question: ChangeQuestion,
): Promise<ChangeCells> {
  const { action, measure, where, signal } = question;
  const cube = checkSource(source, action);
  const { before, after, ratio } = checkPeriods(question);
  const { kind, parts, squares, quantile, ...named } = await partsOf(source, question);
  const plain = Object.keys(measure.where ?? {}).length === 0;
  const ofRuns = question.runs === true && measure.measure === "count" && plain;
  const asked = { by: question.dimensions, where, measures: parts, squares, action, signal };
  const distinct = ofRuns ? "report_id" : undefined;
  // One after the other: at an incident the server has enough to do.
  const earlier = await askCube(cube, { ...asked, distinct, range: before });
  const later = await askCube(cube, { ...asked, distinct, range: after });
  const nothing = { range: after, every: "all", where, measures: { rows: count() }, signal };
  const empty = later.rows > 0 ? [] : (await source.ask(nothing as never)).origin.notes;
  const { values, codes, ...sides } = sideBySide(earlier, later);
  const isRate = kind === "rate";
  const [label, unit] = (["label", "unit"] as const).map(
    (name) => measure[name] ?? named[name] ?? later.measures[0]![name],
  ) as [string, string];
  const [rowsBefore, rowsAfter] = [sides.before, sides.after].map((each) => each[isRate ? 1 : 0]!);
  if ([rowsBefore, rowsAfter].some((rows) => rows!.some((value) => value < 0))) {
    throw new ProbelabError(
      `Can't ${action} of ${label}: some of its sums are below zero, and parts of them don't add up. Take a measure that is at least zero, such as count().`,
    );
  }
  // The last that was asked beside a count of measurements, or of their sum.
  const [runsBefore, runsAfter] = isRate ? [] : [sides.before[1], sides.after[1]];
  const hasRuns = runsBefore !== undefined && runsAfter !== undefined && total(runsBefore) > 0;
  const isMeasured = later.kind === "measurements";
  const unlike =
    hasRuns && isMeasured ? idsChanged({ values, codes, ...sides }, earlier.names) : "";
  const cautious = cautions(before, after, later.origin.askedAt);
  const notes = [
    !isRate &&
      ratio !== 1 &&
      "The ranges differ in length: what was before is as of a range as long as after.",
    later.lacking.length > 0 && `The table has no ${later.lacking.join(", ")}: not looked at.`,
    ofRuns &&
      isMeasured &&
      later.distinct === undefined &&
      "The rows asked hold no report_id: how many measurements a run holds is unknown.",
    unlike,
    ...later.origin.notes,
    ...empty,
  ].filter((note): note is string => note !== false && note !== "");
  return {
    kind,
    leaves: { sizes: values.map(({ length }) => length), codes },
    names: earlier.names,
    values,
    before: rowsBefore!,
    after: rowsAfter!,
    partBefore: sides.before[0]!,
    partAfter: sides.after[0]!,
    ...(hasRuns && unlike === "" && { runs: { before: runsBefore, after: runsAfter } }),
    ...(isRate &&
      named.unit !== "share" &&
      quantile === undefined && { variance: rowVariance(sides) }),
    ratio,
    label,
    unit,
    source: later.kind,
    rowNoun: later.rowNoun,
    ...(quantile && { quantile }),
    caution: cautious.length === 0 ? "" : ` (${cautious.join("; ")})`,
    ...(unlike !== "" && { unlike }),
    ...(empty[0] !== undefined && { whyEmpty: empty[0] }),
    earlier: before,
    later: after,
    origin: { ...later.origin, ...costOf(earlier.origin, later.origin), notes },
  };
}

/** What is asked of a measure. */
interface MeasureParts {
  readonly kind: "flow" | "rate";
  /** Of a rate: the part, then all. */
  readonly parts: readonly Measure<unknown>[];
  readonly label?: string;
  readonly unit?: string;
  /** A sum whose rows vary in size. */
  readonly squares?: Measure<unknown>;
  readonly quantile?: ChangeCells["quantile"];
}

async function partsOf(source: ChangeSource, question: ChangeQuestion): Promise<MeasureParts> {
  const { measure, action, runs } = question;
  const { where = {}, column = "", of: [first, second] = [] } = measure;
  const flow = (...parts: readonly Measure<unknown>[]) => ({ kind: "flow", parts }) as const;
  const rate = (part: Measure<unknown>, all: Measure<unknown>, label: string, unit?: string) => ({
    ...({ kind: "rate", parts: [part, all], label } as const),
    ...(unit !== undefined && { unit }),
    ...(part.measure === "sum" && { squares: part }),
  });
  switch (measure.measure) {
    case "count":
    case "countDistinct":
      return flow(measure);
    case "sum":
      // Of runs the measurements: how many runs there are stands beside.
      return runs && column === "measurements" ? flow(measure, count({ where })) : flow(measure);
    case "rate":
      return flow(first!);
    case "share": {
      const part = count({ where: { ...first!.where, ...where } });
      return rate(part, count({ where }), `Share with ${whereText(first!.where!)}`, "share");
    }
    case "ratio":
      if ([first, second].every((part) => ["count", "sum"].includes(part!.measure)))
        return rate(first!, second!, "Ratio", "");
      throw new ProbelabError(
        `Can't ${action} of a ratio of ${first!.measure} and ${second!.measure}: its parts don't add up. Take a ratio of counts and sums, such as ratio(sum("bytes"), count()).`,
      );
    case "mean": {
      const known = count({ where: { ...where, [column]: { ne: null } } });
      return rate(sum(column, { where }), known, `${column}, mean`);
    }
    case "quantile":
      return quantileParts(source, question);
    default:
      throw new ProbelabError(
        `Can't ${action} of ${measure.measure ?? shownValue(measure)}: pass a count, a sum, countDistinct, a rate, a share, a ratio, a mean or a quantile, such as measure: count().`,
      );
  }
}

/**
 * A quantile moves as the share of rows above a fixed value does, for which the middle between the
 * two quantiles is taken: the linear form of its influence function (S. Firpo, N. Fortin,
 * T. Lemieux, "Unconditional quantile regressions", Econometrica 77 (3), 2009).
 */
async function quantileParts(
  source: ChangeSource,
  { measure, action, where, signal, before, after }: ChangeQuestion,
): Promise<MeasureParts> {
  const { column = "", where: own = {} } = measure;
  const answers: Result[] = [];
  for (const range of [before, after]) {
    const question = { range, every: "all", where, measures: { value: measure }, signal };
    answers.push((await source.ask(question as never)) as Result);
  }
  const [was, is] = answers.map((answer) => answer.rows()[0]?.["value"] as number | null);
  if (was == null || is == null) {
    throw new ProbelabError(
      `Can't ${action} of the ${column}'s quantile: ${was == null ? "before" : "after"} holds no row with a number. Take a range that does.`,
    );
  }
  const at = (was + is) / 2;
  const { label, unit } = answers[1]!.origin.columns.measures[0]!;
  const rows = (which: object) => count({ where: { ...own, [column]: which } });
  const parts = [rows({ gt: at }), rows({ ne: null })];
  return { kind: "rate", parts, label, unit, quantile: { before: was, after: is, at } };
}

/** Numbers the values of each dimension, and gives each combination of them a place. */
function sideBySide(before: Cube, after: Cube) {
  const values: (string | null)[][] = [];
  const rowCodes = before.names.map((_, at) => {
    const known = new Map<string | null, number>();
    const codes = new Int32Array(before.rows + after.rows);
    let row = 0;
    for (const { dimensions } of [before, after]) {
      for (const value of dimensions[at]!) {
        const code = known.get(value) ?? known.size;
        if (code === known.size) known.set(value, code);
        codes[row++] = code;
      }
    }
    values.push([...known.keys()]);
    return codes;
  });
  const sizes = values.map(({ length }) => length);
  const all = before.names.map((_, at) => at);
  const { parts: place, groups, example } = cuboid({ sizes, codes: rowCodes }, all);
  const spread = (cube: Cube, from: number) =>
    [...cube.values, cube.distinct, cube.nameless].flatMap((values) =>
      values === undefined
        ? []
        : sums({ parts: place.subarray(from, from + cube.rows), groups }, values),
    );
  return {
    values,
    codes: rowCodes.map((codes) => example.map((row) => codes[row]!)),
    before: spread(before, 0),
    after: spread(after, before.rows),
  };
}

/** If the share of rows without a report_id moves by more, runs can't be compared. */
const NAMELESS = 0.05;
/** A run of a program held at least so many measurements, where each has an id of its own now (or the reverse). */
const LEAST_HELD = 2;

/**
 * Says why the ids of runs mean something else in one of the ranges, "" where they don't: many rows of a
 * program lack one, or each measurement has its own. Its runs can't be compared then, nor those of all.
 */
function idsChanged(
  { values, codes, before, after }: ReturnType<typeof sideBySide>,
  names: readonly string[],
): string {
  const { program } = releaseDimensions({ names });
  const own = program < 0 ? [] : [...leavesBy(codes[program]!)];
  const groups = own.map(([code, leaves]) => {
    return [` of ${names[program]} ${values[program]![code]}`, leaves] as const;
  });
  for (const [name, leaves] of [["", [...codes[0]!.keys()]] as const, ...groups]) {
    const ids = ([rows, runs, nameless]: readonly Float64Array[]) => {
      const [all, none] = [total(rows!, leaves), nameless ? total(nameless, leaves) : 0];
      return { all, lack: none / all, held: (all - none) / total(runs!, leaves) };
    };
    const [was, is] = [ids(before), ids(after)];
    if (!(was.all > 100 && is.all > 100)) continue;
    const why = "so that runs can't be compared: measurements alone are judged.";
    if (Math.abs(is.lack - was.lack) > NAMELESS) {
      return `${percent(is.lack)} of the measurements${name} have no report_id (${percent(was.lack)} before), ${why}`;
    }
    if (Math.min(was.held, is.held) < 1.05 && Math.max(was.held, is.held) > LEAST_HELD) {
      const when = is.held < was.held ? "now" : "before";
      return `Each measurement${name} has a report_id of its own ${when}, ${why}`;
    }
  }
  return "";
}

/** What the columns of a table of changes mean: those that every such table has, then `more`. */
export function changeMeasures(
  { label, unit, quantile }: Pick<ChangeCells, "label" | "unit" | "quantile">,
  more: readonly (readonly [name: string, label: string, unit: string])[],
): MeasureColumn[] {
  // Parts of a quantile are measured by the share above its middle.
  const value = quantile ? `Share above ${amount(quantile.at, unit)}` : label;
  const own = quantile ? "share" : unit;
  return changeColumns([
    ["before", `${value}, before`, own],
    ["after", `${value}, after`, own],
    ["change", `${label}, change`, unit],
    ["low", "Low end of the 95 % interval", unit],
    ["high", "High end of the 95 % interval", unit],
    ...more,
  ]);
}

/** The variance of one row's value: by the squares, where they were asked; of counts as of a Poisson count. */
function rowVariance(sides: Pick<ReturnType<typeof sideBySide>, "before" | "after">): number {
  const [parts, rows, squares] = [0, 1, 2].map((at) =>
    [sides.before, sides.after].reduce((all, each) => all + (each[at] ? total(each[at]) : NaN), 0),
  ) as [number, number, number];
  const mean = parts / rows;
  return Number.isNaN(squares) ? mean : Math.max(0, squares / rows - mean * mean);
}
