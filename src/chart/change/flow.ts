import {
  columnValues,
  newTable,
  pickRows,
  rowKeys,
  rowsByKey,
} from "../../result/arquero-table.js";
import { zoneOf, type MeasureColumn } from "../../result/origin.js";
import { valueWords } from "../../result/column-words.js";
import type { Result, Value } from "../../result/result.js";
import { MOST_ROWS } from "../../base/limits.js";
import { counted } from "../../base/text.js";
import { nextBucket } from "../../time/bucket.js";
import { between } from "../../time/time-range.js";
import { formatInstant } from "../../time/time-zone.js";
import { annotationLayers } from "../annotations.js";
import { drawRows } from "../draw-rows.js";
import { frame } from "../frame.js";
import { formatInstantIso, heading, label } from "../label.js";
import { LINE } from "../line.js";
import type { FindingRow, VegaLiteSpec } from "../options.js";
import { originSpan } from "../sentences.js";
import { nothing, numberOf, partText, type Canvas, type ChangePicture } from "./picture.js";

const WIDTH = 800;
const MOST_PANELS = 4;
const DAY = 86_400_000;
/** Of a forecast so many pixels are a bucket at least: further back it isn't drawn. */
const LEAST_PIXELS = 2;
/** A narrower alarm can't be seen. */
const LEAST_SPAN = 3;
const MOST_LABELS = 12;
const STRIP = 8;

/** What beside the measure is drawn of a bucket, by the names of the columns and of the spec's fields. */
const FIELDS = { expected: "_expected", low: "_low", high: "_high", limit: "_limit" } as const;

/** States of a bucket that are spans of colour; what each says in the legend. */
const SPANS = {
  drop: "Drop",
  stop: "Stop: other groups go on",
  gap: "Gap: no row of any group",
  silence: "Silence until the end",
  decline: "Slow decline",
  late: "Late: not judged yet",
  incomplete: "Incomplete: not judged",
} as const;
type Span = keyof typeof SPANS;
const isSpan = (state: unknown): state is Span => Object.hasOwn(SPANS, String(state));

/** `forecast`: what was measured, what is expected, and the band that it should be in. */
export function expectedBand(canvas: Canvas): ChangePicture {
  const { result, options } = canvas;
  const width = options.width ?? WIDTH;
  const times = timesOf(result);
  const starts = [...new Set(times)].sort((a, b) => a - b);
  const from = starts[Math.max(0, starts.length - Math.floor(width / LEAST_PIXELS))] ?? 0;
  return flowPicture(canvas, {
    from,
    title: ": expected and measured",
    groups: (all) => all,
    spans: () => [],
  });
}

/** `alarm`: the flow, what was expected of it, the limit, and the buckets that are an alarm. */
export function alarms(canvas: Canvas): ChangePicture {
  const { result, record } = canvas;
  const all = record.rows ?? [];
  const times = timesOf(result);
  const end = times.reduce((most, at) => Math.max(most, at), -Infinity);
  const first = all.reduce((least, row) => Math.min(least, Number(row["t"])), Infinity);
  const dimensions = result.origin.columns.dimensions.map(({ name }) => name);
  return flowPicture(canvas, {
    from: Math.min(end - 14 * DAY, first - 3 * DAY),
    title: ": the alarms",
    groups: (groups) => {
      // The group with the largest alarm first.
      const order = all.map((row) => JSON.stringify(dimensions.map((name) => row[name])));
      const keyOf = (row: number): string =>
        JSON.stringify(dimensions.map((name) => result.table.get(name, row) as Value));
      const some = groups.filter(([row]) => order.includes(keyOf(row!)));
      const rank = ([row]: readonly number[]): number => order.indexOf(keyOf(row!));
      return some.length > 0 ? some.toSorted((a, b) => rank(a) - rank(b)) : groups;
    },
    spans: (rows, group) => [
      ...all
        .filter((row) => dimensions.every((name) => row[name] === group[name]))
        .map((row) => {
          const state = row["kind"] as Span;
          const by = state === "drop" || state === "decline" ? numberOf(row["change"]) : null;
          return {
            state,
            from: Number(row["t"]),
            until: Number(row["until"]),
            text: by === null ? state : `${state} ${partText(by)}`,
          };
        }),
      ...notJudged(rows, result),
    ],
  });
}

