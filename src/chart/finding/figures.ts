import { MOST_ROWS } from "../../base/limits.js";
import { counted, lowered, textOf } from "../../base/text.js";
import { smallest } from "../../base/statistics.js";
import { resultOfRows } from "../../result/own-rows.js";
import type { ReleaseValue } from "../../service/release.js";
import { amount, number, percent, signedPercent } from "../../base/numbers.js";
import { spoken } from "../../change/words.js";
import { rowKey, rowsByKey } from "../../result/arquero-table.js";
import { valueWords } from "../../result/column-words.js";
import { gapMeasure, type Origin, type ResultColumns } from "../../result/origin.js";
import type { Result, Value } from "../../result/result.js";
import { DAY } from "../../time/span.js";
import { heading, label } from "../render/label.js";
import { THEMES } from "../render/theme.js";
import { BAR } from "../bar.js";
import type { Kind } from "../plot.js";
import { LINE } from "../line.js";
import type { Annotation, ChangeRecord, Options, FindingRow } from "../options.js";

/** How a finding is drawn: as a chart of a kind, of a Result made for it. */
export interface FindingPicture {
  readonly title: string;
  /** Notes on reading it, and on what isn't in it; a sentence each. @default none */
  readonly remarks?: readonly string[];
  readonly result: Result;
  readonly kind: Kind;
  readonly options: Options;
}

const isRest = (name: string | undefined): name is string =>
  /^(everything else|all rows without (it|them))$/.test(name ?? "");

/** `explain`: what each cause contributes to the change, the largest first, and what all other rows did. */
export function causes(result: Result): FindingPicture {
  const { name, unit } = changed(result);
  const rows = result.rows();
  const names = rows.map((row) => textOf(row["cause"]));
  const sum = rows.reduce((all, row) => all + Number(row["change"] ?? 0), 0);
  // Where causes outweigh each other, a share of what is left says nothing.
  const isShared = rows.every(({ part }) => Math.abs(Number(part)) <= 2);
  const figures = rows.map(({ change, part }) => {
    const share = isShared && part !== null ? ` (${percent(Number(part))})` : "";
    return `${differenceText(Number(change), unit)}${share}`;
  });
  const shares = isShared ? "; percentages are shares of that" : "";
  return {
    ...changes(result, names, figures),
    title:
      rows.length === 0
        ? `${spoken(name)}: nothing to compare`
        : names.some((each) => !isRest(each))
          ? `Where the ${sum < 0 ? "drop" : "rise"} in ${lowered(spoken(name))} comes from`
          : `${spoken(name)}: no cause stands out`,
    remarks: rows.length === 0 ? [] : [`The bars add up to ${differenceText(sum, unit)}${shares}.`],
  };
}

/** `compare`: the change of each value, in the finding's order. */
export function changedValues(result: Result): FindingPicture {
  const { name, unit } = changed(result);
  const rows = result.rows();
  const names = rows.map(({ dimension, value }) => {
    const column = textOf(dimension);
    return `${heading(column)} ${label(valueWords(column, value))}`;
  });
  const figures = rows.map(({ change, before, relative }) => {
    if (change === null) return `only in the ${before === null ? "later" : "earlier"} range`;
    const by = relative === null ? "" : ` (${signedPercent(Number(relative))})`;
    return `${differenceText(Number(change), unit)}${by}`;
  });
  return {
    ...changes(result, names, figures),
    title: `${spoken(name)}: change by value`,
    remarks: rows.length === 0 ? [] : ["Percentages: change from the earlier range."],
  };
}

