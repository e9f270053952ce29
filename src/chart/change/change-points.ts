import { columnValues, newTable, rowKeys, rowsByKey } from "../../result/arquero-table.js";
import { valueKey } from "../../result/json.js";
import type { Result, Value } from "../../result/result.js";
import { annotationLayers } from "../annotations.js";
import { drawRows } from "../draw-rows.js";
import { frame, type Frame } from "../frame.js";
import { formatInstantIso, label } from "../label.js";
import { LINE } from "../line.js";
import type { FindingRow, VegaLiteSpec } from "../options.js";
import { rowsDrawn } from "../result-chart.js";
import { titleSentence } from "../sentences.js";
import { differenceText, numberOf, partText, type Canvas, type ChangePicture } from "./picture.js";

const WIDTH = 800;
const HEIGHT = 300;
/** More series in one picture can't be followed, and more labels can't be read. */
const MOST_SERIES = 5;
const MOST_LABELS = 12;

/** `changePoints`: the series that changed, a rule at each change, and the level before and after. */
export function changesInLines({ result, record, options, theme }: Canvas): ChangePicture {
  const measure = record.measure ?? "";
  const size = { width: options.width ?? WIDTH, height: options.height ?? HEIGHT };
  const dimensions = result.origin.columns.dimensions.map(({ name }) => name);
  const nameOf = (row: FindingRow): Value =>
    dimensions.length === 1
      ? (row[dimensions[0]!] ?? null)
      : dimensions.map((name) => label(row[name])).join(", ");
  const all = record.rows ?? [];
  const changed = [...new Map(all.map((row) => [valueKey(nameOf(row)), nameOf(row)])).values()];
  const some = seriesOf(result, measure, nameOf, changed.slice(0, MOST_SERIES));
  const drawing = drawRows(some.result, LINE, { y: measure, ...size });
  const look = frame(some.result, drawing, { theme: options.theme ?? "light", ...size }, undefined);
  const plot = { ...look, fixed: options.width !== undefined };
  const drawn = new Map(drawing.series.map((one) => [valueKey(one.value), one.label]));
  const keyOf = (row: FindingRow) => valueKey(nameOf(row));
  const shown = all.filter((row) => dimensions.length === 0 || drawn.has(keyOf(row)));
  const unit = drawing.roles.measure?.unit ?? "";
  const labels = annotationLayers(
    plot,
    shown.slice(0, MOST_LABELS).map((row) => ({
      time: row["t"] as Date,
      label: changeLabel(row, drawing.series.length > 1 ? nameOf(row) : undefined, unit),
    })),
  );
  const levels = [...new Set(shown.map(keyOf))].flatMap((key) =>
    levelRows(
      shown.filter((row) => keyOf(row) === key),
      plot,
    ).map((level) => ({
      ...level,
      ...(plot.fields.series !== undefined && { [plot.fields.series]: drawn.get(key) }),
    })),
  );
  const intervals = shown
    .filter((row) => Number(row["earliest"]) < Number(row["latest"]))
    .map((row) => ({ from: iso(row["earliest"]), until: iso(row["latest"]) }));
  const axis = plot.y.axis as VegaLiteSpec;
  const raised = { ...axis, titleY: Number(axis.titleY) - labels.height };
  const lines = LINE.layers({ ...plot, y: { ...plot.y, axis: raised } }).map((layer) => ({
    ...layer,
    mark: { ...(layer.mark as VegaLiteSpec), ...(shown.length > 0 && { opacity: 0.5 }) },
  }));
  const span = { x: { field: "from", type: "temporal" }, x2: { field: "until" } };
  return {
    title: `${titleSentence(drawing, result.origin)}: its changes`,
    told: [
      ...some.told,
      ...(changed.length > MOST_SERIES
        ? [`Drawn: the ${MOST_SERIES} of ${changed.length} changed series with the clearest.`]
        : []),
      ...(shown.length > MOST_LABELS ? [`Marked: the ${MOST_LABELS} clearest changes.`] : []),
      ...(levels.length > 0
        ? ["Strong lines: the level from change to change, without its season."]
        : []),
      ...(intervals.length > 0 ? ["Grey: the 95 % interval of a change's time."] : []),
      ...drawing.sentences,
    ],
    widest: plot.width + (drawing.series.length > 0 ? 90 : 0),
    spec: {
      ...size,
      layer: [
        {
          data: { values: intervals },
          mark: { type: "rect", color: theme.neutral, opacity: 0.3 },
          encoding: span,
        },
        ...lines,
        {
          data: { values: levels },
          mark: { type: "rule", strokeWidth: 2.5 },
          encoding: {
            ...span,
            y: { field: "start", type: "quantitative" },
            y2: { field: "end" },
            color: plot.fields.series === undefined ? { value: theme.text } : plot.colour,
          },
        },
        ...labels.layers,
      ],
    },
    rows: rowsDrawn(drawing),
  };
}

