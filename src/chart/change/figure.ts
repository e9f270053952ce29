import { newTable } from "../../result/arquero-table.js";
import type { DimensionColumn, MeasureColumn } from "../../result/origin.js";
import { Result, type Value } from "../../result/result.js";
import type { ChartKind } from "../frame.js";
import type { DrawOptions } from "../options.js";
import type { Said } from "../result-chart.js";

/** How a finding is drawn: as a chart of a kind, of a Result made for it. */
export interface Figure extends Pick<Said, "title" | "told"> {
  readonly result: Result;
  readonly kind: ChartKind;
  readonly options: DrawOptions;
}

/** A Result of these columns, with the origin of another. */
export function madeResult(
  { table, origin }: Result,
  columns: Readonly<Record<string, readonly Value[]>>,
  dimensions: readonly DimensionColumn[],
  measures: readonly (Pick<MeasureColumn, "name" | "label" | "unit"> & Partial<MeasureColumn>)[],
): Result {
  const meaning = measures.map((measure) => ({
    additive: false,
    missing: "gap" as const,
    ...measure,
  }));
  return new Result(newTable(table, Object.entries(columns)), {
    ...origin,
    columns: { dimensions, measures: meaning },
  });
}

/** "12,345", "1.23 s", "45.6 %": a value of a measure, short. */
export function amountText(value: number, unit: string): string {
  const own = unit === "share" ? value * 100 : value;
  const digits = Math.abs(own) >= 100 ? Math.round(own) : Number(own.toPrecision(3));
  const text = digits.toLocaleString("en-US", { maximumSignificantDigits: 15 }).replace("-", "−");
  return unit === "share" ? `${text} %` : unit === "s" ? `${text} s` : text;
}

/** The same of a difference, with its sign; of shares in percentage points. */
export function differenceText(value: number, unit: string): string {
  const points = amountText(value, unit).replace(" %", " pp");
  return value > 0 ? `+${points}` : points;
}

/** "−23 %": a part of one with its sign. */
export function partText(part: number): string {
  const percent = part * 100;
  const digits = Math.abs(percent) >= 9.95 ? 0 : 1;
  return `${percent.toFixed(digits).replace("-", "−")} %`;
}

export function numberOf(value: Value | undefined): number | null {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
