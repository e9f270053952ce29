import { MOST_ROWS } from "../base/limits.js";
import { ProbelabError } from "../base/error.js";
import { columnValues, pickRows } from "../result/arquero-table.js";
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
import { chartSeries, seriesDimension } from "./series.js";

/** More panels can't be taken in. */
const MOST_PANELS = 12;
const WIDTH = 760;
const HEIGHT = 130;
const SPACING = 18;
const NAME_SIZE = 11;
/** Pixels of numbers left of a panel, and of what stands between panels below each other. */
const LABELS = 40;
const BETWEEN = 64;

/** One value's part of a Result, and how it is drawn. */
interface Panel {
  readonly name: string;
  readonly value: Value;
  readonly drawing: Drawing;
}

/** What all panels of a chart draw, and each of them. */
export interface Panels {
  /** The points of all, for titles, descriptions and common axes. */
  readonly all: Drawing;
  readonly each: readonly Panel[];
  readonly sentences: readonly string[];
}

/** A drawing for each value of a column, of the same series and the same places along x. */
export function facetDrawings(
  result: Result,
  kind: ChartKind,
  { facet = "", ...options }: DrawOptions,
): Panels {
  checkColumn(result.columnNames(), facet, `draw ${kind.drawn} with facet: `);
  const parts = partsOf(result, facet);
  const most = Math.floor(MOST_ROWS / Math.min(MOST_PANELS, parts.length));
  const drawn = largest(parts, options.y).map(({ name, value, part }) => ({
    name,
    value,
    drawing: drawRows(part, kind, options, most),
  }));
  const drawings = drawn.map(({ drawing }) => drawing);
  const [first] = drawings;
  if (first === undefined) {
    const drawing = drawRows(result, kind, { ...options, color: facet });
    return { all: { ...drawing, series: [] }, each: [], sentences: [] };
  }
  const steps = new Set(drawings.map(({ every }) => every));
  if (steps.size > 1) {
    throw new ProbelabError(
      `Can't draw panels by ${[...steps].join(" and by ")} beside each other: ask with a coarser every, of which all panels fit one chart.`,
    );
  }
  const values = drawings.flatMap(({ series }) => series.map(({ value }) => value));
  // Series of several columns have no dimension of their own.
  const rest = drawings.flatMap(({ series }) => series).find(({ other }) => other)?.value;
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
  const joined: Drawing = {
    ...first,
    series,
    xs,
    points: aligned.flatMap(({ points }) => points),
    incomplete: new Set(drawings.flatMap(({ incomplete }) => [...incomplete])),
    sentences: [...new Set(drawings.flatMap(({ sentences }) => sentences))],
  };
  // Categories stand in one order in all panels.
  const ordered = kind.order?.(joined, options) ?? xs;
  const arranged = aligned.map((drawing, at) => {
    const own = { ...drawing, xs: ordered, panel: drawn[at]!.value };
    return kind.arrange?.(own, { ...options, sort: "given" }, result.origin) ?? own;
  });
  return {
    all: {
      ...joined,
      roles: arranged[0]!.roles,
      points: arranged.flatMap(({ points }) => points),
      xs: ordered,
    },
    each: drawn.map(({ name, value }, at) => ({ name, value, drawing: arranged[at]! })),
    sentences:
      parts.length > drawn.length
        ? [`Drawn: ${drawn.length} of ${parts.length} panels by ${words(facet)}, the largest.`]
        : [],
  };
}

interface Part {
  readonly name: string;
  readonly value: Value;
  readonly part: Result;
  readonly other: boolean;
}

/** The rows of each value without its column, in the order of a legend. */
function partsOf({ table, origin }: Result, facet: string): Part[] {
  const values = columnValues(table, facet);
  const { dimensions } = origin.columns;
  const others = table.select(table.columnNames().filter((name) => name !== facet));
  return chartSeries(values, seriesDimension(origin.columns, facet, values), facet).map(
    ({ value, label, other }) => {
      const key = valueKey(value);
      const rows = values.flatMap((each, row) => (valueKey(each ?? null) === key ? [row] : []));
      const kept = dimensions.filter(({ name }) => name !== facet);
      const columns = { ...origin.columns, dimensions: kept };
      const part = new Result(pickRows(others, rows), { ...origin, columns });
      return { name: label, value, other, part };
    },
  );
}

/** The parts with the most in them, in their order; the rest, if there is one, stays. */
function largest(parts: readonly Part[], y: string | undefined): readonly Part[] {
  const size = ({ part, other }: Part): number => {
    const counts = part.origin.columns.measures.filter(({ additive }) => additive);
    const counted = counts.find(({ name }) => name === y) ?? counts[0];
    const values = counted ? part.column(counted.name) : [];
    return other ? Infinity : values.reduce<number>((sum, n) => sum + Math.abs(Number(n)), 0);
  };
  const sized = parts.map((part) => ({ part, size: size(part) || part.part.numRows() }));
  const kept = sized.toSorted((a, b) => b.size - a.size).slice(0, MOST_PANELS);
  return parts.filter((part) => kept.some((each) => each.part === part));
}

/** How many panels stand beside each other, how large each is, and how far apart. */
export function panelSize(
  all: Drawing,
  count: number,
  horizontal: boolean,
  { width = WIDTH, height, scales }: DrawOptions,
  columns = count === 4 ? 2 : Math.min(3, Math.max(1, count)),
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

/** The spec of panels with `above` pixels of labels over each, beside each other, of their views: one legend, axes labelled at the edges where they are shared. */
export function panelsSpec(
  views: readonly { readonly name: string; readonly view: Frame; readonly layer: VegaLiteSpec[] }[],
  {
    columns,
    apart,
    above,
    scales,
  }: { columns: number; apart: number; above: number; scales?: string },
): VegaLiteSpec {
  return {
    concat: views.map(({ name, view, layer }) => ({
      title: { text: name, fontSize: 12, fontWeight: "bold", offset: 6 },
      width: view.width,
      height: view.height,
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
  { at, count, columns, scales }: { at: number; count: number; columns: number; scales?: string },
): Frame {
  if (view.horizontal) return view;
  const shared = scales !== "own";
  const axis = (channel: VegaLiteSpec): VegaLiteSpec => channel.axis as VegaLiteSpec;
  const { title, labelExpr, tickCount, values } = axis(shared ? common.y : view.y);
  const first = at % columns === 0;
  const last = at + columns >= count;
  return {
    ...view,
    x: { ...view.x, axis: { ...axis(view.x), ...(!last && { title: null }) } },
    y: {
      ...view.y,
      axis: {
        title: first ? title : null,
        titleLimit: view.height,
        labelExpr,
        labelFlush: true,
        domain: false,
        ticks: false,
        labelPadding: 6,
        ...(values !== undefined ? { values } : { tickCount }),
        ...(shared && !first && { labels: false }),
      },
    },
  };
}
