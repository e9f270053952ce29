import { textWidth } from "../../fonts/shipped-font.js";
import { valueWords } from "../../result/column-words.js";
import { heading, label } from "../label.js";
import type { FindingRow, VegaLiteSpec } from "../options.js";
import { originSpan, wrap } from "../sentences.js";
import {
  amountText,
  changedMeasure,
  differenceText,
  nothing,
  numberOf,
  partText,
  type Canvas,
  type ChangePicture,
} from "./picture.js";

/** Pixels of the names left of the bars, and the size of their letters. */
const NAMES_WIDTH = 270;
const NAME_SIZE = 11;
const LINE_HEIGHT = 13;
const MOST_NAME_LINES = 3;
const BARS_WIDTH = 500;

/** A bar, or the heading of those below it. */
interface Bar {
  readonly heading?: string;
  readonly name?: string;
  readonly row?: FindingRow;
  /** Drawn grey: what isn't named. */
  readonly rest?: boolean;
}

/** `explain`: what each cause contributes to the change, the largest first, and everything else. */
export function causes(canvas: Canvas): ChangePicture {
  const { result } = canvas;
  const { origin } = result;
  const { name, unit } = changedMeasure(origin.columns.measures);
  const rows = result.rows();
  const last = rows.at(-1);
  const bars = rows.map((row): Bar => {
    const rest = row === last && row["cause"] === "everything else";
    return { name: label(row["cause"], 400), row, rest };
  });
  const sum = rows.reduce((all, row) => all + (numberOf(row["change"]) ?? 0), 0);
  const told =
    rows.length === 0
      ? []
      : [
          `The bars add up to ${differenceText(sum, unit)}; in brackets the part of it. Lines across their ends: 95 % intervals.`,
        ];
  return {
    ...barPicture(canvas, bars, unit),
    title: [`${name}: what its change is made of`, ...originSpan(origin)].join(", "),
    told,
  };
}

/** `compare`: the change of each value, by dimension, that of the largest first. */
export function changedValues(canvas: Canvas): ChangePicture {
  const { result } = canvas;
  const { origin } = result;
  const { name, unit } = changedMeasure(origin.columns.measures);
  const groups = new Map<string, Bar[]>();
  for (const row of result.rows()) {
    const dimension = label(row["dimension"]);
    const bars = groups.get(dimension) ?? [{ heading: heading(dimension) }];
    groups.set(dimension, [...bars, { name: label(valueWords(dimension, row["value"])), row }]);
  }
  return {
    ...barPicture(canvas, [...groups.values()].flat(), unit),
    title: [`${name}: change by value`, ...originSpan(origin)].join(", "),
    told:
      groups.size === 0
        ? []
        : ["In brackets the change by what it was. Lines across the ends: 95 % intervals."],
  };
}

/** Horizontal bars from zero, with intervals, names to the left and figures at their ends. */
function barPicture(
  { theme, options, result }: Canvas,
  bars: readonly Bar[],
  unit: string,
): Omit<ChangePicture, "title" | "told"> {
  const width = options.width ?? BARS_WIDTH;
  const names = bars.map(({ heading, name }) => nameLines(heading ?? name ?? ""));
  const lines = Math.max(1, ...names.map(({ length }) => length));
  const step = lines * LINE_HEIGHT + 11;
  const height = options.height ?? Math.max(60, bars.length * step);
  const data = bars.map((bar, at) => ({
    row: `r${at}`,
    ...(bar.row && datumOf(bar, bar.row, unit)),
  }));
  const x = (field: string): VegaLiteSpec => ({ field, type: "quantitative" });
  const places = data.map(({ row }) => row);
  const y = {
    field: "row",
    type: "ordinal",
    sort: places,
    scale: { domain: places, paddingInner: 0.28, paddingOuter: 0.14 },
    axis: null,
  };
  const tooltip = [
    ["name", "Of"],
    ["before", "Before"],
    ["after", "After"],
    ["figures", "Change"],
    ["interval", "95 % interval"],
    ["part", "Part of the change"],
  ].map(([field, title]) => ({ field, type: "nominal", title }));
  const tones = { fell: theme.series[5], rose: theme.series[0], rest: theme.neutral };
  // Text of its own: labels of an axis begin in the middle of their row and grow downwards.
  const labels = [...new Set(names.map(({ length }) => length))].flatMap((count) =>
    [true, false].map((bold) => ({
      data: {
        values: data.flatMap(({ row }, at) =>
          names[at]!.length === count && (bars[at]!.heading !== undefined) === bold
            ? [{ row, lines: names[at] }]
            : [],
        ),
      },
      mark: {
        type: "text",
        align: "right",
        baseline: "middle",
        dy: ((1 - count) * LINE_HEIGHT) / 2,
        lineHeight: LINE_HEIGHT,
        fontSize: NAME_SIZE,
        fontWeight: bold ? "bold" : "normal",
        color: bold ? theme.muted : theme.text,
      },
      encoding: { y, x: { value: -10 }, text: { field: "lines", type: "nominal" } },
    })),
  );
  const figures = (side: "left" | "right"): VegaLiteSpec => ({
    transform: [{ filter: `isString(datum.figures) && (datum.side === ${JSON.stringify(side)})` }],
    mark: {
      type: "text",
      align: side === "left" ? "right" : "left",
      dx: side === "left" ? -6 : 6,
      fontSize: NAME_SIZE,
      color: theme.text,
    },
    encoding: { y, x: x("end"), text: { field: "figures", type: "nominal" }, tooltip },
  });
  const rows = bars.flatMap(({ row }) => (row === undefined ? [] : [row]));
  const columns = result.columnNames;
  return {
    widest: width + NAMES_WIDTH,
    named: true,
    spec: {
      ...{ width, height },
      data: { values: data },
      layer:
        rows.length === 0
          ? [nothing(theme.muted, "No rows to tell a change of.")]
          : [
              {
                transform: [{ filter: "isValid(datum.change)" }],
                mark: { type: "bar", orient: "horizontal" },
                encoding: {
                  y,
                  x: {
                    ...x("change"),
                    scale: { domain: domainFor(data, width), nice: false, zero: true },
                    axis: {
                      title: `Change${unit === "share" ? " (percentage points)" : unit === "s" ? " (s)" : ""}`,
                      labelExpr: differenceLabel(unit),
                      tickCount: 6,
                      domain: false,
                      ticks: false,
                    },
                  },
                  color: {
                    field: "tone",
                    type: "nominal",
                    scale: { domain: Object.keys(tones), range: Object.values(tones) },
                    legend: null,
                  },
                  tooltip,
                },
              },
              {
                transform: [{ filter: "isValid(datum.low) && isValid(datum.high)" }],
                mark: { type: "rule", strokeWidth: 1.25, color: theme.text, opacity: 0.75 },
                encoding: { y, x: x("low"), x2: { field: "high" }, tooltip },
              },
              {
                data: { values: [{}] },
                mark: { type: "rule", color: theme.axis },
                encoding: { x: { datum: 0, type: "quantitative" } },
              },
              ...labels.filter((layer) => layer.data.values.length > 0),
              figures("left"),
              figures("right"),
            ],
    },
    rows: { names: columns, rows: rows.map((row) => columns.map((name) => row[name] ?? null)) },
  };
}

