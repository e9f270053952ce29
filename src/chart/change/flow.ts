import { MOST_ROWS } from "../../base/limits.js";
import { counted } from "../../base/text.js";
import {
  columnValues,
  newTable,
  pickRows,
  rowKeys,
  rowsByKey,
} from "../../result/arquero-table.js";
import { valueWords } from "../../result/column-words.js";
import { zoneOf, type MeasureColumn } from "../../result/origin.js";
import { Result, type Value } from "../../result/result.js";
import { nextBucket } from "../../time/bucket.js";
import { between } from "../../time/time-range.js";
import { formatInstant } from "../../time/time-zone.js";
import type { Drawing } from "../draw-rows.js";
import { specRow, type ChartKind, type Frame } from "../frame.js";
import { formatInstantIso, heading, label } from "../../render/label.js";
import { LINE } from "../line.js";
import { rowKey } from "../work-table.js";
import type { ChangeRecord, FindingRow } from "../options.js";
import type { VegaLiteSpec } from "../../render/theme.js";
import { originSpan } from "../sentences.js";
import { numberOf, partText, type Figure } from "./figure.js";
import { DAY } from "../../time/span.js";

const WIDTH = 800;
const MOST_LABELS = 12;
const MOST_PANELS = 4;
/** A narrower alarm can't be seen. */
const LEAST_SPAN = 3;
const STRIP = 8;

/** States of a bucket that are spans of color: what each says in the legend, and its color of a series. */
const SPANS = {
  drop: ["Drop", 5],
  stop: ["Stop: other groups go on", 3],
  gap: ["Gap: no row of any group", 7],
  silence: ["Silence until the end", 2],
  decline: ["Slow decline", 1],
  late: ["Late: not judged yet", undefined],
  incomplete: ["Incomplete: not judged", undefined],
} as const;
type State = keyof typeof SPANS;

interface Span {
  readonly state: State;
  readonly from: number;
  readonly until: number;
  /** Above it; none where it is no alarm. */
  readonly text?: string;
}

/** A group of a flow: its rows, their numbers in the Result, and what is marked in it. */
interface Group {
  readonly name: string;
  readonly rows: readonly number[];
  readonly spans: readonly Span[];
}

/**
 * `anomalies`: the flow, what was expected of it, the limit, and the buckets that are an alarm. A panel
 * for each group: those with alarms, that of the largest first, else the largest.
 */
export function alarms(result: Result, record: ChangeRecord): Figure {
  const found = record.rows ?? [];
  const { origin } = result;
  const { time, measures, dimensions } = origin.columns;
  const measure = measures[0]!;
  const names = dimensions.map(({ name }) => name);
  const times = columnValues(result.table, time!.name).map(Number);
  const end = times.reduce((most, at) => Math.max(most, at), -Infinity);
  const first = found.reduce((least, row) => Math.min(least, Number(row["t"])), Infinity);
  const from = Math.min(end - 14 * DAY, first - 3 * DAY);
  const cells = columnValues(result.table, measure.name);
  const weight = (rows: readonly number[]): number =>
    rows.reduce((all, row) => all + (numberOf(cells[row]) ?? 0), 0);
  const keyOf = (row: FindingRow): string => rowKey(names.map((name) => row[name]));
  const all = [...rowsByKey(rowKeys(result.table, names)).values()]
    .sort((a, b) => weight(b) - weight(a))
    .map((rows) => ({
      rows,
      row: pickRows(result.table, rows.slice(0, 1)).objects()[0] as FindingRow,
    }));
  const order = found.map(keyOf);
  const alarmed = all
    .filter(({ row }) => order.includes(keyOf(row)))
    .toSorted((a, b) => order.indexOf(keyOf(a.row)) - order.indexOf(keyOf(b.row)));
  const chosen = alarmed.length > 0 ? alarmed : all;
  const few = chosen.slice(0, MOST_PANELS);
  const most = Math.floor(MOST_ROWS / Math.max(1, few.length)) - 8;
  const groups = few.map(({ rows, row }): Group => {
    const kept = rows.filter((at) => times[at]! >= from).slice(-most);
    const own = found.filter((alarm) => keyOf(alarm) === keyOf(row)).map(alarmSpan);
    return {
      name: dimensions
        .map(({ name, of }) => `${heading(name)} ${label(valueWords(of ?? name, row[name]), 60)}`)
        .join(", "),
      rows: kept,
      spans: [...own, ...notJudged(result, kept)],
    };
  });
  const begins = Math.min(...groups.map(({ rows: [row] }) => times[row!]!));
  const earliest = times.reduce((least, at) => Math.min(least, at), Infinity);
  const unseen = found.filter((row) => Number(row["until"]) <= begins).length;
  const left = chosen.length - few.length;
  const several = all.length > 1;
  const per = measure.additive ? ` per ${time!.every}` : "";
  return {
    result: drawnGroups(result, groups, several, begins),
    kind: flowKind(groups, measure, begins),
    options: {
      y: measure.name,
      color: null,
      beside: ["expected", "limit", "state"],
      ...(several && {
        facet: "group",
        scales: "own",
        width: WIDTH,
        height: 150,
      }),
    },
    title: () => [`${measure.label}${per}: the alarms`, ...originSpan(origin)].join(", "),
    told: [
      ...(begins > earliest
        ? [`Drawn from ${formatInstant(new Date(begins), zoneOf(origin))} on.`]
        : []),
      ...(unseen > 0 ? [`${counted(unseen, "earlier alarm")} in the table.`] : []),
      ...(left > 0 ? [`Drawn: ${few.length} of ${chosen.length} groups, the largest.`] : []),
    ],
  };
}