interface Stretch {
  readonly state: Span;
  readonly from: number;
  readonly until: number;
  /** Above it; none where it is no alarm. */
  readonly text?: string;
}

interface Plan {
  /** Buckets before it aren't drawn. */
  readonly from: number;
  readonly title: string;
  groups(groups: (readonly number[])[]): (readonly number[])[];
  spans(rows: readonly FindingRow[], group: FindingRow): Stretch[];
}

/** A panel for each group: the largest, or those that the plan chooses. */
function flowPicture(canvas: Canvas, plan: Plan): ChangePicture {
  const { result, options, theme } = canvas;
  const { origin } = result;
  const { time, measures, dimensions } = origin.columns;
  const measure = measures[0]!;
  const width = options.width ?? WIDTH;
  const names = dimensions.map(({ name }) => name);
  const cells = columnValues(result.table, measure.name);
  const weight = (rows: readonly number[]): number =>
    rows.reduce((all, row) => all + (numberOf(cells[row]) ?? 0), 0);
  const groups = [...rowsByKey(rowKeys(result.table, names)).values()];
  const chosen = plan.groups([...groups].sort((a, b) => weight(b) - weight(a)));
  const drawn = chosen.slice(0, MOST_PANELS);
  const times = timesOf(result);
  const most = Math.floor(MOST_ROWS / Math.max(1, drawn.length));
  const inside = drawn.map((rows) => rows.filter((row) => times[row]! >= plan.from).slice(-most));
  const begins = Math.min(...inside.map(([row]) => times[row!]!));
  const earliest = times.reduce((least, at) => Math.min(least, at), Infinity);
  const height = options.height ?? (drawn.length > 1 ? 150 : 280);
  const rows = inside.map((own) => pickRows(result.table, own).objects() as FindingRow[]);
  const spans = rows.map((own) => plan.spans(own, own[0]!).filter(({ until }) => until > begins));
  const kinds = (Object.keys(SPANS) as Span[]).filter((kind) =>
    spans.flat().some(({ state }) => state === kind),
  );
  const panels = inside.map((own, at) =>
    panel(canvas, {
      ...{ measure, width, height, kinds },
      result: single(result, own, begins),
      rows: rows[at]!,
      spans: spans[at]!.map((span) => ({ ...span, from: Math.max(begins, span.from) })),
      first: at === 0,
      name:
        drawn.length > 1 || groups.length > 1
          ? names
              .map((name) => `${heading(name)} ${label(valueWords(name, rows[at]![0]![name]), 60)}`)
              .join(", ")
          : undefined,
    }),
  );
  const unseen = (canvas.record.rows ?? []).filter((row) => Number(row["until"]) <= begins).length;
  const left = chosen.length - drawn.length;
  const lines = panels.length > 1 ? { vconcat: panels, spacing: 24 } : panels[0];
  const columns = [time!.name, ...names, ...measures.map(({ name }) => name)].filter((name) =>
    result.columnNames.includes(name),
  );
  const per = measure.additive ? ` per ${time!.every}` : "";
  const band = measures.find(({ name }) => name === "low")?.label.match(/the (.* band)$/)?.[1];
  return {
    title: `${measure.label}${per}${plan.title}${originSpan(origin)
      .map((text) => `, ${text}`)
      .join("")}`,
    told: [
      ...(band === undefined ? [] : [`Shaded: the ${band}.`]),
      ...(begins > earliest
        ? [`Drawn from ${formatInstant(new Date(begins), zoneOf(origin))} on.`]
        : []),
      ...(unseen > 0 ? [`${counted(unseen, "earlier alarm")} in the table.`] : []),
      ...(left > 0 ? [`Drawn: ${drawn.length} of ${chosen.length} groups, the largest.`] : []),
    ],
    widest: width + 130,
    spec: lines ?? {
      ...{ width, height },
      layer: [nothing(theme.muted, "No rows.")],
    },
    rows: {
      names: columns,
      rows: rows.flat().map((row) => columns.map((name) => row[name] ?? null)),
    },
  };
}