const iso = (value: Value | undefined): string => formatInstantIso(Number(value));

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
    row["change"] === "trend" ? `trend ${by}` : by,
    ...(began === undefined ? [] : [`· ${label(began.replace(/ \([^()]*\)$/, ""), 30)}`]),
  ].join(" ");
}

/** The level of one series from change to change; none beside a change of trend, where it isn't known. */
function levelRows(changes: readonly FindingRow[], { domain }: Frame) {
  const rows = [...changes].sort((a, b) => Number(a["t"]) - Number(b["t"]));
  const isLevel = (row: FindingRow | undefined): boolean => row?.["change"] === "level";
  return Array.from({ length: rows.length + 1 }, (_, at) => {
    const [before, after] = [rows[at - 1], rows[at]];
    const start = before === undefined ? after!["before"] : before["after"];
    const end = after === undefined ? before!["after"] : after["before"];
    const known = (before === undefined || isLevel(before)) && (!after || isLevel(after));
    const from = before === undefined ? formatInstantIso(domain[0]) : iso(before["t"]);
    const until = after === undefined ? formatInstantIso(domain[1]) : iso(after["t"]);
    return known ? [{ from, until, start: numberOf(start), end: numberOf(end) }] : [];
  }).flat();
}

/** The answer with one column for its series, and only those of these names; without any the largest. */
function seriesOf(
  result: Result,
  measure: string,
  nameOf: (row: FindingRow) => Value,
  names: readonly Value[],
): { result: Result; told: string[] } {
  const { columns } = result.origin;
  const dimensions = columns.dimensions.map(({ name }) => name);
  if (dimensions.length === 0) return { result, told: [] };
  const rows = result.rows();
  const groups = [...rowsByKey(rowKeys(result.table, dimensions)).values()];
  const cells = columnValues(result.table, measure);
  const weight = (own: readonly number[]): number =>
    own.reduce((all, row) => all + Math.abs(numberOf(cells[row]) ?? 0), 0);
  const wanted = new Set(names.map(valueKey));
  const chosen =
    names.length > 0
      ? groups.filter(([first]) => wanted.has(valueKey(nameOf(rows[first!]!))))
      : groups.sort((a, b) => weight(b) - weight(a)).slice(0, MOST_SERIES);
  const kept = chosen.flat().sort((a, b) => a - b);
  const [only] = columns.dimensions;
  const name = dimensions.length === 1 ? only!.name : dimensions.join(" and ");
  const order = chosen.map(([first]) => nameOf(rows[first!]!) as string | null);
  const time = columns.time!.name;
  const table = newTable(result.table, [
    [time, kept.map((row) => rows[row]![time])],
    [name, kept.map((row) => nameOf(rows[row]!))],
    [measure, kept.map((row) => cells[row])],
  ]);
  const left = groups.length - chosen.length;
  return {
    result: result.with(table, {
      columns: {
        ...columns,
        dimensions: [
          {
            name,
            order: dimensions.length === 1 ? only!.order.filter((v) => order.includes(v)) : order,
          },
        ],
        measures: columns.measures.filter((one) => one.name === measure),
      },
      reductions: result.origin.reductions,
    }),
    told:
      names.length === 0 && left > 0
        ? [`Drawn: the ${chosen.length} largest of ${groups.length} series.`]
        : [],
  };
}
