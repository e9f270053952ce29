import type { Spec } from "vega";
import {
  nameLabels,
  NAMES_WIDTH,
  namesWidth,
  roomyDomain,
  rowsHeight,
  type Rows,
} from "../axes.js";
import type { FontWeight } from "./fonts/shipped-font.js";
import { LEGEND_LABEL, LEGEND_SIZE, LEGEND_SYMBOL, type VegaLiteSpec } from "./theme.js";
import { compiledSpec } from "./svg.js";
import { fitNames, fittedLabel, wrap } from "./label.js";

/** Pixels of a picture, with axes and legend: the narrowest that can be read, and as wide as it may grow. */
const NARROWEST = 320;
const WIDEST = 1600;
/** The width where none is known: the cell of a JupyterLab of 1,000 pixels. */
const UNKNOWN = 520;
/** A plot of this many pixels grows with its place, a narrower one (a few upright bars) only shrinks. */
const GROWING = 560;
/** Pixels of a picture that its title hasn't: padding, and the axis left of the plot. */
const BESIDE_TITLE = 84;
/** Pixels of a picture of horizontal bars that are neither names nor plot. */
const BESIDE_NAMES = 50;
/** The shipped font is narrow: many a machine has only wider ones. */
const OTHER_FONT = 0.88;
/** In a narrower view labels reach farther over its end: so many pixels are kept for that. */
const OVERHANG = 20;
/** Pixels between the titles of two views, and of their letters. */
export const GAP = 14;
export const PANEL_TITLE = 12;
/** Below this width legends stand below the plot, and texts at the ends of bars on two lines. */
const NARROW = 480;
/** Pixels beside the views of a narrow picture: axis and padding. */
const BESIDE_NARROW = 84;
/** The widths for which titles are wrapped. */
const STEPS = [NARROWEST, 350, 400, 480, 560, 640, 740, 860, 1000, 1160, 1340];

/** The parameter that holds the width of the picture's place, in pixels. */
export const PLACE = "probelab_place";
/** The parameters that hold the widths of views beside each other, and of one that has a row to itself. */
export const PANEL = "probelab_panel";
export const ROW = "probelab_row";
/** The index of the step that the place has reached. */
const STEP = STEPS.slice(1)
  .map((step) => `(${PLACE} >= ${step})`)
  .join(" + ");
const RULER = "probelab_ruler";
const WINDOW = "probelab_window";

/** How the views of a picture share its width; it stands in the spec's `usermeta`. */
export interface Panels {
  /** The widths of the file's, in pixels: of its title's lines, and of a view. */
  readonly lines: number;
  readonly width: number;
  /** How many views are beside each other, and how far apart. */
  readonly columns: number;
  readonly apart: number;
  /** Their titles, before they are cut to the width of a view. */
  readonly names?: readonly string[];
}

/**
 * The spec as screens draw it: as wide as its place, whole, and following it. The plot's own width is
 * the file's. A spec whose width an analyst chose stays as it is, and one of several views but for
 * those whose `usermeta` says how they share the width, which `compiledForScreen` gives them.
 *
 * Vega-Lite's `width: "container"` draws nothing in JupyterLab and Notebook 7: vega-embed puts a chart
 * into an element that is as wide as its content. The parameters do the same and more:
 *
 * - an unseen input, asked to be very wide and yet at most all of its place, makes that element as wide
 *   as the cell (a chart can say that by `bind`, the only way to make an element);
 * - the picture is as wide as the element. Once drawn it holds the element open: where the window
 *   shrinks it first shrinks as much, and is measured when that is done.
 *
 * @param drawnWidth gives the width of the file's picture, with axes and legend; it draws the picture.
 * @param width what the analyst chose.
 */
