import { ProbelabError } from "../base/error.js";
import { dateText } from "../time/time-zone.js";
import type { Plot } from "./plot.js";
import { formatInstantIso, label } from "./render/label.js";
import type { Annotation } from "./options.js";
import { LABEL_SIZE, type VegaLiteSpec } from "./render/theme.js";
import { textWidth } from "./render/fonts/shipped-font.js";

const MOST_ANNOTATIONS = 40;
const LINE_HEIGHT = 14;

/** Layers that draw deploys and incidents as labelled lines, and what to say of those not drawn. */
export function annotationLayers(
  plot: Plot,
  annotations: readonly Annotation[],
): { layers: VegaLiteSpec[]; height: number; sentences: string[] } {
  if (annotations.length === 0) return { layers: [], height: 0, sentences: [] };
  const { rows, domain, theme, timeZone } = plot;
  if (rows.roles.xKind !== "time") {
    throw new ProbelabError(
      `Can't draw annotations along ${JSON.stringify(rows.roles.x)}, which holds no times: leave annotations out, or take a time column as x.`,
    );
  }
  if (annotations.length > MOST_ANNOTATIONS) {
    throw new ProbelabError(
      `Can't draw ${annotations.length} annotations in one chart: their labels would hide each other; take at most ${MOST_ANNOTATIONS}.`,
    );
  }
  const isInside = ({ time, end = time }: Annotation): boolean =>
    +end >= domain[0] && +time <= domain[1];
  const inside = annotations.filter(isInside);
  const outside = annotations
    .filter((each) => !isInside(each))
    .map(({ time, label: text }) => `${label(text, 60)} (${dateText(time, timeZone)})`);
  const placed = placedLabels(inside, plot);
  const spans = inside.flatMap(({ time, end }) => {
    const [from, until] = [Math.max(+time, domain[0]), Math.min(Number(end), domain[1])];
    return until > from ? [{ time: formatInstantIso(from), end: formatInstantIso(until) }] : [];
  });
  const x = { field: "time", type: "temporal" };
  const layer = (values: readonly object[], mark: VegaLiteSpec, encoding: VegaLiteSpec) =>
    values.length === 0 ? [] : [{ data: { values }, mark, encoding: { x, ...encoding } }];
  const color = theme.annotation;
  const shown = placed.map(({ time, label }) => ({ time, label }));
  return {
    height: (1 + Math.max(-1, ...placed.map(({ level }) => level))) * LINE_HEIGHT,
    layers: [
      ...layer(
        shown,
        { type: "rule", strokeDash: [4, 3], strokeWidth: 1.25, color, tooltip: true },
        { tooltip: [{ field: "label", type: "nominal", title: "annotation" }] },
      ),
      ...layer(spans, { type: "rect", color, opacity: 0.14 }, { x2: { field: "end" } }),
      ...layer(
        placed,
        {
          type: "text",
          fontSize: LABEL_SIZE,
          color,
          baseline: "bottom",
          align: { expr: 'datum.left ? "right" : "left"' },
          dx: { expr: "datum.left ? 3 : -3" },
          dy: { expr: `-6 - ${LINE_HEIGHT} * datum.level` },
        },
        { y: { value: 0 }, text: { field: "label", type: "nominal" } },
      ),
    ],
    sentences: outside.length === 0 ? [] : [`Outside the chart: ${outside.join(", ")}.`],
  };
}

/** Labels on as few lines above the plot as keep them apart; those near the right edge stand left of their line. */
function placedLabels(annotations: readonly Annotation[], { domain: [start, end], width }: Plot) {
  const taken: [number, number][][] = [];
  return annotations
    .map((each) => ({ label: label(each.label, 60), at: Math.max(+each.time, start) }))
    .sort((a, b) => a.at - b.at)
    .map(({ label, at }) => {
      const long = textWidth(label, LABEL_SIZE) + 10;
      const x = ((at - start) / (end - start)) * width;
      const left = x + long > width && x > long;
      const span: [number, number] = left ? [x - long, x + 4] : [x - 4, x + long];
      let level = 0;
      while (taken[level]?.some(([from, to]) => span[0] < to && span[1] > from)) level++;
      (taken[level] ??= []).push(span);
      return { time: formatInstantIso(at), label, level, left };
    });
}
