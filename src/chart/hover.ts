import { pointsBySeries, specRow, type ChartKind, type Frame, type Hover } from "./frame.js";
import type { Drawing, Point } from "./draw-rows.js";
import type { VegaLiteSpec } from "../render/theme.js";

/** The parameter that holds the series that a page's legend keeps; null for all. */
export const KEPT = "probelab_series";
const RING = "probelab_ring";
const NEAREST = "probelab_nearest";

/** A view, and the number of layers that its kind made; annotations, with tooltips of their own, come after them. */
export interface HoverView {
  readonly view: Frame;
  readonly layers: number;
}

/** Adds to a spec the layers with tooltips for these views. */
export function withHover(
  spec: VegaLiteSpec,
  kind: ChartKind,
  views: readonly HoverView[],
): VegaLiteSpec {
  const { hover } = kind;
  if (hover === undefined) return spec;
  // A signal of the place can't say in which panel it is.
  const alone = Array.isArray(spec["layer"]);
  const hovered = (at: number, { layer, ...rest }: VegaLiteSpec): VegaLiteSpec => {
    const { view, layers } = views[at]!;
    const own = layer as VegaLiteSpec[];
    if (!view.drawing.points.some(({ y }) => y !== null)) return { ...rest, layer };
    const { layers: added, under } = hover(view);
    // The names of parameters are one to a chart.
    const unseen = JSON.parse(
      JSON.stringify(added).replaceAll(`"${NEAREST}"`, `"${NEAREST}${at}"`),
    ) as VegaLiteSpec[];
    const place = under ? 0 : layers;
    const rings = alone && "params" in unseen[0]! ? [ring(view)] : [];
    return { ...rest, layer: [...rings, ...own.toSpliced(place, 0, ...unseen)] };
  };
  return withoutTwins({
    ...(alone ? hovered(0, spec) : spec),
    ...(Array.isArray(spec["concat"]) && {
      concat: (spec["concat"] as VegaLiteSpec[]).map((panel, at) => hovered(at, panel)),
    }),
    params: [
      ...((spec["params"] as unknown[] | undefined) ?? []),
      { name: KEPT, value: null },
      RING_PARAM,
    ],
  });
}

/** Fewer rows may stand in a spec twice. */
const FEW = 500;

/** The spec with the rows that several layers draw in it once. */
function withoutTwins(spec: VegaLiteSpec): VegaLiteSpec {
  if (!Array.isArray(spec["layer"])) return spec;
  const names = new Map<string, string>();
  const datasets: Record<string, unknown> = {};
  const layer = (spec["layer"] as VegaLiteSpec[]).map((layer) => {
    const { values } = (layer["data"] ?? {}) as { values?: readonly unknown[] };
    if (values === undefined || values.length < FEW) return layer;
    const text = JSON.stringify(values);
    const name = names.get(text) ?? `probelab_rows${names.size}`;
    names.set(text, name);
    datasets[name] = values;
    return { ...layer, data: { name } };
  });
  return { ...spec, ...(names.size > 0 && { datasets }), layer };
}

/** A tooltip for the point nearest to the pointer, with a ring around it. */
export function nearestPoints(frame: Frame): VegaLiteSpec {
  // With its gaps, as a line's own layer has them.
  const rows = frame.drawing.points.map((point) => specRow(point, frame));
  return nearest(frame, rows, frame.y);
}

function nearest(frame: Frame, rows: readonly VegaLiteSpec[], y: VegaLiteSpec): VegaLiteSpec {
  const { x, tooltip } = frame;
  const select = { type: "point", nearest: true, on: "mouseover", clear: "mouseout" };
  const { transform = [], ...own } = rowsOf(frame, rows) as { transform?: object[] };
  const known = `isValid(datum[${JSON.stringify(y["field"])}])`;
  return {
    ...own,
    transform: [{ filter: known }, ...transform],
    params: [{ name: NEAREST, select }],
    mark: { type: "point", opacity: 0 },
    encoding: { x, y, tooltip },
  };
}

// Of Vega's own events: were its look the selection's, each move would lay out all points anew.
const RING_PARAM = {
  name: RING,
  value: null,
  on: [
    { events: "mouseover", update: "datum && datum.datum ? {x: datum.x, y: datum.y} : null" },
    { events: "view:mouseout", update: "null" },
  ],
};