/** `lab.release`: the change of each measure in percent of what the version before had; of shares in points, in a panel of their own. */
export function releaseMeasures(result: Result): FindingPicture {
  const was = labelOf(result, "before");
  const [relative, points] = [`Change from ${was} (%)`, "Change of shares (percentage points)"];
  const short = (value: number | null, unit: string) =>
    value === null ? "none" : amount(value, unit);
  const rows = (result.rows() as ReleaseValue[]).map((row): FindingRow => {
    const { measure, before, after, unit, verdict, change, low, high } = row;
    const isShare = unit === "share";
    const part = (value: number | null): number | null =>
      value === null || (!isShare && !before) ? null : 100 * (isShare ? value : value / before!);
    const said = verdict === "moved" ? "" : ` (${verdict})`;
    return {
      name: measure,
      panel: isShare ? points : relative,
      by: part(change),
      // Nothing falls by more than all of it.
      low: low === null ? null : part(Math.max(-(before ?? Infinity), low)),
      high: part(high),
      figures: `${short(before, unit)} → ${short(after, unit)}${said}`,
    };
  });
  const columns: ResultColumns = {
    dimensions: [
      { name: "name", order: rows.map(({ name }) => textOf(name)), ordered: true },
      { name: "panel", order: [relative, points] },
    ],
    measures: [
      gapMeasure("by", "Change", ""),
      ...["low", "high"].map((end) => gapMeasure(end, labelOf(result, end), "")),
    ],
  };
  return {
    result: drawnOf(result.origin, columns, rows, "figures"),
    kind: BAR,
    options: {
      ...{ x: "name", y: "by", yLabel: "", color: null, interval: ["low", "high"] },
      ...{ horizontal: true, sort: "given", text: "figures", extras: ["figures"] },
      ...{ facet: "panel", scales: "own", columns: 1 },
    },
    title: `${labelOf(result, "after")} compared with ${was}`,
  };
}

/** A Result of these rows in place of a finding's, with `texts` beside its columns. */
function drawnOf(
  origin: Origin,
  columns: ResultColumns,
  rows: readonly FindingRow[],
  ...texts: readonly string[]
): Result {
  const { time, dimensions, measures } = columns;
  const named = [...(time ? [time] : []), ...dimensions, ...measures].map(({ name }) => name);
  return resultOfRows(rows, { ...origin, columns, reductions: [] }, [...named, ...texts]);
}

/** What changed, by the label of its change, and its unit. */
function changed({ origin }: Result): { name: string; unit: string } {
  const measure = origin.columns.measures.find(({ name }) => name === "change");
  const { label = "It", unit = "" } = measure ?? {};
  return { name: label.replace(/, change$/, ""), unit };
}

/** Horizontal bars from zero, with their names and figures. */
function changes(
  result: Result,
  name: readonly string[],
  figures: readonly string[],
): Pick<FindingPicture, "result" | "kind" | "options"> {
  const last = name.at(-1);
  const rest = isRest(last) && { other: last };
  const columns = {
    ...result.origin.columns,
    dimensions: [{ name: "name", order: name, ...rest }],
  };
  return {
    result: result.with(result.table.assign({ name, figures }), { columns }),
    kind: BAR,
    options: {
      y: "change",
      ...(changed(result).unit === "share" && { yLabel: "Change (percentage points)" }),
      horizontal: true,
      sort: "given",
      extras: ["before", "after", "figures"],
      text: "figures",
    },
  };
}

/** A difference with its sign, short; of shares in percentage points. */
function differenceText(value: number, unit: string): string {
  const size = Math.abs(value);
  const short = unit !== "share" && size >= 100 ? Math.round(size) : Number(size.toPrecision(3));
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  return `${sign}${amount(short, unit).replace(" %", " pp")}`;
}

/** `lab.funnel`: the reports at each step, now and the week before, and by the step before. */
export function steps(result: Result): FindingPicture {
  const [now, before] = [labelOf(result, "now"), labelOf(result, "before")];
  const order = result.column("step").map((step) => label(step));
  const bar = (step: string, when: string, reports: Value, passed: Value): FindingRow => {
    // Submissions are no part of check-ins, and the first step follows none.
    const by =
      passed == null || step === "check-in"
        ? ""
        : step === "submit"
          ? ` (${number(Number(Number(passed).toPrecision(3)))} a check-in)`
          : ` (${percent(Number(passed))} of the step before)`;
    const figures = reports == null ? "unknown" : `${amount(Number(reports), "")}${by}`;
    return { step, when, reports, figures };
  };
  const rows = result
    .rows()
    .flatMap((row, at) => [
      bar(order[at]!, now, row["now"], row["passed"]),
      bar(order[at]!, before, row["before"], row["passed_before"]),
    ]);
  const columns: ResultColumns = {
    dimensions: [
      { name: "step", order, ordered: true },
      { name: "when", order: [now, before], other: before },
    ],
    measures: [gapMeasure("reports", "Reports", "")],
  };
  return {
    result: drawnOf(result.origin, columns, rows, "figures"),
    kind: BAR,
    options: {
      ...{ x: "step", y: "reports", color: "when", stack: false, horizontal: true },
      ...{ extras: ["figures"], text: "figures" },
    },
    title: "Reports from check-in to storage",
  };
}