/** What a bar shows, its figures as text. */
interface Datum {
  readonly name?: string;
  readonly change: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly figures: string;
  readonly tone: "fell" | "rose" | "rest";
  /** Where its figures stand, and on which side of it. */
  readonly end: number;
  readonly side: "left" | "right";
}

function datumOf({ name, rest }: Bar, row: FindingRow, unit: string): Datum & FindingRow {
  const value = (column: string): number | null => numberOf(row[column]);
  const [change, low, high] = [value("change"), value("low"), value("high")];
  const by = row["relative"] === undefined ? value("part") : value("relative");
  const sign = row["relative"] !== undefined && by !== null && by > 0 ? "+" : "";
  const brackets = by === null || Math.abs(by) > 99 ? "" : ` (${sign}${partText(by)})`;
  const amount = (one: number | null): string =>
    one === null ? "not known" : amountText(one, unit);
  const fell = (change ?? 0) < 0;
  return {
    ...(name !== undefined && { name }),
    ...{ change, low, high },
    figures:
      change === null
        ? `only in the ${value("before") === null ? "later" : "earlier"} range`
        : `${differenceText(change, unit)}${brackets}`,
    before: amount(value("before")),
    after: amount(value("after")),
    part: value("part") === null ? "not known" : partText(value("part")!),
    interval:
      low === null || high === null
        ? "not known"
        : `${differenceText(low, unit)} to ${differenceText(high, unit)}`,
    tone: rest === true ? "rest" : fell ? "fell" : "rose",
    end: fell ? Math.min(change!, low ?? 0) : Math.max(change ?? 0, high ?? 0),
    side: fell ? "left" : "right",
  };
}

/** The axis with room for the figures at the ends of the bars. */
function domainFor(
  values: readonly (Partial<Datum> & { readonly row: string })[],
  width: number,
): [number, number] {
  const ends = values.flatMap(({ low, high, end }) => [low ?? 0, high ?? 0, end ?? 0]);
  const least = Math.min(0, ...ends);
  const most = Math.max(0, ...ends);
  const room = (side: number): number =>
    Math.max(
      10,
      ...values
        .filter(({ end }) => end !== undefined && (side < 0 ? end < 0 : end >= 0))
        .map(({ figures = "" }) => textWidth(figures, NAME_SIZE) + 14),
    );
  const [left, right] = [room(-1), room(1)];
  const pixel = (most - least || 1) / Math.max(60, width - left - right);
  return [least - left * pixel, most + right * pixel];
}

function differenceLabel(unit: string): string {
  const value = unit === "share" ? "datum.value * 100" : "datum.value";
  const text = `replace(format(${value}, ${unit === "share" || unit === "s" ? '"~r"' : '"~s"'}), "-", "−")`;
  return `(datum.value > 0 ? "+" : "") + (datum.value == 0 ? "0" : ${text})`;
}

/** A name on up to three lines, cut with an ellipsis. */
function nameLines(text: string): string[] {
  const lines = wrap([text], NAMES_WIDTH, NAME_SIZE).map(fitted);
  if (lines.length <= MOST_NAME_LINES) return lines;
  return [...lines.slice(0, MOST_NAME_LINES - 1), fitted(`${lines[MOST_NAME_LINES - 1]!} …`)];
}

/** A text in the width of the names: what has no space isn't wrapped. */
function fitted(text: string): string {
  if (textWidth(text, NAME_SIZE) <= NAMES_WIDTH) return text;
  let cut = text.replace(/ ?…$/, "");
  while (textWidth(`${cut}…`, NAME_SIZE) > NAMES_WIDTH) cut = cut.slice(0, -1);
  return `${cut.trimEnd()}…`;
}