export async function fluidSpec(
  spec: VegaLiteSpec,
  drawnWidth: () => Promise<number>,
  width: unknown,
): Promise<VegaLiteSpec> {
  const panels = panelsOf(spec);
  const { bars } = (spec["usermeta"] ?? {}) as { bars?: Rows };
  const own = panels?.lines ?? spec["width"];
  if (typeof width === "number" || typeof own !== "number") return spec;
  if (panels === undefined && !isSingle(spec)) return spec;
  const grows = panels !== undefined || own >= GROWING;
  // One that grows grows beyond the file's width: only a legend below the plot depends on that.
  const natural = grows && panels === undefined ? own + BESIDE_TITLE : await drawnWidth();
  const widest = Math.max(grows ? WIDEST : NARROWEST, natural);
  const place = "containerSize()[0]";
  const within = (pixels: string): string => `clamp(${pixels}, ${NARROWEST}, ${widest})`;
  const resized = (update: string) => ({ events: "window:resize", update });
  const params = [
    {
      name: RULER,
      value: "",
      bind: {
        input: "text",
        name: " ",
        size: 2_000,
        tabindex: -1,
        "aria-hidden": "true",
        style:
          "display:block;visibility:hidden;width:100%;height:0;margin:0;padding:0;border:0;min-height:0",
      },
    },
    {
      name: PLACE,
      init: `${place} > 0 ? ${within(place)} : ${within(String(UNKNOWN))}`,
      on: [
        resized(within(`${place} + min(0, windowSize()[0] - ${WINDOW})`)),
        // A notebook draws what isn't on the screen before it has a place.
        {
          events: { type: "timer", throttle: 400 },
          update: `${place} > 0 ? ${within(place)} : ${PLACE}`,
        },
      ],
    },
    { name: WINDOW, init: "windowSize()[0]", on: [resized("windowSize()[0]")] },
    ...(panels === undefined ? [{ name: "width", update: PLACE }] : shares(panels, natural)),
    ...(bars === undefined ? [] : [{ name: "height", update: byStep(heights(bars)) }]),
  ];
  const kept = (spec["params"] as { name: string }[] | undefined) ?? [];
  const made = new Set(params.map(({ name }) => name));
  return {
    ...withFluidLabels(spec, natural, bars),
    ...(spec["title"] !== undefined && { title: fluidTitle(spec) }),
    ...(panels?.names && { concat: fluidPanels(spec, panels, panels.names, natural) }),
    // What it has before it is measured: less than the place, which it would hold open.
    ...(panels === undefined
      ? { width: NARROWEST, autosize: { type: "fit-x", contains: "padding" } }
      : // Else several views keep the width at which they were first drawn, and are cut off in a wider place.
        { autosize: { type: "pad", resize: true } }),
    params: [...kept.filter(({ name }) => !made.has(name)), ...params],
  };
}

function panelsOf({ usermeta }: VegaLiteSpec): Panels | undefined {
  return (usermeta as { panels?: Panels } | undefined)?.panels;
}

/** Pixels beside the views, in a narrow place and in another: a legend beside them is below them in a narrow one. */
function besideViews({ width, columns, apart }: Panels, natural: number): [number, number] {
  const beside = natural - (columns * width + (columns - 1) * apart) + OVERHANG;
  return [Math.min(beside, BESIDE_NARROW), beside];
}

/** What the views have of the place: all but the gaps, and what is beside them in the file. */
function shares(panels: Panels, natural: number): VegaLiteSpec[] {
  const { columns, apart } = panels;
  const gaps = (columns - 1) * apart;
  const [narrow, beside] = besideViews(panels, natural);
  const kept = `(${PLACE} < ${NARROW} ? ${narrow} : ${beside})`;
  return [
    { name: ROW, expr: `floor(${PLACE} - ${kept})` },
    { name: PANEL, expr: `floor((${PLACE} - ${kept} - ${gaps}) / ${columns})` },
  ];
}

/** Views whose titles are cut to their width at each width of the place. */
function fluidPanels(
  { concat }: VegaLiteSpec,
  panels: Panels,
  names: readonly string[],
  natural: number,
): VegaLiteSpec[] {
  const [narrow, beside] = besideViews(panels, natural);
  const cut = STEPS.map((step) => {
    const own = (step - (step < NARROW ? narrow : beside) + panels.apart) / panels.columns;
    return fitNames(names, (own - GAP) * OTHER_FONT, PANEL_TITLE, 700);
  });
  return (concat as VegaLiteSpec[]).map((view, at) => ({
    ...view,
    title: {
      ...(view["title"] as object),
      text: { expr: `(${JSON.stringify(cut.map((texts) => texts[at]))})[${STEP}]` },
    },
  }));
}

