import type { MeasureColumn } from "../../result/origin.js";
import type { Result, Value } from "../../result/result.js";
import type { ChangeChartOptions, ChangeRecord, VegaLiteSpec } from "../options.js";
import type { ChartRows } from "../save.js";
import type { Theme } from "../theme.js";

/** What a kind of finding draws with. */
export interface Canvas {
  readonly result: Result;
  readonly record: ChangeRecord;
  readonly options: ChangeChartOptions;
  readonly theme: Theme;
}

/** The picture of a kind of finding. */
export interface ChangePicture {
  /** What was asked. */
  readonly title: string;
  /** How the picture is read, and what isn't in it; a sentence each. */
  readonly told: readonly string[];
  /** The pixels that lines of its title may have. */
  readonly widest: number;
  /** True where names stand left of the plot: the title begins above them. */
  readonly named?: true;
  readonly spec: VegaLiteSpec;
  readonly rows: ChartRows;
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
  const text = amountText(value, unit === "share" ? "share" : unit);
  const points = unit === "share" ? text.replace(" %", " pp") : text;
  return value > 0 ? `+${points}` : points;
}

/** "−23 %": a part of one with its sign. */
export function partText(part: number): string {
  const percent = part * 100;
  const digits = Math.abs(percent) >= 9.95 ? 0 : 1;
  return `${percent.toFixed(digits).replace("-", "−")} %`;
}

/** The measure of a finding's change, under its own name: `Measurements, change` as `Measurements`. */
export function changedMeasure(measures: readonly MeasureColumn[]): { name: string; unit: string } {
  const change = measures.find(({ name }) => name === "change");
  return { name: (change?.label ?? "It").replace(/, change$/, ""), unit: change?.unit ?? "" };
}

export function numberOf(value: Value | undefined): number | null {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** A sentence in the middle of a plot without rows. */
export function nothing(colour: string, text: string): VegaLiteSpec {
  return {
    data: { values: [{}] },
    mark: { type: "text", text, align: "center", baseline: "middle", fontSize: 13, color: colour },
    // Without a place: in the middle.
    encoding: {},
  };
}