interface Panel {
  readonly measure: MeasureColumn;
  readonly width: number;
  readonly height: number;
  readonly kinds: readonly Span[];
  readonly result: Result;
  readonly rows: readonly FindingRow[];
  readonly spans: readonly Stretch[];
  readonly first: boolean;
  readonly name: string | undefined;
}

/** Lines of one group: the measure, what is expected, and either a band or a limit with its alarms. */
function panel({ theme, options }: Canvas, given: Panel): VegaLiteSpec {
  const { measure, width, height, kinds, result, rows, first } = given;
  const size = { width, height };
  const drawing = drawRows(result, LINE, { y: measure.name, ...size });
  const plot = frame(result, drawing, { theme: options.theme ?? "light", ...size }, undefined);
  const { fields, x, domain } = plot;
  const labels = annotationLayers(
    plot,
    given.spans
      .flatMap(({ text, from }) =>
        text === undefined ? [] : [{ time: new Date(from), label: text }],
      )
      .slice(0, MOST_LABELS),
  );
  const axis = plot.y.axis as VegaLiteSpec;
  const y = { ...plot.y, axis: { ...axis, titleY: Number(axis.titleY) - labels.height } };
  const { measures, time } = result.origin.columns;
  const has = (name: keyof typeof FIELDS): boolean => result.columnNames.includes(name);
  const titleOf = (name: string): string =>
    measures.find((each) => each.name === name)?.label ?? heading(name);
  const values = rows.map((row) => ({
    [fields.x]: formatInstantIso(Number(row[time!.name])),
    [fields.y]: numberOf(row[measure.name]),
    ...Object.fromEntries(
      Object.entries(FIELDS)
        .filter(([name]) => has(name as keyof typeof FIELDS))
        .map(([name, field]) => [field, numberOf(row[name])]),
    ),
    ...(isSpan(row["state"]) && { _state: SPANS[row["state"]] }),
  }));
  const told = has("limit")
    ? [measure.label, "Expected", "Alarm below"]
    : [measure.label, "Expected"];
  const looks = [theme.text, theme.series[0], theme.series[5]];
  const stroke = (which: string): VegaLiteSpec => ({
    datum: which,
    type: "nominal",
    scale: { domain: told, range: looks.slice(0, told.length) },
    legend: first ? { title: null, symbolType: "stroke", symbolStrokeWidth: 2 } : null,
  });
  const number = { type: "quantitative" };
  const line = (field: string, which: string, look: VegaLiteSpec): VegaLiteSpec => ({
    mark: { type: "line", strokeJoin: "round", ...look },
    encoding: { x, y: { ...y, field }, stroke: stroke(which) },
  });
  const tooltip = [
    ...plot.tooltip,
    ...(["expected", "low", "high", "limit"] as const).filter(has).map((name) => ({
      field: FIELDS[name],
      title: titleOf(name).replace(/["\\]/g, "'"),
      format: measure.unit === "share" ? ".2%" : ",.4~r",
      ...number,
    })),
    ...(has("limit") ? [{ field: "_state", type: "nominal", title: "State" }] : []),
  ];
  const colours = spanColours(theme.series, theme.neutral);
  const instant = { type: "temporal" };
  const least = (LEAST_SPAN * (domain[1] - domain[0])) / width;
  const spans = given.spans.map(({ state, from, until }) => ({
    kind: SPANS[state],
    from: formatInstantIso(from),
    until: formatInstantIso(Math.max(until, from + least)),
  }));
  const spanLayer = (values: readonly VegaLiteSpec[], strip?: number): VegaLiteSpec => ({
    data: { values },
    mark: { type: "rect", opacity: strip === undefined ? 0.28 : 0.8 },
    encoding: {
      x: { field: "from", ...instant },
      x2: { field: "until" },
      ...(strip !== undefined && { y: { value: 0 }, y2: { value: strip } }),
      fill: {
        field: "kind",
        type: "nominal",
        scale: {
          domain: kinds.map((kind) => SPANS[kind]),
          range: kinds.map((kind) => colours[kind]),
        },
        legend: first ? { title: null, symbolType: "square" } : null,
      },
      tooltip: [{ field: "kind", type: "nominal", title: "State" }],
    },
  });
  return {
    ...size,
    ...(given.name !== undefined && {
      title: { text: given.name, fontSize: 12, fontWeight: "bold", offset: 6 },
    }),
    ...plot.data(values),
    layer: [
      ...(kinds.length === 0
        ? []
        : [
            spanLayer(spans.filter(({ kind }) => kind !== SPANS.decline)),
            // Weeks long: a strip above what happens in them.
            spanLayer(
              spans.filter(({ kind }) => kind === SPANS.decline),
              STRIP,
            ),
          ]),
      ...(has("low")
        ? [
            {
              mark: { type: "area", color: theme.series[0], opacity: 0.18 },
              encoding: {
                x,
                y: { ...y, field: FIELDS.low },
                y2: { field: FIELDS.high },
              },
            },
          ]
        : []),
      line(FIELDS.expected, "Expected", { strokeDash: [4, 3], strokeWidth: 1.25 }),
      ...(has("limit") ? [line(FIELDS.limit, "Alarm below", { strokeWidth: 1 })] : []),
      line(fields.y, measure.label, { strokeWidth: rows.length > 600 ? 1 : 1.5 }),
      {
        mark: { type: "point", filled: true, size: 60, opacity: 0 },
        encoding: { x, y, tooltip },
      },
      ...labels.layers.slice(1),
    ],
  };
}

const ALARMED = { drop: 5, stop: 3, gap: 7, silence: 2, decline: 1 } as const;

/** Alarms in colours of their own; what isn't judged is grey. */
function spanColours(series: readonly string[], neutral: string): Record<Span, string> {
  const named = Object.entries(ALARMED).map(([kind, at]) => [kind, series[at] ?? neutral]);
  const grey = ["late", "incomplete"].map((kind) => [kind, neutral]);
  return Object.fromEntries([...named, ...grey]) as Record<Span, string>;
}

/** Stretches of buckets that weren't judged, one for each reason. */
function notJudged(rows: readonly FindingRow[], { origin }: Result): Stretch[] {
  const { time } = origin.columns;
  const stretches: { state: Span; from: number; until: number }[] = [];
  for (const row of rows) {
    const state = row["state"];
    if (state !== "late" && state !== "incomplete") continue;
    const from = Number(row[time!.name]);
    const until = Number(nextBucket(new Date(from), time!.every, zoneOf(origin)));
    const open = stretches.at(-1);
    if (open?.state === state && open.until === from) open.until = until;
    else stretches.push({ state, from, until });
  }
  return stretches;
}

/** The rows of one group as an answer of its own, without dimensions. */
function single(result: Result, rows: readonly number[], begins: number): Result {
  const { columns, range } = result.origin;
  const own = pickRows(result.table, rows);
  const kept = [columns.time!.name, ...columns.measures.map(({ name }) => name)];
  const table = newTable(
    result.table,
    kept.map((name): [string, unknown] => [name, columnValues(own, name)]),
  );
  return result.with(table, {
    columns: {
      time: columns.time!,
      dimensions: [],
      // Every bucket has a row.
      measures: columns.measures.map((measure) => ({ ...measure, missing: "gap" as const })),
    },
    reductions: [],
    ...(range && { range: between(new Date(begins), range.end, { timeZone: range.timeZone }) }),
  });
}

function timesOf(result: Result): number[] {
  return columnValues(result.table, result.origin.columns.time!.name).map(Number);
}
