import type { Origin } from "../result/origin.js";
import type { Frame, VegaLiteSpec } from "./frame.js";
import { wrap } from "./sentences.js";

const SIZE = 13;
const LINE_HEIGHT = 18;

/** "No data", with the reason where the Result's first note tells it, in the middle of the plot. */
export function noDataLayers(
  { drawing, theme, width, height }: Frame,
  origin: Origin,
): VegaLiteSpec[] {
  if (drawing.points.some(({ y }) => y !== null)) return [];
  const lines = wrap([noDataSentence(origin)], width * 0.8, SIZE);
  return [
    {
      data: { values: [{}] },
      mark: {
        type: "text",
        text: lines,
        align: "center",
        baseline: "middle",
        dy: ((1 - lines.length) * LINE_HEIGHT) / 2,
        lineHeight: LINE_HEIGHT,
        fontSize: SIZE,
        color: theme.muted,
        tooltip: null,
      },
      encoding: { x: { value: width / 2 }, y: { value: height / 2 } },
    },
  ];
}

function noDataSentence({ notes: [first], range }: Origin): string {
  return first === undefined
    ? range
      ? "No data in this range."
      : "No data."
    : `No data: ${first}`;
}
