import type { Spec } from "vega";
import type { FontWeight } from "../fonts/shipped-font.js";
import type { VegaLiteSpec } from "./theme.js";
import { compiledSpec } from "./svg.js";
import { wrap } from "./label.js";

/** Pixels of a picture, with axes and legend: the narrowest that can be read, and as wide as it may grow. */
const NARROWEST = 480;
const WIDEST = 1600;
/** The width where none is known: the cell of a JupyterLab of 1,000 pixels. */
const UNKNOWN = 520;
/** A plot of this many pixels grows with its place, a narrower one (a few upright bars) only shrinks. */
const GROWING = 560;
/** Pixels of a picture that its title hasn't: padding, and the axis left of the plot. */
const BESIDE_TITLE = 84;
/** The shipped font is narrow: many a machine has only wider ones. */
const OTHER_FONT = 0.88;
/** In a narrower view labels reach farther over its end: so many pixels are kept for that. */
const OVERHANG = 20;
/** The widths for which titles are wrapped. */
const STEPS = [NARROWEST, 560, 640, 740, 860, 1000, 1160, 1340];

/** The parameter that holds the width of the picture's place, in pixels. */
export const PLACE = "probelab_place";
/** The parameters that hold the widths of views beside each other, and of one that has a row to itself. */
export const PANEL = "probelab_panel";
export const ROW = "probelab_row";
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
  ];
  const kept = (spec["params"] as { name: string }[] | undefined) ?? [];
  const made = new Set(params.map(({ name }) => name));
  return {
    ...withFluidLegends(spec, natural),
    ...(spec["title"] !== undefined && { title: fluidTitle(spec) }),
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

/** What the views have of the place: all but the gaps, and what is beside them in the file. */
function shares({ width, columns, apart }: Panels, natural: number): VegaLiteSpec[] {
  const gaps = (columns - 1) * apart;
  const beside = natural - (columns * width + gaps) + OVERHANG;
  return [
    { name: ROW, expr: `floor(${PLACE} - ${beside})` },
    { name: PANEL, expr: `floor((${PLACE} - ${beside + gaps}) / ${columns})` },
  ];
}

/** Whether Vega-Lite itself can't say how wide its views are on a screen. */
export function needsVega(spec: VegaLiteSpec): boolean {
  const params = spec["params"] as { name: string }[] | undefined;
  return params?.some(({ name }) => name === PANEL) === true && panelsOf(spec) !== undefined;
}

/** A spec of `fluidSpec` compiled: Vega-Lite has no widths of views that follow a parameter, Vega has. */
export async function compiledForScreen(spec: VegaLiteSpec): Promise<Spec> {
  const compiled = await compiledSpec(spec);
  if (!needsVega(spec)) return compiled;
  const signals = compiled.signals?.map((signal) => {
    const value = "value" in signal ? (signal.value as unknown) : undefined;
    if (!/width$/i.test(signal.name) || typeof value !== "number") return signal;
    return { name: signal.name, update: value === panelsOf(spec)!.width ? PANEL : ROW };
  });
  return { ...compiled, signals: signals ?? [] };
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
      paragraphs.flatMap((text) => wrap([text], (step - BESIDE_TITLE) * OTHER_FONT, size, weight)),
    );
    const step = STEPS.slice(1).map((step) => `(${PLACE} >= ${step})`);
    return { expr: `(${JSON.stringify(wrapped)})[${step.join(" + ")}]` };
  };
  return {
    ...(title as object),
    text: lines(texts.text, 16, 700),
    ...(texts.subtitle.length > 0 && { subtitle: lines(texts.subtitle, 12, 400) }),
  };
}

/** Legends beside the plot with a part of the width at most, those below it in as many columns as fit. */
function withFluidLegends(spec: VegaLiteSpec, natural: number): VegaLiteSpec {
  const { data, config, ...rest } = spec;
  const fluid = JSON.parse(JSON.stringify(rest), (key, value: unknown) => {
    const columns = key === "legend" ? (value as { columns?: unknown } | null)?.columns : undefined;
    if (typeof columns !== "number") return value;
    const expr = `max(1, floor(${PLACE} * ${columns / Math.round(natural)}))`;
    return { ...(value as object), columns: { expr } };
  }) as VegaLiteSpec;
  const { legend = {} } = config as { legend?: VegaLiteSpec };
  const most = Number(legend["labelLimit"] ?? 160);
  const labelLimit = { expr: `min(${most}, ${PLACE} / 5)` };
  return {
    ...fluid,
    ...(data !== undefined && { data }),
    config: { ...(config as object), legend: { ...legend, labelLimit, titleLimit: labelLimit } },
  };
}