/** The runs of a program's versions, and what each holds, before and after; see `Evidence`. */
export function runsByVersion(result: Result): FindingPicture {
  const { dimensions, measures } = result.origin.columns;
  const [version, range] = dimensions;
  const [was = "", is = ""] = range!.order.map(String);
  const rows = measures.flatMap(({ name, label }) =>
    result.rows().map((row) => ({ ...row, measure: label, value: row[name] })),
  );
  const columns: ResultColumns = {
    dimensions: [
      ...dimensions,
      { name: "measure", order: measures.map(({ label }) => label), ordered: true },
    ],
    measures: [gapMeasure("value", "", "")],
  };
  return {
    result: drawnOf(result.origin, columns, rows),
    kind: BAR,
    options: {
      ...{ x: version!.name, y: "value", yLabel: "", color: range!.name, stack: false },
      ...{ facet: "measure", scales: "own", horizontal: false, height: 200 },
      colors: { [was]: THEMES.light.neutral, [is]: THEMES.light.series[5]! },
    },
    title: "Runs, and measurements a run, by version",
  };
}

/** Rows along time against what was expected, the difference shaded; see `Evidence`. */
export function flow(result: Result): FindingPicture {
  const { time, measures } = result.origin.columns;
  const [observed, expected] = measures;
  const rows = result.rows().map((row): FindingRow => ({ ...row, series: observed!.label }));
  const judged = rows.filter(({ expected }) => expected !== null);
  const off = judged.reduce(
    (sum, row) => sum + Number(row["observed"]) - Number(row["expected"]),
    0,
  );
  const end = off < 0 ? Math.min : Math.max;
  const drawn = rows.flatMap((row): FindingRow[] => {
    const due = row["expected"];
    if (due === null) return [row];
    const far = end(Number(row["observed"]), Number(due));
    const usual = { ...row, series: expected!.label, observed: due, low: null, high: null };
    return [{ ...row, low: due, high: far }, usual];
  });
  const ends = [
    { ...expected!, name: "low", label: observed!.label },
    { ...expected!, name: "high", label: "what was expected" },
  ];
  const columns: ResultColumns = {
    time: time!,
    dimensions: [
      { name: "series", order: [observed!.label, expected!.label], other: expected!.label },
    ],
    // Every bucket has a row.
    measures: [{ ...observed!, missing: "gap" }, ...ends],
  };
  return {
    result: drawnOf(result.origin, columns, drawn),
    kind: LINE,
    options: { y: "observed", color: "series", band: ["low", "high"] },
    title: `${observed!.label} per ${time!.every}, against what was expected`,
  };
}

function labelOf({ origin }: Result, measure: string): string {
  return origin.columns.measures.find(({ name }) => name === measure)?.label ?? measure;
}

const MOST_LABELS = 12;
const MOST_GROUPS = 4;
const LEVEL = "Fitted level, without its season";

/**
 * `anomalies` and `changePoints`: the series in which something was found, a panel for each group, the
 * first found first; else the first groups. Of alarms a band from the limit to what was expected, and spans
 * of the alarms; of changes the fitted level, and a rule or a span where it changed.
 */
