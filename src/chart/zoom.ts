import { zoneOffset } from "./ticks.js";
import type { Frame } from "./frame.js";
import type { VegaLiteSpec } from "../render/theme.js";
import { DAY, MINUTE } from "../time/span.js";

/** The span of time that is shown, as milliseconds; null for all. */
const ZOOM = "probelab_zoom";
const ZOOMED = `isArray(${ZOOM})`;
const DRAG = "probelab_drag";
const HELD = "probelab_held";

/** Fewer places along x need no zoom. */
const FEW = 40;
/** Pixels of the narrowest drag: a narrower one is a click. */
const NARROWEST = 6;

/**
 * The spec of a view along time with a zoom: who drags across the plot sees that span alone, a double
 * click shows everything again. The wheel stays the page's. Along y nothing changes, so that what
 * begins at zero still does.
 */
export function withZoom(spec: VegaLiteSpec, frame: Frame): VegaLiteSpec {
  const { drawing, domain, theme, timeZone } = frame;
  if (drawing.roles.xKind !== "time" || drawing.xs.length < FEW) return spec;
  const end = (at: 0 | 1) => ({ expr: `${ZOOMED} ? ${ZOOM}[${at}] : ${domain[at]}` });
  const { values, labelExpr, ...axis } = frame.x["axis"] as VegaLiteSpec;
  const { domain: _, ...scale } = frame.x["scale"] as VegaLiteSpec;
  const x = {
    ...frame.x,
    scale: { ...scale, domainMin: end(0), domainMax: end(1) },
    axis: {
      ...axis,
      // Vega's own where there are none.
      values: { expr: `${ZOOMED} ? null : [${(values as number[]).join(",")}]` },
      labelExpr: `${ZOOMED} ? (${zoomedLabel(domain, timeZone)}) : (${labelExpr as string})`,
    },
  };
  const layers = (spec["layer"] as VegaLiteSpec[]).map((layer) => zoomed(layer, frame, x));
  const inside = "inrange(x(), [0, width]) && inrange(y(), [0, height])";
  const dragged = `isArray(${DRAG}) && abs(${DRAG}[1] - ${DRAG}[0]) >= ${NARROWEST}`;
  const shown = (expr: string) => ({ value: { expr } });
  const span: VegaLiteSpec = {
    data: { values: [{}] },
    mark: { type: "rect", color: theme.text, stroke: theme.axis },
    encoding: {
      x: shown(`${dragged} ? ${DRAG}[0] : 0`),
      x2: shown(`${dragged} ? ${DRAG}[1] : 0`),
      y: { value: 0 },
      y2: { value: "height" },
      opacity: shown(`${HELD} && ${dragged} ? 0.1 : 0`),
    },
  };
  const hint: VegaLiteSpec = {
    data: { values: [{}] },
    mark: { type: "text", align: "right", baseline: "top", fontSize: 11, color: theme.muted },
    encoding: {
      x: { value: "width" },
      y: shown("height + 32"),
      text: shown(`${ZOOMED} ? "Double click: all of the time" : ""`),
    },
  };
  return {
    ...spec,
    layer: [...layers, span, hint],
    params: [
      ...((spec["params"] as unknown[] | undefined) ?? []),
      {
        name: DRAG,
        value: null,
        on: [
          {
            events: "window:mousedown",
            update: `event.button === 0 && ${inside} ? [x(), x()] : null`,
          },
          {
            events: "[window:mousedown, window:mouseup] > window:mousemove",
            update: `isArray(${DRAG}) ? [${DRAG}[0], clamp(x(), 0, width)] : null`,
          },
        ],
      },
      {
        name: HELD,
        value: false,
        on: [
          { events: "window:mousedown", update: "true" },
          { events: "window:mouseup", update: "false" },
        ],
      },
      {
        name: ZOOM,
        value: null,
        on: [
          {
            events: "window:mouseup",
            update: `${dragged} ? [+invert("x", min(${DRAG}[0], ${DRAG}[1])), +invert("x", max(${DRAG}[0], ${DRAG}[1]))] : ${ZOOM}`,
          },
          { events: "dblclick", update: "null" },
        ],
      },
    ],
  };
}

/** A layer that follows the zoom: shapes are cut at the plot's edge, points and texts beyond are left out. */
function zoomed(layer: VegaLiteSpec, frame: Frame, x: VegaLiteSpec): VegaLiteSpec {
  if (Array.isArray(layer["layer"])) {
    const own = (layer["layer"] as VegaLiteSpec[]).map((inner) => zoomed(inner, frame, x));
    return { ...layer, layer: own };
  }
  const {
    encoding = {},
    mark,
    transform = [],
  } = layer as { encoding?: VegaLiteSpec; mark: unknown; transform?: object[] };
  const along = encoding["x"] as { field?: string; type?: string } | undefined;
  if (along?.type !== "temporal" || along.field === undefined) return layer;
  const { type } = (typeof mark === "object" ? mark : { type: mark }) as { type: string };
  const whole = ["point", "text", "rule", "tick"].includes(type) && encoding["x2"] === undefined;
  const inside = `!${ZOOMED} || inrange(toDate(datum[${JSON.stringify(along.field)}]), ${ZOOM})`;
  return {
    ...layer,
    encoding: { ...encoding, ...(along.field === frame.fields.x && { x }) },
    ...(whole
      ? { transform: [...transform, { filter: inside }] }
      : { mark: { ...(mark as object), clip: { expr: ZOOMED } } }),
  };
}

/** A Vega expression of a label of a zoomed axis: the day or the time, below it what that is of. */
function zoomedLabel(domain: readonly [number, number], timeZone: string): string {
  const local = `(+datum.value + (${zoneOffset("datum.value", timeZone, domain)}))`;
  const span = `(${ZOOM}[1] - ${ZOOM}[0])`;
  const days = `${span} > ${8 * DAY}`;
  const text = (format: string): string => `utcFormat(${local}, ${JSON.stringify(format)})`;
  const short = `${days} ? ${text("%b %-d")} : ${span} > ${10 * MINUTE} ? ${text("%H:%M")} : ${text("%H:%M:%S")}`;
  const larger = `${days} ? ${text("%Y")} : ${text("%b %-d, %Y")}`;
  const begins = `datum.index === 0 || (!(${days}) && ${local} % ${DAY} === 0)`;
  return `${begins} ? [${short}, ${larger}] : (${short})`;
}
