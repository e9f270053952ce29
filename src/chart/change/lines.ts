import { MOST_ROWS } from "../../base/limits.js";
import { counted } from "../../base/text.js";
import { signedPercent } from "../../change/words.js";
import {
  columnValues,
  newTable,
  pickRows,
  rowKeys,
  rowsByKey,
} from "../../result/arquero-table.js";
import { valueWords } from "../../result/column-words.js";
import { valueKey } from "../../result/json.js";
import { zoneOf } from "../../result/origin.js";
import { Result, type Value } from "../../result/result.js";
import { between } from "../../time/time-range.js";
import { formatInstant } from "../../time/time-zone.js";
import { DAY } from "../../time/span.js";
import { formatInstantIso, heading, label } from "../../render/label.js";
import type { VegaLiteSpec } from "../../render/theme.js";
import type { Frame } from "../frame.js";
import { LINE } from "../line.js";
import type { Annotation, ChangeRecord, FindingRow } from "../options.js";
import { originSpan, titleSentence } from "../sentences.js";
import { rowKey } from "../work-table.js";
import { differenceText, numberOf, type Figure } from "./bars.js";

const WIDTH = 800;
const MOST_LABELS = 12;
const MOST_PANELS = 4;
/** More series in one picture can't be followed. */
const MOST_SERIES = 5;
/** States of buckets that aren't judged. */
const UNJUDGED: readonly Value[] = ["late", "incomplete"];

/**
 * `anomalies`: the flow, a band from the limit to what was expected of it, and the alarms as spans. A
 * panel for each group: those with alarms, that of the largest first, else the largest.
 */
export function alarms({ table, origin }: Result, { rows: found = [] }: ChangeRecord): Figure {
  const { dimensions, measures } = origin.columns;
  const time = origin.columns.time!;
  const measure = measures[0]!;
  const names = dimensions.map(({ name }) => name);
  const column = (name: string) =>
    table.columnNames().includes(name) ? columnValues(table, name) : [];
  const times = column(time.name).map(Number);
  const [cells, states] = [column(measure.name), column("state")];
  const keyOf = (row: FindingRow) => rowKey(names.map((name) => row[name]));
  const order = found.map(keyOf);
  const all = [...rowsByKey(rowKeys(table, names)).values()].map((rows) => {
    const row = pickRows(table, rows.slice(0, 1)).objects()[0] as FindingRow;
    const alarm = order.indexOf(keyOf(row));
    const size = rows.reduce((sum, at) => sum + (numberOf(cells[at]) ?? 0), 0);
    return { rows, row, size, alarm: alarm < 0 ? Infinity : alarm };
  });
  all.sort((a, b) => b.size - a.size);
  const alarmed = all.filter(({ alarm }) => alarm < Infinity).sort((a, b) => a.alarm - b.alarm);
  const chosen = alarmed.length > 0 ? alarmed : all;
  const drawn = chosen.slice(0, MOST_PANELS);
  const earliest = times.reduce((least, at) => Math.min(least, at), Infinity);
  const end = times.reduce((most, at) => Math.max(most, at), -Infinity);
  const first = found.reduce((least, row) => Math.min(least, Number(row["t"])), Infinity);
  const most = Math.floor(MOST_ROWS / Math.max(1, drawn.length)) - 8;
  const from = Math.min(end - 14 * DAY, first - 3 * DAY);
  const groups = drawn.map(({ rows, row }) => ({
    name: dimensions
      .map(({ name, of }) => `${heading(name)} ${label(valueWords(of ?? name, row[name]), 60)}`)
      .join(", "),
    rows: rows.filter((at) => times[at]! >= from).slice(-most),
    alarms: found.filter((alarm) => keyOf(alarm) === keyOf(row)),
    unjudged: rows.filter((at) => UNJUDGED.includes(states[at])).map((at) => times[at]!),
  }));
  const begins = Math.min(...groups.map(({ rows: [at] }) => times[at!]!));
  const several = all.length > 1;
  const kept = groups.flatMap(({ rows }) => rows);
  const pick = (values: readonly Value[]) => kept.map((at) => values[at]);
  const result = new Result(
    newTable(table, [
      ...[time.name, ...measures.map(({ name }) => name)].map((name): [string, Value[]] => [
        name,
        pick(column(name)),
      ]),
      ...(several
        ? [["group", groups.flatMap(({ name, rows }) => rows.map(() => name))] as [string, Value[]]]
        : []),
    ]),
    {
      ...origin,
      reductions: [],
      ...(origin.range &&
        kept.length > 0 && {
          range: between(new Date(begins), origin.range.end, { timeZone: zoneOf(origin) }),
        }),
      columns: {
        // Spans tell those.
        time: { ...time, incomplete: [] },
        dimensions: several ? [{ name: "group", order: groups.map(({ name }) => name) }] : [],
        // Every bucket has a row.
        measures: measures.map((measure) => ({ ...measure, missing: "gap" })),
      },
    },
  );
  const unseen = found.filter((row) => Number(row["until"]) <= begins).length;
  const left = chosen.length - drawn.length;
  return {
    result,
    kind: {
      ...LINE,
      columns: 1,
      size: () => ({ width: WIDTH, height: 280 }),
      annotations: ({ panel }) => {
        const group = groups.find(({ name }) => name === panel) ?? groups[0];
        if (group === undefined) return [];
        const drawn = group.alarms.filter((row) => Number(row["until"]) > begins);
        const [open] = group.unjudged.filter((at) => at > begins);
        return [
          ...drawn.slice(0, MOST_LABELS).map(alarmSpan),
          ...(open === undefined
            ? []
            : [{ time: new Date(open), end: new Date(end), label: "not judged yet" }]),
        ];
      },
    },
    options: {
      y: measure.name,
      color: null,
      band: ["limit", "expected"],
      ...(several && { facet: "group", scales: "own", width: WIDTH, height: 150 }),
    },
    title: () =>
      [
        `${measure.label}${measure.additive ? ` per ${time.every}` : ""}: the alarms`,
        ...originSpan(result.origin),
      ].join(", "),
    told: [
      ...(begins > earliest
        ? [`Drawn from ${formatInstant(new Date(begins), zoneOf(origin))} on.`]
        : []),
      ...(unseen > 0 ? [`${counted(unseen, "earlier alarm")} in the table.`] : []),
      ...(left > 0 ? [`Drawn: ${drawn.length} of ${chosen.length} groups, the largest.`] : []),
    ],
  };
}

