import { cleanText } from "../../chart/label.js";
import type { VegaLiteSpec } from "../../chart/options.js";
import { THEMES, themeConfig, type Theme, type ThemeName } from "../../chart/theme.js";
import { KINDS } from "./picture-edges.js";
import { LABEL_HEIGHT, LABEL_SIZE } from "./picture-labels.js";
import type { BoxSize, Layout } from "./picture-layout.js";
import { boxLayers, boxRows, type LayerOf } from "./picture-boxes.js";
import { COLOURS, type Colours } from "./picture-colours.js";
import type { PictureRows } from "./picture-rows.js";

// Solid is one long dash: PDF takes none of length zero.
const DASHES: readonly (readonly number[])[] = [
  [10_000, 1],
  [6, 4],
  [1.5, 3.5],
  [9, 3, 2, 3],
  [3, 2],
];

/** Vega-Lite for the rows, in pixels; its own title and data are the caller's. */
export function pictureSpec(
  layout: Layout,
  rows: PictureRows,
  size: BoxSize,
  name: ThemeName,
): VegaLiteSpec {
  const theme = THEMES[name];
  const colours = COLOURS[name];
  const axis = (of: "x" | "y") => ({
    field: of,
    type: "quantitative",
    axis: null,
    scale: {
      domain: [0, of === "x" ? layout.width : layout.height],
      nice: false,
      zero: false,
      ...(of === "y" && { reverse: true }),
    },
  });
  const place = { x: axis("x"), y: axis("y") };
  const layer = (values: readonly object[], mark: object, encoding: object = {}) =>
    values.length === 0 ? [] : [{ data: { values }, mark, encoding: { ...place, ...encoding } }];
  const kinds = KINDS.filter((kind) => rows.lines.some((line) => line.kind === kind));
  const classes = ["1", "2", "3", "4", "5 and up"].filter((each) =>
    rows.boxes.some((box) => box.class === each),
  );
  const colour = (of: "broken" | "kept") => (of === "broken" ? colours.broken : theme.muted);
  const ways = (broken: boolean) =>
    layer(
      rows.lines.filter((line) => line.broken === broken),
      {
        type: "line",
        interpolate: "basis",
        color: colour(broken ? "broken" : "kept"),
        strokeWidth: broken ? 3 : 1.3,
      },
      {
        detail: { field: "edge", type: "nominal" },
        order: { field: "at", type: "quantitative" },
        strokeDash: {
          field: "kind",
          type: "nominal",
          scale: { domain: kinds, range: kinds.map((kind) => DASHES[KINDS.indexOf(kind)]) },
          legend: {
            title: "Dependency",
            orient: "bottom",
            direction: "horizontal",
            columns: 0,
            symbolStrokeColor: theme.muted,
            symbolSize: 600,
            symbolStrokeWidth: 1.5,
            labelLimit: 0,
          },
        },
      },
    );
  const heads = (broken: boolean) =>
    layer(
      rows.heads.filter((head) => head.broken === broken),
      {
        type: "point",
        shape: "triangle",
        filled: true,
        opacity: 1,
        size: broken ? 110 : 60,
        color: colour(broken ? "broken" : "kept"),
      },
      { angle: { field: "angle", type: "quantitative", scale: null } },
    );
  const boxes = boxRows(rows, size);
  const spans = {
    x: { ...place.x, field: "left" },
    x2: { field: "right" },
    y: { ...place.y, field: "top" },
    y2: { field: "bottom" },
  };
  return {
    width: layout.width,
    height: layout.height,
    background: theme.background,
    config: legendsApart(themeConfig(theme)),
    layer: [
      ...bandLayers(layout, theme, colours, spans, layer),
      ...ways(false),
      ...ways(true),
      ...heads(false),
      ...heads(true),
      ...boxLayers(boxes, theme, colours, spans, classes, layer),
      ...layer(
        rows.labels.map(({ x, y, width }) => ({
          left: x - width / 2,
          right: x + width / 2,
          top: y - LABEL_HEIGHT / 2,
          bottom: y + LABEL_HEIGHT / 2,
        })),
        {
          type: "rect",
          color: theme.background,
          stroke: colours.broken,
          strokeWidth: 1,
          cornerRadius: 8,
        },
        spans,
      ),
      ...layer(
        rows.labels,
        {
          type: "text",
          fontSize: LABEL_SIZE,
          fontWeight: 700,
          color: colours.broken,
          baseline: "middle",
          dy: 0.5,
        },
        { text: { field: "text" } },
      ),
    ],
  };
}

/** Vega puts legends side by side without room between them. */
function legendsApart(config: Record<string, unknown>): Record<string, unknown> {
  const legend = config.legend as Record<string, unknown>;
  return { ...config, legend: { ...legend, layout: { bottom: { margin: 40 } } } };
}

/** The areas of the stages, with their names. */
function bandLayers(
  { bands }: Layout,
  theme: Theme,
  colours: Colours,
  spans: object,
  layer: LayerOf,
): object[] {
  const rows = bands.map(({ stage, x, y, width, height }) => ({
    text: cleanText(stage, 60),
    left: x,
    right: x + width,
    top: y,
    bottom: y + height,
    x: x + 12,
    y: y + 16,
  }));
  return [
    ...layer(rows, { type: "rect", color: colours.band, cornerRadius: 6 }, spans),
    ...layer(
      rows,
      { type: "text", align: "left", baseline: "middle", fontSize: 12, color: theme.muted },
      { text: { field: "text" } },
    ),
  ];
}
