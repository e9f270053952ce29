import { bucketNoun } from "../../time/step.js";
import { columnTitle, TITLE_ABOVE, timeAxis, valueLabel } from "../axes.js";
import { tooltipTitle } from "../frame.js";
import { PANEL, ROW } from "../../render/fluid.js";
import { heading, words } from "../../render/label.js";
import type { VegaLiteSpec } from "../../render/theme.js";
import type { Cube } from "./cube.js";
import { BEFORE, chosenOf, isChosen, numberTexts, SHOWN, summed } from "./sums.js";

/** Of the file; screens draw it as wide as its place. */
export const WIDTH = 720;
export const HEIGHT = 130;
export const GAP = 24;
/** Of a dimension so many values are drawn at most. */
export const MOST_BARS = 24;
const BAR = 20;

/** What the choice amounts to, and what is chosen: the range and the filter of the same question. */
export function stateLines(cube: Cube): VegaLiteSpec {
  const { names, measure, time, theme } = cube;
  const { full, change } = numberTexts(cube);
  const chosen = names.map(
    (name, at) =>
      `(isArray(${chosenOf(at)}) ? ${JSON.stringify(`, ${words(name)} `)} + join(${chosenOf(at)}, " or ") : "")`,
  );
  const noun = `(hi - lo) + (hi - lo == 1 ? " ${bucketNoun(time.every, false)}" : " ${bucketNoun(time.every, true)}")`;
  const against = `compared ? ", " + (datum.change == "" ? "" : datum.change + " ") + "against " + (${full("datum.b")}) + " in the " + ${noun} + " before" : spanned ? ", nothing whole of this length before" : ""`;
  const unit = measure.unit === "share" || measure.unit === "" ? "" : ` ${measure.unit}`;
  const place = { type: "text", align: "left", baseline: "middle", limit: { expr: ROW }, x: 0 };
  const line = (field: string, y: number, look: VegaLiteSpec): VegaLiteSpec => ({
    mark: { ...place, y, ...look },
    encoding: { text: { field, type: "nominal" } },
  });
  return {
    transform: [
      ...summed(cube, [], undefined, SHOWN),
      { calculate: change, as: "change" },
      {
        calculate: `(${full("datum.f")}) + ${JSON.stringify(unit)} + (${against})`,
        as: "amounts",
      },
      { calculate: `edges[lo] + " to " + edges[hi] + ${chosen.join(" + ")}`, as: "choice" },
    ],
    layer: [
      line("amounts", -49, { fontSize: 14, fontWeight: "bold", color: theme.text }),
      line("choice", -31, { fontSize: 12, color: theme.text }),
    ],
  };
}

/** The series of what is chosen in the bars, over all of the time. */
export function series(cube: Cube): VegaLiteSpec {
  const { edges, time, zone, theme, measure } = cube;
  const size = edges.length - 1;
  const { full } = numberTexts(cube);
  const axis = timeAxis([edges[0]!, edges.at(-1)!], zone, WIDTH, time.every);
  const instants = axis.values as number[];
  const places = instants.map((instant) => placeOf(instant, edges));
  const x = {
    field: "i",
    type: "quantitative",
    scale: { domain: [0, size], nice: false, zero: false },
    axis: {
      ...axis,
      values: places,
      labelExpr: String(axis.labelExpr).replaceAll(
        "datum.value",
        `[${instants.join(",")}][indexof([${places.join(",")}], datum.value)]`,
      ),
    },
  };
  const yAxis = {
    ...TITLE_ABOVE,
    title: columnTitle(measure),
    labelPadding: 6,
    tickCount: 3,
    labelExpr: valueLabel(measure.unit, [Infinity], undefined),
  };
  const faded = new Set(time.incomplete.map(Number));
  const incomplete = edges.slice(0, -1).flatMap((edge, at) => (faded.has(edge) ? [at] : []));
  const bar = (field: string, look: VegaLiteSpec, more: VegaLiteSpec = {}): VegaLiteSpec => ({
    mark: { type: "rect", stroke: theme.background, strokeWidth: size < 200 ? 0.75 : 0, ...look },
    encoding: {
      x,
      x2: { field: "next" },
      y: { field, type: "quantitative", scale: { zero: true }, axis: yAxis },
      y2: { datum: 0 },
      opacity: {
        condition: { test: `indexof([${incomplete.join(",")}], datum.i) >= 0`, value: 0.5 },
        value: 1,
      },
      ...more,
    },
  });
  return {
    transform: [
      ...summed(cube, ["i"], undefined, "true"),
      { calculate: "datum.i + 1", as: "next" },
      { calculate: 'edges[datum.i] + " to " + edges[datum.i + 1]', as: "when" },
      { calculate: full("datum.f"), as: "shown" },
      { calculate: full("datum.a"), as: "all" },
    ],
    layer: [
      bar("g", { color: theme.grid }),
      bar(
        "f",
        {},
        {
          color: {
            condition: [
              { test: BEFORE, value: theme.series[1] },
              { test: `!(${SHOWN})`, value: theme.neutral },
            ],
            value: theme.series[0],
          },
        },
      ),
      {
        params: [
          {
            name: "brush",
            select: {
              type: "interval",
              encodings: ["x"],
              zoom: false,
              mark: { fill: theme.text, fillOpacity: 0.06, stroke: theme.axis },
            },
          },
        ],
        mark: { type: "rect", opacity: 0 },
        encoding: {
          x,
          x2: { field: "next" },
          y: { value: 0 },
          y2: { value: HEIGHT },
          tooltip: [
            { field: "when", type: "nominal", title: `Time (${zone})` },
            { field: "shown", type: "nominal", title: "Chosen" },
            { field: "all", type: "nominal", title: "Everything" },
          ],
        },
      },
    ],
  };
}

