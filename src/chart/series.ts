import { isVersionColumn, type DimensionColumn, type ResultColumns } from "../result/origin.js";
import type { Value } from "../result/result.js";
import { valueKey } from "../result/json.js";
import { compareVersions } from "../result/version-order.js";
import { uniqueLabels } from "../render/label.js";
import { THEMES, type Theme, type ThemeName } from "../render/theme.js";

/** One series of a chart, in the legend's order. */
export interface Series {
  /** The value of the series column in its rows. */
  readonly value: Value;
  readonly label: string;
  /** True where it holds everything beyond the top values. */
  readonly other: boolean;
}

type Order = Pick<DimensionColumn, "order" | "other" | "of">;

/** Beyond this many, series can't be told apart and a legend can't be read. */
export const MOST_SERIES = 24;

// Filled shapes that stay apart at 7 pixels.
const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"];

/** The series that occur: in the dimension's order, others as they appear, "other" last. */
export function chartSeries(
  values: Iterable<Value>,
  dimension: Order | undefined,
  column?: string,
): Series[] {
  const distinct = new Map<Value, Value>();
  for (const value of values) {
    const key = valueKey(value);
    if (!distinct.has(key)) distinct.set(key, value ?? null);
  }
  const found = [...distinct.values()];
  const ranks = new Map<Value, number>(dimension?.order.map((value, index) => [value, index]));
  const isOther = (value: Value): boolean => value !== null && value === dimension?.other;
  const last = Number.MAX_SAFE_INTEGER;
  const rank = (value: Value): number => (isOther(value) ? last : (ranks.get(value) ?? last - 1));
  found.sort((a, b) => rank(a) - rank(b));
  const labels = uniqueLabels(found, dimension?.of ?? column);
  return found.map((value, index) => ({
    value,
    label: labels[index] ?? "",
    other: isOther(value),
  }));
}

/** The dimension of a column of series; of a column that the origin doesn't know, versions have an order. */
export function seriesDimension(
  { dimensions }: ResultColumns,
  name: string | undefined,
  values: readonly Value[],
): Order | undefined {
  const known = dimensions.find((each) => each.name === name);
  if (known || name === undefined || !isVersionColumn(name)) return known;
  const texts = values.filter((value) => typeof value === "string");
  return { order: [...new Set(texts)].sort(compareVersions) };
}

/** A shape for each series, the second cue beside its color. */
export function seriesShapes(series: readonly Series[]): string[] {
  return series.map((_, index) => SHAPES[index % SHAPES.length] ?? "circle");
}

/**
 * What all charts of a notebook share: their theme, and the place of each value in the palette. The first
 * chart that draws a value of a column gives it the column's next place, and it keeps that in every
 * chart made later. (A hash of the value needs no memory, but of seven values in 24 colours two would
 * collide in six notebooks of ten, and one of them would change its colour from chart to chart.) A
 * chart's recipe holds the colours that it was drawn in, so that a postmortem draws it alike anywhere.
 */
const look = { theme: "light" as ThemeName, places: new Map<string, Map<Value, number>>() };

/** Sets the theme of charts that say none. */
export function setTheme(theme: ThemeName): void {
  look.theme = theme;
}

/** The theme of charts that say none. */
export function usualTheme(): ThemeName {
  return look.theme;
}

/** As in a new notebook: light, and no value has a colour. */
export function forgetLook(): void {
  look.theme = "light";
  look.places.clear();
}

/**
 * A colour for each series: the one given for its label, neutral grey for "other", else that of its value's
 * place. Beyond the palette's 24 places colours come again, in one chart never twice.
 *
 * @param column whose values the series are.
 */
export function seriesColors(
  series: readonly Series[],
  column: string,
  theme: Theme,
  given: Readonly<Record<string, string>> = {},
): string[] {
  const places = look.places.get(column) ?? new Map<Value, number>();
  look.places.set(column, places);
  const taken = new Set<string>();
  return series.map(({ value, label, other }) => {
    if (Object.hasOwn(given, label)) return given[label]!;
    if (other) return theme.neutral;
    const key = valueKey(value);
    let place = places.get(key) ?? places.size;
    places.set(key, place);
    const color = (): string => theme.series[place % theme.series.length]!;
    while (taken.has(color()) && taken.size < theme.series.length) place++;
    taken.add(color());
    return color();
  });
}

/** The theme by its name. */
export function themeOf(name: ThemeName | undefined): Theme {
  return THEMES[name ?? look.theme];
}
