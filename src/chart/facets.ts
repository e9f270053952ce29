import { pickRows, rowsByKey } from "../result/arquero-table.js";
import { valueKey } from "../result/json.js";
import { Result } from "../result/result.js";
import { chartRows, MOST_PANELS, type Rows } from "./rows.js";
import type { Kind, Plot } from "./plot.js";
import { textWidth } from "./render/fonts/shipped-font.js";
import { categoryLabels, namesRoom } from "./axes.js";
import { fitNames, words } from "./render/label.js";
import { BESIDE_PLOT } from "./render/screens.js";
import type { Options } from "./options.js";
import { LABEL_SIZE, type VegaLiteSpec } from "./render/theme.js";
import { withoutRest } from "./rest.js";
import { checkColumn } from "./roles.js";
import { chartSeries, seriesDimension, type Series } from "./series.js";

const ROW_WIDTH = 760;
const PANEL_HEIGHT = 130;
const SPACING = 18;
/** Pixels between the titles of two panels, of their letters, and of a panel that can be read. */
const TITLE_GAP = 14;
const TITLE_SIZE = 12;
const NARROWEST_PANEL = 160;
/** Pixels of numbers left of a panel, and of what stands between panels below each other. */
const LABELS = 40;
const BETWEEN = 64;

/** What all panels of a chart draw, and each of them: one where it isn't split. */
export interface Panels {
  /** The points of all, for titles, descriptions and common axes; its `panels` are missing where there is one. */
  readonly all: Rows;
  readonly each: readonly { readonly name: string; readonly rows: Rows }[];
  readonly sentences: readonly string[];
}

/** The rows of each value of the column `facet`, of the same series and the same places along x; without one, or without a row, those of all. */
export function panelRows(given: Result, kind: Kind, wanted: Options): Panels {
  const { facet, ...options } = wanted;
  if (facet === undefined || given.numRows() === 0) {
    const found = chartRows(given, kind, wanted);
    const all = kind.arrange?.(found, wanted, given.origin) ?? found;
    return { all, each: [{ name: "", rows: all }], sentences: [] };
  }
  checkColumn(given.columnNames(), facet, `draw ${kind.noun} with facet: `);
  const { result, sentences } = largest(given, facet, options.y);
  const isOwn = options.scales === "own";
  const drawn = chartRows(result, kind, { ...options, facet });
  // A panel of its own scale flattens no other.
  const { panels = [], ...found } = withoutRest(drawn, options, isOwn ? [] : ["panels"]);
  // Categories stand in one order in all panels.
  const xs = kind.order?.(found, options) ?? found.xs;
  const each = panels.map(({ value, label }, at) => {
    const points = found.points.filter(({ panel }) => panel === at);
    const isThere = (x: Rows["xs"][number]): boolean => points.some((point) => point.x === x);
    // A panel of its own scale has its own categories.
    const ownXs = isOwn && found.roles.xKind === "category";
    const own = { ...found, xs: ownXs ? xs.filter(isThere) : xs, points, panel: value };
    const rows = kind.arrange?.(own, { ...options, sort: "given" }, result.origin) ?? own;
    return { name: label, rows };
  });
  const points = each.flatMap(({ rows }) => rows.points);
  const { roles, edges, series } = each[0]!.rows;
  return {
    all: {
      ...found,
      ...{ roles, series, xs, points, panels, ...(edges && { edges }) },
      sentences: [...new Set(each.flatMap(({ rows }) => rows.sentences))],
    },
    each,
    sentences,
  };
}

/** The rows of the values with the most in them; the rest, if there is one, stays. */
function largest(
  result: Result,
  facet: string,
  y: string | undefined,
): { result: Result; sentences: string[] } {
  const { columns } = result.origin;
  const values = result.column(facet);
  const all = chartSeries(values, seriesDimension(columns, facet, values), facet);
  if (all.length <= MOST_PANELS) return { result, sentences: [] };
  const counts = columns.measures.filter(({ additive }) => additive);
  const counted = counts.find(({ name }) => name === y) ?? counts[0];
  const amounts = counted && result.column(counted.name);
  const rows = rowsByKey(values.map((value) => valueKey(value ?? null)));
  const size = ({ value, other }: Series): number => {
    const own = rows.get(valueKey(value)) ?? [];
    const sum = own.reduce((n, row) => n + Math.abs(Number(amounts?.[row] ?? 0)), 0);
    return other ? Infinity : sum || own.length;
  };
  const shown = all.toSorted((a, b) => size(b) - size(a)).slice(0, MOST_PANELS);
  const kept = shown.flatMap(({ value }) => rows.get(valueKey(value)) ?? []).sort((a, b) => a - b);
  return {
    result: new Result(pickRows(result.table, kept), result.origin),
    sentences: [`Drawn: ${MOST_PANELS} of ${all.length} panels by ${words(facet)}, the largest.`],
  };
}

