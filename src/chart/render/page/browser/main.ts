import { type Spec, View, logger, None, parse } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { inertLoader, quietLogger } from "../../inert-loader.js";
import { showTooltip } from "./tooltip.js";

/** As `fluid.ts` names it. */
const PLACE = "probelab_place";

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
    } catch {
      // Its picture stands where it was, and says the same.
      figure.classList.add("probelab-still");
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  document.documentElement.classList.add("probelab-drawn");
}

/** Draws a figure's chart beside its picture. @throws where Vega fails, nothing is left then. */
async function drawChart(figure: HTMLElement): Promise<void> {
  const plot = figure.querySelector(".probelab-plot");
  const json = figure.querySelector("script.probelab-content")?.textContent;
  if (!plot || !json) throw new Error("The figure holds no chart");
  const vega = JSON.parse(inTheme(json)) as Spec;
  const place = document.createElement("div");
  place.className = "probelab-drawing";
  plot.append(place);
  vega.signals?.forEach((signal) => measure(signal, plot.clientWidth));
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
  const { background } = JSON.parse(json) as { background?: string };
  if (Object.values(dark).includes(background ?? "") && !Object.hasOwn(dark, background ?? ""))
    return json;
  return json.replace(/#[\da-f]{6}\b/g, (colour) => dark[colour] ?? colour);
}

/** Vega makes signals before it has a container: without this a chart is drawn twice, narrow first. */
function measure(signal: object, width: number): void {
  const { name, init } = signal as { name: string; init?: string };
  if (name !== PLACE || init === undefined || width === 0) return;
  Object.assign(signal, { init: init.replaceAll("containerSize()[0]", String(width)) });
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