/** True if Vega-Lite can't size these views itself. */
export function needsVega(spec: VegaLiteSpec): boolean {
  const params = spec["params"] as { name: string }[] | undefined;
  return params?.some(({ name }) => name === PANEL) === true && panelsOf(spec) !== undefined;
}

/** A spec of `fluidSpec` compiled: Vega-Lite has no widths of views that follow a parameter, Vega has. */
export async function compiledForScreen(spec: VegaLiteSpec): Promise<Spec> {
  const compiled = withLegendsBelow(await compiledSpec(spec));
  if (!needsVega(spec)) return compiled;
  const signals = compiled.signals?.map((signal) => {
    const value = "value" in signal ? (signal.value as unknown) : undefined;
    if (!/width$/i.test(signal.name) || typeof value !== "number") return signal;
    return { name: signal.name, update: value === panelsOf(spec)!.width ? PANEL : ROW };
  });
  // A single view has a width, not a signal of it.
  const { width, ...rest } = compiled;
  const own = typeof width === "number" ? [{ name: "width", update: PANEL }] : [];
  return { ...rest, signals: [...(signals ?? []), ...own] };
}

/** A compiled chart whose legends stand below the plot in a narrow place, which Vega-Lite can't say. */
function withLegendsBelow(compiled: Spec): Spec {
  const follows = compiled.signals?.some(({ name }) => name === PLACE) === true;
  if (!follows || compiled.legends === undefined) return compiled;
  const orient = { signal: `${PLACE} < ${NARROW} ? "bottom" : "right"` };
  const legends = compiled.legends.map((legend) =>
    legend.orient === undefined && legend.type !== "gradient"
      ? { ...legend, orient, direction: "vertical" as const }
      : legend,
  );
  return { ...compiled, legends: legends };
}

/** A compiled chart for a page of our own, whose places are as wide as they can be: without the input. */
export function withoutRuler(compiled: Spec): Spec {
  const signals = compiled.signals?.filter(({ name }) => name !== RULER);
  return signals === undefined ? compiled : { ...compiled, signals };
}

/** True for one view, whose width is the picture's. */
function isSingle(spec: VegaLiteSpec): boolean {
  const encoding = Object(spec["encoding"]) as object;
  return (
    ("mark" in spec || "layer" in spec) &&
    !["row", "column", "facet"].some((channel) => channel in encoding)
  );
}

/** The paragraphs of a picture's title and subtitle; they stand in the spec's `usermeta`. */
export interface Texts {
  readonly text: readonly string[];
  readonly subtitle: readonly string[];
}

/** Title and subtitle, wrapped for each width. */
function fluidTitle({ title, usermeta }: VegaLiteSpec): unknown {
  const { texts } = (usermeta ?? {}) as { texts?: Texts };
  if (texts === undefined) return title;
  const lines = (paragraphs: readonly string[], size: number, weight: FontWeight) => {
    const wrapped = STEPS.map((step) =>
      paragraphs.flatMap((text) => wrap(text, (step - BESIDE_TITLE) * OTHER_FONT, size, weight)),
    );
    return { expr: `(${JSON.stringify(wrapped)})[${STEP}]` };
  };
  return {
    ...(title as object),
    text: lines(texts.text, 16, 700),
    ...(texts.subtitle.length > 0 && { subtitle: lines(texts.subtitle, 12, 400) }),
  };
}

/** An expression of the value for each step. */
const byStep = (values: readonly unknown[]): string => `(${JSON.stringify(values)})[${STEP}]`;

/** Pixels of the names left of bars in a picture of that width: a third of it. */
const nameRoom = (step: number): number => Math.min(NAMES_WIDTH, step / 3) * OTHER_FONT;

const heights = (bars: Rows): number[] =>
  STEPS.map((step) => rowsHeight(bars, nameRoom(step), bars.extent && step < NARROW ? 2 : 1));

