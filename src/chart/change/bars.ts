import { counted, textOf } from "../../base/text.js";
import { valueWords } from "../../result/column-words.js";
import type { Result } from "../../result/result.js";
import { BAR, turned, horizontalSize } from "../bar.js";
import type { Point } from "../draw-rows.js";
import { specRow, type ChartKind, type Frame } from "../frame.js";
import { heading, label } from "../../render/label.js";
import type { FindingRow } from "../options.js";
import type { VegaLiteSpec } from "../../render/theme.js";
import { DOT } from "../dot.js";
import { originSpan } from "../sentences.js";
import {
  amountText,
  differenceText,
  madeResult,
  numberOf,
  partText,
  type Figure,
} from "./figure.js";

/** `explain`: what each cause contributes to the change, the largest first, and everything else. */
export function causes(result: Result): Figure {
  const rows = result.rows();
  const sum = rows.reduce((all, row) => all + (numberOf(row["change"]) ?? 0), 0);
  const added = differenceText(sum, changed(result)?.unit ?? "");
  return changes(
    { result, rows, names: rows.map((row) => textOf(row["cause"])) },
    (measure) => `Where the ${sum < 0 ? "drop" : "rise"} in ${lowerFirst(measure)} comes from`,
    `The bars add up to ${added}; percentages are shares of that.`,
  );
}

/** `compare`: the change of each value, by dimension, that of the largest first. */
export function changedValues(result: Result): Figure {
  const order = [...new Set(result.column("dimension"))];
  const rows = result
    .rows()
    .toSorted((a, b) => order.indexOf(a["dimension"]) - order.indexOf(b["dimension"]));
  const names = rows.map((row) => {
    const dimension = textOf(row["dimension"]);
    return `${heading(dimension)} ${label(valueWords(dimension, row["value"]))}`;
  });
  return changes(
    { result, rows, names },
    (measure) => `${measure}: change by value`,
    "Percentages: change from the earlier range.",
  );
}

const REST = "everything else";

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

const changed = ({ origin }: Result) =>
  origin.columns.measures.find(({ name }) => name === "change");

interface Changes {
  readonly result: Result;
  readonly rows: readonly FindingRow[];
  readonly names: readonly string[];
}

/** Lying bars from zero, with intervals and figures at their ends. */
function changes(
  { result, rows, names }: Changes,
  titleOf: (measure: string) => string,
  sentence: string,
): Figure {
  const { label: name = "It", unit = "" } = changed(result) ?? {};
  const [scale, of] = unit === "share" ? [100, "percentage points"] : [1, unit];
  const column = (of: string, by = 1): (number | null)[] =>
    rows.map((row) => {
      const value = numberOf(row[of]);
      return value && value * by;
    });
  const rest = names.at(-1) === REST && { other: REST };
  const title = [titleOf(name.replace(/, change$/, "")), ...originSpan(result.origin)];
  return {
    result: madeResult(
      result,
      {
        name: names,
        change: column("change", scale),
        low: column("low", scale),
        high: column("high", scale),
        before: column("before"),
        after: column("after"),
        figures: rows.map((row) => changeFigures(row, unit)),
      },
      [{ name: "name", order: names, ...rest }],
      [
        { name: "change", label: "Change", unit: of, interval: ["low", "high"] },
        { name: "low", label: "95 % interval, low", unit: of },
        { name: "high", label: "95 % interval, high", unit: of },
        { name: "before", label: "Before", unit },
        { name: "after", label: "After", unit },
      ],
    ),
    kind: BAR,
    options: {
      y: "change",
      horizontal: true,
      sort: "given",
      beside: ["before", "after", "figures"],
      text: "figures",
    },
    title: () => title.join(", "),
    told: rows.length === 0 ? [] : [sentence],
  };
}

/** `−23,850 (−58 %)`. */
function changeFigures(row: FindingRow, unit: string): string {
  const [change, before] = [numberOf(row["change"]), numberOf(row["before"])];
  if (change === null) return `only in the ${before === null ? "later" : "earlier"} range`;
  const by = numberOf(row["relative"] === undefined ? row["part"] : row["relative"]);
  const sign = row["relative"] !== undefined && by !== null && by > 0 ? "+" : "";
  const brackets = by === null || Math.abs(by) > 99 ? "" : ` (${sign}${partText(by)})`;
  return `${differenceText(change, unit)}${brackets}`;
}

const WHEN = ["Now", "The week before"] as const;

/** `lab.funnel`: the reports at each step, now and the week before, and what came through. */
export function steps(result: Result): Figure {
  const all = result.rows().flatMap((row) => [
    { step: label(row["step"]), reports: numberOf(row["now"]), passed: numberOf(row["passed"]) },
    {
      step: label(row["step"]),
      reports: numberOf(row["before"]),
      passed: numberOf(row["passed_before"]),
    },
  ]);
  const column = <Name extends keyof (typeof all)[number]>(name: Name) =>
    all.map((row) => row[name]);
  return {
    result: madeResult(
      result,
      {
        step: column("step"),
        when: all.map((_, at) => WHEN[at % 2]),
        reports: column("reports"),
        // What the first step let through isn't known: it is compared with the week before.
        figures: all.map(({ step, reports, passed }) =>
          reports === null
            ? "unknown"
            : `${amountText(reports, "")}${passed === null || step === "check-in" ? "" : ` (${partText(passed)} came through)`}`,
        ),
      },
      [
        { name: "step", order: column("step"), ordered: true },
        { name: "when", order: WHEN, other: WHEN[1] },
      ],
      [{ name: "reports", label: "Reports", unit: "" }],
    ),
    kind: BAR,
    options: {
      x: "step",
      y: "reports",
      color: "when",
      stack: false,
      horizontal: true,
      beside: ["figures"],
      text: "figures",
    },
    title: () => ["Reports from check-in to storage", ...originSpan(result.origin)].join(", "),
    told: [],
  };
}

