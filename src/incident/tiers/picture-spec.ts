import { cleanText } from "../../chart/label.js";
import type { VegaLiteSpec } from "../../chart/frame.js";
import { THEMES, themeConfig, type Theme, type ThemeName } from "../../chart/theme.js";
import { KINDS } from "./picture-edges.js";
import type { BoxSize, Layout } from "./picture-layout.js";
import { BADGE, BELOW_SIZE, NAME_SIZE, type PictureRows } from "./picture-rows.js";

/** Colours that the theme doesn't name: those of tiers (Okabe-Ito), and of what is broken. */
interface Colours {
  readonly tiers: Readonly<Record<string, string>>;
  readonly onTiers: Readonly<Record<string, string>>;
  readonly broken: string;
  readonly band: string;
}

const ON_TIERS = {
  "1": "#ffffff",
  "2": "#000000",
  "3": "#000000",
  "4": "#ffffff",
  "5 and up": "#000000",
};

const COLOURS: Readonly<Record<ThemeName, Colours>> = {
  light: {
    tiers: {
      "1": "#b84a00",
      "2": "#e69f00",
      "3": "#56b4e9",
      "4": "#00785a",
      "5 and up": "#b9bfc6",
    },
    onTiers: ON_TIERS,
    broken: "#c1006e",
    band: "#f5f6f8",
  },
  dark: {
    tiers: {
      "1": "#d55e00",
      "2": "#e69f00",
      "3": "#56b4e9",
      "4": "#009e73",
      "5 and up": "#98a1ab",
    },
    onTiers: { ...ON_TIERS, "1": "#000000", "4": "#000000" },
    broken: "#ff7ac0",
    band: "#1b2026",
  },
};

const DASHES: readonly (readonly number[])[] = [
  [1, 0],
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
          top: y - 8,
          bottom: y + 8,
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
          fontSize: BELOW_SIZE,
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

type LayerOf = (values: readonly object[], mark: object, encoding?: object) => object[];

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

function boxRows({ boxes }: PictureRows, { width, height }: BoxSize) {
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

function boxLayers(
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