/** The names left of bars, wrapped for each width, and the domain with room for the texts at their ends. */
function fluidBars({ names, extent }: Rows) {
  const labels = STEPS.map((step) => nameLabels(names, nameRoom(step)));
  const pick = (expressions: readonly string[]): string => `[${expressions.join(", ")}][${STEP}]`;
  const domains = STEPS.map((step) => {
    const plot = step - namesWidth(names, nameRoom(step), 0) - BESIDE_NAMES;
    const { left = 0, right = 0 } = (step < NARROW ? extent?.broken : extent) ?? {};
    return extent && roomyDomain({ ...extent, left, right }, plot * OTHER_FONT);
  });
  return {
    axis: {
      labelExpr: pick(labels.map(({ labelExpr }) => labelExpr)),
      labelOffset: { expr: pick(labels.map(({ labelOffset }) => labelOffset)) },
    },
    domain: extent && [0, 1].map((end) => ({ expr: byStep(domains.map((each) => each![end])) })),
  };
}

/** The text at the end of a bar; in a narrow place what is in brackets has a line of its own. */
function brokenText(mark: VegaLiteSpec): VegaLiteSpec {
  const { expr } = mark["text"] as { expr: string };
  const lines = `split(replace(${expr}, " (", "\\n("), "\\n")`;
  return {
    ...mark,
    text: { expr: `${PLACE} < ${NARROW} ? ${lines} : ${expr}` },
    dy: { expr: `${PLACE} < ${NARROW} && indexof(${expr}, " (") > 0 ? -6 : 0` },
    lineHeight: 12,
  };
}

/**
 * Legends beside the plot with a part of the width at most, those below it in as many columns as fit;
 * names left of bars with a third of the width.
 */
function withFluidLabels(
  spec: VegaLiteSpec,
  natural: number,
  bars: Rows | undefined,
): VegaLiteSpec {
  const { data, config, ...rest } = spec;
  const fluidOf = bars && fluidBars(bars);
  const drawn = JSON.stringify(bars?.extent?.domain);
  const fluid = JSON.parse(JSON.stringify(rest), (key, value: unknown) => {
    const { labelLimit } = Object(value) as { labelLimit?: number };
    if (fluidOf && key === "axis" && labelLimit === NAMES_WIDTH) {
      return { ...(value as object), ...fluidOf.axis };
    }
    if (key === "mark" && fluidOf?.domain && Object.hasOwn(Object(value) as object, "text")) {
      return brokenText(value as VegaLiteSpec);
    }
    if (fluidOf?.domain && key === "domain" && JSON.stringify(value) === drawn) {
      return fluidOf.domain;
    }
    const legend =
      key === "legend" ? (value as { columns?: number; values?: string[] } | null) : null;
    if (!Array.isArray(legend?.values)) return value;
    const { columns, values } = legend;
    const below = columns !== undefined;
    const room = (step: number): number =>
      below ? step - LEGEND_SYMBOL : step < NARROW ? step / 2 : Math.min(LEGEND_LABEL, step / 5);
    return {
      ...legend,
      ...fittedBySteps(values, (step) => fitNames(values, room(step) * OTHER_FONT, LEGEND_SIZE)),
      ...(below && {
        columns: { expr: `max(1, floor(${PLACE} * ${columns / Math.round(natural)}))` },
      }),
    };
  }) as VegaLiteSpec;
  const { legend = {} } = config as { legend?: VegaLiteSpec };
  const titleLimit = { expr: `min(${LEGEND_LABEL}, ${PLACE} / 5)` };
  return {
    ...fluid,
    ...(data !== undefined && { data }),
    config: { ...(config as object), legend: { ...legend, titleLimit } },
  };
}

/** The labels of names that are cut to the width of each step. */
function fittedBySteps(
  names: readonly string[],
  fit: (step: number) => readonly string[],
): { labelExpr?: string } {
  const name = "datum.value";
  const cut = STEPS.map((step) => fittedLabel(names, fit(step), name) ?? name);
  if (cut.every((each) => each === name)) return {};
  return { labelExpr: `[${cut.map((each) => `(${each})`).join(", ")}][${STEP}]` };
}
