import { ProbelabError } from "../base/error.js";
import { formatInstant } from "../time/time-zone.js";
import { formatInstantIso } from "./instant.js";
import { label } from "./label.js";
import type { Frame, VegaLiteSpec } from "./frame.js";
import type { ChartMark } from "./options.js";
import { textWidth } from "./render/font.js";

const MOST_MARKS = 40;
const LABEL_SIZE = 11;
const LINE_HEIGHT = 14;

/** Layers that draw deploys and incidents as labelled lines, and what to say of those not drawn. */
export function markLayers(
  frame: Frame,
  marks: readonly ChartMark[],
  timeZone: string,
): { layers: VegaLiteSpec[]; height: number; sentences: string[] } {
  if (marks.length === 0) return { layers: [], height: 0, sentences: [] };
  if (frame.drawing.roles.xKind !== "time") {
    throw new ProbelabError(
      `Can't draw marks along ${JSON.stringify(frame.drawing.roles.x)}, which holds no times: leave marks out, or take a time column as x.`,
    );
  }
  if (marks.length > MOST_MARKS) {
    throw new ProbelabError(
      `Can't draw ${marks.length} marks in one chart: their labels would hide each other; take at most ${MOST_MARKS}.`,
    );
  }
  const [start, end] = frame.domain;
  const inside = marks.filter(({ time }) => time.getTime() >= start && time.getTime() <= end);
  const outside = marks.filter((mark) => !inside.includes(mark));
  const placed = place(inside, frame);
  const levels = Math.max(0, ...placed.map(({ level }) => level));
  const text = { type: "text", fontSize: LABEL_SIZE, color: frame.theme.mark, baseline: "bottom" };
  return {
    height: placed.length === 0 ? 0 : (levels + 1) * LINE_HEIGHT,
    layers:
      placed.length === 0
        ? []
        : [
            {
              data: { values: placed.map(({ time, text }) => ({ time, label: text })) },
              mark: {
                type: "rule",
                strokeDash: [4, 3],
                strokeWidth: 1.25,
                color: frame.theme.mark,
                tooltip: true,
              },
              encoding: {
                x: { field: "time", type: "temporal" },
                tooltip: [{ field: "label", type: "nominal", title: "mark" }],
              },
            },
            ...Array.from({ length: levels + 1 }, (_, level) =>
              ["left", "right"].map((align) => ({ level, align })),
            )
              .flat()
              .flatMap(({ level, align }) => {
                const values = placed
                  .filter((mark) => mark.level === level && mark.align === align)
                  .map(({ time, text }) => ({ time, label: text }));
                if (values.length === 0) return [];
                return [
                  {
                    data: { values },
                    mark: { ...text, align, dx: align === "left" ? -3 : 3 },
                    encoding: {
                      x: { field: "time", type: "temporal" },
                      y: { value: -6 - level * LINE_HEIGHT },
                      text: { field: "label", type: "nominal" },
                    },
                  },
                ];
              }),
          ],
    sentences:
      outside.length === 0
        ? []
        : [
            `Outside the chart: ${outside
              .map((mark) => `${label(mark.label, 60)} (${formatInstant(mark.time, timeZone)})`)
              .join(", ")}.`,
          ],
  };
}

interface Placed {
  readonly time: string;
  readonly text: string;
  readonly level: number;
  readonly align: "left" | "right";
}

/** Labels on as few lines as keep them apart; those near the right edge stand left of their line. */
function place(marks: readonly ChartMark[], { domain: [start, end], width }: Frame): Placed[] {
  const taken: [number, number][][] = [];
  return [...marks]
    .sort((a, b) => a.time.getTime() - b.time.getTime())
    .map((mark) => {
      const text = label(mark.label, 60);
      const long = textWidth(text, LABEL_SIZE) + 10;
      const x = ((mark.time.getTime() - start) / (end - start)) * width;
      const align = x + long > width && x > long ? ("right" as const) : ("left" as const);
      const span: [number, number] = align === "left" ? [x - 4, x + long] : [x - long, x + 4];
      let level = 0;
      while (taken[level]?.some(([from, to]) => span[0] < to && span[1] > from)) level++;
      (taken[level] ??= []).push(span);
      return { time: formatInstantIso(mark.time.getTime()), text, level, align };
    });
}
