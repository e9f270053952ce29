import type { Value } from "../result/json.js";
import { valueKey } from "../result/json.js";
import { THEMES, type Theme, type ThemeName } from "../render/theme.js";
import type { Series } from "./series.js";

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
