import { pickRows } from "../../result/arquero-table.js";
import { valueWords } from "../../result/column-words.js";
import { valueKey } from "../../result/json.js";
import { Result, type Value } from "../../result/result.js";
import type { Frame } from "../frame.js";
import { formatInstantIso, label } from "../../render/label.js";
import { LINE } from "../line.js";
import type { ChangeRecord, FindingRow } from "../options.js";
import type { VegaLiteSpec } from "../../render/theme.js";
import { originSpan, titleSentence } from "../sentences.js";
import { rowKey } from "../work-table.js";
import { differenceText, numberOf, partText, type Figure } from "./figure.js";

const WIDTH = 800;
const MOST_LABELS = 12;
/** More series in one picture can't be followed. */
const MOST_SERIES = 5;

/** `changePoints`: the series that changed, a rule at each change, and the level before and after. */
export function changesInLines(
  result: Result,
  { rows: all = [], measure = "" }: ChangeRecord,
): Figure {
  const { dimensions, measures } = result.origin.columns;
  const names = dimensions.map(({ name }) => name);
  // As the chart names the series of several columns.
  const nameOf = (row: FindingRow): Value =>
    names.length === 1
      ? (row[names[0]!] ?? null)
      : dimensions.map(({ name, of }) => label(valueWords(of ?? name, row[name]))).join(" · ");
  const keyOf = (row: FindingRow): string => rowKey(names.map((name) => row[name]));
  const weights = new Map<string, number>();
  const rows = result.rows();
  for (const row of rows) {
    const size = Math.abs(numberOf(row[measure]) ?? 0);
    weights.set(keyOf(row), (weights.get(keyOf(row)) ?? 0) + size);
  }
  const largest = [...weights.keys()].sort((a, b) => weights.get(b)! - weights.get(a)!);
  const changed = [...new Set(all.map(keyOf))];
  const some = changed.length > 0 ? changed : largest;
  const drawn = some.slice(0, MOST_SERIES);
  const shown = all.filter((row) => drawn.includes(keyOf(row)));
  const unit = measures.find(({ name }) => name === measure)?.unit ?? "";
  const hasIntervals = shown.some((row) => Number(row["earliest"]) < Number(row["latest"]));
  const kept = [...rows.keys()].filter((at) => drawn.includes(keyOf(rows[at]!)));
  return {
    result: new Result(pickRows(result.table, kept), result.origin),
    kind: {
      ...LINE,
      size: () => ({ width: WIDTH }),
      annotations: ({ series }) =>
        shown.slice(0, MOST_LABELS).map((row) => ({
          time: row["t"] as Date,
          label: changeLabel(row, series.length > 1 ? nameOf(row) : undefined, unit),
        })),
      layers: (frame) => changeLayers(frame, shown, nameOf),
    },
    options: { y: measure },
    title: (named) =>
      [titleSentence(named), ...originSpan(result.origin), "changes marked"].join(", "),
    told: [
      ...(some.length <= MOST_SERIES
        ? []
        : changed.length > 0
          ? [`Drawn: the ${MOST_SERIES} of ${changed.length} changed series with the clearest.`]
          : [`Drawn: the ${MOST_SERIES} largest of ${largest.length} series.`]),
      ...(shown.length > MOST_LABELS ? [`Marked: the ${MOST_LABELS} clearest changes.`] : []),
      ...(shown.length > 0 ? ["Strong lines: the fitted level, without its season."] : []),
      ...(hasIntervals ? ["Grey: when the change happened (95 % interval)."] : []),
    ],
  };
}

const iso = (value: Value | undefined): string => formatInstantIso(Number(value));

function changeLayers(
  frame: Frame,
  shown: readonly FindingRow[],
  nameOf: (row: FindingRow) => Value,
): VegaLiteSpec[] {
  const { theme, fields, drawing, color } = frame;
  const span = { x: { field: "from", type: "temporal" }, x2: { field: "until" } };
  const series = drawing.series.length > 0 ? drawing.series : [undefined];
  const levels = series.flatMap((one) => {
    const rows = shown.filter(
      (row) => one === undefined || valueKey(nameOf(row)) === valueKey(one.value),
    );
    return levelRows(rows, frame).map((level) => ({
      ...level,
      ...(one && { [fields.series!]: one.label }),
    }));
  });
  const intervals = shown.map((row) => ({ from: iso(row["earliest"]), until: iso(row["latest"]) }));
  return [
    {
      data: { values: intervals.filter(({ from, until }) => from !== until) },
      mark: { type: "rect", color: theme.neutral, opacity: 0.3 },
      encoding: span,
    },
    ...LINE.layers(frame).map((layer) => ({
      ...layer,
      mark: { ...(layer.mark as VegaLiteSpec), ...(shown.length > 0 && { opacity: 0.5 }) },
    })),
    {
      data: { values: levels },
      mark: { type: "rule", strokeWidth: 2.5 },
      encoding: {
        ...span,
        y: { field: "start", type: "quantitative" },
        y2: { field: "end" },
        color: fields.series === undefined ? { value: theme.text } : color,
      },
    },
  ];
}

/** The fitted levels of one series: from each change to the next, and along slopes. */
function levelRows(changes: readonly FindingRow[], { domain }: Frame) {
  const rows = [...changes].sort((a, b) => Number(a["t"]) - Number(b["t"]));
  const ends: { at: string; value: number | null }[] = rows.flatMap((row) => [
    { at: iso(row["t"]), value: numberOf(row["before"]) },
    { at: iso(row["until"]), value: numberOf(row["after"]) },
  ]);
  if (ends.length === 0) return [];
  const [first, last] = domain.map(formatInstantIso) as [string, string];
  const path = [
    { at: first, value: ends[0]!.value },
    ...ends,
    { at: last, value: ends.at(-1)!.value },
  ];
  return path.slice(1).flatMap(({ at, value }, k) => {
    const { at: from, value: start } = path[k]!;
    return from < at ? [{ from, until: at, start, end: value }] : [];
  });
}

/** `probe-cli −34 %, began: 3.10 released`. */
function changeLabel(row: FindingRow, name: Value | undefined, unit: string): string {
  const relative = numberOf(row["relative"]);
  const size = numberOf(row["size"]) ?? 0;
  const by =
    unit === "share" || relative === null
      ? differenceText(size, unit)
      : `${relative > 0 ? "+" : ""}${partText(relative)}`;
  const began = typeof row["began"] === "string" ? row["began"].split("; ")[0] : undefined;
  return [
    ...(name === undefined ? [] : [label(name, 30)]),
    by,
    ...(began === undefined ? [] : [`· ${label(began.replace(/ \([^()]*\)$/, ""), 30)}`]),
  ].join(" ");
}