/** The rows of these groups, with one column that names them where there are several. */
function drawnGroups(
  { table, origin }: Result,
  groups: readonly Group[],
  several: boolean,
  begins: number,
): Result {
  const { columns, range } = origin;
  const { time, measures } = columns;
  const rows = groups.flatMap(({ rows }) => rows);
  const kept = [time!.name, ...measures.map(({ name }) => name)];
  const column = (name: string): Value[] => {
    const values = columnValues(table, name);
    return rows.map((row) => values[row]);
  };
  const states = table.columnNames().includes("state") ? column("state") : undefined;
  const drawn = newTable(table, [
    ...kept.map((name): [string, Value[]] => [name, column(name)]),
    ...(states ? [["state", states.map(stateText)] as [string, Value[]]] : []),
    ...(several
      ? [["group", groups.flatMap(({ name, rows }) => rows.map(() => name))] as [string, Value[]]]
      : []),
  ]);
  return new Result(drawn, {
    ...origin,
    reductions: [],
    ...(range &&
      rows.length > 0 && {
        range: between(new Date(begins), range.end, {
          timeZone: range.timeZone,
        }),
      }),
    columns: {
      // Spans of color tell those.
      time: { ...time!, incomplete: [] },
      dimensions: several ? [{ name: "group", order: groups.map(({ name }) => name) }] : [],
      // Every bucket has a row.
      measures: measures.map((measure) => ({
        ...measure,
        missing: "gap" as const,
      })),
    },
  });
}

function stateText(state: Value): string {
  return typeof state === "string" && Object.hasOwn(SPANS, state) ? SPANS[state as State][0] : "–";
}

function alarmSpan(row: FindingRow): Span {
  const state = row["kind"] as State;
  const by = state === "drop" || state === "decline" ? numberOf(row["change"]) : null;
  return {
    state,
    from: Number(row["t"]),
    until: Number(row["until"]),
    text: by === null ? state : `${state} ${partText(by)}`,
  };
}

/** Stretches of buckets that weren't judged, one for each reason. */
function notJudged({ table, origin }: Result, rows: readonly number[]): Span[] {
  const time = origin.columns.time!;
  const spans: { state: State; from: number; until: number }[] = [];
  if (!table.columnNames().includes("state")) return spans;
  for (const row of rows) {
    const state = table.get("state", row) as Value;
    if (state !== "late" && state !== "incomplete") continue;
    const from = Number(table.get(time.name, row));
    const until = Number(nextBucket(new Date(from), time.every, zoneOf(origin)));
    const open = spans.at(-1);
    if (open?.state === state && open.until === from) open.until = until;
    else spans.push({ state, from, until });
  }
  return spans;
}

