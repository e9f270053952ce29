import { FONT_FAMILY } from "./fonts/shipped-font.js";

/** Vega-Lite 5.6 is what JupyterLab 4 carries; version 6 compiles it as well. */
export const SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json";

/** JSON of a Vega-Lite specification. */
export type VegaLiteSpec = Record<string, unknown>;

/** Light for documents and print, dark for dark notebooks. */
export type ThemeName = "light" | "dark";

/** The colours of a picture. */
export interface Theme {
  readonly background: string;
  /** Title and values. */
  readonly text: string;
  /** Subtitle, axis labels. */
  readonly muted: string;
  readonly axis: string;
  readonly grid: string;
  /** "Other", and what belongs to no series. */
  readonly neutral: string;
  /** Deploys and incidents. */
  readonly annotation: string;
  /** Colours of series, in order. */
  readonly series: readonly string[];
  /** Colours of numbers, from the least to the greatest: blue, of even steps of lightness, the least apart from the background. */
  readonly ramp: readonly string[];
  /** Colours of changes: vermilion of falls, the background's neighbour of none, blue of rises. */
  readonly diverging: readonly string[];
}

const colours = (list: string): string[] => list.split(" ");

// Okabe and Ito (2008), distinct under the common kinds of colour blindness; ordered so that the
// first are the darkest against the background. Yellow is darkened on white, blue lightened and
// black turned to white on black, for contrast. The 16 after those eight are darker and lighter ones
// of their hues, chosen so that each is at least 0.1 from all others, the background and the neutral
// in OKLab.
export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  light: {
    background: "#ffffff",
    text: "#1b1f24",
    muted: "#57606a",
    axis: "#8c959f",
    grid: "#e6e9ec",
    neutral: "#a3a9b0",
    annotation: "#57606a",
    series: colours(
      "#0072b2 #e69f00 #009e73 #cc79a7 #56b4e9 #d55e00 #d4c200 #000000 " +
        "#4cdaa8 #8f3a6c #046246 #5a2708 #073b5d #836331 #9a8f2a #fa9bcf " +
        "#69154b #648ca5 #996983 #ecad8e #c4886a #853902 #487b66 #27577b",
    ),
    ramp: colours("#dcebf7 #7fb4de #2b7bba #08306b"),
    diverging: colours("#8f3200 #e08a52 #f1f1ef #6aa9d8 #084a85"),
  },
  dark: {
    background: "#14171b",
    text: "#e9ecef",
    muted: "#a5adb6",
    axis: "#6b747e",
    grid: "#2b3138",
    neutral: "#7c858f",
    annotation: "#c3c9d0",
    series: colours(
      "#3b9ddd #e69f00 #00b384 #d98bb6 #8fd0f5 #ee7733 #f0e442 #ffffff " +
        "#792c5b #075b42 #60fec6 #a44b15 #0069a0 #fec4e2 #857d0a #a55583 " +
        "#0f8965 #e8c490 #636363 #654711 #ababab #6fd5ad #a09c5b #b77250",
    ),
    ramp: colours("#1d2e40 #1f5c8f #4f9bd9 #d6ebff"),
    diverging: colours("#ffb27f #b35a24 #2a2f36 #2f78b3 #a8d4fb"),
  },
};

/** Pixels of the letters of an axis. */
export const LABEL_SIZE = 11;
/** Pixels of a legend's letters, of its longest label beside a plot, and of what stands beside a label. */
export const LEGEND_SIZE = 12;
export const LEGEND_LABEL = 220;
export const LEGEND_SYMBOL = 40;

/** Vega-Lite's config for a theme. */
export function themeConfig(theme: Theme): Record<string, unknown> {
  return {
    font: FONT_FAMILY,
    // Vega's own repeat after ten.
    range: { category: theme.series },
    view: { stroke: null },
    // Every text has a color here: where there is none, a dark notebook draws it in white.
    style: { "guide-label": { fill: theme.muted }, "guide-title": { fill: theme.muted } },
    header: { labelColor: theme.text, titleColor: theme.muted },
    text: { color: theme.text },
    title: {
      anchor: "start",
      frame: "group",
      offset: 14,
      color: theme.text,
      fontSize: 16,
      fontWeight: "bold",
      subtitleColor: theme.muted,
      subtitleFontSize: 12,
      subtitleLineHeight: 16,
      subtitlePadding: 6,
    },
    axis: {
      labelColor: theme.muted,
      labelFontSize: LABEL_SIZE,
      labelLineHeight: 13,
      titleColor: theme.muted,
      titleFontSize: 11,
      titleFontWeight: "normal",
      domainColor: theme.axis,
      tickColor: theme.axis,
      gridColor: theme.grid,
    },
    legend: {
      labelColor: theme.text,
      labelFontSize: LEGEND_SIZE,
      // Labels are cut so that they differ: Vega is to cut none.
      labelLimit: 0,
      titleColor: theme.muted,
      titleFontSize: 11,
      titleFontWeight: "normal",
      titleLimit: 220,
      rowPadding: 5,
      symbolSize: 90,
      offset: 14,
    },
  };
}
