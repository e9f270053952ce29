import type { Theme } from "../../chart/theme.js";
import type { Colours } from "./picture-colours.js";
import type { BoxSize } from "./picture-layout.js";
import { NAME_SIZE } from "./picture-names.js";
import { BADGE, BELOW_SIZE, type PictureRows } from "./picture-rows.js";

/** A layer of these rows; none where there are no rows. */
export type LayerOf = (values: readonly object[], mark: object, encoding?: object) => object[];

/** A box with the places of what stands in it. */
export function boxRows({ boxes }: PictureRows, { width, height }: BoxSize) {
  return boxes.map((box) => {
    const left = box.x - width / 2;
    const lines = [box.line1, box.line2, box.below].filter((line) => line !== "").length;
    const step = 14;
    const first = box.y - ((lines - 1) * step) / 2;
    return {
      ...box,
      left,
      right: left + width,
      top: box.y - height / 2,
      bottom: box.y + height / 2,
      badge: left + BADGE,
      badgeMiddle: left + BADGE / 2,
      text: left + BADGE + 9,
      y1: first,
      y2: first + step,
      yBelow: first + (lines - 1) * step,
      labelY: box.y - height / 2,
      labelX: left + width - 8,
    };
  });
}

/** The boxes: their tier, their name, what they break. */
export function boxLayers(
  rows: ReturnType<typeof boxRows>,
  theme: Theme,
  colours: Colours,
  spans: { x: object; y: object },
  classes: readonly string[],
  layer: LayerOf,
): object[] {
  const at = (x: string, y: string) => ({
    x: { ...spans.x, field: x },
    y: { ...spans.y, field: y },
  });
  const tooltip = ["name", "stage", "tier", "below", "rules"].map((field) => ({ field }));
  const tier = (colour: "tiers" | "onTiers") => ({
    field: "class",
    type: "nominal",
    scale: { domain: classes, range: classes.map((each) => colours[colour][each]) },
  });
  const text = { type: "text", align: "left", baseline: "middle" };
  const marked = rows.filter(({ broken }) => broken);
  return [
    ...layer(
      rows,
      {
        type: "rect",
        color: theme.background,
        cornerRadius: 5,
        stroke: theme.axis,
        strokeWidth: 1,
      },
      { ...spans, tooltip },
    ),
    ...layer(
      rows,
      { type: "rect", cornerRadiusTopLeft: 5, cornerRadiusBottomLeft: 5 },
      {
        ...spans,
        x2: { field: "badge" },
        tooltip,
        color: {
          ...tier("tiers"),
          legend: {
            title: "Tier",
            orient: "bottom",
            direction: "horizontal",
            symbolType: "square",
            symbolSize: 160,
          },
        },
      },
    ),
    ...layer(
      marked,
      { type: "rect", filled: false, stroke: colours.broken, strokeWidth: 3, cornerRadius: 5 },
      spans,
    ),
    ...classes.flatMap((each) =>
      layer(
        rows.filter((row) => row.class === each),
        { ...text, align: "center", fontSize: 15, fontWeight: 700, color: colours.onTiers[each] },
        { ...at("badgeMiddle", "y"), text: { field: "tier" } },
      ),
    ),
    ...(["line1", "line2"] as const).flatMap((line, index) =>
      layer(
        rows.filter((row) => row[line] !== ""),
        { ...text, fontSize: NAME_SIZE, fontWeight: 700, color: theme.text },
        { ...at("text", index === 0 ? "y1" : "y2"), text: { field: line } },
      ),
    ),
    ...layer(
      rows.filter(({ below }) => below !== ""),
      { ...text, fontSize: BELOW_SIZE, color: theme.muted },
      { ...at("text", "yBelow"), text: { field: "below" } },
    ),
    ...layer(
      marked,
      {
        ...text,
        align: "right",
        baseline: "bottom",
        dy: -4,
        fontSize: BELOW_SIZE,
        fontWeight: 700,
        color: colours.broken,
      },
      { ...at("labelX", "labelY"), text: { field: "rules" } },
    ),
  ];
}