/** Lines of a group: the measure, what is expected, and and the limit with its alarms. */
function flowKind(groups: readonly Group[], measure: MeasureColumn, begins: number): ChartKind {
  const states = (Object.keys(SPANS) as State[]).filter((state) =>
    groups.some(({ spans }) => spans.some((span) => span.state === state && span.until > begins)),
  );
  const spansOf = ({ panel }: Drawing): Span[] =>
    ((groups.find(({ name }) => name === panel) ?? groups[0])?.spans ?? [])
      .filter(({ until }) => until > begins)
      .map((span) => ({ ...span, from: Math.max(begins, span.from) }));
  return {
    ...LINE,
    columns: 1,
    size: () => ({ width: WIDTH, height: 280 }),
    annotations: (drawing) =>
      spansOf(drawing)
        .flatMap(({ text, from }) =>
          text === undefined ? [] : [{ time: new Date(from), label: text }],
        )
        .slice(0, MOST_LABELS),
    layers: (frame) => flowLayers(frame, spansOf(frame.drawing), states, measure.label),
  };
}

function flowLayers(
  frame: Frame,
  spans: readonly Span[],
  states: readonly State[],
  measured: string,
): VegaLiteSpec[] {
  const { fields, theme, x, y, domain, width, drawing, tooltip } = frame;
  const lines = [
    [fields.y, measured, theme.text, { strokeWidth: drawing.points.length > 600 ? 1 : 1.5 }],
    ["_expected", "Expected", theme.series[0], { strokeDash: [4, 3], strokeWidth: 1.25 }],
    ["_limit", "Alarm below", theme.series[5], { strokeWidth: 1 }],
  ] as [string, string, string, VegaLiteSpec][];
  const stroke = {
    type: "nominal",
    scale: {
      domain: lines.map(([, told]) => told),
      range: lines.map(([, , color]) => color),
    },
    legend: { title: null, symbolType: "stroke", symbolStrokeWidth: 2 },
  };
  const least = (LEAST_SPAN * (domain[1] - domain[0])) / width;
  const strips = (some: readonly Span[], strip?: number): VegaLiteSpec => ({
    data: {
      values: some.map(({ state, from, until }) => ({
        kind: SPANS[state][0],
        from: formatInstantIso(from),
        until: formatInstantIso(Math.max(until, from + least)),
      })),
    },
    mark: { type: "rect", opacity: strip === undefined ? 0.28 : 0.8 },
    encoding: {
      x: { field: "from", type: "temporal" },
      x2: { field: "until" },
      ...(strip !== undefined && { y: { value: 0 }, y2: { value: strip } }),
      fill: {
        field: "kind",
        type: "nominal",
        scale: {
          domain: states.map((state) => SPANS[state][0]),
          range: states.map((state) => theme.series[SPANS[state][1] ?? -1] ?? theme.neutral),
        },
        legend: { title: null, symbolType: "square" },
      },
      tooltip: [{ field: "kind", type: "nominal", title: "State" }],
    },
  });
  // Declines are weeks long: a strip above what happens in them.
  const isLong = ({ state }: Span): boolean => state === "decline";
  return [
    {
      ...frame.data(drawing.points.map((point) => specRow(point, frame))),
      layer: [
        ...(states.length === 0
          ? []
          : [strips(spans.filter((span) => !isLong(span))), strips(spans.filter(isLong), STRIP)]),
        ...lines.toReversed().map(([field, told, , look]) => ({
          mark: { type: "line", strokeJoin: "round", ...look },
          encoding: {
            x,
            y: { ...y, field },
            stroke: { datum: told, ...stroke },
          },
        })),
        {
          mark: { type: "point", filled: true, size: 60, opacity: 0 },
          encoding: { x, y, tooltip },
        },
      ],
    },
  ];
}