export function searchedSeries(
  { table, origin }: Result,
  { kind, sentence, rows: found = [] }: ChangeRecord,
): FindingPicture {
  const isAlarm = kind === "anomalies";
  const { dimensions, measures } = origin.columns;
  const time = origin.columns.time!;
  const measure = measures.find(({ main }) => main) ?? measures[0]!;
  const at = (row: FindingRow, column = time.name) => Number(row[column]);
  const keyOf = (row: FindingRow) => rowKey(dimensions.map(({ name }) => row[name]));
  const all = (table.objects() as FindingRow[]).toSorted((a, b) => at(a) - at(b));
  const byGroup = rowsByKey(all.map(keyOf));
  const hit = [...new Set(found.map(keyOf))].filter((key) => byGroup.has(key));
  const chosen = hit.length > 0 ? hit : [...byGroup.keys()];
  const end = all.length === 0 ? 0 : at(all.at(-1)!);
  const from = Math.min(end - 14 * DAY, ...found.map((row) => at(row, "t") - 3 * DAY));
  const most = Math.floor(MOST_ROWS / Math.min(MOST_GROUPS, chosen.length)) - 8;
  const groups = chosen.slice(0, MOST_GROUPS).map((key) => {
    const rows = byGroup.get(key)!.map((row) => all[row]!);
    const drawn = isAlarm ? rows.filter((row) => at(row) > from).slice(-most) : rows;
    const own = found.filter((row) => keyOf(row) === key);
    const texts = dimensions.map(
      ({ name, of }) => `${heading(name)} ${label(valueWords(of ?? name, rows[0]![name]), 60)}`,
    );
    const group = texts.join(", ");
    const open = drawn.filter(({ state }) => state === "incomplete").slice(0, 1);
    const unjudged = { end: new Date(end), label: "not judged yet", panel: group };
    return {
      group,
      rows: drawn.flatMap((row) => {
        // Rows of an hour that may still fill are no fall: the line ends before it.
        const held = isAlarm && row["state"] === "incomplete" ? { [measure.name]: null } : {};
        const value = { ...row, group, series: measure.label, ...held };
        const level = isAlarm ? null : levelAt(at(row), own);
        const fitted = { ...value, [measure.name]: level, series: LEVEL };
        return level === null ? [value] : [value, fitted];
      }),
      annotations: [
        ...own.slice(0, MOST_LABELS).map((row) => ({ ...span(row, measure.unit), panel: group })),
        ...open.map((row) => ({ ...unjudged, time: new Date(at(row)) })),
      ],
    };
  });
  const rows = groups.flatMap((each) => each.rows);
  const several = byGroup.size > 1 && { name: "group", order: groups.map(({ group }) => group) };
  const lines = !isAlarm &&
    found.length > 0 && { name: "series", order: [LEVEL, measure.label], other: measure.label };
  const columns = {
    // Spans show which aren't judged.
    time: { ...time, ...(isAlarm && { incomplete: [] }) },
    dimensions: [several, lines].filter((dimension) => dimension !== false),
    // Every bucket has a row.
    measures: measures.map((each) => ({ ...each, missing: "gap" as const })),
  };
  const { range } = origin;
  const noun = isAlarm ? "alarm" : "change";
  const none = sentence.startsWith("Can't tell") ? "can't tell" : `no ${noun}`;
  const many = found.length === 0 ? none : counted(found.length, noun);
  const start = new Date(smallest(rows.map((row) => at(row))));
  const shown = range && rows.length > 0 && { range: { ...range, start } };
  return {
    result: drawnOf({ ...origin, ...shown }, columns, rows),
    kind: LINE,
    options: {
      y: measure.name,
      color: lines ? "series" : null,
      annotations: groups.flatMap(({ annotations }) => annotations),
      ...(isAlarm && { band: ["limit", "expected"] as const }),
      ...(several && { facet: "group", scales: "own", columns: 1 }),
    },
    title: `${measure.label}${measure.additive ? ` per ${time.every}` : ""}: ${many}`,
    remarks: [
      chosen.length > MOST_GROUPS &&
        `Drawn: ${MOST_GROUPS} of ${chosen.length} groups, the ${found.length === 0 ? "first" : isAlarm ? "largest" : "clearest"}.`,
      lines && "Spans: when a change happened (95 % interval).",
    ].filter((remark) => remark !== false),
  };
}

/** An alarm's span; of a change a rule, or the span of its interval: `−34 %`. */
function span(row: FindingRow, unit: string): Annotation {
  const { kind, change, relative } = row;
  if (kind !== undefined) {
    const by = kind === "drop" ? ` ${signedPercent(Number(change))}` : "";
    return { time: row["t"] as Date, end: row["until"] as Date, label: `${textOf(kind)}${by}` };
  }
  const by =
    unit === "share" || relative == null
      ? differenceText(Number(row["size"]), unit)
      : signedPercent(Number(relative));
  const [time, end] = [row["earliest"] as Date, row["latest"] as Date];
  return { time, ...(end > time && { end }), label: by };
}

/** The fitted level of a series at a time, which each change sets anew; null without changes. */
function levelAt(at: number, changes: readonly FindingRow[]): number | null {
  const sorted = changes.toSorted((a, b) => Number(a["t"]) - Number(b["t"]));
  const last = sorted.findLast((row) => Number(row["t"]) <= at);
  return (last?.["after"] ?? sorted[0]?.["before"] ?? null) as number | null;
}