/** Where the panels of a chart are. */
export interface Layout {
  readonly count: number;
  /** How many are beside each other, and how far apart. */
  readonly columns: number;
  readonly apart: number;
  /** True if they have one vertical scale. */
  readonly shared: boolean;
  /** Of each, in pixels. */
  readonly size: { readonly width: number; readonly height?: number };
}

/** How many panels are beside each other, how large each is, and how far apart; undefined of a chart that has none. */
export function panelLayout(
  all: Rows,
  count: number,
  horizontal: boolean,
  { width: chosen, height, scales, columns: given, place = Infinity }: Options,
): Layout | undefined {
  if (all.panels === undefined) return undefined;
  const wanted = given ?? (count === 4 ? 2 : Math.min(3, Math.max(1, count)));
  const shared = scales !== "own";
  const names = [...categoryLabels(all).values()].map((name) => textWidth(name, LABEL_SIZE));
  const left = horizontal ? Math.min(namesRoom(place), Math.max(0, ...names)) : shared ? 0 : LABELS;
  const apart = Math.ceil(left) + SPACING;
  const width =
    chosen ?? Math.min(ROW_WIDTH, Math.floor(place - BESIDE_PLOT - (horizontal ? left : 0)));
  const fitting = Math.max(1, Math.floor((width + apart) / (NARROWEST_PANEL + apart)));
  const columns = place === Infinity ? wanted : Math.min(wanted, fitting);
  const own = Math.max(50, Math.floor((width - (columns - 1) * apart) / columns));
  const high = height ?? (horizontal ? undefined : PANEL_HEIGHT);
  const size = { width: own, ...(high !== undefined && { height: high }) };
  return { count, columns, apart, shared, size };
}

/** The spec of panels beside each other, with `above` pixels of labels over each: one legend, axes labelled at the edges where they are shared. */
export function panelsSpec(
  views: readonly { readonly name: string; readonly view: Plot; readonly layer: VegaLiteSpec[] }[],
  { columns, apart, shared }: Layout,
  above: number,
): VegaLiteSpec {
  const room = Math.max(...views.map(({ view }) => view.width)) + apart - TITLE_GAP;
  const names = fitNames(
    views.map(({ name }) => name),
    room,
    TITLE_SIZE,
    700,
  );
  return {
    concat: views.map(({ view: { width, height }, layer }, at) => ({
      title: { text: names[at], fontSize: TITLE_SIZE, fontWeight: "bold", offset: 6 },
      width,
      height,
      layer,
    })),
    // Plots stand in line, whatever stands around them.
    columns,
    bounds: "flush",
    spacing: { row: BETWEEN + above, column: apart },
    resolve: {
      scale: {
        x: shared || views[0]?.view.names === undefined ? "shared" : "independent",
        y: shared ? "shared" : "independent",
      },
    },
  };
}

/** A panel's view: one title of x, below the last row; titles and labels of a shared y left of the first only. */
export function panelView(
  view: Plot,
  common: Plot,
  at: number,
  { count, columns, shared }: Layout,
): Plot {
  if (view.horizontal) return view;
  const axis = (channel: VegaLiteSpec): VegaLiteSpec => channel.axis as VegaLiteSpec;
  const { title, labelExpr, format, tickCount } = axis(shared ? common.y : view.y);
  const first = at % columns === 0;
  // A title is wider than a narrow panel: it begins with the first of the last row and may run on below the others.
  const titled = columns > 1 ? { titleAnchor: "start" } : {};
  const last = first && at + columns >= count;
  return {
    ...view,
    x: { ...view.x, axis: { ...axis(view.x), ...(last ? titled : { title: null }) } },
    y: {
      ...view.y,
      axis: {
        title: first ? title : null,
        titleLimit: view.height,
        ...(format === undefined ? { labelExpr } : { format }),
        labelFlush: true,
        domain: false,
        ticks: false,
        labelPadding: 6,
        tickCount,
        ...(shared && !first && { labels: false }),
      },
    },
  };
}
