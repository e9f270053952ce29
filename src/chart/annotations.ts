import { ProbelabError } from "../base/error.js";
import { formatInstant } from "../time/time-zone.js";
import type { Frame } from "./frame.js";
import { formatInstantIso, label } from "../render/label.js";
import type { Annotation } from "./options.js";
import type { VegaLiteSpec } from "../render/theme.js";
import { textWidth } from "../fonts/shipped-font.js";

const MOST_ANNOTATIONS = 40;
const LABEL_SIZE = 11;
const LINE_HEIGHT = 14;
/** Pixels of a plot that screens may narrow. */
const NARROW = 400;

/** A label, and where it stands. */
interface Placed {
  readonly time: string;
  readonly label: string;
  /** Lines above the plot. */
  readonly level: number;
  readonly align: "left" | "right";
}

/** Layers that draw deploys and incidents as labelled lines, and what to say of those not drawn. */
export function annotationLayers(
  frame: Frame,
  annotations: readonly Annotation[],
): { layers: VegaLiteSpec[]; height: number; sentences: string[] } {
  if (annotations.length === 0) return { layers: [], height: 0, sentences: [] };
  const { drawing, domain, theme, timeZone } = frame;
  if (drawing.roles.xKind !== "time") {
    throw new ProbelabError(
      `Can't draw annotations along ${JSON.stringify(drawing.roles.x)}, which holds no times: leave annotations out, or take a time column as x.`,
    );
  }
  if (annotations.length > MOST_ANNOTATIONS) {
    throw new ProbelabError(
      `Can't draw ${annotations.length} annotations in one chart: their labels would hide each other; take at most ${MOST_ANNOTATIONS}.`,
    );
  }
  const isInside = ({ time, end = time }: Annotation): boolean =>
    +end >= domain[0] && +time <= domain[1];
  const inside = annotations.filter(isInside).map((each) => ({
    ...each,
    time: new Date(Math.max(+each.time, domain[0])),
  }));
  const placed = place(inside, frame);
  const spans = inside.flatMap(({ time, end }) => {
    const last = Math.min(Number(end), domain[1]);
    return last > +time ? [{ time: formatInstantIso(+time), end: formatInstantIso(last) }] : [];
  });
  const outside = annotations
    .filter((each) => !isInside(each))
    .map(({ time, label: text }) => `${label(text, 60)} (${formatInstant(time, timeZone)})`);
  const data = (some: readonly Placed[]): VegaLiteSpec => ({
    values: some.map(({ time, label }) => ({ time, label })),
  });
  const x = { field: "time", type: "temporal" };
  const lines = {
    data: data(placed),
    mark: {
      type: "rule",
      strokeDash: [4, 3],
      strokeWidth: 1.25,
      color: theme.annotation,
      tooltip: true,
    },
    encoding: { x, tooltip: [{ field: "label", type: "nominal", title: "annotation" }] },
  };
  const bands = {
    data: { values: spans },
    mark: { type: "rect", color: theme.annotation, opacity: 0.14 },
    encoding: { x, x2: { field: "end" } },
  };
  const levels = Math.max(-1, ...placed.map(({ level }) => level)) + 1;
  const texts = Array.from({ length: levels }, (_, level) => level).flatMap((level) =>
    (["left", "right"] as const).flatMap((align) => {
      const some = placed.filter((each) => each.level === level && each.align === align);
      if (some.length === 0) return [];
      const look = { fontSize: LABEL_SIZE, color: theme.annotation, baseline: "bottom" };
      return {
        data: data(some),
        mark: { type: "text", ...look, align, dx: align === "left" ? -3 : 3 },
        encoding: {
          x,
          y: { value: -6 - level * LINE_HEIGHT },
          text: { field: "label", type: "nominal" },
        },
      };
    }),
  );
  return {
    height: levels * LINE_HEIGHT,
    layers: placed.length === 0 ? [] : [lines, ...(spans.length > 0 ? [bands] : []), ...texts],
    sentences: outside.length === 0 ? [] : [`Outside the chart: ${outside.join(", ")}.`],
  };
}

/** Labels on as few lines as keep them apart; those near the right edge stand left of their line. */
function place(
  annotations: readonly Annotation[],
  { domain: [start, end], width: widest, fixed }: Frame,
): Placed[] {
  // What is apart in a narrow plot is apart in a wide one.
  const width = fixed ? widest : Math.min(widest, NARROW);
  const taken: [number, number][][] = [];
  return [...annotations]
    .sort((a, b) => a.time.getTime() - b.time.getTime())
    .map(({ time, label: given }) => {
      const text = label(given, 60);
      const long = textWidth(text, LABEL_SIZE) + 10;
      const x = ((time.getTime() - start) / (end - start)) * width;
      const align = x + long > width && x > long ? ("right" as const) : ("left" as const);
      const span: [number, number] = align === "left" ? [x - 4, x + long] : [x - long, x + 4];
      let level = 0;
      while (taken[level]?.some(([from, to]) => span[0] < to && span[1] > from)) level++;
      (taken[level] ??= []).push(span);
      return { time: formatInstantIso(time.getTime()), label: text, level, align };
    });
}
