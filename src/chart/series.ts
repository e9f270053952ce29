import { isNaming } from "../result/column-words.js";
import { isVersionColumn, type DimensionColumn, type ResultColumns } from "../result/origin.js";
import type { Value } from "../result/result.js";
import { valueKey } from "../result/json.js";
import { compareVersions } from "../result/version-order.js";
import { uniqueLabels } from "./render/label.js";
import type { Theme } from "./render/theme.js";

/** One series of a chart, in the legend's order. */
export interface Series {
  /** The value of the series column in its rows. */
  readonly value: Value;
  readonly label: string;
  /** True where it holds everything beyond the top values. */
  readonly other: boolean;
}

interface Order extends Pick<DimensionColumn, "other" | "of" | "ordered"> {
  readonly order: readonly Value[];
}

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

/** The dimension of a column of series; of a column that the origin doesn't know, versions and amounts have an order. */
export function seriesDimension(
  { dimensions }: ResultColumns,
  name: string | undefined,
  values: readonly Value[],
): Order | undefined {
  const known = dimensions.find((each) => each.name === name);
  if (known || name === undefined) return known;
  const present = [...new Set(values.filter((value) => value !== null && value !== undefined))];
  if (isVersionColumn(name)) {
    const texts = present.filter((value) => typeof value === "string");
    return { order: texts.sort(compareVersions) };
  }
  if (isNaming(name) || !present.every((value) => typeof value === "number")) return undefined;
  return { order: present.sort((a, b) => a - b), ordered: true };
}

/** A shape for each series, the second cue beside its color. */
export function seriesShapes(series: readonly Series[]): string[] {
  return series.map((_, index) => SHAPES[index % SHAPES.length] ?? "circle");
}

/** The first colours of a palette are told apart best; after them come black, whose faded areas look like "other", and the rest. */
const BEST = 7;

/** Of each column the places in the palette of the values that charts of this notebook have drawn. */
export const drawnBefore = new Map<string, Map<string, number>>();

/**
 * A colour for each series: the one given for its label, grey for "other" and for no value, else the one that
 * its value had in the charts before, unless another series of this one has taken it. A new value gets a colour
 * that no other of its column has had yet, as long as there is one, beginning at a place that follows from the value.
 * In one chart no colour comes twice before all have come.
 */
export function seriesColors(
  series: readonly Series[],
  { series: palette, neutral, muted }: Theme,
  given: Readonly<Record<string, string>> = {},
  column = "",
): string[] {
  const known = drawnBefore.get(column) ?? new Map<string, number>();
  drawnBefore.set(column, known);
  const isGiven = ({ label }: Series): boolean => Object.hasOwn(given, label);
  const colors = series.map((each) =>
    isGiven(each) ? given[each.label]! : each.other ? neutral : muted,
  );
  const taken = new Set(colors);
  const values = series.flatMap((each, at) =>
    each.other || each.value === null ? [] : { at, key: String(valueKey(each.value)), each },
  );
  for (const { at, key, each } of values) {
    // A figure of a postmortem brings its colours along.
    const place = isGiven(each) ? palette.indexOf(colors[at]!) : -1;
    if (place >= 0 && !known.has(key)) known.set(key, place);
  }
  // Where two values want one colour it is the first one's by name, whatever their order in the chart.
  const open = values.filter(({ each }) => !isGiven(each)).sort((a, b) => (a.key < b.key ? -1 : 1));
  const take = (at: number, key: string, color: string): void => {
    colors[at] = color;
    taken.add(color);
    if (!known.has(key)) known.set(key, palette.indexOf(color));
  };
  const others = open.filter(({ at, key }) => {
    const before = palette[known.get(key) ?? -1];
    if (before === undefined || taken.has(before)) return true;
    take(at, key, before);
    return false;
  });
  for (const { at, key } of others) {
    const used = new Set([...known.values()].map((place) => palette[place]!));
    const choice = [palette.slice(0, BEST), palette.slice(BEST)].flatMap((group) => {
      const start = hash(key) % group.length;
      return [...group.slice(start), ...group.slice(0, start)];
    });
    const unused = choice.find((each) => !taken.has(each) && !used.has(each));
    take(at, key, unused ?? choice.find((each) => !taken.has(each)) ?? choice[0]!);
  }
  return colors;
}

/** FNV-1a, of 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193) >>> 0;
  // The lowest bits of similar texts are similar.
  return (sum ^ (sum >>> 15)) >>> 0;
}