const MOST_PROGRAMS = 30;
/** Seconds of silence that are usual for every program. */
const USUAL = 900;
const SELDOM = "Too seldom to judge";
const SECONDS = [1, 10, 60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000];

/** How fresh the data is: how old the newest row of each program is, and the silence that is usual for it. */
export function ages(result: Result): Figure {
  const all = result.rows().map((row) => {
    const [age, usual] = [numberOf(row["age"]) ?? 0, numberOf(row["longest_silence"]) ?? 0];
    const { program, silent } = row;
    const named =
      program === null || program === undefined
        ? ""
        : `: ${program === "" ? "no named program" : label(program)}`;
    return {
      name: `${label(row["table"])}${named}`,
      // A log axis has no zero, and nobody cares about less than a second.
      age: Math.max(1, age),
      limit: silent === null ? null : Math.max(USUAL, 2 * usual),
      state: silent === null ? SELDOM : silent === true ? "Silent" : "As usual",
      told: duration(age),
      usual: duration(usual),
      // What is silent first, then what is nearest to it.
      rank: (silent === true ? 1e9 : 0) + age / Math.max(USUAL, 2 * usual),
    };
  });
  const rows = all.toSorted((a, b) => b.rank - a.rank).slice(0, MOST_PROGRAMS);
  const column = <Name extends keyof (typeof all)[number]>(name: Name) =>
    rows.map((row) => row[name]);
  return {
    result: madeResult(
      result,
      {
        name: column("name"),
        age: column("age"),
        limit: column("limit"),
        state: column("state"),
        how_old: column("told"),
        longest_silence: column("usual"),
      },
      [
        { name: "name", order: column("name") },
        { name: "state", order: ["As usual", "Silent"], other: SELDOM },
      ],
      [
        { name: "age", label: "Age of the newest row", unit: "" },
        { name: "limit", label: "Silent after (s)", unit: "" },
      ],
    ),
    kind: AGES,
    options: { color: "state", yType: "log", beside: ["how_old", "longest_silence", "limit"] },
    title: () => "How old the newest rows are, by table and program",
    told: [
      ...(all.length > rows.length
        ? [
            `Drawn: ${rows.length} of ${counted(all.length, "row")}, those that are late by most first.`,
          ]
        : []),
      "Upright strokes: twice the longest silence of the week before, 15 minutes at least; beyond it a program is silent.",
    ],
  };
}

/** A point for each program, and a stroke where its silence begins. */
const AGES: ChartKind = {
  ...DOT,
  categories: true,
  horizontal: () => true,
  size: (drawing) => horizontalSize({ ...drawing, series: [] }, {}),
  layers: (frame) => ageLayers(frame).map(turned),
};

function ageLayers(frame: Frame): VegaLiteSpec[] {
  const { drawing, theme, x } = frame;
  const limits = drawing.points.map(({ beside }) => Number(beside?.["_limit"] ?? 0));
  const most = Math.max(3600, ...limits, ...drawing.points.map((point) => Number(point.y)));
  const y = {
    ...frame.y,
    scale: { type: "log", domain: [1, most * 2], nice: false },
    axis: {
      ...(frame.y.axis as VegaLiteSpec),
      title: "Age of the newest row (log scale)",
      values: SECONDS.filter((at) => at <= most * 2),
      labelExpr: `({${SECONDS.map((at) => `"${at}":"${duration(at)}"`).join(",")}})[datum.value]`,
    },
  };
  const tooltip = frame.tooltip.filter(({ field }) => field !== frame.fields.y);
  const own = { ...frame, y, tooltip };
  const rows = (points: readonly Point[]) =>
    frame.data(points.map((point) => specRow(point, frame)));
  const judged = rows(drawing.points.filter(({ beside }) => beside?.["_limit"] !== null));
  const limit = { x, y: { ...y, field: "_limit" } };
  return [
    {
      ...judged,
      mark: { type: "rule", color: theme.grid, strokeWidth: 1.5 },
      encoding: { ...limit, y2: { datum: 1 } },
    },
    {
      ...judged,
      mark: { type: "tick", color: theme.muted, thickness: 2, size: 14 },
      encoding: { ...limit, tooltip },
    },
    ...DOT.layers(own),
    {
      ...rows(drawing.points),
      mark: { type: "text", align: "left", dx: 8, fontSize: 11, color: theme.text },
      encoding: { x, y, text: { field: "_how_old" }, tooltip },
    },
  ];
}

/** `42 s`, `3 min`, `5 h`, `2 d`. */
function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 60) return `${Math.round(seconds)} s`;
  if (size < 3600) return `${Math.round(seconds / 60)} min`;
  if (size < 86_400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
