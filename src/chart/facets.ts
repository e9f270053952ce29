import { MOST_ROWS } from "../base/limits.js";
import { ProbelabError } from "../base/error.js";
import { columnValues, pickRows, rowsByKey } from "../result/arquero-table.js";
import { valueKey } from "../result/json.js";
import { Result, type Value } from "../result/result.js";
import { drawRows, type Drawing } from "./draw-rows.js";
import type { ChartKind, Frame } from "./frame.js";
import { textWidth } from "../fonts/shipped-font.js";
import { categoryLabels } from "./axes.js";
import { words } from "../render/label.js";
import type { DrawOptions } from "./options.js";
import type { VegaLiteSpec } from "../render/theme.js";
import { checkColumn } from "./roles.js";
import { chartSeries, seriesDimension, type Series } from "./series.js";

/** More panels can't be taken in. */
const MOST_PANELS = 12;
const WIDTH = 760;
const HEIGHT = 130;
const SPACING = 18;
const NAME_SIZE = 11;
/** Pixels of numbers left of a panel, and of what stands between panels below each other. */
const LABELS = 40;
const BETWEEN = 64;

/** One value's part of a Result. */
interface Part extends Series {
  readonly result: Result;
}

/** What all panels of a chart draw, and each of them. */
export interface Panels {
  /** The points of all, for titles, descriptions and common axes. */
  readonly all: Drawing;
  readonly each: readonly { readonly name: string; readonly drawing: Drawing }[];
  readonly sentences: readonly string[];
}

/** A drawing for each value of a column, of the same series and the same places along x; there is at least one row. */
export function facetDrawings(
  result: Result,
  kind: ChartKind,
  { facet = "", ...options }: DrawOptions,
): Panels {
  checkColumn(result.columnNames(), facet, `draw ${kind.drawn} with facet: `);
  const parts = partsOf(result, facet);
  const shown = largest(parts, options.y);
  const most = Math.floor(MOST_ROWS / Math.max(1, shown.length));
  const drawings = shown.map((part) => ({
    ...drawRows(part.result, kind, options, most),
    panel: part.value,
  }));
  const first = drawings[0]!;
  const steps = new Set(drawings.map(({ every }) => every));
  if (steps.size > 1) {
    throw new ProbelabError(
      `Can't draw panels by ${[...steps].join(" and by ")} beside each other: ask with a coarser every, of which all panels fit one chart.`,
    );
  }
  const found = drawings.flatMap(({ series }) => series);
  const values = found.map(({ value }) => value);
  // Series of several columns have no dimension of their own.
  const rest = found.find(({ other }) => other)?.value;
  const dimension = seriesDimension(result.origin.columns, first.seriesName, values) ?? {
    order: [],
    ...(typeof rest === "string" && { other: rest }),
  };
  const series = chartSeries(values, dimension, first.seriesName);
  const places = new Map(series.map(({ value }, at) => [valueKey(value), at]));
  const aligned = drawings.map((drawing) => ({
    ...drawing,
    series,
    points: drawing.points.map((point) => ({
      ...point,
      series: places.get(valueKey(drawing.series[point.series]?.value)) ?? 0,
    })),
  }));
  const xs = [...new Set(drawings.flatMap((drawing) => drawing.xs))];
  if (first.roles.xKind !== "category") xs.sort((a, b) => Number(a) - Number(b));
  const all = (of: readonly Drawing[]): Drawing => ({
    ...of[0]!,
    series,
    xs,
    points: of.flatMap(({ points }) => points),
    incomplete: new Set(of.flatMap(({ incomplete }) => [...incomplete])),
    sentences: [...new Set(drawings.flatMap(({ sentences }) => sentences))],
  });
  // Categories stand in one order in all panels.
  const ordered = kind.order?.(all(aligned), options) ?? xs;
  const arranged = aligned.map((drawing) => {
    const own = { ...drawing, xs: ordered };
    return kind.arrange?.(own, { ...options, sort: "given" }, result.origin) ?? own;
  });
  return {
    all: { ...all(arranged), xs: ordered },
    each: arranged.map((drawing, at) => ({ name: shown[at]!.label, drawing })),
    sentences:
      parts.length > shown.length
        ? [`Drawn: ${shown.length} of ${parts.length} panels by ${words(facet)}, the largest.`]
        : [],
  };
}

