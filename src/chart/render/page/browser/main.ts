import { type Spec, View, logger, None, parse } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { inertLoader, quietLogger } from "../../inert-loader.js";
import { withRows } from "../shared-rows.js";
import { showTooltip } from "./tooltip.js";

/** A plot grows no wider than this. */
const WIDEST = 1600;
/** What a figure's data block holds. */
interface Content {
  readonly rows: readonly string[];
  readonly screens: readonly { readonly least: number; readonly vega: unknown }[];
}

/** Makes the charts of the page live, one after the other: the reader may scroll in between. */
async function drawAll(): Promise<void> {
  // Texts are measured when a chart is drawn.
  await Promise.allSettled(
    ["400", "700"].map((weight) => document.fonts.load(`${weight} 12px Arimo`)),
  );
  for (const figure of document.querySelectorAll<HTMLElement>("figure.probelab-chart")) {
    try {
      await drawChart(figure);
      figure.classList.add("probelab-live");
      follow(figure);
    } catch {
      // Its picture stands where it was, and says the same.
      figure.classList.add("probelab-still");
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  document.documentElement.classList.add("probelab-drawn");
}

/** Draws a chart again where its place has become wider or narrower. */
function follow(figure: HTMLElement): void {
  const plot = figure.querySelector(".probelab-plot")!;
  let drawn = plot.clientWidth;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      // On paper, and in what is folded, it has none.
      if (plot.clientWidth === drawn || plot.clientWidth === 0) return;
      drawn = plot.clientWidth;
      void drawChart(figure);
    }, 150);
  });
}

/** Draws a figure's chart beside its picture, in place of an earlier drawing. @throws where Vega fails, nothing is left then. */
async function drawChart(figure: HTMLElement): Promise<void> {
  const plot = figure.querySelector(".probelab-plot");
  const json = figure.querySelector("script.probelab-content")?.textContent;
  if (!plot || !json) throw new Error("The figure holds no chart");
  const vega = specIn(plot.clientWidth, JSON.parse(inTheme(json)) as Content);
  const place = document.createElement("div");
  place.className = "probelab-drawing";
  plot.querySelector(".probelab-drawing")?.remove();
  plot.append(place);
  const faults: unknown[][] = [];
  let view: View | undefined;
  try {
    const dataflow = parse(vega, undefined, { ast: true });
    exactDates(dataflow);
    view = new View(dataflow, {
      renderer: "svg",
      hover: true,
      expr: expressionInterpreter,
      loader: inertLoader as never,
      logger: quietLogger(logger(None), faults),
      tooltip: showTooltip,
    });
    await view.initialize(place).runAsync();
    if (faults[0]) throw faults[0][0];
    nameDrawing(figure, place);
  } catch (error) {
    view?.finalize();
    place.remove();
    throw error;
  }
}

/** A light chart in the colours of the dark, where the page is dark. */
function inTheme(json: string): string {
  const colours = document.querySelector("script.probelab-dark")?.textContent;
  if (!colours || !matchMedia("(prefers-color-scheme: dark)").matches) return json;
  const dark = JSON.parse(colours) as Record<string, string>;
  const { screens } = JSON.parse(json) as Content;
  const { background } = screens[0]!.vega as { background?: string };
  if (Object.values(dark).includes(background ?? "") && !Object.hasOwn(dark, background ?? ""))
    return json;
  return json.replace(/#[\da-f]{6}\b/g, (colour) => dark[colour] ?? colour);
}

/** The layout for a place of so many pixels, as wide as it where it can be; in one that is narrower than any the reader scrolls. */
function specIn(place: number, { rows, screens }: Content): Spec {
  const { least, vega } = screens.findLast(({ least }) => least <= place) ?? screens[0]!;
  const spec = withRows(vega, rows) as Spec;
  const fits = (spec.autosize as { type?: string } | undefined)?.type === "fit-x";
  return fits ? { ...spec, width: Math.max(least, Math.min(place, WIDEST)) } : spec;
}

/**
 * Vega's interpreter reads `datetime(1769385600000)`, the end of a time scale, as a year, where its
 * compiler reads milliseconds; `toDate` is the same in both. @param part is changed in place.
 */
function exactDates(part: unknown): void {
  if (typeof part !== "object" || part === null) return;
  const call = part as { type?: string; callee?: { name?: string }; arguments?: unknown[] };
  const isDate = call.type === "CallExpression" && call.callee?.name === "datetime";
  if (isDate && call.arguments?.length === 1) call.callee!.name = "toDate";
  Object.values(part).forEach(exactDates);
}

/** The drawing is one picture to a screen reader, under the words of the static one. */
function nameDrawing(figure: HTMLElement, place: HTMLElement): void {
  place.setAttribute("role", "img");
  const words = figure.querySelector(".probelab-picture > svg > desc")?.textContent;
  const alt = figure.querySelector<HTMLImageElement>(".probelab-picture > img")?.alt;
  place.setAttribute("aria-label", words || alt || "Chart");
}

void drawAll();