/** Where an instant stands between the edges, counted in buckets. */
function placeOf(instant: number, edges: readonly number[]): number {
  const after = edges.findIndex((edge) => edge > instant);
  const at = after < 0 ? edges.length - 2 : Math.max(0, after - 1);
  return at + (instant - edges[at]!) / (edges[at + 1]! - edges[at]!);
}

/** The width of a dimension's bars beside those of so many. */
export function panelWidth(count: number): number {
  return Math.floor((WIDTH - GAP * (count - 1)) / count);
}

/** A dimension's values, the largest first, by what is chosen elsewhere. */
export function panel(cube: Cube, at: number): VegaLiteSpec {
  const { names, values, theme } = cube;
  const { full, short, change } = numberTexts(cube);
  const bars = Math.min(MOST_BARS, values[at]!.length);
  const others = values[at]!.flatMap(({ other, label }) => (other ? [label] : []));
  const row = {
    field: "rank",
    type: "quantitative",
    scale: { domain: [0, bars], reverse: true, nice: false, zero: false },
    axis: null,
  };
  const x = { type: "quantitative", axis: null, scale: { zero: true, nice: false } };
  const band = (from: number, to: number) => ({
    y: { ...row, field: `row${from}` },
    y2: { field: `row${to}` },
  });
  const length = (field: string, look: VegaLiteSpec, more: VegaLiteSpec = {}): VegaLiteSpec => ({
    mark: { type: "rect", ...look },
    encoding: { x: { ...x, field }, x2: { datum: 0 }, ...band(0, 1), ...more },
  });
  const text = (field: string, look: VegaLiteSpec, x: string): VegaLiteSpec => ({
    mark: { type: "text", baseline: "middle", fontSize: 12, color: theme.text, ...look },
    encoding: {
      x: { value: { expr: x } },
      y: { ...row, field: "middle" },
      text: { field, type: "nominal" },
      opacity: { condition: { test: isChosen(at), value: 1 }, value: 0.5 },
    },
  });
  return {
    width: panelWidth(names.length),
    height: bars * BAR,
    title: {
      text: heading(names[at]!),
      fontSize: 12,
      color: theme.muted,
      fontWeight: "normal",
      offset: 6,
    },
    transform: [
      ...summed(cube, [`d${at}`], at, SHOWN),
      { filter: `isValid(datum.d${at})` },
      { calculate: `indexof(${JSON.stringify(others)}, datum.d${at}) >= 0 ? 1 : 0`, as: "last" },
      {
        window: [{ op: "row_number", as: "rank" }],
        sort: [
          { field: "last", order: "ascending" },
          { field: "f", order: "descending" },
          { field: "a", order: "descending" },
        ],
      },
      { filter: `datum.rank <= ${bars}` },
      { calculate: "datum.rank - 0.95", as: "row0" },
      { calculate: "datum.rank - 0.05", as: "row1" },
      { calculate: "datum.rank - 0.5", as: "middle" },
      { calculate: full("datum.f"), as: "shown" },
      { calculate: `isValid(datum.b) ? ${full("datum.b")} : "–"`, as: "before" },
      { calculate: full("datum.a"), as: "all" },
      { calculate: change, as: "change" },
      // Vega warns of a scale of nulls alone.
      { calculate: "isValid(datum.b) ? datum.b : 0", as: "mark" },
      { calculate: short("datum.f"), as: "amount" },
    ],
    layer: [
      length("g", { color: theme.grid }),
      length("f", { color: theme.background }),
      length(
        "f",
        { color: theme.series[0] },
        { opacity: { condition: { test: isChosen(at), value: 0.4 }, value: 0.12 } },
      ),
      {
        mark: { type: "rule", color: theme.series[1], strokeWidth: 2.5 },
        encoding: {
          x: { ...x, field: "mark" },
          ...band(0, 1),
          opacity: { condition: { test: "isValid(datum.b)", value: 1 }, value: 0 },
        },
      },
      text(`d${at}`, { align: "left", limit: { expr: `max(60, ${PANEL} - 120)` } }, "5"),
      text("change", { align: "right", color: theme.muted }, `${PANEL} - 50`),
      text("amount", { align: "right" }, `${PANEL} - 4`),
      {
        params: [
          { name: `pick${at}`, select: { type: "point", fields: [`d${at}`], toggle: "true" } },
        ],
        mark: { type: "rect", opacity: 0, cursor: "pointer" },
        encoding: {
          x: { value: 0 },
          x2: { value: { expr: PANEL } },
          ...band(0, 1),
          tooltip: [
            { field: `d${at}`, type: "nominal", title: tooltipTitle(heading(names[at]!)) },
            { field: "shown", type: "nominal", title: "Chosen" },
            { field: "before", type: "nominal", title: "As long before" },
            { field: "change", type: "nominal", title: "Change" },
            { field: "all", type: "nominal", title: "Everything" },
          ],
        },
      },
    ],
  };
}
