import { lowered, textOf } from "../../base/text.js";
import { amount, percent, signedPercent } from "../../change/words.js";
import { newTable } from "../../result/arquero-table.js";
import { valueWords } from "../../result/column-words.js";
import type { DimensionColumn, MeasureColumn } from "../../result/origin.js";
import { Result, type Value } from "../../result/result.js";
import { heading, label } from "../../render/label.js";
import { BAR } from "../bar.js";
import type { ChartKind } from "../frame.js";
import type { DrawOptions, FindingRow } from "../options.js";

/** How a finding is drawn: as a chart of a kind, of a Result made for it. */
export interface Figure {
  readonly title: string;
  /** Notes on reading it, and on what isn't in it; a sentence each. */
  readonly remarks: readonly string[];
  readonly result: Result;
  readonly kind: ChartKind;
  readonly options: DrawOptions;
}

const REST = "everything else";

/** `explain`: what each cause contributes to the change, the largest first, and everything else. */
export function causes(result: Result): Figure {
  const rows = result.rows();
  const sum = rows.reduce((all, row) => all + (numberOf(row["change"]) ?? 0), 0);
  const { label: changed = "", unit = "" } = changeColumn(result) ?? {};
  const name = changed.replace(/, change$/, "");
  return {
    ...changes(
      result,
      rows,
      rows.map((row) => textOf(row["cause"])),
    ),
    title: `Where the ${sum < 0 ? "drop" : "rise"} in ${lowered(name)} comes from`,
    remarks:
      rows.length === 0
        ? []
        : [`The bars add up to ${differenceText(sum, unit)}; percentages are shares of that.`],
  };
}

/** `compare`: the change of each value, by dimension, that of the largest first. */
export function changedValues(result: Result): Figure {
  const order = [...new Set(result.column("dimension"))];
  const place = (row: FindingRow) => order.indexOf(row["dimension"]);
  const rows = result.rows().toSorted((a, b) => place(a) - place(b));
  const names = rows.map((row) => {
    const dimension = textOf(row["dimension"]);
    return `${heading(dimension)} ${label(valueWords(dimension, row["value"]))}`;
  });
  const name = changeColumn(result)?.label.replace(/, change$/, "") ?? "It";
  return {
    ...changes(result, rows, names),
    title: `${name}: change by value`,
    remarks: rows.length === 0 ? [] : ["Percentages: change from the earlier range."],
  };
}

const changeColumn = ({ origin }: Result) =>
  origin.columns.measures.find(({ name }) => name === "change");

/** Lying bars from zero, with intervals and figures at their ends. */
function changes(
  result: Result,
  rows: readonly FindingRow[],
  names: readonly string[],
): Omit<Figure, "title" | "remarks"> {
  const unit = changeColumn(result)?.unit ?? "";
  const [scale, of] = unit === "share" ? [100, "percentage points"] : [1, unit];
  const column = (name: string, by = 1): Value[] =>
    rows.map((row) => {
      const value = numberOf(row[name]);
      return value && value * by;
    });
  const columns = {
    name: names,
    change: column("change", scale),
    low: column("low", scale),
    high: column("high", scale),
    before: column("before"),
    after: column("after"),
    figures: rows.map((row) => changeFigures(row, unit)),
  };
  const rest = names.at(-1) === REST && { other: REST };
  return {
    result: madeResult(
      result,
      columns,
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
  };
}

/** `−23,850 (−58 %)`. */
function changeFigures(row: FindingRow, unit: string): string {
  const [change, before] = [numberOf(row["change"]), numberOf(row["before"])];
  if (change === null) return `only in the ${before === null ? "later" : "earlier"} range`;
  const relative = row["relative"] !== undefined;
  const by = numberOf(relative ? row["relative"] : row["part"]);
  const brackets =
    by === null || Math.abs(by) > 99 ? "" : ` (${relative ? signedPercent(by) : percent(by)})`;
  return `${differenceText(change, unit)}${brackets}`;
}

/** A difference with its sign, short; of shares in percentage points. */
export function differenceText(value: number, unit: string): string {
  const size = Math.abs(value);
  const short = unit !== "share" && size >= 100 ? Math.round(size) : Number(size.toPrecision(3));
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  return `${sign}${amount(short, unit).replace(" %", " pp")}`;
}

/** `lab.funnel`: the reports at each step, now and the week before, and what came through. */
export function steps(result: Result): Figure {
  const [now, before] = [labelOf(result, "now"), labelOf(result, "before")];
  const rows = result.rows().flatMap((row) => [
    { row, when: now, reports: row["now"], passed: row["passed"] },
    { row, when: before, reports: row["before"], passed: row["passed_before"] },
  ]);
  const names = rows.map(({ row }) => label(row["step"]));
  const columns = {
    step: names,
    when: rows.map(({ when }) => when),
    reports: rows.map(({ reports }) => numberOf(reports)),
    // What the first step let through isn't known: it is compared with the week before.
    figures: rows.map(({ reports, passed }, at) => {
      const [count, part] = [numberOf(reports), numberOf(passed)];
      if (count === null) return "unknown";
      const through =
        part === null || names[at] === "check-in" ? "" : ` (${percent(part)} came through)`;
      return `${amount(count, "")}${through}`;
    }),
  };
  return {
    result: madeResult(
      result,
      columns,
      [
        { name: "step", order: names, ordered: true },
        { name: "when", order: [now, before], other: before },
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
    title: "Reports from check-in to storage",
    remarks: [],
  };
}

/** `lab.release`: the change of each measure, as a share of what the version before had. */
export function releaseMeasures(result: Result): Figure {
  return {
    result,
    kind: BAR,
    options: {
      x: "measure",
      y: "relative",
      interval: ["relative_low", "relative_high"],
      horizontal: true,
      sort: "given",
      color: null,
      height: 160,
      width: 560,
    },
    title: `${labelOf(result, "after")} compared with ${labelOf(result, "before")}`,
    remarks: [],
  };
}

function labelOf({ origin }: Result, measure: string): string {
  return origin.columns.measures.find(({ name }) => name === measure)?.label ?? measure;
}

/** A Result of these columns, with the origin of another. */
function madeResult(
  { table, origin }: Result,
  columns: Readonly<Record<string, readonly Value[]>>,
  dimensions: readonly DimensionColumn[],
  measures: readonly (Pick<MeasureColumn, "name" | "label" | "unit"> & Partial<MeasureColumn>)[],
): Result {
  const meaning = measures.map((measure): MeasureColumn => {
    return { additive: false, missing: "gap", ...measure };
  });
  return new Result(newTable(table, Object.entries(columns)), {
    ...origin,
    columns: { dimensions, measures: meaning },
  });
}

export function numberOf(value: Value | undefined): number | null {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