/** The rows of each value without its column, in the order of a legend. */
function partsOf({ table, origin }: Result, facet: string): Part[] {
  const values = columnValues(table, facet);
  const others = table.select(table.columnNames().filter((name) => name !== facet));
  const dimensions = origin.columns.dimensions.filter(({ name }) => name !== facet);
  const rows = rowsByKey(values.map((value) => valueKey(value ?? null)));
  return chartSeries(values, seriesDimension(origin.columns, facet, values), facet).map((one) => {
    const part = pickRows(others, rows.get(valueKey(one.value)) ?? []);
    const columns = { ...origin.columns, dimensions };
    return { ...one, result: new Result(part, { ...origin, columns }) };
  });
}

/** The parts with the most in them, in their order; the rest, if there is one, stays. */
function largest(parts: readonly Part[], y: string | undefined): readonly Part[] {
  const size = ({ result, other }: Part): number => {
    const counts = result.origin.columns.measures.filter(({ additive }) => additive);
    const counted = counts.find(({ name }) => name === y) ?? counts[0];
    const values: readonly Value[] = counted ? result.column(counted.name) : [];
    const sum = values.reduce<number>((all, n) => all + Math.abs(Number(n)), 0);
    return other ? Infinity : sum || result.numRows();
  };
  const kept = new Set(parts.toSorted((a, b) => size(b) - size(a)).slice(0, MOST_PANELS));
  return parts.filter((part) => kept.has(part));
}

/** How many panels stand beside each other, how large each is, and how far apart. */
export function panelSize(
  all: Drawing,
  count: number,
  horizontal: boolean,
  {
    width = WIDTH,
    height,
    scales,
    columns = count === 4 ? 2 : Math.min(3, Math.max(1, count)),
  }: DrawOptions,
): { columns: number; apart: number; width: number; height?: number } {
  const names = [...categoryLabels(all).values()].map((name) => textWidth(name, NAME_SIZE));
  const left = horizontal ? Math.min(280, Math.max(0, ...names)) : scales === "own" ? LABELS : 0;
  const apart = Math.ceil(left) + SPACING;
  const own = Math.floor((width - (columns - 1) * apart) / columns);
  return {
    columns,
    apart,
    width: Math.max(50, own),
    ...(height !== undefined ? { height } : !horizontal && { height: HEIGHT }),
  };
}

/** Where a panel is among others. */
export interface Place {
  readonly columns: number;
  readonly apart: number;
  readonly count: number;
  readonly scales?: "shared" | "own";
}

/** The spec of panels beside each other, with `above` pixels of labels over each: one legend, axes labelled at the edges where they are shared. */
export function panelsSpec(
  views: readonly { readonly name: string; readonly view: Frame; readonly layer: VegaLiteSpec[] }[],
  { columns, apart, scales }: Place,
  above: number,
): VegaLiteSpec {
  return {
    concat: views.map(({ name, view: { width, height }, layer }) => ({
      title: { text: name, fontSize: 12, fontWeight: "bold", offset: 6 },
      width,
      height,
      layer,
    })),
    // Plots stand in line, whatever stands around them.
    columns,
    bounds: "flush",
    spacing: { row: BETWEEN + above, column: apart },
    resolve: { scale: { x: "shared", y: scales === "own" ? "independent" : "shared" } },
  };
}

/** A panel's view: titles at the edges of all panels only, labels of a shared scale left of the first only. */
export function panelView(
  view: Frame,
  common: Frame,
  at: number,
  { count, columns, scales }: Place,
): Frame {
  if (view.horizontal) return view;
  const shared = scales !== "own";
  const axis = (channel: VegaLiteSpec): VegaLiteSpec => channel.axis as VegaLiteSpec;
  const { title, labelExpr, format, tickCount } = axis(shared ? common.y : view.y);
  const first = at % columns === 0;
  return {
    ...view,
    x: { ...view.x, axis: { ...axis(view.x), ...(at + columns < count && { title: null }) } },
    y: {
      ...view.y,
      axis: {
        title: first ? title : null,
        titleLimit: view.height,
        ...(format === undefined ? { labelExpr } : { format }),
        labelFlush: true,
        domain: false,
        ticks: false,
        labelPadding: 6,
        tickCount,
        ...(shared && !first && { labels: false }),
      },
    },
  };
}
