import { FONT_FAMILY } from "./render/font.js";

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
  readonly mark: string;
  /** Colours of series, in order. */
  readonly series: readonly string[];
}

// Okabe and Ito (2008), distinct under the common kinds of colour blindness; ordered so that the
// first are the darkest against the background. Yellow is darkened on white, blue lightened and
// black turned to white on black, for contrast.
export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  light: {
    background: "#ffffff",
    text: "#1b1f24",
    muted: "#57606a",
    axis: "#8c959f",
    grid: "#e6e9ec",
    neutral: "#a3a9b0",
    mark: "#57606a",
    series: [
      "#0072b2",
      "#e69f00",
      "#009e73",
      "#cc79a7",
      "#56b4e9",
      "#d55e00",
      "#d4c200",
      "#000000",
    ],
  },
  dark: {
    background: "#14171b",
    text: "#e9ecef",
    muted: "#a5adb6",
    axis: "#6b747e",
    grid: "#2b3138",
    neutral: "#7c858f",
    mark: "#c3c9d0",
    series: [
      "#3b9ddd",
      "#e69f00",
      "#00b384",
      "#d98bb6",
      "#8fd0f5",
      "#ee7733",
      "#f0e442",
      "#ffffff",
    ],
  },
};

/** Vega-Lite's config for a theme. */
export function themeConfig(theme: Theme): Record<string, unknown> {
  return {
    font: FONT_FAMILY,
    view: { stroke: null },
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
      labelFontSize: 11,
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
      labelFontSize: 12,
      labelLimit: 220,
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