/** A ring around the point of the tooltip. */
const ring = ({ theme }: Frame): VegaLiteSpec => ({
  data: { values: [{}] },
  mark: { type: "point", filled: false, size: 110, strokeWidth: 1.5, color: theme.text },
  encoding: {
    x: { value: { expr: `${RING} ? ${RING}.x : 0` } },
    y: { value: { expr: `${RING} ? ${RING}.y : 0` } },
    opacity: { value: { expr: `${RING} ? 1 : 0` } },
  },
});

/** The row of the step of an area that the pointer is over; above the stack that of its top. */
export function areasOfSteps(
  frame: Frame,
  drawing: Drawing,
  ends: ReadonlyMap<number, number>,
): Hover {
  const { points } = drawing;
  if (drawing.series.length < 2) {
    const whole = [...bucketsOf(points)].flat().map((point) => ({ point }));
    return { layers: [cells(frame, ends, whole)] };
  }
  const bands = [...bucketsOf(points)].flatMap((own) => {
    const seen = own.some(({ y }) => y > 0) ? own.filter(({ y }) => y > 0) : own;
    let from = 0;
    // The first of the legend is the top.
    return seen
      .toSorted((a, b) => b.series - a.series)
      .map((point) => {
        const band = { point, from };
        from += point.y;
        return band;
      });
  });
  return { layers: [cells(frame, ends, bands)] };
}

/** Below sloping areas, which have tooltips: the nearest point of their upper edges. */
export function nearestEdges(frame: Frame, drawing: Drawing): Hover {
  if (drawing.series.length < 2) return { layers: [nearestPoints(frame)], under: true };
  const tops = new Map<Point["x"], number>();
  const edges = [...pointsBySeries(drawing.points)]
    .toSorted(([a], [b]) => b - a)
    .flatMap(([, points]) =>
      points.flatMap((point) => {
        if (point.y === null) return [];
        const top = (tops.get(point.x) ?? 0) + point.y;
        tops.set(point.x, top);
        return { ...specRow(point, frame), middle: top };
      }),
    );
  return { layers: [nearest(frame, edges, { ...frame.y, field: "middle" })], under: true };
}

type Known = Point & { readonly y: number };

/** The points of each place along x, without gaps. */
function bucketsOf(points: readonly Point[]): Iterable<Known[]> {
  const buckets = new Map<Point["x"], Known[]>();
  for (const point of points) {
    if (point.y === null) continue;
    const own = buckets.get(point.x) ?? [];
    if (own.push({ ...point, y: point.y }) === 1) buckets.set(point.x, own);
  }
  return buckets.values();
}

/** Rectangles as wide as their buckets, from their lower bound (or the bottom) to the top of the plot; later ones cover earlier ones. */
function cells(
  frame: Frame,
  ends: ReadonlyMap<number, number>,
  rows: readonly { readonly point: Point; readonly from?: number }[],
): VegaLiteSpec {
  const { x, y, tooltip, drawing } = frame;
  const place = (value: number): unknown =>
    drawing.roles.xKind === "time" ? new Date(value).toISOString() : value;
  return {
    ...rowsOf(
      frame,
      rows.map(({ point, from }) => ({
        ...specRow(point, frame),
        end: place(ends.get(Number(point.x)) ?? Number(point.x)),
        ...(from !== undefined && { middle: from }),
      })),
    ),
    mark: { type: "rect", opacity: 0 },
    encoding: {
      x,
      x2: { field: "end" },
      y: rows[0]?.from === undefined ? { value: "height" } : { ...y, field: "middle" },
      y2: { value: 0 },
      tooltip,
    },
  };
}

/** A layer's rows, of which a page's legend may keep one series. */
function rowsOf(frame: Frame, rows: readonly VegaLiteSpec[]): VegaLiteSpec {
  const { series } = frame.fields;
  const { data, transform } = frame.data(rows) as { data: object; transform?: object[] };
  const kept = `!isValid(${KEPT}) || datum[${JSON.stringify(series)}] === ${KEPT}`;
  const steps = [...(transform ?? []), ...(series === undefined ? [] : [{ filter: kept }])];
  return { data, ...(steps.length > 0 && { transform: steps }) };
}