function alarmSpan(row: FindingRow): Annotation {
  const kind = row["kind"] as string;
  const by = kind === "drop" ? ` ${signedPercent(numberOf(row["change"]) ?? 0)}` : "";
  return { time: row["t"] as Date, end: row["until"] as Date, label: `${kind}${by}` };
}

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
  const keyOf = (row: FindingRow) => rowKey(names.map((name) => row[name]));
  const rows = result.rows();
  const sizes = new Map<string, number>();
  for (const row of rows) {
    const size = Math.abs(numberOf(row[measure]) ?? 0);
    sizes.set(keyOf(row), (sizes.get(keyOf(row)) ?? 0) + size);
  }
  const largest = [...sizes.keys()].sort((a, b) => sizes.get(b)! - sizes.get(a)!);
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
    const named = one && { [fields.series!]: one.label };
    return levelRows(rows, frame).map((level) => ({ ...level, ...named }));
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
  const ends = rows.flatMap((row) => [
    { at: iso(row["t"]), value: numberOf(row["before"]) },
    { at: iso(row["until"]), value: numberOf(row["after"]) },
  ]);
  if (ends.length === 0) return [];
  const [first, last] = domain.map(formatInstantIso) as [string, string];
  const path = [{ ...ends[0]!, at: first }, ...ends, { ...ends.at(-1)!, at: last }];
  return path.slice(1).flatMap(({ at, value }, k) => {
    const { at: from, value: start } = path[k]!;
    return from < at ? [{ from, until: at, start, end: value }] : [];
  });
}

/** `probe-cli −34 %`. */
function changeLabel(row: FindingRow, name: Value | undefined, unit: string): string {
  const relative = numberOf(row["relative"]);
  const by =
    unit === "share" || relative === null
      ? differenceText(numberOf(row["size"]) ?? 0, unit)
      : signedPercent(relative);
  return name === undefined ? by : `${label(name, 30)} ${by}`;
}
